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

/* A walk of a tree. One that follows links may come to a directory by many ways. */
struct walk {
    int kind; /* how files are noted */
    int follows;
    long left; /* entries that are looked at */
    uint64_t on_the_way[DEPTH_MAX + 1][2]; /* device and inode of the directories above */
};

#define WALK_MAX 200000

static void note_below(struct walk *walk, char *path, size_t length, int depth);

/* A link that the walk follows, if it leads to a directory. */
static void note_behind(struct walk *walk, const char *path, int depth)
{
    struct room *room = take_room();
    size_t known = 0, length;

    if (!room)
        return mark("no memory for paths");
    length = whole_path(HERE, path, room, &known);
    if (length) {
        resolve(room, 0, FOLLOW);
        length = length_of(room->real);
        if (length && !is_of_system(room->real))
            note_below(walk, room->real, length, depth);
    }
    leave_room(room);
}

/* Whether a directory is one of those on the way to it: with links, a tree may hold itself. */
static int is_circle(struct walk *walk, int fd, int depth)
{
    struct stat status;

    if (!walk->follows || sys(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH))
        return 0;
    walk->on_the_way[depth][0] = status.st_dev;
    walk->on_the_way[depth][1] = status.st_ino;
    for (int i = 0; i < depth; i++)
        if (walk->on_the_way[i][0] == status.st_dev && walk->on_the_way[i][1] == status.st_ino)
            return 1;
    return 0;
}

/* Notes all below a directory: directories as listed, files as said. `path` has room behind it. */
static void note_below(struct walk *walk, char *path, size_t length, int depth)
{
    char block[1024] __attribute__((aligned(8)));
    long filled;
    int fd;

    if (depth > DEPTH_MAX)
        return mark("a directory is too deep to be walked");
    fd = (int)sys(SYS_openat, HERE, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    note(EDGEWISE_LOOKED_FOR, HERE, path, NO_FOLLOW);
    note(EDGEWISE_LISTED, HERE, path, NO_FOLLOW);
    if (is_circle(walk, fd, depth)) {
        sys(SYS_close, fd);
        return;
    }
    while ((filled = sys(SYS_getdents64, fd, block, sizeof block)) > 0) {
        for (long i = 0; i < filled;) {
            struct entry *entry = (struct entry *)(block + i);
            size_t name = length_of(entry->name);
            i += entry->size;
            if (equal(entry->name, ".") || equal(entry->name, ".."))
                continue;
            if (length + name + 2 > PATH_MAX) {
                mark("a directory is too deep to be walked");
                continue;
            }
            if (walk->left-- <= 0) {
                mark("a tree is too large to be walked");
                break;
            }
            path[length] = '/';
            copy(path + length + 1, entry->name, name + 1);
            if (entry->type == DT_LNK || entry->type == DT_UNKNOWN)
                note(walk->kind, HERE, path, FOLLOW);
            note(EDGEWISE_LOOKED_FOR, HERE, path, NO_FOLLOW);
            if (entry->type == DT_DIR || entry->type == DT_UNKNOWN)
                note_below(walk, path, length + 1 + name, depth + 1);
            if (walk->follows && (entry->type == DT_LNK || entry->type == DT_UNKNOWN))
                note_behind(walk, path, depth + 1);
            if (entry->type != DT_DIR)
                note(walk->kind, HERE, path, NO_FOLLOW);
            path[length] = 0;
        }
    }
    sys(SYS_close, fd);
}

static void note_tree_as(int kind, int at, const char *path, int follows)
{
    struct walk walk = {.kind = kind, .follows = follows, .left = WALK_MAX};
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
        if (is_above_project(room->real, real))
            note_below(&walk, room->real, (size_t)(put(room->real, LOG_TEXT(root)) - room->real), 0);
        else if (is_inside || (follows && real && !is_of_system(room->real)))
            note_below(&walk, room->real, real, 0);
    }
    leave_room(room);
}

static void note_tree(int kind, int at, const char *path)
{
    note_tree_as(kind, at, path, 0);
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
/* Notes what is asked for. Returns whether that says which names count. */
static int note_pattern(const char *pattern, int flags)
{
    struct room *room;
    size_t length = 0, start = 0, known;
    int tells = 0, is_plain = !(flags & (GLOB_BRACE | GLOB_TILDE | GLOB_TILDE_CHECK));

    if ((uintptr_t)pattern < 4096 || !is_on() || confined)
        return 0;
    if (is_of_system(pattern))
        return 1;
    while (pattern[length] && !contains("*?[\\", (char[]){pattern[length], 0}))
        if (pattern[length++] == '/')
            start = length;
    if (!is_plain || length_of(pattern) >= PATH_MAX || contains(pattern + start, "..") || !(room = take_room()))
        return 0;
    copy(room->link, pattern, start);
    room->link[start] = 0;
    length = whole_path(HERE, room->link, room, &known);
    if (length) {
        length = resolve(room, known, FOLLOW);
        if (length) {
            room->real[length++] = '/';
            length = (size_t)(put(room->real + length, pattern + start) - room->real);
            note_real(is_make ? EDGEWISE_PATTERN_OF_MAKE : EDGEWISE_PATTERN, room->real, length);
        }
        tells = length || !is_above_project(room->real, length_of(room->real));
    }
    leave_room(room);
    return tells;
}

static void *globbing_opendir(const char *path)
{
    uint64_t known = before_list(HERE, path);
    void *result = CALL(NULL, opendir, path);
    if (result)
        note_also(known, is_make ? EDGEWISE_CACHED : EDGEWISE_GLOBBED, HERE, path, FOLLOW);
    return result;
}

#define GLOB_BY(name)                                                                  \
    WRAP(int, name, const char *pattern, int flags, void *error, glob_t *found)        \
    {                                                                                  \
        glob_t own;                                                                    \
        int result;                                                                    \
        int is_known = note_pattern(pattern, flags);                                   \
        if (flags & GLOB_ALTDIRFUNC || !found || !is_on())                             \
            return CALL(-1, name, pattern, flags, error, found);                       \
        own.gl_closedir = found->gl_closedir;                                          \
        own.gl_readdir = found->gl_readdir;                                            \
        own.gl_opendir = found->gl_opendir;                                            \
        own.gl_lstat = found->gl_lstat;                                                \
        own.gl_stat = found->gl_stat;                                                  \
        found->gl_closedir = find_behind_us("closedir");                               \
        found->gl_readdir = find_behind_us("readdir64");                               \
        found->gl_opendir = is_known ? globbing_opendir : wrap_opendir;                \
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

#define WALK(name, follows, parameters, arguments)                     \
    WRAP(int, name, parameters)                                        \
    {                                                                  \
        note_looked_for(HERE, path, FOLLOW);                           \
        note_tree_as(EDGEWISE_LOOKED_FOR, HERE, path, follows);        \
        return CALL(-1, name, arguments);                              \
    }
#define IS_LOGICAL_WALK !(flags & 1) /* FTW_PHYS, of <ftw.h> */
WALK(ftw, 1, LIST(const char *path, void *each, int most), LIST(path, each, most))
WALK(ftw64, 1, LIST(const char *path, void *each, int most), LIST(path, each, most))
WALK(nftw, IS_LOGICAL_WALK, LIST(const char *path, void *each, int most, int flags), LIST(path, each, most, flags))
WALK(nftw64, IS_LOGICAL_WALK, LIST(const char *path, void *each, int most, int flags), LIST(path, each, most, flags))

/* Of <fts.h>, which not every C library has. */
#define LOGICAL 2 /* FTS_LOGICAL */
#define AGAIN_BEHIND_LINK 2 /* FTS_FOLLOW */

struct walked { /* the beginning of an FTSENT */
    struct walked *cycle, *parent, *link;
    long number;
    void *pointer;
    char *accessed_as;
};

#define WALK_ALL(name)                                                          \
    WRAP(void *, name, char *const *paths, int options, void *compare)          \
    {                                                                           \
        for (char *const *path = paths; path && *path; path++) {                \
            note_looked_for(HERE, *path, FOLLOW);                               \
            note_tree_as(EDGEWISE_LOOKED_FOR, HERE, *path, options & LOGICAL);  \
        }                                                                       \
        return CALL(NULL, name, paths, options, compare);                       \
    }
WALK_ALL(fts_open)
WALK_ALL(fts64_open)

/* A link that a walk comes across may be followed after all. */
#define FOLLOW_IN_WALK(name)                                                    \
    WRAP(int, name, void *walk, struct walked *entry, int instruction)          \
    {                                                                           \
        if (instruction == AGAIN_BEHIND_LINK && (uintptr_t)entry >= 4096)       \
            note_tree(EDGEWISE_LOOKED_FOR, HERE, entry->accessed_as);           \
        return CALL(-1, name, walk, entry, instruction);                        \
    }
FOLLOW_IN_WALK(fts_set)
FOLLOW_IN_WALK(fts64_set)

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
    note_tree_as(EDGEWISE_READ, HERE, directory, 1);
    return CALL(NULL, bindtextdomain, domain, directory);
}

WRAP(void *, catopen, const char *name, int flag)
{
    if ((uintptr_t)name >= 4096 && contains(name, "/"))
        note(EDGEWISE_READ, HERE, name, FOLLOW);
    return CALL((void *)-1, catopen, name, flag);
}
