/* format.h: the ways to write a number. */
#ifndef TALLY_FORMAT_H
#define TALLY_FORMAT_H

#include <stddef.h>

#define NUMBER_SIZE 400
#define MAX_PRECISION 12

typedef enum {
    FORMAT_PLAIN, FORMAT_FIXED, FORMAT_SCIENCE, FORMAT_PERCENT, FORMAT_GROUPED
} FormatKind;

enum { SHOW_PLUS = 1 << 0, WHOLE_ONLY = 1 << 1 };

typedef struct {
    const char *name;
    FormatKind kind;
    unsigned flags;
    int precision;
} NumberFormat;

extern const NumberFormat number_formats[];
extern const size_t number_format_count;

const NumberFormat *format_find(const char *name);
const char *format_number(char *text, double value, const NumberFormat *format);

#endif
