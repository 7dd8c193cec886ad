/* error.h: messages for the user, and the ways to give up. */
#ifndef TALLY_ERROR_H
#define TALLY_ERROR_H

enum { STATUS_OK = 0, STATUS_EMPTY = 1, STATUS_BAD = 2, STATUS_INTERNAL = 3 };

#define NO_RETURN __attribute__((noreturn))
#define LIKE_PRINTF __attribute__((format(printf, 1, 2)))

/* Says that something in the tool itself is wrong, and where. */
#define INTERNAL_ERROR(what) internal_error((what), __FILE__, __LINE__)

void warn(const char *format, ...) LIKE_PRINTF;
void die(const char *format, ...) LIKE_PRINTF NO_RETURN;
void internal_error(const char *what, const char *file, int line) NO_RETURN;

#endif
