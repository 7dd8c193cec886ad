/* old.c: P of figure 1 */
#include <stdio.h>

static const char *answers;

/* The next answer of the test: what a predicate finds. */
static int ask(void)
{
    return *answers++ == 't';           /* N1 */
}

static void say(const char *what)
{
    puts(what);                         /* N2 */
}

static void p(void)
{
    if (ask())                          /* A */
        say("B");                       /* B */
    if (ask())                          /* C */
        say("W");                       /* W */
}

int main(int argc, char **argv)
{
    (void)argc;                         /* M1 */
    answers = argv[1];                  /* M2 */
    p();                                /* M3 */
    return 0;                           /* M4 */
}
