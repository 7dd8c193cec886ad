/* Finds the log and maps it: at the first use of a file, which may come before any constructor. */

extern char **environ __attribute__((weak));

static const char *value_in(char *const *variables, const char *name)
{
    for (; variables && *variables; variables++)
        if (starts_with(*variables, name))
            return *variables + length_of(name);
    return NULL;
}

/* Only what the loader does itself: a process may be confined from its start. */
static void map_log(const char *directory)
{
    char path[PATH_MAX];
    struct edgewise_uses head;
    long at;
    int fd;

    if (*directory != '/' || length_of(directory) > PATH_MAX - 16)
        return;
    put(put(path, directory), "/" EDGEWISE_USES_NAME);
    fd = sys_open(path, O_RDWR);
    if (fd < 0)
        return;
    if (sys(SYS_pread64, fd, &head, sizeof head, 0) == (long)sizeof head &&
        same((char *)head.magic, EDGEWISE_USES_MAGIC, sizeof head.magic)) {
        at = sys(SYS_mmap, 0, head.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at > 0 || at < -4095)
            log = (struct edgewise_uses *)at;
    }
    sys(SYS_close, fd);
}

/* What this process reads it reads in order to make a unit of it. */
static int is_compiling;
/* What it reads tells it how to build. */
static int is_make;

/* The arguments of a process that tell which names it looks for when it lists a directory, as they are in its
 * memory: each with a NUL behind it. */
static const char *told;
static size_t told_length;
static uint64_t told_hash;
/* Where it was when it began, NUL, and the names of variables whose values may be patterns. */
static char told_before[PATH_MAX + 1024];
static size_t told_before_length;

static void start(char *const *variables)
{
    static int started;
    const char *directory;

    if (__atomic_load_n(&started, __ATOMIC_RELAXED) || !variables)
        return;
    if (__atomic_exchange_n(&started, 1, __ATOMIC_ACQ_REL))
        return;
    is_compiling = value_in(variables, "EDGEWISE_COMPILING=") != NULL;
    directory = value_in(variables, "EDGEWISE_TRACE=");
    if (directory)
        map_log(directory);
    if (log)
        append_as(EDGEWISE_LOADED, this_process(), 0, "", 0);
}

static int is_on(void)
{
    if (!log && &environ)
        start(environ);
    return log != NULL;
}
