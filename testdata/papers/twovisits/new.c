/* new.c: what followed S2 is S5 now, while S3 still follows P1. */
#include <stdio.h>
#include <stdlib.h>

void twovisits(int x)
{
    int y;

    if (x == 0) {                       /* P1 */
        x = x + 1;                      /* S2 */
        printf("2\n");                  /* S5 */
    } else {
        y = x;                          /* S3 */
        printf("%d\n", y);              /* S4 */
    }
}

int main(int argc, char **argv)
{
    (void)argc;                         /* M1 */
    twovisits(atoi(argv[1]));           /* M2 */
    return 0;                           /* M3 */
}
