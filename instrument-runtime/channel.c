/* Tells the runner of the test that a process is not traced, without a file: the directory may be full,
 * read-only, out of sight or not known. The runner listens on an abstract socket; its name is a fixed one
 * with a number, since several runners may be at work, and each takes what is about its own tests. The
 * kernel says who sent it. */

static void name_channel(struct sockaddr_un *address, size_t *length, unsigned long number)
{
    struct text name = {address->sun_path + 1, address->sun_path + sizeof address->sun_path};

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    put(&name, EDGEWISE_CHANNEL_NAME);
    put_number(&name, number);
    *length = (size_t)(name.at - (char *)address);
}

/* The processes from this one up, as many as can be seen, with a 0 behind the last one there is: a process
 * that does not know its test may be gone before the runner can look who it is. */
static void put_ancestors(struct text *text)
{
    char number[24];
    long process = sys(SYS_getpid);

    for (int i = 0; i < ANCESTORS_MAX && process >= 0; i++) {
        struct text digits = {number, number + sizeof number};
        put_number(&digits, (unsigned long)process);
        put(text, number);
        put(text, " ");
        if (!process)
            break;
        process = parent_of(number);
    }
}

/* A socket, also if the host has no descriptor left: its limit is another one for that moment. */
static int open_socket(void)
{
    uint64_t own[2], most[2]; /* soft and hard */
    int fd = (int)sys(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd != -EMFILE || sys(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, own))
        return fd;
    most[0] = most[1] = own[1];
    sys(SYS_prlimit64, 0, RLIMIT_NOFILE, most, 0);
    fd = (int)sys(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sys(SYS_prlimit64, 0, RLIMIT_NOFILE, own, 0);
    return fd;
}

/* The message: the directory, or the ancestors if it is not known, and why, a line each. Returns 1 if
 * somebody took it. */
static int tell_runner(const char *path, size_t path_length, const char *why, size_t why_length)
{
    static char message[PATH_MAX + 1024];
    static const long patience[2] = {2, 0}; /* seconds, if the runner's queue is full */
    struct text text = {message, message + sizeof message};
    struct sockaddr_un address;
    size_t length;
    int taken = 0, fd = open_socket();

    if (fd < 0)
        return 0;
    put_bytes(&text, path, path_length);
    put(&text, "\n");
    if (!path_length)
        put_ancestors(&text);
    put(&text, "\n");
    put_bytes(&text, why, why_length);
    sys(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, patience, sizeof patience);
    for (unsigned long i = 0; i < EDGEWISE_CHANNELS; i++) {
        name_channel(&address, &length, i);
        taken |= sys(SYS_sendto, fd, message, text.at - message, MSG_NOSIGNAL, &address, length) > 0;
    }
    sys(SYS_close, fd);
    return taken;
}
