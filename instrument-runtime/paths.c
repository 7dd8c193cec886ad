/* The log of nodes that units built for paths keep, one for each thread. It is written through mapped
 * windows, one file a window, so that the kernel keeps it whatever becomes of the process. */

#define FIRST_WINDOW 65536 /* many processes are short */
#define WINDOW_STEPS 5     /* how often the next window is twice as large */

static __thread struct {
    uintptr_t at, end; /* in the window; no end: there is none yet */
    size_t size;
    long owner; /* the process that it is of */
    unsigned long first, window;
    uint32_t runs;
    int failed;
} path_log;

/* The number of this process, or 0: a fork wipes it. */
static long *owner;

static long *owner_page(void)
{
    long *known = __atomic_load_n(&owner, __ATOMIC_ACQUIRE), *page;
    long at;

    if (known)
        return known;
    at = sys(SYS_mmap, 0, EDGEWISE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((at < 0 && at >= -4095) || sys(SYS_madvise, at, EDGEWISE_PAGE, MADV_WIPEONFORK))
        return NULL;
    page = (long *)at;
    if (__atomic_compare_exchange_n(&owner, &known, page, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return page;
    sys(SYS_munmap, page, EDGEWISE_PAGE);
    return known;
}

/* Creates the file of a window. Its name tells apart threads that got the numbers of earlier ones. */
static int create_window(void)
{
    char path[FILE_PATH_MAX];

    for (;;) {
        struct text name = {path, path + sizeof path};
        int fd;
        put_bytes(&name, file_path, directory_length);
        put_hex(&name, own_build_id, own_build_id_length);
        put(&name, ".");
        put_number(&name, (unsigned long)sys(SYS_getpid));
        put(&name, ".");
        put_number(&name, (unsigned long)sys(SYS_gettid));
        put(&name, ".");
        put_number(&name, path_log.first);
        put(&name, ".");
        put_number(&name, path_log.window);
        put(&name, EDGEWISE_PATH_SUFFIX);
        fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL);
        if (fd != -EEXIST || path_log.window != path_log.first)
            return fd;
        path_log.window = ++path_log.first;
    }
}

static char *map_window(size_t size, long *error)
{
    char *window = NULL;
    int fd = create_window();

    *error = fd;
    if (fd < 0)
        return NULL;
    sys(SYS_fchmod, fd, 0666);
    *error = sys_allocate(fd, size);
    if (!*error)
        window = sys_map_shared(fd, size, error);
    sys(SYS_close, fd);
    return window;
}

static void next_window(void)
{
    long *process = owner_page(), error;
    unsigned long step;
    char *window;

    path_log.failed = 1;
    if (path_log.end)
        sys(SYS_munmap, path_log.end - path_log.size, path_log.size);
    path_log.end = 0;
    if (!process) {
        fail("no memory for the log of nodes", 0);
        return;
    }
    if (!*process) {
        *process = sys(SYS_getpid);
        path_log.first = path_log.window = 0;
    }
    step = path_log.window - path_log.first;
    path_log.size = FIRST_WINDOW << (step < WINDOW_STEPS ? step : WINDOW_STEPS);
    window = map_window(path_log.size, &error);
    if (!window) {
        fail("cannot write the log of nodes", error);
        return;
    }
    path_log.owner = *process;
    path_log.at = (uintptr_t)window;
    if (path_log.window++ == path_log.first) {
        struct edgewise_step start = {EDGEWISE_START, path_log.runs, 0, 0};
        memcpy(window, &start, sizeof start);
        path_log.at += sizeof start;
    }
    path_log.end = (uintptr_t)window + path_log.size;
    path_log.failed = 0;
}

static int has_room(uintptr_t at)
{
    return at < path_log.end && path_log.owner == *owner;
}

/* Room for a step, NULL if there is none. A signal handler may come in between and log steps of its own. */
static struct edgewise_step *next_step(void)
{
    while (directory_length && !path_log.failed) {
        uintptr_t at = __atomic_fetch_add(&path_log.at, sizeof(struct edgewise_step), __ATOMIC_RELAXED);
        if (has_room(at))
            return (struct edgewise_step *)at;
        quietly(next_window);
    }
    return NULL;
}

HIDDEN unsigned __edgewise_enter(void);
HIDDEN unsigned __edgewise_enter(void)
{
    /* A log begins before the first run that belongs to it alone. */
    if (directory_length && !path_log.failed && !has_room(path_log.at))
        quietly(next_window);
    return __atomic_add_fetch(&path_log.runs, 1, __ATOMIC_RELAXED);
}

HIDDEN void __edgewise_node(unsigned run, const unsigned char *map, unsigned procedure, unsigned node);
HIDDEN void __edgewise_node(unsigned run, const unsigned char *map, unsigned procedure, unsigned node)
{
    struct edgewise_step *step = next_step();

    if (!step)
        return;
    step->map = (uint32_t)(map - __edgewise_map_start);
    step->procedure = procedure;
    step->node = node;
    __atomic_store_n(&step->run, run, __ATOMIC_RELEASE); /* last: a step without a run is none */
}
