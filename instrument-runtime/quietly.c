/* Keeps signals and the runtime apart. */

#define SIGNAL_BIT(signal) ((uint64_t)1 << ((signal) - 1))

/* Signals wait while the runtime works: a handler that sets map bytes between merging and mapping over
 * would lose them. The kernel sends SIGXFSZ for a write beyond RLIMIT_FSIZE and SIGPIPE if nobody reads
 * stderr; those that became pending here are ours, and must not kill the host. */
static void quietly(void (*work)(void))
{
    static const long now[2]; /* a struct timespec of zero: do not wait */
    const uint64_t all = ~(uint64_t)0;
    uint64_t before, pending = 0, ours = SIGNAL_BIT(SIGXFSZ) | SIGNAL_BIT(SIGPIPE);

    sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    sys(SYS_rt_sigpending, &pending, sizeof pending);
    work();
    ours &= ~pending;
    while (sys(SYS_rt_sigtimedwait, &ours, 0, now, sizeof ours) > 0)
        ;
    sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof before);
}
