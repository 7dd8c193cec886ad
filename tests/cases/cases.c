/* Cases inside one process. `// @a b` marks a line that exactly the cases a and b reach. */
#define _GNU_SOURCE
#include "edgewise.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int count;
int library_work(int n);

static void work(int n)
{
    switch (n) {
    case 1:
        count = 1; // @one again
        break;
    case 2:
        count = 2; // @two
        break;
    case 3:
        count = 3; // @one two forked again
        break;
    case 4:
        count = 4; // @forked
        break;
    default:
        count = 5; // @
    }
}

static void plain(void)
{
    work(3); /* before any case: counts for all */
    edgewise_test_begin("one");
    work(1);
    library_work(1);
    edgewise_test_end();
    edgewise_test_begin("two");
    work(2);
    library_work(2);
    edgewise_test_end();
    edgewise_test_end(); /* one too many */
}

/* A process for each case, killed before it ends. */
static void forks(void)
{
    edgewise_test_begin("forked");
    if (fork() == 0) {
        work(4);
        kill(getpid(), 9);
    }
    wait(NULL);
    edgewise_test_end();
    if (fork() == 0) {
        edgewise_test_begin("again");
        work(1);
        kill(getpid(), 9);
    }
    wait(NULL);
    work(3); /* after them */
}

/* A module that is loaded within a case, and stays. */
static void plugin(void)
{
    void *library;
    int (*plugin_work)(int);

    edgewise_test_begin("loads");
    library = dlopen("./plugin.so", RTLD_NOW);
    plugin_work = (int (*)(int))dlsym(library, "plugin_work");
    count = plugin_work(1);
    edgewise_test_end();
    edgewise_test_begin("uses");
    count = plugin_work(2);
    edgewise_test_end();
}

static void next(int i)
{
    static const char *const names[] = {"second", "third"};

    if (i < 2) {
        edgewise_test_end();
        edgewise_test_begin(names[i]);
    }
}

/* A loop that goes on from case to case. */
static void rounds(void)
{
    int i;

    edgewise_test_begin("first");
    for (i = 0; i < 3; i++) {
        count = i; // @rounds
        next(i);
    }
    edgewise_test_end();
}

/* It has the name of what never returns, and does. */
void __assert(int i)
{
    next(i);
}

static void hooks(void)
{
    int i;

    edgewise_test_begin("first");
    for (i = 0; i < 3; i++) {
        count = i; // @hooks
        __assert(i);
    }
    edgewise_test_end();
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "forks"))
        forks();
    else if (argc > 1 && !strcmp(argv[1], "plugin"))
        plugin();
    else if (argc > 1 && !strcmp(argv[1], "rounds"))
        rounds();
    else if (argc > 1 && !strcmp(argv[1], "hooks"))
        hooks();
    else
        plain();
    return 0;
}
