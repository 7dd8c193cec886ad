#include "convert.h"

double celsius_of_fahrenheit(double fahrenheit)
{
    return (fahrenheit - 32) / 1.8;
}

double fahrenheit_of_celsius(double celsius)
{
    return celsius * 1.8 + 32;
}
