/* The trace runtime, one translation unit: linked once into every executable and shared library.
 * The host must not notice it: no symbol is exported, no descriptor stays open, errno and the signal
 * mask are left alone. */
#if !defined __linux__ || !defined __ELF__ || defined __ILP32__ || \
    !(defined __x86_64__ || defined __aarch64__ && !defined __AARCH64EB__)
#error "edgewise traces on Linux on x86-64 and aarch64 only"
#endif

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "edgewise_format.h"

/* What the runtime has to remember lies beside the map, where a host that restores its own variables does
 * not reach. */
#define KEPT __attribute__((section("edgewise_state")))

#include "sys.c"
#include "text.c"
#include "process.c"
#include "module.h"
#include "module.c"
#include "instances.c"
#include "channel.c"
#include "say.c"
#include "attach.c"
#include "loaded.c"
#include "ancestors.c"
#include "quietly.c"
#include "cases.c"
#ifdef EDGEWISE_PATHS
#include "paths.c"
#endif

static const char *directory; /* as the environment has it */

static void start(void)
{
    if (!set_directory(directory))
        return;
    attach();
    continue_order();
    join_case();
    note_loaded();
}

/* A setuid program trusts no variable, and one that lost it cannot always look for it. Both may be part
 * of a test: its runner knows. Without one this is nobody's business, and nothing is printed. */
static void tell_of_setuid(void)
{
    static const char line[] = "edgewise: not traced: a setuid program";

    tell_runner("", 0, line, sizeof line - 1);
}

static void tell_of_doubt(void)
{
    static const char line[] = "edgewise: not traced: " EDGEWISE_ENVIRONMENT
                               " is not set, and not every ancestor can be asked for it";

    tell_runner("", 0, line, sizeof line - 1);
}

/* 101 is the earliest priority a program may use; what still earlier code set is merged. */
__attribute__((constructor(101), used)) static void edgewise_start(void)
{
    int unsure = 0;

    if (getauxval(AT_SECURE)) {
        quietly(tell_of_setuid);
        return;
    }
    directory = getenv(EDGEWISE_ENVIRONMENT);
    if (!directory || !*directory)
        directory = inherited_directory(&unsure);
    if (directory)
        quietly(start);
    else if (unsure)
        quietly(tell_of_doubt);
}

/* Among the last of the module's destructors, so that it sees what the others loaded. */
__attribute__((destructor(101), used)) static void edgewise_finish(void)
{
    if (directory_length && loaded_since_noted()) {
        may_print = 0;
        quietly(note_loaded);
    }
}
