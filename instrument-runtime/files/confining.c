/* Functions that change what a process can see or do from now on. */

/* Under a filter any system call of ours may be the last: from here on paths are taken as they are. */
static void before_filter(void)
{
    struct room *room;

    if (!is_on() || confined)
        return;
    room = take_room(); /* kept: mapping another one may not be allowed later */
    if (room && sys(SYS_getcwd, room->path, PATH_MAX) > 0)
        confined_in = room;
    confined_process = this_process();
    __atomic_store_n(&confined, 1, __ATOMIC_RELEASE);
}

WRAP(int, prctl, int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    if (option == PR_SET_SECCOMP)
        before_filter();
    return CALL(-1, prctl, option, a, b, c, d);
}

/* From then on paths begin elsewhere. */
static void before_root(const char *path)
{
    struct room *room;
    size_t length, known;

    if ((uintptr_t)path < 4096 || !is_on() || !(room = take_room()))
        return;
    length = whole_path(HERE, path, room, &known);
    if (length) {
        int is_inside = resolve(room, known, FOLLOW) != 0;
        size_t real = length_of(room->real);
        if (real && (is_inside || is_above_project(room->real, real)))
            mark("a process changes its root directory");
    }
    leave_room(room);
}

WRAP(int, chroot, const char *path)
{
    before_root(path);
    return CALL(-1, chroot, path);
}

static void before_spaces(unsigned long flags)
{
    if (flags & CLONE_NEWPID)
        mark("a process makes a name space of processes");
}

__attribute__((visibility("hidden"), used)) void *edgewise_before_clone(void *work, void *stack, int flags)
{
    static void *known;

    (void)work;
    (void)stack;
    before_spaces((unsigned)flags);
    return or_nothing(&known, "clone");
}
PASS(clone, edgewise_before_clone);

WRAP(int, unshare, int flags)
{
    before_spaces((unsigned)flags);
    return CALL(-1, unshare, flags);
}

WRAP(int, setns, int fd, int flags)
{
    mark("a process enters another name space");
    return CALL(-1, setns, fd, flags);
}

/* A file under another name is not known by it. */
static void before_mount(const char *source, const char *target)
{
    uint64_t is_ours = note(EDGEWISE_LOOKED_FOR, HERE, source, FOLLOW);

    if (note(EDGEWISE_LOOKED_FOR, HERE, target, FOLLOW) || is_ours)
        mark("a process mounts files of the project");
}

WRAP(int, mount, const char *source, const char *target, const char *type, unsigned long flags, const void *data)
{
    before_mount(source, target);
    return CALL(-1, mount, source, target, type, flags, data);
}

#define MOUNT(name)                                                          \
    WRAP(long, name, long a, long b, long c, long d, long e)                 \
    {                                                                        \
        mark("a process moves mounts");                                      \
        return CALL(-1, name, a, b, c, d, e);                                \
    }
MOUNT(open_tree)
MOUNT(move_mount)

/* liburing makes its system calls itself. */
#define RING(name)                                                           \
    WRAP(long, name, long a, long b, long c, long d, long e)                 \
    {                                                                        \
        mark("a process uses io_uring");                                     \
        return CALL(-ENOSYS, name, a, b, c, d, e);                           \
    }
RING(io_uring_queue_init)
RING(io_uring_queue_init_params)
RING(io_uring_queue_init_mem)
RING(io_uring_setup)
