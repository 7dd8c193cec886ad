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
    } else if (final_score < 50) { /* s6 */
        grade = 2; /* s7 */
    } else {
        grade = 3; /* s8 */
    }
    printf("Grade = %d\n", grade); /* s9 */
    return grade; /* s10 */
}

int main(int argc, char **argv)
{
    if (argc > 2)
        calc_grade(atoi(argv[1]), atoi(argv[2]));
    return 0;
}
