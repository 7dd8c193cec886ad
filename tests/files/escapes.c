/* Ways to a file, one for each argument; each has to be noticed. */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <fts.h>
#include <glob.h>
#include <libgen.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/filter.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>
#include <mntent.h>

extern char **environ;

static void must(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(3);
    }
}

static void read_fd(int fd)
{
    char byte;
    must(fd >= 0 && read(fd, &byte, 1) == 1, "read");
    close(fd);
}

static void *in_thread(void *path)
{
    read_fd(open(path, O_RDONLY));
    return NULL;
}

static void in_handler(int signal)
{
    (void)signal;
    read_fd(open("data.txt", O_RDONLY));
}

static int each(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)path, (void)status, (void)type, (void)ftw;
    return 0;
}

static void wait_for(pid_t child)
{
    int status;
    must(waitpid(child, &status, 0) == child && !status, "child");
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    char *cat[] = {"cat", "data.txt", NULL}, *none[] = {NULL}, name[PATH_MAX], *slash;
    char *words[] = {"FOO=bar", NULL};
    pid_t child;

#define IS(text) !strcmp(how, text)
    if (IS("open")) read_fd(open("data.txt", O_RDONLY));
    else if (IS("fopen")) must(getc(fopen("data.txt", "r")) != EOF, how);
    else if (IS("freopen")) must(freopen("data.txt", "r", stdin) && getchar() != EOF, how);
    else if (IS("dirfd")) read_fd(openat(open("sub", O_RDONLY | O_DIRECTORY), "../data.txt", O_RDONLY));
    else if (IS("opath")) read_fd(openat(open("sub", O_PATH), "../data.txt", O_RDONLY));
    else if (IS("reopen")) {
        sprintf(name, "/proc/self/fd/%d", open("data.txt", O_PATH));
        read_fd(open(name, O_RDONLY));
    }
    else if (IS("dev_fd")) {
        sprintf(name, "/dev/fd/%d", open("data.txt", O_PATH));
        read_fd(open(name, O_RDONLY));
    }
    else if (IS("cwd")) read_fd(open("/proc/self/cwd/data.txt", O_RDONLY));
    else if (IS("root")) {
        must(getcwd(name + 15, sizeof name - 32) != NULL, how);
        memcpy(name, "/proc/self/root", 15);
        strcat(name, "/data.txt");
        read_fd(open(name, O_RDONLY));
    }
    else if (IS("syscall")) read_fd(syscall(SYS_openat, AT_FDCWD, "data.txt", O_RDONLY));
    else if (IS("openat2")) {
        struct open_how open_how = {.flags = O_RDONLY};
        read_fd(syscall(SYS_openat2, AT_FDCWD, "data.txt", &open_how, sizeof open_how));
    }
    else if (IS("dlsym")) {
        int (*behind)(const char *, int, ...) = dlsym(dlopen("libc.so.6", RTLD_LAZY), "open");
        read_fd(behind("data.txt", O_RDONLY));
    }
    else if (IS("handle")) {
        struct { struct file_handle handle; char rest[128]; } file = {.handle.handle_bytes = 128};
        int mount;
        must(!name_to_handle_at(AT_FDCWD, "data.txt", &file.handle, &mount, 0), how);
    }
    else if (IS("thread")) {
        pthread_t threads[8];
        for (int i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, in_thread, "data.txt");
        for (int i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
    else if (IS("handler")) {
        static char small[2048 * 4];
        stack_t stack = {.ss_sp = small, .ss_size = sizeof small};
        struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};
        sigaltstack(&stack, NULL);
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGUSR1);
    }
    else if (IS("fork")) {
        if (!(child = fork())) {
            read_fd(open("data.txt", O_RDONLY));
            _exit(0);
        }
        wait_for(child);
    }
    else if (IS("killed")) {
        if (!(child = fork())) {
            read_fd(open("data.txt", O_RDONLY));
            raise(SIGKILL);
        }
        waitpid(child, NULL, 0);
    }
    else if (IS("vfork")) {
        if (!(child = vfork())) {
            execve("/bin/cat", cat, none);
            _exit(1);
        }
        wait_for(child);
    }
    else if (IS("spawn")) {
        must(!posix_spawn(&child, "/bin/cat", NULL, NULL, cat, none), how);
        wait_for(child);
    }
    else if (IS("spawnp")) {
        must(!posix_spawnp(&child, "cat", NULL, NULL, cat, words), how);
        wait_for(child);
    }
    else if (IS("spawn_open")) {
        posix_spawn_file_actions_t actions;
        char *plain[] = {"cat", NULL};
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "data.txt", O_RDONLY, 0);
        must(!posix_spawn(&child, "/bin/cat", &actions, NULL, plain, none), how);
        wait_for(child);
    }
    else if (IS("execve")) execve("/bin/cat", cat, none);
    else if (IS("execve_null")) execve("/bin/cat", cat, NULL);
    else if (IS("execv")) { clearenv(); execv("/bin/cat", cat); }
    else if (IS("execvp")) execvp("cat", cat);
    else if (IS("execl")) execl("/bin/cat", "cat", "data.txt", NULL);
    else if (IS("execlp")) execlp("cat", "cat", "data.txt", NULL);
    else if (IS("execle")) execle("/bin/cat", "cat", "data.txt", NULL, words);
    else if (IS("execveat")) execveat(AT_FDCWD, "/bin/cat", cat, none, 0);
    else if (IS("fexecve")) fexecve(open("/bin/cat", O_RDONLY), cat, none);
    else if (IS("exec_raw")) syscall(SYS_execve, "/bin/cat", cat, none);
    else if (IS("system")) { clearenv(); must(!system("/bin/cat data.txt"), how); }
    else if (IS("popen")) { clearenv(); must(getc(popen("/bin/cat data.txt", "r")) != EOF, how); }
    else if (IS("glob")) {
        glob_t found;
        must(!glob("d*.txt", 0, NULL, &found) && found.gl_pathc == 1, how);
        must(!strcmp(found.gl_pathv[0], "data.txt") && !(found.gl_flags & GLOB_ALTDIRFUNC), how);
    }
    else if (IS("nftw")) must(!nftw(".", each, 10, FTW_PHYS), how);
    else if (IS("fts")) {
        char *paths[] = {".", NULL};
        FTS *fts = fts_open(paths, FTS_PHYSICAL, NULL);
        while (fts_read(fts))
            ;
    }
    else if (IS("scandir")) { struct dirent **names; must(scandir(".", &names, NULL, NULL) > 0, how); }
    else if (IS("realpath")) must(realpath("data.txt", name) != NULL, how);
    else if (IS("inotify")) must(inotify_add_watch(inotify_init(), "data.txt", IN_MODIFY) >= 0, how);
    else if (IS("mntent")) must(setmntent("data.txt", "r") != NULL, how);
    else if (IS("sendfile")) {
        int fd = open("data.txt", O_RDONLY);
        must(sendfile(1, fd, NULL, 2) >= 0 || errno == EINVAL, how);
    }
    else if (IS("descriptors")) { /* none is left, and all were closed */
        struct rlimit few = {4, 4};
        closefrom(3);
        setrlimit(RLIMIT_NOFILE, &few);
        read_fd(open("data.txt", O_RDONLY));
    }
    else if (IS("seccomp")) { /* a system call of ours that is not the one below would kill */
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getcwd, 2, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 1, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), how);
        read_fd(open("data.txt", O_RDONLY));
    }
    else if (IS("chroot")) { must(!chroot(".") && !chdir("/"), how); read_fd(open("/data.txt", O_RDONLY)); }
    else if (IS("chroot_exec")) { /* there is no program, and the library is out of sight */
        must(!chroot("/") , how);
        execl("/bin/cat", "cat", "data.txt", NULL);
    }
    else if (IS("unshare")) { if (unshare(CLONE_NEWPID)) return 0; if (!(child = fork())) execv("/bin/cat", cat); wait_for(child); }
    else if (IS("wordexp")) { wordexp_t result; must(!wordexp("d*.txt", &result, 0), how); }
    else if (IS("uring")) { char parameters[256] = {0}; syscall(425, 1, parameters); }
    else if (IS("errno")) {
        errno = 77;
        must(open("data.txt", O_RDONLY) >= 0 && errno == 77, how);
        must(open("missing", O_RDONLY) < 0 && errno == ENOENT, how);
        must(stat((char *)8, NULL) < 0 && errno == EFAULT, how);
    }
    else if (IS("cancel")) { /* a wrapper must not stand in the way */
        pthread_t thread;
        mkfifo("fifo", 0600);
        pthread_create(&thread, NULL, in_thread, "fifo");
        usleep(100000);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        unlink("fifo");
        read_fd(open("data.txt", O_RDONLY));
    }
    else {
        strcpy(name, how);
        slash = basename(name);
        fprintf(stderr, "unknown: %s\n", slash);
        return 2;
    }
    return IS("execve") || IS("execv") || IS("execvp") ? 1 : 0;
}
