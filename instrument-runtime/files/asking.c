/* Functions that ask about files. */

/* For AT_EMPTY_PATH the descriptor itself is meant, which was opened before. */
static void ask_at(int at, const char *path, int flags)
{
    if ((uintptr_t)path >= 4096 && *path)
        note_looked_for(at, path, flags & AT_SYMLINK_NOFOLLOW ? NO_FOLLOW : FOLLOW);
    else
        look_at_opened(at);
}

#define ASK(name, follow, parameters, arguments)     \
    WRAP_AS(long, name, parameters)                     \
    {                                                \
        note_looked_for(HERE, path, follow);         \
        return CALL_AS(-1, name, arguments);            \
    }
#define ASK_AT(name, flags, parameters, arguments)   \
    WRAP_AS(long, name, parameters)                     \
    {                                                \
        ask_at(at, path, flags);                     \
        return CALL_AS(-1, name, arguments);            \
    }
/* The type of the result: all of it is passed on, whatever it is. */
#define PATH_1 (const char *path, long a), (path, a)
#define PATH_2 (const char *path, long a, long b), (path, a, b)
#define PATH_3 (const char *path, long a, long b, long c), (path, a, b, c)
#define PATH_4 (const char *path, long a, long b, long c, long d), (path, a, b, c, d)
#define VERSION_PATH_1 (int version, const char *path, long a), (version, path, a)
#define AT_2 (int at, const char *path, long a, int b), (at, path, a, b)
#define AT_3 (int at, const char *path, int a, long b, long c), (at, path, a, b, c)
#define ALL(macro, ...) macro(__VA_ARGS__)

ALL(ASK, stat, FOLLOW, PATH_1)
ALL(ASK, stat64, FOLLOW, PATH_1)
ALL(ASK, lstat, NO_FOLLOW, PATH_1)
ALL(ASK, lstat64, NO_FOLLOW, PATH_1)
ALL(ASK, __xstat, FOLLOW, VERSION_PATH_1)
ALL(ASK, __xstat64, FOLLOW, VERSION_PATH_1)
ALL(ASK, __lxstat, NO_FOLLOW, VERSION_PATH_1)
ALL(ASK, __lxstat64, NO_FOLLOW, VERSION_PATH_1)
ALL(ASK_AT, fstatat, b, AT_2)
ALL(ASK_AT, fstatat64, b, AT_2)
ALL(ASK_AT, __fxstatat, b, (int version, int at, const char *path, long a, int b), (version, at, path, a, b))
ALL(ASK_AT, __fxstatat64, b, (int version, int at, const char *path, long a, int b), (version, at, path, a, b))
ALL(ASK_AT, statx, a, AT_3)
ALL(ASK, access, FOLLOW, PATH_1)
ALL(ASK, eaccess, FOLLOW, PATH_1)
ALL(ASK, euidaccess, FOLLOW, PATH_1)
ALL(ASK_AT, faccessat, b, AT_2)
ALL(ASK, readlink, NO_FOLLOW, PATH_2)
ALL(ASK, __readlink_chk, NO_FOLLOW, PATH_3)
ALL(ASK_AT, readlinkat, AT_SYMLINK_NOFOLLOW, (int at, const char *path, long a, long b), (at, path, a, b))
ALL(ASK_AT, __readlinkat_chk, AT_SYMLINK_NOFOLLOW, (int at, const char *path, long a, long b, long c), (at, path, a, b, c))
ALL(ASK, statfs, FOLLOW, PATH_1)
ALL(ASK, statfs64, FOLLOW, PATH_1)
ALL(ASK, __statfs, FOLLOW, PATH_1)
ALL(ASK, statvfs, FOLLOW, PATH_1)
ALL(ASK, statvfs64, FOLLOW, PATH_1)
ALL(ASK, pathconf, FOLLOW, PATH_1)
ALL(ASK, ftok, FOLLOW, PATH_1)
ALL(ASK, getxattr, FOLLOW, PATH_3)
ALL(ASK, lgetxattr, NO_FOLLOW, PATH_3)
ALL(ASK, listxattr, FOLLOW, PATH_2)
ALL(ASK, llistxattr, NO_FOLLOW, PATH_2)
ALL(ASK, chdir, FOLLOW, (const char *path), (path))
ALL(ASK, inotify_add_watch, FOLLOW, (int fd, const char *path, long mask), (fd, path, mask))
ALL(ASK_AT, fanotify_mark, 0, (int fd, unsigned flags, uint64_t mask, int at, const char *path), (fd, flags, mask, at, path))

/* These return the address of what they found. */
#define ASK_FOR(name, parameters, arguments)     \
    WRAP_AS(char *, name, parameters)               \
    {                                            \
        note_looked_for(HERE, path, FOLLOW);     \
        return CALL_AS(NULL, name, arguments);      \
    }
ALL(ASK_FOR, realpath, PATH_1)
ALL(ASK_FOR, __realpath_chk, PATH_2)
ALL(ASK_FOR, canonicalize_file_name, (const char *path), (path))

/* Changes of what is known about a file need the file. */
ALL(ASK, chmod, FOLLOW, PATH_1)
ALL(ASK, lchmod, NO_FOLLOW, PATH_1)
ALL(ASK_AT, fchmodat, b, AT_2)
ALL(ASK, chown, FOLLOW, PATH_2)
ALL(ASK, lchown, NO_FOLLOW, PATH_2)
ALL(ASK_AT, fchownat, c, (int at, const char *path, long a, long b, int c), (at, path, a, b, c))
ALL(ASK, utime, FOLLOW, PATH_1)
ALL(ASK, utimes, FOLLOW, PATH_1)
ALL(ASK, lutimes, NO_FOLLOW, PATH_1)
ALL(ASK_AT, futimesat, 0, (int at, const char *path, long a), (at, path, a))
ALL(ASK_AT, utimensat, b, AT_2)
ALL(ASK, setxattr, FOLLOW, PATH_4)
ALL(ASK, lsetxattr, NO_FOLLOW, PATH_4)
ALL(ASK, removexattr, FOLLOW, PATH_1)
ALL(ASK, lremovexattr, NO_FOLLOW, PATH_1)

/* Whoever has the handle opens the file without its name. */
WRAP(int, name_to_handle_at, int at, const char *path, void *handle, int *mount, int flags)
{
    int follow = flags & AT_SYMLINK_FOLLOW ? FOLLOW : NO_FOLLOW;

    note(EDGEWISE_LOOKED_FOR, at, path, follow);
    note(EDGEWISE_READ, at, path, follow);
    return CALL(-1, name_to_handle_at, at, path, handle, mount, flags);
}

/* Read by functions that name no file. */
WRAP(int, utmpname, const char *path)
{
    note(EDGEWISE_READ, HERE, path, FOLLOW);
    return CALL(-1, utmpname, path);
}
WRAP(int, utmpxname, const char *path)
{
    note(EDGEWISE_READ, HERE, path, FOLLOW);
    return CALL(-1, utmpxname, path);
}

extern int fileno(void *file) __attribute__((weak));

static void look_at_stream(void *file)
{
    int error = get_errno();

    if (fileno && file)
        look_at_opened(fileno(file));
    set_errno(error);
}

/* What tells how long an open file is. */
#define ASK_OPENED(type, name, parameters, arguments)  \
    WRAP(type, name, parameters)                        \
    {                                                   \
        look_at_opened(fd);                             \
        return CALL(-1, name, arguments);               \
    }
#define ASK_STREAM(type, name, parameters, arguments)  \
    WRAP(type, name, parameters)                        \
    {                                                   \
        look_at_stream(file);                           \
        return CALL(-1, name, arguments);               \
    }
ASK_OPENED(int, fstat, LIST(int fd, void *status), LIST(fd, status))
ASK_OPENED(int, fstat64, LIST(int fd, void *status), LIST(fd, status))
ASK_OPENED(int, __fxstat, LIST(int version, int fd, void *status), LIST(version, fd, status))
ASK_OPENED(int, __fxstat64, LIST(int version, int fd, void *status), LIST(version, fd, status))
ASK_OPENED(long, lseek, LIST(int fd, long offset, int whence), LIST(fd, offset, whence))
ASK_OPENED(long, lseek64, LIST(int fd, long offset, int whence), LIST(fd, offset, whence))
ASK_STREAM(long, ftell, LIST(void *file), LIST(file))
ASK_STREAM(long, ftello, LIST(void *file), LIST(file))
ASK_STREAM(long, ftello64, LIST(void *file), LIST(file))
ASK_STREAM(int, fgetpos, LIST(void *file, void *position), LIST(file, position))
ASK_STREAM(int, fgetpos64, LIST(void *file, void *position), LIST(file, position))
