#include "convert.h"
#include <string.h>

enum unit unit_named(const char *name)
{
    if (strcmp(name, "m") == 0)
        return UNIT_METRE;
    if (strcmp(name, "in") == 0)
        return UNIT_INCH;
    if (strcmp(name, "mi") == 0)
        return UNIT_MILE;
    return UNIT_UNKNOWN;
}

double length_in_metres(double value, enum unit unit)
{
    switch (unit) {
    case UNIT_INCH:
        return value * METRES_PER_INCH;
    case UNIT_MILE:
        return value * METRES_PER_MILE;
    default:
        return value;
    }
}

double length_from_metres(double metres, enum unit unit)
{
    return metres / length_in_metres(1, unit);
}
