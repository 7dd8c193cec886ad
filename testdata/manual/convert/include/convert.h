/* Lengths and temperatures from one unit to another. */
#ifndef CONVERT_H
#define CONVERT_H

#define METRES_PER_INCH 0.0254
#define METRES_PER_MILE 1609.0

enum unit { UNIT_METRE, UNIT_INCH, UNIT_MILE, UNIT_UNKNOWN };

enum unit unit_named(const char *name);
double length_in_metres(double value, enum unit unit);
double length_from_metres(double metres, enum unit unit);

double celsius_of_fahrenheit(double fahrenheit);
double fahrenheit_of_celsius(double celsius);

#endif
