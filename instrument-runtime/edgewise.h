/* Tests inside one process: tells edgewise which test runs, so that each has a trace of its own.
 *
 *     edgewise_test_begin("parser/empty");
 *     ... the test ...
 *     edgewise_test_end();
 *
 * Copy this file into your project. Without edgewise the calls do nothing: the names below are then not
 * defined by anyone. What runs outside of any test counts for all of them, and so does all that cannot be
 * told apart: tests within tests, and tests that begin while other threads run. What a test runs counts for
 * later tests of the process too, unless the suite says `independent = true`. */
#ifndef EDGEWISE_H
#define EDGEWISE_H

#if defined(__GNUC__) && defined(__ELF__)

#ifdef __cplusplus
extern "C" {
#endif

extern void __edgewise_test_begin(const char *) __attribute__((__weak__));
extern void __edgewise_test_end(void) __attribute__((__weak__));

static __inline__ __attribute__((__unused__)) void edgewise_test_begin(const char *name)
{
    if (__edgewise_test_begin)
        __edgewise_test_begin(name);
}

static __inline__ __attribute__((__unused__)) void edgewise_test_end(void)
{
    if (__edgewise_test_end)
        __edgewise_test_end();
}

#ifdef __cplusplus
}
#endif

#else

#define edgewise_test_begin(name) ((void)(name))
#define edgewise_test_end() ((void)0)

#endif
#endif
