/* expr.h: evaluates expressions such as "price * 1.2 > 10 && name != 'tea'". */
#ifndef TALLY_EXPR_H
#define TALLY_EXPR_H

#include <stddef.h>

typedef enum { VALUE_NUMBER, VALUE_TEXT } ValueKind;

typedef struct {
    ValueKind kind;
    union {
        double number;
        struct {
            const char *start;
            size_t length;
        } text;
    } as;
} Value;

/* Finds the value of a name; returns 0 if there is no such name. */
typedef int (*LookupFunction)(const char *name, size_t length, const void *context, Value *value);

typedef struct {
    LookupFunction lookup;
    const void *context;
} Scope;

static inline Value number_value(double number)
{
    Value value = { VALUE_NUMBER, { number } };

    return value;
}

Value text_value(const char *start, size_t length);
int value_is_true(Value value);
Value evaluate(const char *source, const Scope *scope);

#endif
