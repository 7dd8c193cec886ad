#include "convert.h"

int main(void)
{
    if (unit_named("in") != UNIT_INCH || unit_named("ell") != UNIT_UNKNOWN)
        return 1;
    return length_in_metres(100, UNIT_INCH) != 2.54;
}
