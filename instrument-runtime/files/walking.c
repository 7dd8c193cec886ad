/* Functions that list directories, and those that walk trees inside of the C library, where no wrapper sees
 * their steps. For the latter all that they may come across is noted beforehand. */

#define DEPTH_MAX 100

struct entry { /* as getdents64 has it */
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* Notes all below a directory: directories as listed, files as said. `path` has room behind it. */
static void note_below(int kind, char *path, size_t length, int depth)
{
    char block[1024] __attribute__((aligned(8)));
    long filled;
    int fd = (int)sys(SYS_openat, HERE, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return;
    note(EDGEWISE_LOOKED_FOR, HERE, path, NO_FOLLOW);
    note(EDGEWISE_LISTED, HERE, path, NO_FOLLOW);
    while ((filled = sys(SYS_getdents64, fd, block, sizeof block)) > 0) {
        for (long i = 0; i < filled;) {
            struct entry *entry = (struct entry *)(block + i);
            size_t name = length_of(entry->name);
            i += entry->size;
            if (equal(entry->name, ".") || equal(entry->name, ".."))
                continue;
            if (depth == DEPTH_MAX || length + name + 2 > PATH_MAX) {
                mark("a directory is too deep to be walked");
                continue;
            }
            path[length] = '/';
            copy(path + length + 1, entry->name, name + 1);
            if (entry->type == DT_LNK)
                note(kind, HERE, path, FOLLOW);
            note(EDGEWISE_LOOKED_FOR, HERE, path, NO_FOLLOW);
            if (entry->type == DT_DIR || entry->type == DT_UNKNOWN)
                note_below(kind, path, length + 1 + name, depth + 1);
            if (entry->type != DT_DIR)
                note(kind, HERE, path, NO_FOLLOW);
            path[length] = 0;
        }
    }
    sys(SYS_close, fd);
}

static void note_tree(int kind, int at, const char *path)
{
    struct room *room;
    size_t length, known;

    if ((uintptr_t)path < 4096 || !is_on())
        return;
    if (confined) {
        mark("a process that has confined itself walks a tree");
        return;
    }
    room = take_room();
    if (!room)
        return mark("no memory for paths");
    length = whole_path(at, path, room, &known);
    if (length) {
        int is_inside = resolve(room, known, FOLLOW) != 0;
        size_t real = length_of(room->real);
        if (is_inside)
            note_below(kind, room->real, real, 0);
        else if (is_above_project(room->real, real))
            note_below(kind, room->real, (size_t)(put(room->real, LOG_TEXT(root)) - room->real), 0);
    }
    leave_room(room);
}

/* -- directories -- */

static uint64_t before_list(int at, const char *path)
{
    return note(EDGEWISE_LOOKED_FOR, at, path, FOLLOW);
}

WRAP(void *, opendir, const char *path)
{
    uint64_t known = before_list(HERE, path);
    void *result = CALL(NULL, opendir, path);
    if (result)
        note_also(known, EDGEWISE_LISTED, HERE, path, FOLLOW);
    return result;
}

WRAP(void *, fdopendir, int fd)
{
    note(EDGEWISE_LISTED, fd, "", FOLLOW);
    return CALL(NULL, fdopendir, fd);
}

#define SCANDIR(name, at, parameters, arguments)                              \
    WRAP(int, name, parameters)                                               \
    {                                                                         \
        uint64_t known = before_list(at, path);                               \
        note_also(known, EDGEWISE_LISTED, at, path, FOLLOW);                  \
        return CALL(-1, name, arguments);                                     \
    }
SCANDIR(scandir, HERE, LIST(const char *path, void *names, void *filter, void *compare), LIST(path, names, filter, compare))
SCANDIR(scandir64, HERE, LIST(const char *path, void *names, void *filter, void *compare), LIST(path, names, filter, compare))
SCANDIR(scandirat, at, LIST(int at, const char *path, void *names, void *filter, void *compare), LIST(at, path, names, filter, compare))
SCANDIR(scandirat64, at, LIST(int at, const char *path, void *names, void *filter, void *compare), LIST(at, path, names, filter, compare))

/* -- glob -- */

/* glob() can be told to use functions of its caller for all that it asks of the system. */
#ifdef GLOB_ALTDIRFUNC
#define GLOB_BY(name)                                                                  \
    WRAP(int, name, const char *pattern, int flags, void *error, glob_t *found)        \
    {                                                                                  \
        glob_t own;                                                                    \
        int result;                                                                    \
        if (flags & GLOB_ALTDIRFUNC || !found || !is_on())                             \
            return CALL(-1, name, pattern, flags, error, found);                       \
        own.gl_closedir = found->gl_closedir;                                          \
        own.gl_readdir = found->gl_readdir;                                            \
        own.gl_opendir = found->gl_opendir;                                            \
        own.gl_lstat = found->gl_lstat;                                                \
        own.gl_stat = found->gl_stat;                                                  \
        found->gl_closedir = find_behind_us("closedir");                               \
        found->gl_readdir = find_behind_us("readdir64");                               \
        found->gl_opendir = wrap_opendir;                                              \
        found->gl_lstat = (void *)glob_lstat;                                          \
        found->gl_stat = (void *)glob_stat;                                            \
        result = CALL(-1, name, pattern, flags | GLOB_ALTDIRFUNC, error, found);       \
        found->gl_closedir = own.gl_closedir;                                          \
        found->gl_readdir = own.gl_readdir;                                            \
        found->gl_opendir = own.gl_opendir;                                            \
        found->gl_lstat = own.gl_lstat;                                                \
        found->gl_stat = own.gl_stat;                                                  \
        found->gl_flags &= ~GLOB_ALTDIRFUNC;                                           \
        return result;                                                                 \
    }
#else
#define GLOB_BY(name)                                                                  \
    WRAP(int, name, const char *pattern, int flags, void *error, glob_t *found)        \
    {                                                                                  \
        mark("glob() of this C library cannot be seen");                               \
        return CALL(-1, name, pattern, flags, error, found);                           \
    }
#endif

/* A C library before 2.33 has no function of the name stat. */
static int ask_kernel(const char *path, void *status, int flags)
{
    long result;

    ask_at(HERE, path, flags);
    result = sys(SYS_newfstatat, HERE, path, status, flags);
    if (result < 0)
        set_errno((int)-result);
    return result < 0 ? -1 : 0;
}

static int glob_stat(const char *path, void *status)
{
    return ask_kernel(path, status, 0);
}

static int glob_lstat(const char *path, void *status)
{
    return ask_kernel(path, status, AT_SYMLINK_NOFOLLOW);
}

GLOB_BY(glob)
GLOB_BY(glob64)

/* -- trees -- */

#define WALK(name, parameters, arguments)                     \
    WRAP(int, name, parameters)                               \
    {                                                         \
        note_looked_for(HERE, path, FOLLOW);                  \
        note_tree(EDGEWISE_LOOKED_FOR, HERE, path);           \
        return CALL(-1, name, arguments);                     \
    }
WALK(ftw, LIST(const char *path, void *each, int most), LIST(path, each, most))
WALK(ftw64, LIST(const char *path, void *each, int most), LIST(path, each, most))
WALK(nftw, LIST(const char *path, void *each, int most, int flags), LIST(path, each, most, flags))
WALK(nftw64, LIST(const char *path, void *each, int most, int flags), LIST(path, each, most, flags))

#define WALK_ALL(name)                                                          \
    WRAP(void *, name, char *const *paths, int options, void *compare)          \
    {                                                                           \
        for (char *const *path = paths; path && *path; path++) {                \
            note_looked_for(HERE, *path, FOLLOW);                               \
            note_tree(EDGEWISE_LOOKED_FOR, HERE, *path);                        \
        }                                                                       \
        return CALL(NULL, name, paths, options, compare);                       \
    }
WALK_ALL(fts_open)
WALK_ALL(fts64_open)

/* -- what names no file itself -- */

WRAP(int, wordexp, const char *words, void *result, int flags)
{
    if ((uintptr_t)words >= 4096 && (contains(words, "*") || contains(words, "?") || contains(words, "[")))
        mark("a process expands patterns with wordexp()");
    return CALL(-1, wordexp, words, result, flags);
}

/* Messages are read from below it later. */
WRAP(char *, bindtextdomain, const char *domain, const char *directory)
{
    note_tree(EDGEWISE_READ, HERE, directory);
    return CALL(NULL, bindtextdomain, domain, directory);
}

WRAP(void *, catopen, const char *name, int flag)
{
    if ((uintptr_t)name >= 4096 && contains(name, "/"))
        note(EDGEWISE_READ, HERE, name, FOLLOW);
    return CALL((void *)-1, catopen, name, flag);
}
