/* units.c: the table of units and the conversion between them. */
#include "units.h"

#include "error.h"
#include "text.h"

#include <string.h>

#define ABSOLUTE_ZERO (-273.15)

const Unit units[] = {
    { "m", "metre", LENGTH, 1.0, 0.0 },
    { "cm", "centimetre", LENGTH, 0.01, 0.0 },
    { "km", "kilometre", LENGTH, 1000.0, 0.0 },
    { "in", "inch", LENGTH, 0.0254, 0.0 },
    { "ft", "foot", LENGTH, 0.3048, 0.0 },
    { "mi", "mile", LENGTH, 1609.344, 0.0 },
    { "kg", "kilogram", MASS, 1.0, 0.0 },
    { "g", "gram", MASS, 0.001, 0.0 },
    { "oz", "ounce", MASS, 0.028349523125, 0.0 },
    { "lb", "pound", MASS, 0.45359237, 0.0 },
    { "s", "second", DURATION, 1.0, 0.0 },
    { "min", "minute", DURATION, 60.0, 0.0 },
    { "h", "hour", DURATION, 3600.0, 0.0 },
    { "d", "day", DURATION, 86400.0, 0.0 },
    { "K", "kelvin", TEMPERATURE, 1.0, 0.0 },
    { "C", "degree Celsius", TEMPERATURE, 1.0, -ABSOLUTE_ZERO },
    { "F", "degree Fahrenheit", TEMPERATURE, 5.0 / 9.0, -ABSOLUTE_ZERO - 160.0 / 9.0 },
};
const size_t unit_count = ARRAY_COUNT(units);

/* Finds a unit by its exact sign or by its title in any case. */
const Unit *unit_find(const char *name)
{
    const Unit *unit;

    for (unit = units; unit < units + unit_count; unit++) {
        if (strcmp(unit->name, name) == 0 || text_same(unit->title, name))
            return unit;
    }
    return NULL;
}

const char *dimension_name(Dimension dimension)
{
    switch (dimension) {
    case LENGTH:
        return "length";
    case MASS:
        return "mass";
    case DURATION:
        return "duration";
    case TEMPERATURE:
        return "temperature";
    }
    INTERNAL_ERROR("unit without a dimension");
}

double unit_convert(double value, const Unit *from, const Unit *to)
{
    double base;

    if (from->dimension != to->dimension)
        die("cannot convert %s to %s", dimension_name(from->dimension),
            dimension_name(to->dimension));
    if (from == to)
        return value;
    base = value * from->factor + from->offset;
    if (from->dimension == TEMPERATURE && base < 0.0)
        die("temperature is below absolute zero");
    return (base - to->offset) / to->factor;
}
