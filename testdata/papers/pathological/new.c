/* new.c: the same condition in loops that are nested in another way. */
#include <stdio.h>
#include <stdlib.h>

void pathological(int x)
{
    while (++x < 0) {                   /* P1 */
        while (++x < 0)                 /* P2 */
            ;
        while (++x < 0)                 /* P3 */
            ;
        while (++x < 0)                 /* P4 */
            ;
    }
    printf("%d\n", x);                  /* S5 */
}

int main(int argc, char **argv)
{
    (void)argc;                         /* M1 */
    pathological(atoi(argv[1]));        /* M2 */
    return 0;                           /* M3 */
}
