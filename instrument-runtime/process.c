/* What /proc says of a process, by its number or "self". */

#define ANCESTORS_MAX 64 /* more than any chain of shells and drivers */

/* Opens /proc/<process>/<name>. */
static int open_of_process(const char *process, const char *name)
{
    char path[64];
    struct text text = {path, path + sizeof path};

    put(&text, "/proc/");
    put(&text, process);
    put(&text, "/");
    put(&text, name);
    return sys_open(path, O_RDONLY);
}

/* A number of the line "pid (name) state parent ...", by its place behind the name, which may hold
 * anything. -1 if it cannot be read. */
static long number_of_process(const char *process, int place)
{
    char stat[512];
    long length, number = 0;
    const char *at;
    int fd = open_of_process(process, "stat");

    if (fd < 0)
        return -1;
    length = sys(SYS_read, fd, stat, sizeof stat - 1);
    sys(SYS_close, fd);
    if (length <= 0)
        return -1;
    stat[length] = 0;
    at = strrchr(stat, ')');
    while (at && place-- > 0)
        at = strchr(at + 1, ' ');
    if (!at || at[1] < '0' || at[1] > '9')
        return -1;
    for (at++; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (*at - '0');
    return number;
}

/* 0 if there is none. */
static long parent_of(const char *process)
{
    return number_of_process(process, 2);
}

/* How many threads this process has. */
static long threads(void)
{
    return number_of_process("self", 18);
}
