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
    put(&text, " ");
    put_number(&text, (unsigned long)sys(SYS_getpid));
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

/* The processes whose cases may have led to this image: itself, before it called exec, and its ancestors. */
struct line_of_descent {
    long process[ANCESTORS_MAX];
    unsigned long latest[ANCESTORS_MAX]; /* where the last line of each ends, or 0 */
    int length;
};

/* Reads the list of cases, whose lines end with the number of a process. */
static void find_lines(struct line_of_descent *descent, int fd)
{
    char block[1024];
    unsigned long at = 0;
    long length, number = 0;

    while ((length = sys(SYS_read, fd, block, sizeof block)) > 0) {
        for (long i = 0; i < length; i++) {
            at++;
            if (block[i] == ' ') {
                number = 0;
            } else if (block[i] >= '0' && block[i] <= '9') {
                number = number * 10 + (block[i] - '0');
            } else if (block[i] != '\n') {
                number = -1; /* part of a hash */
            } else {
                for (int k = 0; k < descent->length; k++)
                    if (descent->process[k] == number)
                        descent->latest[k] = at;
                number = 0;
            }
        }
    }
}

/* An image that a process of the test started with exec may get anything from the cases before: by its
 * arguments, its environment or its descriptors. They count for the cases that it runs. */
static void continue_order(void)
{
    struct instance *process = of_process();
    struct line_of_descent descent;
    struct text path = file_name();
    long next = sys(SYS_getpid);
    int fd;

    if (process->latest)
        return;
    put(&path, EDGEWISE_CASES_NAME);
    fd = sys_open(file_path, O_RDONLY);
    if (fd < 0)
        return;
    memset(&descent, 0, sizeof descent);
    while (next > 0 && descent.length < ANCESTORS_MAX) {
        char digits[24];
        struct text text = {digits, digits + sizeof digits};
        descent.process[descent.length++] = next;
        put_number(&text, (unsigned long)next);
        next = parent_of(digits);
    }
    find_lines(&descent, fd);
    sys(SYS_close, fd);
    for (int i = 0; i < descent.length && !process->latest; i++)
        process->latest = descent.latest[i];
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
