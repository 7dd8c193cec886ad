/* old.c: calls through a table, as a virtual method would be called. */
#include <stdio.h>
#include <stdlib.h>

typedef int shape(int);

static int square(int side)
{
    return side * side;                 /* S1 */
}

static int circle(int radius)
{
    return 3 * radius * radius;         /* S2 */
}

static shape *const table[] = {square, circle};

static int area(int kind, int size)
{
    return table[kind](size);           /* S3 */
}

static int perimeter(int size)
{
    return 4 * size;                    /* S4 */
}

int main(int argc, char **argv)
{
    int kind = atoi(argv[1]);           /* M1 */
    (void)argc;                         /* M2 */
    if (kind < 0)                       /* M3 */
        printf("%d\n", perimeter(atoi(argv[2])));       /* M4 */
    else
        printf("%d\n", area(kind, atoi(argv[2])));      /* M5 */
    return 0;                           /* M6 */
}
