/* old.c: S3 is reached from both branches of P1. */
#include <stdio.h>
#include <stdlib.h>

void twovisits(int x)
{
    int y;

    if (x == 0) {                       /* P1 */
        x = x + 1;                      /* S2 */
    }
    y = x;                              /* S3 */
    printf("%d\n", y);                  /* S4 */
}

int main(int argc, char **argv)
{
    (void)argc;                         /* M1 */
    twovisits(atoi(argv[1]));           /* M2 */
    return 0;                           /* M3 */
}
