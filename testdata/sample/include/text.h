/* text.h: strings, numbers written as text, and growing arrays. */
#ifndef TALLY_TEXT_H
#define TALLY_TEXT_H

#include <stddef.h>

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Appends an item to an array that is enlarged when it is full. */
#define APPEND(array, count, capacity, item)                              \
    do {                                                                  \
        if ((count) == (capacity)) {                                      \
            (capacity) = (capacity) ? (capacity) * 2 : 8;                 \
            (array) = enlarge((array), (capacity), sizeof(*(array)));     \
        }                                                                 \
        (array)[(count)++] = (item);                                      \
    } while (0)

static inline int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

void *enlarge(void *old, size_t count, size_t size);
char *text_copy(const char *text, size_t length);
char *text_trim(char *text);
int text_same(const char *a, const char *b);
int text_to_number(const char *text, double *number);
int text_to_count(const char *text, size_t limit, size_t *count);

#endif
