#include "convert.h"

int main(void)
{
    if (celsius_of_fahrenheit(212) != 100)
        return 1;
    return fahrenheit_of_celsius(100) != 212;
}
