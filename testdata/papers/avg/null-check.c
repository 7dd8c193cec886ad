/* null-check.c: the mean of the numbers in a file, or an error if one is negative. */
#include <stdio.h>

#define ERROR (-1)
#define MAX_NUMBERS 100

int calcavg(const int *numbers, int count)
{
    int i;
    int sum;

    i = 0;                              /* C1 */
    sum = 0;                            /* C2 */
    while (i < count) {                 /* C3 */
        sum = sum + numbers[i];         /* C4 */
        i = i + 1;                      /* C5 */
    }
    if (count == 0)                     /* C6 */
        return 0;                       /* C7 */
    return sum / count;                 /* C8 */
}

int avg(FILE *fileptr)
{
    int numarray[MAX_NUMBERS];
    int count;
    int mean;
    int n;

    if (fileptr != NULL) {              /* P0 */
        count = 0;                      /* S1 */
        fscanf(fileptr, "%d", &n);      /* S2 */
        while (!feof(fileptr)) {        /* P3 */
            if (n < 0) {                /* P4 */
                return ERROR;           /* S5 */
            } else {
                numarray[count] = n;    /* S6 */
                count++;                /* S7 */
            }
            fscanf(fileptr, "%d", &n);  /* S8 */
        }
        mean = calcavg(numarray, count); /* S9 */
        return mean;                    /* S10 */
    } else {
        return ERROR;                   /* S11 */
    }
}

int main(int argc, char **argv)
{
    FILE *fileptr;
    int result;

    (void)argc;                         /* M1 */
    fileptr = fopen(argv[1], "r");      /* M2 */
    result = avg(fileptr);              /* M3 */
    printf("%d\n", result);             /* M4 */
    return 0;                           /* M5 */
}
