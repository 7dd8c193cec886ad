/* Functions that open files. */

/* What is in the file counts, does not, counts and is changed, or is only added to. */
enum opening { READS, MAKES, CHANGES, APPENDS };

struct opened {
    enum opening how;
    int follow;
    uint64_t known;
};

static int is_there(int at, const char *path)
{
    return confined || !sys(SYS_faccessat, at, path, F_OK, 0);
}

__attribute__((noinline)) static struct opened before_open(int at, const char *path, int flags)
{
    struct opened opened = {READS, FOLLOW, 0};
    int makes = flags & O_CREAT, appends;

    if ((uintptr_t)path < 4096 || !is_on() || is_of_system(path))
        return opened;
    if (flags & O_NOFOLLOW || (makes && flags & O_EXCL))
        opened.follow = NO_FOLLOW;
    if ((flags & O_TMPFILE) == O_TMPFILE)
        makes = flags = 0; /* in a directory, without a name */
    appends = makes && (flags & (O_ACCMODE | O_APPEND | O_EXCL)) == (O_WRONLY | O_APPEND);
    if (flags & O_TRUNC || (makes && (flags & O_EXCL || !is_there(at, path))))
        opened.how = MAKES;
    else if (appends)
        opened.how = APPENDS;
    else if ((flags & O_ACCMODE) != O_RDONLY)
        opened.how = CHANGES; /* what is not overwritten stays */
    /* Where it is neither emptied nor added to in any case, it makes a difference whether it was there. What else
     * shows what was in it is seen by look_at_opened. */
    if (!appends && (opened.how != MAKES || !makes || !(flags & O_TRUNC) || flags & O_EXCL))
        opened.known = note(EDGEWISE_LOOKED_FOR, at, path, opened.follow);
    return opened;
}

/* A hard link has no name that leads to the others: whoever reads the log looks for these. */
static void note_several_names(int at, const char *path)
{
    struct stat status;
    char text[48], *end;

    if ((uintptr_t)path < 4096 || !is_on() || confined || is_of_system(path) ||
        sys(SYS_newfstatat, at, path, &status, 0) || (status.st_mode & S_IFMT) != S_IFREG || status.st_nlink < 2)
        return;
    end = put_number(text, status.st_dev);
    *end++ = ' ';
    end = put_number(end, status.st_ino);
    note_real(EDGEWISE_SEVERAL_NAMES, text, (size_t)(end - text));
}

__attribute__((noinline)) static void after_open(struct opened opened, int succeeded, int at, const char *path, int flags)
{
    if (opened.how == MAKES) {
        if ((uintptr_t)path >= 4096 && is_on())
            note_change(succeeded, at, path, opened.follow);
        return;
    }
    if (opened.how == APPENDS) {
        if (is_on())
            note_append(succeeded, at, path, opened.follow);
        return;
    }
    if (!succeeded && is_make && opened.known && opened.how == READS)
        note_also(opened.known, EDGEWISE_INCLUDED, at, path, opened.follow);
    if (!succeeded || (flags & O_PATH) == O_PATH)
        return;
    if (!opened.known)
        return note_several_names(at, path);
    note_also(opened.known, is_make ? EDGEWISE_DESCRIBED : EDGEWISE_READ, at, path, opened.follow);
    if (flags & O_DIRECTORY)
        note_also(opened.known, EDGEWISE_LISTED, at, path, opened.follow);
    if (opened.how == CHANGES)
        note_also(opened.known, EDGEWISE_WRITTEN, at, path, opened.follow);
}

#define OPEN(at, path, flags, call)                        \
    struct opened opened = before_open(at, path, flags);   \
    int result = call;                                     \
    after_open(opened, result >= 0, at, path, flags);      \
    return result

#define WITH_MODE(flags)                                             \
    int mode = 0;                                                    \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) {   \
        va_list list;                                                \
        va_start(list, flags);                                       \
        mode = va_arg(list, int);                                    \
        va_end(list);                                                \
    }

#define WRAP_OPEN(name)                                                   \
    WRAP(int, name, const char *path, int flags, ...)                     \
    {                                                                     \
        WITH_MODE(flags)                                                  \
        OPEN(HERE, path, flags, CALL(-1, name, path, flags, mode));       \
    }
#define WRAP_OPENAT(name)                                                 \
    WRAP(int, name, int at, const char *path, int flags, ...)             \
    {                                                                     \
        WITH_MODE(flags)                                                  \
        OPEN(at, path, flags, CALL(-1, name, at, path, flags, mode));     \
    }
#define WRAP_OPEN_2(name)                                                 \
    WRAP(int, name, const char *path, int flags)                          \
    {                                                                     \
        OPEN(HERE, path, flags, CALL(-1, name, path, flags));             \
    }
#define WRAP_OPENAT_2(name)                                               \
    WRAP(int, name, int at, const char *path, int flags)                  \
    {                                                                     \
        OPEN(at, path, flags, CALL(-1, name, at, path, flags));           \
    }
#define WRAP_CREAT(name)                                                  \
    WRAP(int, name, const char *path, int mode)                           \
    {                                                                     \
        OPEN(HERE, path, O_WRONLY | O_CREAT | O_TRUNC, CALL(-1, name, path, mode)); \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP_OPEN(__open)
WRAP_OPEN(__open64)
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)
WRAP_OPEN_2(__open_2)
WRAP_OPEN_2(__open64_2)
WRAP_OPENAT_2(__openat_2)
WRAP_OPENAT_2(__openat64_2)
WRAP_CREAT(creat)
WRAP_CREAT(creat64)

static int flags_of(const char *mode)
{
    int flags = 0;

    if ((uintptr_t)mode < 4096)
        return O_RDONLY;
    switch (*mode) {
    case 'w': flags = O_WRONLY | O_CREAT | O_TRUNC; break;
    case 'a': flags = O_WRONLY | O_CREAT | O_APPEND; break;
    }
    for (; *mode && *mode != ','; mode++) {
        if (*mode == '+')
            flags = (flags & ~O_ACCMODE) | O_RDWR;
        if (*mode == 'x')
            flags |= O_EXCL;
    }
    return flags;
}

#define WRAP_FOPEN(name)                                              \
    WRAP(void *, name, const char *path, const char *mode)            \
    {                                                                 \
        int flags = flags_of(mode);                                   \
        struct opened opened = before_open(HERE, path, flags);        \
        void *result = CALL(NULL, name, path, mode);                  \
        after_open(opened, result != NULL, HERE, path, flags);        \
        return result;                                                \
    }
#define WRAP_FREOPEN(name)                                            \
    WRAP(void *, name, const char *path, const char *mode, void *file) \
    {                                                                 \
        int flags = flags_of(mode);                                   \
        struct opened opened = before_open(HERE, path, flags);        \
        void *result = CALL(NULL, name, path, mode, file);            \
        after_open(opened, result != NULL, HERE, path, flags);        \
        return result;                                                \
    }

WRAP_FOPEN(fopen)
WRAP_FOPEN(fopen64)
WRAP_FOPEN(_IO_fopen)
WRAP_FOPEN(setmntent)
WRAP_FOPEN(__setmntent)
WRAP_FREOPEN(freopen)
WRAP_FREOPEN(freopen64)

/* Their names are made up, so that nobody has used them before. */
#define WRAP_TEMPORARY(type, failed, name, parameters, arguments)     \
    WRAP(type, name, parameters)                                      \
    {                                                                 \
        type result = CALL(failed, name, arguments);                  \
        if (result != failed)                                         \
            note_change(1, HERE, path, NO_FOLLOW);                    \
        return result;                                                \
    }
#define LIST(...) __VA_ARGS__

WRAP_TEMPORARY(int, -1, mkstemp, LIST(char *path), LIST(path))
WRAP_TEMPORARY(int, -1, mkstemp64, LIST(char *path), LIST(path))
WRAP_TEMPORARY(int, -1, mkostemp, LIST(char *path, int flags), LIST(path, flags))
WRAP_TEMPORARY(int, -1, mkostemp64, LIST(char *path, int flags), LIST(path, flags))
WRAP_TEMPORARY(int, -1, mkstemps, LIST(char *path, int length), LIST(path, length))
WRAP_TEMPORARY(int, -1, mkstemps64, LIST(char *path, int length), LIST(path, length))
WRAP_TEMPORARY(int, -1, mkostemps, LIST(char *path, int length, int flags), LIST(path, length, flags))
WRAP_TEMPORARY(int, -1, mkostemps64, LIST(char *path, int length, int flags), LIST(path, length, flags))
WRAP_TEMPORARY(char *, NULL, mkdtemp, LIST(char *path), LIST(path))
