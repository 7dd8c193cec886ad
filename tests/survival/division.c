/* gcc divides before the loop, and so before the probe on the way into it. */
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static int sum(int count, int x, int by)
{
    int s = 0;

    for (int i = 0; i < count; i++)
        s += x / by; // @fine trap
    return s;
}

int main(int argc, char **argv)
{
    sink = sum(argc + 1, argc, atoi(argv[1]));
    return 0; // @fine trap
}
