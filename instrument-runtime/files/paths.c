/* From the path that a program names to the file it leads to, as the kernel goes: link by link, since a link
 * may lead into the project, out of it, or be part of it itself. */

#define LINKS_MAX 40 /* as in the kernel */

static struct room *confined_in; /* the directory of a process that is confined, as the path */

static int is_below_system(const char *path)
{
    if (starts_with(path, "/usr/"))
        return !starts_with(path + 5, "local/") && !starts_with(path + 5, "src/");
    return starts_with(path, "/lib/") || starts_with(path, "/lib64/") || starts_with(path, "/bin/") ||
           starts_with(path, "/sbin/") || starts_with(path, "/sys/") || equal(path, "/dev/null") ||
           equal(path, "/dev/tty");
}

/* Below these directories no link leads into a project, unless one is there itself. */
__attribute__((noinline)) static int is_of_system(const char *path)
{
    return is_below_system(path) && !contains(path, "/..") && !is_below_system(LOG_TEXT(root));
}

/* How a path stands to the root of the project. */
static int is_in_project(const char *path, size_t length)
{
    size_t root = log->root_length;

    return length >= root && same(path, LOG_TEXT(root), root) && (length == root || path[root] == '/');
}

/* The root is given without links, so no directory above it is one. */
static int is_above_project(const char *path, size_t length)
{
    return length < log->root_length && same(path, LOG_TEXT(root), length) && LOG_TEXT(root)[length] == '/';
}

/* The directory that a path is relative to, into `path`. 0 if it is not known: then everything may be meant. */
static size_t directory_of(int at, char *path)
{
    char name[48];
    long length;

    if (confined) {
        if (at != AT_FDCWD || !confined_in) {
            mark("a process that has confined itself uses relative paths");
            return 0;
        }
        return (size_t)(put(path, confined_in->path) - path);
    }
    if (at == AT_FDCWD) {
        length = sys(SYS_getcwd, path, PATH_MAX);
        if (length > 0 && path[0] == '/')
            return (size_t)length - 1;
        if (length != -ENOENT)
            mark("a process works in a directory whose name is not known");
        return 0;
    }
    put_number(put(name, "/proc/self/fd/"), (unsigned)at);
    length = sys(SYS_readlinkat, AT_FDCWD, name, path, PATH_MAX);
    if (length > 0 && path[0] == '/') {
        path[length] = 0;
        return (size_t)length;
    }
    if (sys(SYS_fcntl, at, F_GETFD) != -EBADF)
        mark("a process uses a directory whose name is not known");
    return 0;
}

/* Writes the path from the root on, as it is. Returns its length, with *known the length of what has no
 * links for sure; 0 if there is nothing to note. */
static size_t whole_path(int at, const char *path, struct room *room, size_t *known)
{
    size_t length = length_of(path), start = 0;

    *known = 0;
    if (length >= PATH_MAX)
        return 0; /* the kernel takes none as long */
    if (*path != '/') {
        start = directory_of(at, room->path);
        if (!start)
            return 0;
        *known = start;
        if (length)
            room->path[start++] = '/';
    }
    copy(room->path + start, path, length + 1);
    return start + length;
}

static void note_link(const char *path, size_t length);

/* Resolves room->path into room->real and returns its length, 0 if it is nothing of the project.
 * Components up to `known` need no look. */
static size_t resolve(struct room *room, size_t known, int follow)
{
    const char *at = room->path;
    char *real = room->real;
    size_t length = 0;
    int links = 0, exists = 1;

    while (*at) {
        const char *end;
        size_t part, before = length;
        long target;

        while (*at == '/')
            at++;
        for (end = at; *end && *end != '/'; end++)
            ;
        part = (size_t)(end - at);
        if (part == 0 || (part == 1 && *at == '.')) {
            at = end;
            continue;
        }
        if (part == 2 && at[0] == '.' && at[1] == '.') {
            /* Whether there is such a directory counts. That of the process is there. */
            if (is_in_project(real, length) && length > log->root_length && (links || length > known))
                note_link(real, length);
            while (length && real[--length] != '/')
                ;
            at = end;
            continue;
        }
        if (length + part + 2 >= LONG_PATH)
            return 0;
        real[length++] = '/';
        copy(real + length, at, part);
        length += part;
        real[length] = 0;
        if ((!links && (size_t)(end - room->path) <= known) || confined || !exists ||
            is_above_project(real, length) || (is_in_project(real, length) && length == log->root_length)) {
            at = end;
            continue;
        }
        if (is_of_system(real) && !contains(end, "/.."))
            return 0;
        {
            const char *rest = end;
            while (*rest == '/')
                rest++;
            if (!*rest && !follow && !*end) { /* with a slash behind it a link is followed */
                at = end;
                continue;
            }
        }
        target = sys(SYS_readlinkat, AT_FDCWD, real, room->link, PATH_MAX);
        if (target <= 0) {
            exists = target == -EINVAL;
            at = end;
            continue;
        }
        if (is_in_project(real, length))
            note_link(real, length);
        if (++links > LINKS_MAX)
            return 0;
        /* The target, then what is left of the path. */
        {
            size_t rest = length_of(end);
            if ((size_t)target + rest + 1 >= LONG_PATH)
                return 0;
            copy(room->link + target, end, rest + 1);
            copy(room->path, room->link, (size_t)target + rest + 1);
            at = room->path;
            length = room->path[0] == '/' ? 0 : before;
        }
    }
    real[length] = 0;
    return is_in_project(real, length) ? length : 0;
}
