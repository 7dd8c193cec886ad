/* old.c: P of figure 5 */
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
    say("U");                           /* U */
    while (ask())                       /* A */
        ;
    say("V");                           /* V */
}

int main(int argc, char **argv)
{
    (void)argc;                         /* M1 */
    answers = argv[1];                  /* M2 */
    p();                                /* M3 */
    return 0;                           /* M4 */
}
