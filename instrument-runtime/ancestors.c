/* A test may clean the environment of what it starts. The variable is then found in the environment that
 * a process further up was started with: at the latest in that of the keeper, which the runner starts for
 * each test and which adopts all orphans of it. */

#define WALKS_MAX 16     /* an ancestor that ends while we look leaves its children to another one */

static char inherited[PATH_MAX]; /* the directory, as an ancestor has it */

/* Copies the variable from the environment of a process to `inherited`. 1 if it is there, -1 if the
 * environment cannot be read. */
static int variable_of(const char *process)
{
    static const char wanted[] = EDGEWISE_ENVIRONMENT "=";
    char block[1024];
    size_t matched = 0, copied = 0;
    int at_start = 1, copying = 0, found = 0;
    long length = 0;
    int fd = open_of_process(process, "environ");

    if (fd < 0)
        return -1;
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
    return found && inherited[0] ? 1 : length < 0 ? -1 : 0;
}

/* Looks at all ancestors once. 1 if one of them has the variable; 0 if none has; -1 if some could not be
 * looked at, with *gone set if one of them ended meanwhile. */
static int walk_ancestors(int *gone)
{
    long process = sys(SYS_getppid);
    int result = 0;

    *gone = 0;
    for (int i = 0; i < ANCESTORS_MAX && process > 0; i++) {
        char number[24];
        struct text text = {number, number + sizeof number};
        put_number(&text, (unsigned long)process);
        int has = variable_of(number);
        if (has > 0)
            return 1;
        if (has < 0)
            result = -1;
        process = parent_of(number);
    }
    *gone = process < 0;
    return process ? -1 : result;
}

/* The directory that some ancestor was told of, or NULL; then *unsure says that not all could be asked. */
static const char *inherited_directory(int *unsure)
{
    int result, gone = 1;

    for (int i = 0; i < WALKS_MAX && gone; i++) {
        result = walk_ancestors(&gone);
        if (result > 0)
            return inherited;
    }
    *unsure = result < 0;
    return NULL;
}
