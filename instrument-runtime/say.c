/* The trace directory, and how a failure is made known: the host runs on, the test counts as unclean. */

#define FILE_PATH_MAX (PATH_MAX + 128) /* room for the longest name: 64 hex digits and the suffix */

static KEPT size_t directory_length;       /* with the slash; 0: not tracing */
static KEPT char file_path[FILE_PATH_MAX]; /* the directory, then the name of the file that is worked on */
static KEPT int may_print = 1;             /* at exit descriptor 2 may be the host's own file: no printing then */

/* The rest of file_path, for the name of a file in the directory. */
static struct text file_name(void)
{
    struct text name = {file_path + directory_length, file_path + FILE_PATH_MAX};

    return name;
}

/* Opens the file to append to it, for all processes of the test, whoever they run as and whatever their
 * umask: the directory's permissions decide who may. */
static int open_shared(void)
{
    int fd = sys_open(file_path, O_WRONLY | O_APPEND);

    if (fd != -ENOENT)
        return fd;
    fd = sys_open(file_path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
    if (fd == -EEXIST)
        return sys_open(file_path, O_WRONLY | O_APPEND);
    if (fd >= 0)
        sys(SYS_fchmod, fd, 0666);
    return fd;
}

/* Leaves a file that says so. Returns 1 if it could. */
static int tell_directory(const char *line, size_t length)
{
    struct text name = file_name();
    int fd;

    if (!directory_length)
        return 0;
    put(&name, EDGEWISE_UNCLEAN_PREFIX);
    put_number(&name, (unsigned long)sys(SYS_getpid));
    fd = open_shared();
    if (fd < 0)
        return 0;
    sys(SYS_write, fd, line, length); /* on a full disk the empty file says enough */
    sys(SYS_close, fd);
    return 1;
}

/* The one place where a failure goes out. Only if nobody hears of it otherwise it is printed, once: the
 * output of the host may be what its test looks at. The caller has closed its descriptors: in a host that
 * was started without descriptor 2, ours would be it.
 * The error is an -errno or, if there is none to tell, not negative. Returns 0. */
static int fail(const char *what, long error)
{
    char line[256];
    struct text text = {line, line + sizeof line};
    size_t length;
    int told;

    put(&text, "edgewise: not traced: ");
    put(&text, what);
    if (error < 0) {
        put(&text, ", error ");
        put_number(&text, (unsigned long)-error);
    }
    put(&text, "\n");
    length = (size_t)(text.at - line);
    told = tell_directory(line, length);
    told |= tell_runner(file_path, directory_length ? directory_length - 1 : 0, line, length - 1);
    if (!told && may_print && !of_process()->printed++)
        sys(SYS_write, STDERR_FILENO, line, length);
    return 0;
}

/* Copies it, because the host may change its environment before it ends. */
static int set_directory(const char *path)
{
    size_t length = strlen(path);

    if (*path != '/' || length >= PATH_MAX)
        return fail(EDGEWISE_ENVIRONMENT " is not the absolute path of a directory", 0);
    memcpy(file_path, path, length);
    file_path[length] = '/';
    directory_length = length + 1;
    return 1;
}
