/* convert VALUE FROM TO
 * convert < FILE        a conversion on each line */
#include "convert.h"
#include <stdio.h>
#include <stdlib.h>

static int convert(double value, const char *from, const char *to)
{
    if (from[0] == 'C' && to[0] == 'F') {
        printf("%g F\n", fahrenheit_of_celsius(value));
        return 0;
    }
    if (from[0] == 'F' && to[0] == 'C') {
        printf("%g C\n", celsius_of_fahrenheit(value));
        return 0;
    }
    enum unit old = unit_named(from), new = unit_named(to);
    if (old == UNIT_UNKNOWN || new == UNIT_UNKNOWN) {
        fprintf(stderr, "convert: cannot convert %s to %s\n", from, to);
        return 1;
    }
    printf("%g %s\n", length_from_metres(length_in_metres(value, old), new), to);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return convert(atof(argv[1]), argv[2], argv[3]);
    double value;
    char from[8], to[8];
    int failed = 0;
    while (scanf("%lf %7s %7s", &value, from, to) == 3)
        failed |= convert(value, from, to);
    return failed;
}
