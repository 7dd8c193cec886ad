/* Ways for a process to start others. Marks as in ends.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int count;

static void wait_for_all(void)
{
    while (wait(NULL) > 0)
        count++; // @vfork many cleared orphan daemon
}

/* Starts this program again, in the place of the process. */
static void again(const char *how, char **environment)
{
    char *arguments[] = {(char *)"prog", (char *)how, NULL};

    execve("./prog", arguments, environment);
    _exit(7); // @
}

static int is_child(int n)
{
    if (n % 2)
        return n % 3; // @many
    return 0; // @many
}

static void many(void)
{
    for (int n = 0; n < 50; n++)
        if (fork() == 0) {
            is_child(n);
            if (n % 2)
                kill(getpid(), SIGKILL);
            _exit(0);
        }
    wait_for_all();
}

static void *thread(void *argument)
{
    count++; // @threads
    if (argument)
        count++; // @threads
    for (;;)
        count++; // @threads
    return NULL;
}

static void threads(void)
{
    pthread_t id;

    for (int n = 0; n < 8; n++)
        pthread_create(&id, NULL, thread, n ? &count : NULL);
    usleep(50000);
    kill(getpid(), SIGKILL);
}

/* Leaves the session, closes all, and works on for a moment. */
static void daemonize(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int fd = 0; fd < 256; fd++)
                close(fd);
            usleep(50000);
            count = 4; // @daemon
            _exit(0);
        }
        _exit(0); // @daemon
    }
    wait_for_all();
}

/* A child whose parent is dead, and which then clears its environment. */
static void orphan(void)
{
    static char *none[] = {NULL};
    pid_t parent = getpid();

    if (fork() == 0) {
        if (fork() == 0) {
            while (getppid() == parent)
                usleep(1000);
            usleep(20000);
            again("ends", none);
        }
        _exit(0);
    }
    wait_for_all();
    usleep(100000);
}

static void plugin(void)
{
    void *library = dlopen("./plugin.so", RTLD_NOW);
    int (*work)(int) = (int (*)(int))dlsym(library, "plugin_work");

    count = work(1);
    dlclose(library);
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    static char *none[] = {NULL};

    if (!strcmp(how, "ends"))
        return 0; // @vfork cleared self orphan
    if (!strcmp(how, "vfork")) {
        if (vfork() == 0)
            again("ends", environ);
        wait_for_all();
    }
    if (!strcmp(how, "self"))
        again("ends", environ);
    if (!strcmp(how, "cleared")) {
        if (fork() == 0)
            again("ends", none);
        wait_for_all();
    }
    if (!strcmp(how, "many"))
        many();
    if (!strcmp(how, "threads"))
        threads();
    if (!strcmp(how, "daemon"))
        daemonize();
    if (!strcmp(how, "orphan"))
        orphan();
    if (!strcmp(how, "plugin"))
        plugin();
    return 0; // @vfork cleared many daemon orphan racing
}
