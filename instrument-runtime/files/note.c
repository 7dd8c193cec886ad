/* Notes that a path is used. */

#define HERE AT_FDCWD
#define FOLLOW 1
#define NO_FOLLOW 0

static void note_real(int kind, const char *path, size_t length)
{
    uint64_t hash = hash_bytes((uint64_t)kind << 32, path, length);

    if (is_noted(hash))
        return;
    append_as(kind, this_process(), 0, path, length);
    set_noted(hash);
}

static void note_link(const char *path, size_t length)
{
    note_real(is_compiling || is_make ? EDGEWISE_SOUGHT : EDGEWISE_LOOKED_FOR, path, length);
}

static uint64_t hash_of_use(uint64_t path, int kind)
{
    return hash_bytes(kind == EDGEWISE_TOLD ? path ^ told_hash : path, (const char *)&kind, sizeof kind);
}

/* A compiler of ours says so of itself. */
EXPORT void edgewise_files_compiling(void)
{
    is_compiling = 1;
}

static int as_noted(int kind)
{
    switch (kind) {
    case EDGEWISE_READ: return is_compiling ? EDGEWISE_COMPILED : kind;
    case EDGEWISE_LOOKED_FOR: return is_compiling || is_make ? EDGEWISE_SOUGHT : kind;
    case EDGEWISE_LISTED: return is_make ? EDGEWISE_CACHED : told ? EDGEWISE_TOLD : kind;
    default: return kind;
    }
}

/* A listing with the arguments of the process, if there is room for them. */
static void note_told(struct room *room, size_t length)
{
    size_t directory;
    uint64_t hash = hash_bytes(told_hash, room->real, length);

    if (is_noted(hash))
        return;
    directory = directory_of(HERE, room->path);
    if (!directory || length + directory + told_before_length + told_length + 2 > sizeof room->link) {
        note_real(EDGEWISE_LISTED, room->real, length);
        return;
    }
    copy(room->link, room->real, length + 1);
    copy(room->link + length + 1, room->path, directory + 1);
    copy(room->link + length + directory + 2, told_before, told_before_length);
    length += directory + told_before_length + 2;
    copy(room->link + length, told, told_length);
    append_as(EDGEWISE_TOLD, this_process(), 0, room->link, length + told_length);
    set_noted(hash);
}

/* Notes a use of what the path leads to. Returns a number that stands for it, 0 if it is nothing of the project.
 * Paths that were looked at before are known by their text, as long as nobody changes links. */
__attribute__((noinline)) static uint64_t note(int kind, int at, const char *path, int follow)
{
    struct room *room;
    size_t length, known;
    uint64_t hash = 0;

    kind = as_noted(kind);
    if ((uintptr_t)path < 4096 || !is_on() || is_of_system(path) || (!*path && at == AT_FDCWD))
        return 0;
    room = take_room();
    if (!room) {
        mark("no memory for paths");
        return 0;
    }
    length = whole_path(at, path, room, &known);
    if (length) {
        uint64_t start = (uint64_t)__atomic_load_n(&log->links, __ATOMIC_ACQUIRE) << 8 | (unsigned)follow << 1 | 1;
        hash = hash_bytes(start, room->path, length);
        uint64_t outside = hash_of_use(hash, 0);
        if (is_noted(outside)) {
            hash = 0;
        } else if (!is_noted(hash_of_use(hash, kind))) {
            uint64_t use = hash_of_use(hash, kind);
            length = resolve(room, known, follow);
            if (length) {
                if (kind == EDGEWISE_TOLD)
                    note_told(room, length);
                else
                    note_real(kind, room->real, length);
                set_noted(use);
            } else {
                set_noted(outside);
                hash = 0;
            }
        }
    }
    leave_room(room);
    return hash;
}

/* The same again for a path that was just noted. */
static void note_also(uint64_t known, int kind, int at, const char *path, int follow)
{
    if (known && !is_noted(hash_of_use(known, as_noted(kind))))
        note(kind, at, path, follow);
}

static void note_looked_for(int at, const char *path, int follow)
{
    note(EDGEWISE_LOOKED_FOR, at, path, follow);
}

/* Behind a call that makes, replaces or removes it: what failed says only that it was asked for. */
static void note_change(int succeeded, int at, const char *path, int follow)
{
    note(succeeded ? EDGEWISE_WRITTEN : EDGEWISE_LOOKED_FOR, at, path, follow);
}

/* Stands in the table for any file that was opened to append to it, by any process of the test. */
#define SOME_APPENDED 0x617070656e646564u

/* Behind a call that opens a file to append to it. */
static void note_append(int succeeded, int at, const char *path, int follow)
{
    set_noted(SOME_APPENDED);
    note(succeeded ? EDGEWISE_APPENDED : EDGEWISE_LOOKED_FOR, at, path, follow);
}

/* Before a call that tells how long an open file is, or where its end is: one that was opened to append to it
 * is read by that. */
static void look_at_opened(int fd)
{
    struct stat status;
    long flags;

    if (!is_on() || !is_noted(SOME_APPENDED))
        return;
    if (confined) {
        mark("a process that has confined itself asks how long a file is");
        return;
    }
    flags = sys(SYS_fcntl, fd, F_GETFL);
    /* make says of pipes, too, that they are appended to. */
    if (flags >= 0 && (flags & (O_ACCMODE | O_APPEND)) == (O_WRONLY | O_APPEND) &&
        !sys(SYS_fstat, fd, &status) && (status.st_mode & S_IFMT) == S_IFREG)
        note(EDGEWISE_READ, fd, "", FOLLOW);
}

/* Paths that were looked at lead elsewhere from now on. */
static void links_change(void)
{
    if (log)
        __atomic_add_fetch(&log->links, 1, __ATOMIC_ACQ_REL);
}
