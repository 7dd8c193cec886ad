/* text.c: strings, numbers written as text, and growing arrays. */
#include "text.h"

#include "error.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_NUMBER 1e300

void *enlarge(void *old, size_t count, size_t size)
{
    void *memory = realloc(old, count * size);

    if (memory == NULL)
        die("out of memory");
    return memory;
}

char *text_copy(const char *text, size_t length)
{
    char *copy = enlarge(NULL, length + 1, 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* Removes the blanks at both ends, in place. */
char *text_trim(char *text)
{
    size_t length;

    while (is_blank(*text))
        text++;
    length = strlen(text);
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* Whether two texts are the same but for upper and lower case. */
int text_same(const char *a, const char *b)
{
    while (*a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

/* Reads a number with an optional suffix: 12, -0.5, 1.5k, 3M, 2G, 40%. */
int text_to_number(const char *text, double *number)
{
    char *end;
    double value;

    if (text[0] == '\0' || strspn(text, "+-.0123456789eEkMG%") != strlen(text))
        return 0;
    value = strtod(text, &end);
    if (end == text)
        return 0;
    switch (*end) {
    case '\0':
        break;
    case '%':
        value /= 100.0;
        end++;
        break;
    case 'G':
        value *= 1000.0;
        /* fall through */
    case 'M':
        value *= 1000.0;
        /* fall through */
    case 'k':
        value *= 1000.0;
        end++;
        break;
    default:
        return 0;
    }
    if (*end != '\0' || fabs(value) > LARGEST_NUMBER)
        return 0;
    *number = value;
    return 1;
}

/* Reads a whole number from 0 to limit. */
int text_to_count(const char *text, size_t limit, size_t *count)
{
    double number;

    if (!text_to_number(text, &number) || number < 0.0 || number > (double)limit)
        return 0;
    *count = (size_t)number;
    return (double)*count == number;
}
