#include <stdio.h>
#include <stdlib.h>

static int calc_grade(int final_score, int mid_term_score)
{
    int grade = 0; /* s1 */
    if (final_score > 70) { /* s2 */
        if (mid_term_score > 80) /* s3 */
            grade = 4; /* s4 */
        else
            grade = 3; /* s5 */
    } else if (final_score > 60) { /* s6 */
        grade = 3; /* s7 */
    } else if (final_score < 35) { /* s8 */
        grade = 1; /* s9 */
    } else {
        grade = 2; /* s10 */
    }
    printf("Grade = %d\n", grade); /* s11 */
    return grade; /* s12 */
}

int main(int argc, char **argv)
{
    if (argc > 2)
        calc_grade(atoi(argv[1]), atoi(argv[2]));
    return 0;
}
