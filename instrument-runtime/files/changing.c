/* Functions that make, replace or remove files and directories. */

static void note_tree(int kind, int at, const char *path);

static int type_of(int at, const char *path)
{
    struct stat status;

    if (confined || !is_on() || (uintptr_t)path < 4096 || sys(SYS_newfstatat, at, path, &status, AT_SYMLINK_NOFOLLOW))
        return 0;
    return status.st_mode & S_IFMT;
}

/* Whether what is moved away or removed may be on the way to other files. */
static int may_be_link(int at, const char *path)
{
    int type = type_of(at, path);

    return type == S_IFLNK || type == S_IFDIR;
}

/* A file that is not there is as good as removed. A directory may not be empty once it is there. */
static void removed(int result, int at, const char *path, int was_link, int is_directory)
{
    note_change(!result || (get_errno() == ENOENT && !is_directory), at, path, NO_FOLLOW);
    if (was_link && !result)
        links_change();
}

#define REMOVE(name, at, is_directory, parameters, arguments) \
    WRAP(int, name, parameters)                       \
    {                                                 \
        int was_link = may_be_link(at, path);         \
        int result = CALL(-1, name, arguments);       \
        removed(result, at, path, was_link, is_directory); \
        return result;                                \
    }
REMOVE(unlink, HERE, 0, LIST(const char *path), LIST(path))
REMOVE(unlinkat, at, flags & AT_REMOVEDIR, LIST(int at, const char *path, int flags), LIST(at, path, flags))
REMOVE(remove, HERE, 0, LIST(const char *path), LIST(path))
REMOVE(rmdir, HERE, 1, LIST(const char *path), LIST(path))

/* They fail if something is there already. */
#define MAKE(name, at, parameters, arguments)                 \
    WRAP(int, name, parameters)                               \
    {                                                         \
        note_looked_for(at, path, NO_FOLLOW);                 \
        int result = CALL(-1, name, arguments);               \
        note_change(!result, at, path, NO_FOLLOW);            \
        return result;                                        \
    }
MAKE(mkdir, HERE, LIST(const char *path, int mode), LIST(path, mode))
MAKE(mkdirat, at, LIST(int at, const char *path, int mode), LIST(at, path, mode))
MAKE(mkfifo, HERE, LIST(const char *path, int mode), LIST(path, mode))
MAKE(mkfifoat, at, LIST(int at, const char *path, int mode), LIST(at, path, mode))
MAKE(mknod, HERE, LIST(const char *path, int mode, long device), LIST(path, mode, device))
MAKE(mknodat, at, LIST(int at, const char *path, int mode, long device), LIST(at, path, mode, device))
MAKE(__xmknod, HERE, LIST(int version, const char *path, int mode, void *device), LIST(version, path, mode, device))
MAKE(__xmknodat, at, LIST(int version, int at, const char *path, int mode, void *device), LIST(version, at, path, mode, device))

#define SYMLINK(name, at, parameters, arguments)              \
    WRAP(int, name, parameters)                               \
    {                                                         \
        note_looked_for(at, path, NO_FOLLOW);                 \
        int result = CALL(-1, name, arguments);               \
        note_change(!result, at, path, NO_FOLLOW);            \
        if (!result)                                          \
            links_change();                                   \
        return result;                                        \
    }
SYMLINK(symlink, HERE, LIST(const char *target, const char *path), LIST(target, path))
SYMLINK(symlinkat, at, LIST(const char *target, int at, const char *path), LIST(target, at, path))

static void before_link(int at, const char *path, int follow)
{
    uint64_t known = note(EDGEWISE_LOOKED_FOR, at, path, follow);

    note_also(known, EDGEWISE_READ, at, path, follow);
}

WRAP(int, link, const char *from, const char *path)
{
    int may_lead = may_be_link(HERE, from);
    before_link(HERE, from, NO_FOLLOW);
    note_looked_for(HERE, path, NO_FOLLOW);
    int result = CALL(-1, link, from, path);
    note_change(!result, HERE, path, NO_FOLLOW);
    if (may_lead)
        links_change();
    return result;
}

WRAP(int, linkat, int from_at, const char *from, int at, const char *path, int flags)
{
    int may_lead = may_be_link(from_at, from);
    before_link(from_at, from, flags & AT_SYMLINK_FOLLOW ? FOLLOW : NO_FOLLOW);
    note_looked_for(at, path, NO_FOLLOW);
    int result = CALL(-1, linkat, from_at, from, at, path, flags);
    note_change(!result, at, path, NO_FOLLOW);
    if (may_lead)
        links_change();
    return result;
}

/* What is moved keeps its content, so it counts under both names. */
static int before_rename(int from_at, const char *from, int at, const char *path, unsigned flags)
{
    int may_lead = may_be_link(from_at, from) || may_be_link(at, path);

    before_link(from_at, from, NO_FOLLOW);
    if (type_of(from_at, from) == S_IFDIR)
        note_tree(EDGEWISE_READ, from_at, from);
    if (flags & 1) /* not over another one */
        note_looked_for(at, path, NO_FOLLOW);
    if (flags & 2) { /* they change places */
        before_link(at, path, NO_FOLLOW);
        note_tree(EDGEWISE_READ, at, path);
    }
    return may_lead;
}

static void after_rename(int result, int may_lead, int from_at, const char *from, int at, const char *path)
{
    note_change(!result, at, path, NO_FOLLOW);
    if (result)
        return;
    note_change(1, from_at, from, NO_FOLLOW);
    if (may_lead)
        links_change();
}

WRAP(int, rename, const char *from, const char *path)
{
    int may_lead = before_rename(HERE, from, HERE, path, 0);
    int result = CALL(-1, rename, from, path);
    after_rename(result, may_lead, HERE, from, HERE, path);
    return result;
}

WRAP(int, renameat, int from_at, const char *from, int at, const char *path)
{
    int may_lead = before_rename(from_at, from, at, path, 0);
    int result = CALL(-1, renameat, from_at, from, at, path);
    after_rename(result, may_lead, from_at, from, at, path);
    return result;
}

WRAP(int, renameat2, int from_at, const char *from, int at, const char *path, unsigned flags)
{
    int may_lead = before_rename(from_at, from, at, path, flags);
    int result = CALL(-1, renameat2, from_at, from, at, path, flags);
    after_rename(result, may_lead, from_at, from, at, path);
    return result;
}

/* What is left of it counts. */
static void before_truncate(const char *path, long length)
{
    if (length)
        before_link(HERE, path, FOLLOW);
}

WRAP(int, truncate, const char *path, long length)
{
    before_truncate(path, length);
    int result = CALL(-1, truncate, path, length);
    note_change(!result, HERE, path, FOLLOW);
    return result;
}

WRAP(int, truncate64, const char *path, long length)
{
    before_truncate(path, length);
    int result = CALL(-1, truncate64, path, length);
    note_change(!result, HERE, path, FOLLOW);
    return result;
}
