/* Cases that cannot be told apart: what they do counts for all, and nothing is lost. Marks as in cases.c. */
#define _GNU_SOURCE
#include "edgewise.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static volatile int count, stop;

static void outer(void)
{
    count++; // @outer
}

static void inner(void)
{
    count++; // @outer inner last
}

static void late(void)
{
    count++; // @outer inner last
}

static void nested(void)
{
    edgewise_test_begin("outer");
    outer();
    edgewise_test_begin("inner");
    inner();
    edgewise_test_end();
    late();
    edgewise_test_end();
    edgewise_test_begin("last");
}

static void *helper(void *argument)
{
    while (!stop)
        count++; // @first second
    return argument;
}

static void first(void)
{
    count++; // @first second
}

static void alone(void)
{
    count++; // @second
}

static void threads(void)
{
    pthread_t id;

    pthread_create(&id, NULL, helper, NULL);
    while (!count)
        usleep(100);
    edgewise_test_begin("first");
    first();
    edgewise_test_end();
    stop = 1;
    pthread_join(id, NULL);
    edgewise_test_begin("second");
    alone();
    edgewise_test_end();
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "nested"))
        nested();
    else
        threads();
    return 0;
}
