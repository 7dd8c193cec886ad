/* Tests inside one process, as edgewise.h has them. A case has trace files of its own, one a module: its
 * begin maps them over the sections, its end maps back what counts for every case. Where edges cannot be
 * told apart, they go where they count for all. A list keeps the order in which the cases of a process
 * began: what an earlier case did may decide what a later one does. */

#define TRIES 2000 /* the lock may be that of a thread that a fork left behind */

static int lock(struct instance *process)
{
    static const long millisecond[2] = {0, 1000000};

    for (int i = 0; i < TRIES; i++) {
        if (!__atomic_exchange_n(&process->lock, 1, __ATOMIC_ACQUIRE))
            return 1;
        sys(SYS_nanosleep, millisecond);
    }
    return fail("the lock of the cases is held for good", 0);
}

static void unlock(struct instance *process)
{
    __atomic_store_n(&process->lock, 0, __ATOMIC_RELEASE);
}

/* Maps this module's section over, in one step for all threads. */
static void turn(const char *name)
{
    struct trace trace;

    if (!attached || !open_trace(&trace, name))
        return;
    if (move_over_section(&trace))
        fail("cannot map the trace of a case over the section", 0);
    close_trace(&trace);
}

static void turn_one(struct instance *found, void *name)
{
    found->turn(name);
}

/* A case without edges of its own is still a case. */
static void note_case(const char *name)
{
    struct trace trace;

    if (attached && open_trace(&trace, name)) {
        sys(SYS_munmap, trace.file + trace.header.map_offset, trace.header.map_size);
        close_trace(&trace);
    }
}

/* Adds the case to the list. With O_APPEND the position behind the write is where this line ends, whoever
 * writes beside it; that tells it apart from all others. */
static void note_begin(struct instance *process, const char *name)
{
    char line[64];
    struct text text = {line, line + sizeof line}, path = file_name();
    long length, end;
    int fd;

    put_number(&text, process->latest);
    put(&text, " ");
    put_hash(&text, name);
    put(&text, "\n");
    length = text.at - line;
    put(&path, EDGEWISE_CASES_NAME);
    end = fd = open_shared();
    if (fd >= 0) {
        end = sys(SYS_write, fd, line, length);
        if (end >= 0)
            end = end == length ? sys(SYS_lseek, fd, 0, SEEK_CUR) : -ENOSPC;
        sys(SYS_close, fd);
    }
    if (end < 0)
        fail("cannot note the order of the cases", end);
    else
        process->latest = (unsigned long)end;
}

static const char *next_case; /* for what runs quietly; under the lock */

static void begin(void)
{
    struct instance *process = of_process();
    size_t length = strlen(next_case);

    if (length > EDGEWISE_CASE_MAX) {
        fail("the name of a case is too long", 0);
        next_case = "";
        length = 0;
    }
    note_case(next_case);
    note_begin(process, next_case);
    if (process->depth++ == 0 && threads() == 1) {
        memcpy(process->name, next_case, length + 1);
        process->apart = 1;
        each_instance(turn_one, process->name);
    } else if (process->apart) {
        process->apart = 0;
        each_instance(turn_one, NULL);
    }
}

static void end(void)
{
    struct instance *process = of_process();

    if (process->depth && --process->depth == 0 && process->apart) {
        process->apart = 0;
        each_instance(turn_one, NULL);
    }
}

HIDDEN void __edgewise_test_begin(const char *name);
HIDDEN void __edgewise_test_begin(const char *name)
{
    struct instance *process = of_process();

    if (directory_length && lock(process)) {
        next_case = name ? name : "";
        quietly(begin);
        unlock(process);
    }
}

HIDDEN void __edgewise_test_end(void);
HIDDEN void __edgewise_test_end(void)
{
    struct instance *process = of_process();

    if (directory_length && lock(process)) {
        quietly(end);
        unlock(process);
    }
}

/* A module that is loaded within a case takes part in it. */
static void join_case(void)
{
    struct instance *process = of_process();

    if (!attached || !lock(process))
        return;
    if (process->apart)
        turn(process->name);
    unlock(process);
}
