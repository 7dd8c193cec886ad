/* The log of the test, mapped by all its processes: the kernel keeps what is in it whatever becomes of them,
 * and it takes no descriptor and no system call, so it works in a chroot, under seccomp and on a full disk. */

static struct edgewise_uses *log; /* NULL: nothing is noted */

#define LOG_TEXT(field) ((const char *)log + log->field)

static struct edgewise_use *record_at(uint64_t offset)
{
    return (struct edgewise_use *)((char *)log + offset);
}

static void fill(struct edgewise_use *record, int kind, uint32_t process, uint32_t serial)
{
    record->kind = (uint16_t)kind;
    record->process = process;
    record->serial = serial;
}

/* The rest goes to a file beside it. A write beyond RLIMIT_FSIZE must not kill the host. */
static int append_to_more(struct edgewise_use *head, const char *text, size_t length)
{
    static const long now[2]; /* a struct timespec of zero */
    const uint64_t all = ~(uint64_t)0, ours = (uint64_t)1 << (SIGXFSZ - 1);
    struct room *room = take_room();
    char *block;
    uint64_t before, pending = 0;
    long written = -1;
    int fd;

    if (!room)
        return 0;
    block = room->link;
    if (head->size > sizeof room->link) {
        leave_room(room);
        return 0;
    }
    put(put(room->path, LOG_TEXT(directory)), "/" EDGEWISE_USES_MORE_NAME);
    copy(block, (char *)head, sizeof *head);
    copy(block + sizeof *head, text, length);
    for (size_t i = sizeof *head + length; i < head->size; i++)
        block[i] = 0;
    ((struct edgewise_use *)block)->size |= EDGEWISE_COMPLETE;
    sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    sys(SYS_rt_sigpending, &pending, sizeof pending);
    fd = sys_open(room->path, O_WRONLY | O_APPEND | O_CREAT);
    if (fd >= 0) {
        written = sys(SYS_write, fd, block, head->size);
        sys(SYS_close, fd);
    }
    if (!(pending & ours))
        sys(SYS_rt_sigtimedwait, &ours, 0, now, sizeof ours);
    sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof before);
    leave_room(room);
    return written == (long)head->size;
}

/* A record is claimed by its size, so that the reader finds the next one if this process is killed now. */
__attribute__((noinline)) static void append_as(int kind, uint32_t process, uint32_t serial, const char *text, size_t length)
{
    uint32_t size = (uint32_t)(sizeof(struct edgewise_use) + length + 7) & ~7u;
    uint64_t at = __atomic_load_n(&log->end, __ATOMIC_ACQUIRE);
    struct edgewise_use head = {0}, *record;

    while (!__atomic_load_n(&log->full, __ATOMIC_RELAXED) && length < UINT16_MAX) {
        uint32_t taken = 0;
        if (at < log->records || at + size + sizeof head > log->size) {
            __atomic_store_n(&log->full, 1, __ATOMIC_RELAXED);
            break;
        }
        record = record_at(at);
        if (__atomic_compare_exchange_n(&record->size, &taken, size, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            __atomic_store_n(&log->end, at + size, __ATOMIC_RELEASE);
            fill(record, kind, process, serial);
            record->text = (uint16_t)length;
            copy((char *)(record + 1), text, length);
            __atomic_store_n(&record->size, size | EDGEWISE_COMPLETE, __ATOMIC_RELEASE);
            return;
        }
        at += taken & ~7u;
    }
    head.size = size;
    head.text = (uint16_t)length;
    fill(&head, kind, process, serial);
    if (length >= UINT16_MAX || !append_to_more(&head, text, length))
        __atomic_store_n(&log->lost, 1, __ATOMIC_RELAXED);
}

static int confined;              /* the process may no longer make every system call */
static uint32_t confined_process; /* its number then; children of it are taken for it */

static uint32_t this_process(void)
{
    return confined ? confined_process : (uint32_t)sys(SYS_getpid);
}

static uint32_t new_serial(void)
{
    return __atomic_add_fetch(&log->serial, 1, __ATOMIC_RELAXED);
}

/* Whether what this hash stands for is in the log. It is told after it was noted, so that no kill comes
 * between; a place in the table holds the latest of those that fall on it. */
static uint64_t *place_of(uint64_t hash)
{
    return (uint64_t *)((char *)log + log->table) + (hash & (log->table_count - 1));
}

static int is_noted(uint64_t hash)
{
    return __atomic_load_n(place_of(hash), __ATOMIC_RELAXED) == hash;
}

static void set_noted(uint64_t hash)
{
    __atomic_store_n(place_of(hash), hash, __ATOMIC_RELAXED);
}

/* Says, once, why not everything is seen. */
__attribute__((noinline)) static void mark(const char *why)
{
    size_t length;
    uint64_t hash;

    if (!log)
        return;
    length = length_of(why);
    hash = hash_bytes(EDGEWISE_MARK, why, length);
    if (!is_noted(hash)) {
        append_as(EDGEWISE_MARK, this_process(), 0, why, length);
        set_noted(hash);
    }
}
