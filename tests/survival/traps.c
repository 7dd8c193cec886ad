/* Traps that a compiler moves above what stands before them. Marks as in ends.c. */
#include <stdlib.h>
#include <string.h>

static volatile int sink;

__attribute__((noinline)) static int loop(int count, int x, int by)
{
    int s = 0;

    for (int i = 0; i < count; i++)
        s += x / by; // @fine seen loop
    return s; // @fine
}

__attribute__((noinline)) static int both(int which, int x, int by)
{
    int s;

    if (which > 1)
        s = x % by; // @both
    else
        s = x % by + 1; // @
    return s;
}

static int divide(int x, int by)
{
    return x / by; // @call
}

__attribute__((noinline)) static int call(int count, int x, int by)
{
    int s = 0;

    while (count--) {
        if (sink > 100)
            sink = 3; // @
        s += divide(x, by); // @call
    }
    return s; // @
}

__attribute__((noinline)) static int load(int count, const int *restrict p)
{
    int s = 0;

    for (int i = 0; i < count; i++)
        s += *p; // @load
    return s; // @
}

int main(int argc, char **argv)
{
    int by = atoi(argv[1]);
    const char *how = argc > 2 ? argv[2] : "loop";

    if (!strcmp(how, "loop"))
        sink = loop(argc + 1, argc, by);
    if (!strcmp(how, "both"))
        sink = both(argc, argc, by);
    if (!strcmp(how, "call"))
        sink = call(argc, argc, by);
    if (!strcmp(how, "load"))
        sink = load(argc, (int *)(long)by);
    return 0;
}
