/* units.h: units of measure and the conversion between them. */
#ifndef TALLY_UNITS_H
#define TALLY_UNITS_H

#include <stddef.h>

typedef enum { LENGTH, MASS, DURATION, TEMPERATURE } Dimension;

/* A value in the base unit of the dimension is value * factor + offset. */
typedef struct {
    const char *name;
    const char *title;
    Dimension dimension;
    double factor;
    double offset;
} Unit;

extern const Unit units[];
extern const size_t unit_count;

const Unit *unit_find(const char *name);
const char *dimension_name(Dimension dimension);
double unit_convert(double value, const Unit *from, const Unit *to);

#endif
