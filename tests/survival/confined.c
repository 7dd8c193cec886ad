/* Processes that confine themselves after their start. Marks as in ends.c. */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int count;

static void work(const char *how)
{
    if (!strcmp(how, "chroot"))
        count = 1; // @chroot
    else if (!strcmp(how, "seccomp"))
        count = 2; // @seccomp
    else
        count = 3; // @setuid
}

int main(int argc, char **argv)
{
    const char *how = argv[argc - 1];

    if (!strcmp(how, "chroot") && (chdir("/proc/self/fdinfo") || chroot(".") || chdir("/")))
        return 1; // @
    if (!strcmp(how, "seccomp") && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
        return 2; // @
    if (!strcmp(how, "setuid") && (setgid(65534) || setuid(65534)))
        return 3; // @
    work(how);
    syscall(SYS_exit, 0);
    return 4; // @
}
