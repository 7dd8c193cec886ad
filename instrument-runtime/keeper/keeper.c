/* The keeper of a test: starts it, adopts every orphan of it, and says when none is left. A program of its own
 * without any library, since one is started for each test: what the loader does takes longer than a small
 * test. Called with the descriptor that it reports to, the program and its arguments. */
#if !defined __linux__ || !(defined __x86_64__ || defined __aarch64__)
#error "edgewise keeps tests on Linux on x86-64 and aarch64 only"
#endif

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../sys.c"
#include "../files/bytes.c"

#define GRACE_MS 300 /* how long what a test leaves behind may take to end */
#define LOOK_MS 2
#define CANNOT_RUN 127 /* the exit code of a test whose command is not there, as of a shell */

struct moment {
    long seconds, nanoseconds;
};

static const uint64_t signals = (uint64_t)1 << (SIGTERM - 1) | (uint64_t)1 << (SIGCHLD - 1);
static const uint64_t no_signals;

static long milliseconds(void)
{
    struct moment now;

    sys(SYS_clock_gettime, 1 /* monotonic */, &now);
    return now.seconds * 1000 + now.nanoseconds / 1000000;
}

__attribute__((noreturn)) static void leave(int code)
{
    for (;;)
        sys(SYS_exit_group, code);
}

/* Executes a file; what is no program is a script for the shell, as execvp has it. */
static long execute(const char *path, char **words, char **variables)
{
    long error = sys(SYS_execve, path, words, variables);
    size_t count = 0;

    if (error != -ENOEXEC)
        return error;
    while (words[count])
        count++;
    char *script[count + 2];
    script[0] = "/bin/sh";
    script[1] = (char *)path;
    for (size_t i = 1; i <= count; i++)
        script[i + 1] = words[i];
    return sys(SYS_execve, "/bin/sh", script, variables);
}

/* The same for a name without a slash, along the path. */
static long execute_on_path(char **words, char **variables)
{
    static char file[PATH_MAX];
    const char *path = "/bin:/usr/bin";
    long error = -ENOENT;

    for (char **variable = variables; *variable; variable++)
        if (starts_with(*variable, "PATH="))
            path = *variable + 5;
    for (;;) {
        const char *end = path;
        while (*end && *end != ':')
            end++;
        if ((size_t)(end - path) + length_of(words[0]) + 2 < sizeof file) {
            char *at = file;
            copy(at, path, (size_t)(end - path));
            at += end - path;
            if (end > path)
                *at++ = '/';
            put(at, words[0]);
            long result = execute(file, words, variables);
            if (result != -ENOENT && result != -ENOTDIR)
                error = result;
        }
        if (!*end)
            return error;
        path = end + 1;
    }
}

/* In the child: the test takes its place, or it says why not. */
__attribute__((noreturn)) static void become(char **words, char **variables, int leads)
{
    char number[24];
    const char *why = number;
    long error;

    if (leads) /* otherwise it belongs to the terminal, with whoever called us */
        sys(SYS_setpgid, 0, 0);
    sys(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, 0, sizeof no_signals);
    error = contains(words[0], "/") ? execute(words[0], words, variables) : execute_on_path(words, variables);
    put_number(number, (unsigned long)-error);
    if (error == -ENOENT)
        why = "there is no such file";
    else if (error == -EACCES)
        why = "it may not be executed";
    const char *parts[] = {"cannot run ", words[0], ": ", why == number ? "error " : "", why, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sys(SYS_write, 2, parts[i], length_of(parts[i]));
    leave(CANNOT_RUN);
}

/* Death of a trap, also as a shell passes it on. */
static int is_trap(int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WIFEXITED(status) ? WEXITSTATUS(status) - 128 : 0;

    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP;
}

struct report {
    int status, has_status, left_over, trapped;
};

/* Waits for the test, and then as long as the grace lasts for what it left. SIGTERM ends it. */
static struct report wait_for_all(int test)
{
    struct report report = {0, 0, 0, 0};
    long ended = 0;

    for (;;) {
        int status = 0;
        long process = sys(SYS_wait4, -1, &status, WNOHANG, 0);
        if (process > 0) {
            report.trapped |= is_trap(status);
            if (process == test && !report.has_status) {
                report.status = status;
                report.has_status = 1;
                ended = milliseconds();
            }
            continue;
        }
        if (process < 0 && process != -EINTR)
            return report;
        if (report.has_status && milliseconds() - ended > GRACE_MS) {
            report.left_over = 1;
            return report;
        }
        struct moment while_left = {0, LOOK_MS * 1000000};
        long signal = sys(SYS_rt_sigtimedwait, &signals, 0, report.has_status ? &while_left : NULL, sizeof signals);
        /* Once it has ended its number may be that of another process. */
        if (signal == SIGTERM && !report.has_status && sys(SYS_kill, -test, SIGKILL))
            sys(SYS_kill, test, SIGKILL);
    }
}

static int number_of(const char *digits)
{
    int number = 0;

    while (*digits >= '0' && *digits <= '9')
        number = number * 10 + (*digits++ - '0');
    return number;
}

__attribute__((noreturn, used)) static void keep(long *stack)
{
    int count = (int)stack[0], to_say, leads;
    char **words = (char **)(stack + 1), **variables = words + count + 1;
    char text[128], *at = text;
    struct report report;
    long test;

    if (count < 3)
        leave(CANNOT_RUN);
    sys(SYS_rt_sigprocmask, SIG_BLOCK, &signals, 0, sizeof signals);
    sys(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* The test must not have the descriptor. In the place of its input comes nothing. */
    to_say = (int)sys(SYS_fcntl, number_of(words[1]), F_DUPFD_CLOEXEC, 100);
    if (to_say < 0)
        to_say = (int)sys(SYS_fcntl, number_of(words[1]), F_DUPFD_CLOEXEC, 3);
    sys(SYS_close, number_of(words[1]));
    if (number_of(words[1]) == 0)
        sys(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
    leads = sys(SYS_getpgid, 0) == sys(SYS_getpid);
    test = sys(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!test)
        become(words + 2, variables, leads);
    if (test < 0)
        leave(CANNOT_RUN);
    report = wait_for_all((int)test);
    if (!report.has_status) /* nobody knows what became of it */
        leave(CANNOT_RUN);
    at = put(put_number(at, (unsigned)report.status), " ");
    at = put(put_number(at, (unsigned)report.left_over), " ");
    at = put(put_number(at, (unsigned)report.trapped), " ");
    at = put_number(at, (unsigned long)test);
    sys(SYS_write, to_say, text, at - text);
    leave(0);
}

#ifdef __x86_64__
__asm__(".globl _start\n_start:\nxor %ebp, %ebp\nmov %rsp, %rdi\nand $-16, %rsp\ncall keep\nhlt");
#else
__asm__(".globl _start\n_start:\nmov x29, xzr\nmov x30, xzr\nmov x0, sp\nbl keep\nbrk 0");
#endif
