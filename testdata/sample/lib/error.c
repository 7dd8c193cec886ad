/* error.c: warnings, fatal errors and internal errors. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WARNINGS 3

static const char *const program = "tally";

static void say(const char *kind, const char *format, va_list arguments)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s: ", program, kind);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

/* A bad file can hold thousands of bad fields: only the first few are shown. */
void warn(const char *format, ...)
{
    static int left = MAX_WARNINGS;
    va_list arguments;

    if (left-- <= 0)
        return;
    va_start(arguments, format);
    say("warning", format, arguments);
    va_end(arguments);
}

void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("error", format, arguments);
    va_end(arguments);
    exit(STATUS_BAD);
}

void internal_error(const char *what, const char *file, int line)
{
    fflush(stdout);
    fprintf(stderr, "%s: internal error: %s (%s:%d)\n", program, what, file, line);
    exit(STATUS_INTERNAL);
}
