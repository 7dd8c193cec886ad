/* format.c: writes numbers in several styles. */
#include "format.h"

#include "error.h"
#include "text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const NumberFormat number_formats[] = {
    { "plain", FORMAT_PLAIN, 0, 6 },
    { "fixed", FORMAT_FIXED, 0, 2 },
    { "signed", FORMAT_FIXED, SHOW_PLUS, 2 },
    { "science", FORMAT_SCIENCE, 0, 3 },
    { "percent", FORMAT_PERCENT, 0, 1 },
    { "grouped", FORMAT_GROUPED, 0, 2 },
    { "whole", FORMAT_FIXED, WHOLE_ONLY, 0 },
};
const size_t number_format_count = ARRAY_COUNT(number_formats);

const NumberFormat *format_find(const char *name)
{
    size_t i;

    for (i = 0; i < number_format_count; i++) {
        if (text_same(number_formats[i].name, name))
            return &number_formats[i];
    }
    return NULL;
}

/* Puts a space between each three digits before the point. */
static void group_digits(char *text)
{
    size_t start = strcspn(text, "0123456789");
    size_t end = start;

    while (isdigit((unsigned char)text[end]))
        end++;
    while (end > start + 3) {
        end -= 3;
        memmove(text + end + 1, text + end, strlen(text + end) + 1);
        text[end] = ' ';
    }
}

/* Writes a number to text, which has room for NUMBER_SIZE characters. */
const char *format_number(char *text, double value, const NumberFormat *format)
{
    const char *sign = (format->flags & SHOW_PLUS) && value > 0.0 ? "+" : "";
    const char *suffix = "";

    if (value == 0.0)
        value = 0.0; /* no minus sign */
    if ((format->flags & WHOLE_ONLY) && value != floor(value))
        die("%g is not a whole number", value);

    switch (format->kind) {
    case FORMAT_PLAIN:
        snprintf(text, NUMBER_SIZE, "%.*g", format->precision ? format->precision : 1, value);
        break;
    case FORMAT_SCIENCE:
        snprintf(text, NUMBER_SIZE, "%.*e", format->precision, value);
        break;
    case FORMAT_PERCENT:
        value *= 100.0;
        suffix = " %";
        /* fall through */
    case FORMAT_FIXED:
        snprintf(text, NUMBER_SIZE, "%s%.*f%s", sign, format->precision, value, suffix);
        break;
    case FORMAT_GROUPED:
        if (fabs(value) >= 1e15)
            die("%g is too large for digit groups", value);
        snprintf(text, NUMBER_SIZE, "%.*f", format->precision, value);
        group_digits(text);
        break;
    default:
        INTERNAL_ERROR("unknown number format");
    }
    return text;
}
