/* A test may clean the environment of what it starts. The variable is then found in the environment that
 * a process further up was started with. */

#define ANCESTORS_MAX 64 /* more than any chain of shells and drivers */

static char inherited[PATH_MAX]; /* the directory, as an ancestor has it */

/* Opens /proc/<process>/<name>. */
static int open_of_process(long process, const char *name)
{
    char path[64];
    struct text text = {path, path + sizeof path};

    put(&text, "/proc/");
    put_number(&text, (unsigned long)process);
    put(&text, "/");
    put(&text, name);
    return sys_open(path, O_RDONLY);
}

/* The parent, from "pid (name) state parent ..."; the name may hold anything. 0 if there is none. */
static long parent_of(long process)
{
    char stat[512];
    long length, parent = 0;
    int fd = open_of_process(process, "stat");

    if (fd < 0)
        return 0;
    length = sys(SYS_read, fd, stat, sizeof stat - 1);
    sys(SYS_close, fd);
    while (length > 0 && stat[length - 1] != ')')
        length--;
    if (length <= 0)
        return 0;
    stat[sizeof stat - 1] = 0;
    for (const char *at = stat + length + 3; *at >= '0' && *at <= '9'; at++)
        parent = parent * 10 + (*at - '0');
    return parent;
}

/* Copies the variable from the environment of a process to `inherited`. 1 if it is there. */
static int variable_of(long process)
{
    static const char wanted[] = EDGEWISE_ENVIRONMENT "=";
    char block[1024];
    size_t matched = 0, copied = 0;
    int at_start = 1, copying = 0, found = 0;
    long length;
    int fd = open_of_process(process, "environ");

    if (fd < 0)
        return 0;
    while (!found && (length = sys(SYS_read, fd, block, sizeof block)) > 0) {
        for (long i = 0; i < length && !found; i++) {
            char byte = block[i];
            if (copying) {
                if (copied == sizeof inherited) { /* too long for a path: not ours */
                    copying = 0;
                } else {
                    inherited[copied++] = byte;
                    found = !byte;
                }
            } else if (at_start && byte == wanted[matched]) {
                copying = !wanted[++matched];
            } else {
                at_start = 0;
            }
            if (!byte) {
                at_start = 1;
                matched = 0;
            }
        }
    }
    sys(SYS_close, fd);
    if (copying && !found && copied && copied < sizeof inherited) { /* the last one may lack its NUL */
        inherited[copied] = 0;
        found = 1;
    }
    return found && inherited[0];
}

/* The directory that some ancestor was told of, or NULL. */
static const char *inherited_directory(void)
{
    long process = sys(SYS_getppid);

    for (int i = 0; i < ANCESTORS_MAX && process > 0; i++) {
        if (variable_of(process))
            return inherited;
        process = parent_of(process);
    }
    return NULL;
}
