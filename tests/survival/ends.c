/* Ways for a process to end. `// @a b` marks a line that exactly the tests a and b reach. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int count;

static void die(const char *how)
{
    count++; // @exit _exit abort kill segv fork grandchild loop
    if (!strcmp(how, "exit")) {
        count = 2; // @exit
        exit(0);
        count = 3; // @
    }
    if (!strcmp(how, "_exit")) {
        count = 2; // @_exit
        _exit(0);
        count = 3; // @
    }
    if (!strcmp(how, "abort")) {
        count = 2; // @abort
        abort();
        count = 3; // @
    }
    if (!strcmp(how, "segv")) {
        count = 2; // @segv
        *(volatile int *)(long)(count - 2) = 1;
        count = 3; // @
    }
    while (!strcmp(how, "loop"))
        count ^= 1; // @loop
    kill(getpid(), SIGKILL);
    count = 3; // @
}

static int child(const char *how)
{
    int status;

    if (fork() == 0) {
        if (!strcmp(how, "grandchild")) {
            count = 5; // @grandchild
            if (fork() == 0)
                die(how);
            _exit(0); // @grandchild
        }
        die(how);
    }
    wait(&status); // @fork grandchild
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 9; // @
    if (strstr("fork grandchild", argv[1]))
        return child(argv[1]); // @fork grandchild
    die(argv[1]);
    return 0; // @
}
