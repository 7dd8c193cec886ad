/* old.c: four procedures, of which A calls itself. */
#include <stdio.h>
#include <stdlib.h>

static int total;

void B(void)
{
    total = total + 10;                 /* S5 */
}

void C(void)
{
    total = total + 1;                  /* S6 */
}

void A(int n)
{
    C();                                /* callC */
    if (n > 0)                          /* P4 */
        A(n - 2);                       /* callA */
    else if (n < 0)                     /* P4a */
        B();                            /* callB */
}

int main(int argc, char **argv)
{
    int n;

    n = atoi(argv[1]);                  /* S1 */
    A(n);                               /* callA */
    if (argc > 2) {                     /* P2 */
        total = total + 100;            /* S3 */
        B();                            /* callB */
    }
    printf("%d\n", total);              /* M1 */
    return 0;                           /* M2 */
}
