/* System calls without libc: a host may have an `open`, `link` or `write` of its own, or wrap them for a
 * test, and ours would end up there. It also leaves errno alone. They return -errno on failure. */

static long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ __volatile__("syscall"
                         : "=a"(result)
                         : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ __volatile__("svc 0"
                         : "+r"(x0)
                         : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                         : "memory");
    return x0;
#endif
}

/* Up to six arguments, integers or pointers; those not given are 0. */
#define sys(...) sys_pad(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define sys_pad(number, a, b, c, d, e, f, ...) \
    sys_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static int sys_open(const char *path, int flags)
{
    return (int)sys(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666);
}

/* NULL on failure, with *error set. */
static void *sys_map_shared(int fd, size_t size, long *error)
{
    long at = sys(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    *error = at < 0 && at >= -4095 ? at : 0;
    return *error ? NULL : (void *)at;
}

/* Gives the file all its blocks now: with a sparse file a full disk would be a SIGBUS in the host later. */
static long sys_allocate(int fd, size_t size)
{
    static const char zeros[1024];
    long result = sys(SYS_fallocate, fd, 0, 0, size);

    if (result != -EOPNOTSUPP)
        return result;
    for (size_t done = 0; done < size; done += (size_t)result) { /* not every file system can do it */
        size_t rest = size - done;
        result = sys(SYS_write, fd, zeros, rest < sizeof zeros ? rest : sizeof zeros);
        if (result <= 0)
            return result ? result : -ENOSPC;
    }
    return 0;
}
