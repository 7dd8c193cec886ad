/* The library that is preloaded into the processes of a test, one translation unit: it notes which files of
 * the project they use. The host must not notice it: no descriptor stays open, errno is left alone, and
 * only the names of the functions it stands in front of are exported, and the one that compilers of ours call. It
 * uses no library itself, so that it can be loaded beside any, and before any is ready. */
#if !defined __linux__ || !defined __ELF__ || defined __ILP32__ || \
    !(defined __x86_64__ || defined __aarch64__ && !defined __AARCH64EB__)
#error "edgewise records file uses on Linux on x86-64 and aarch64 only"
#endif

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "uses_format.h"
#include "../sys.c"
#include "bytes.c"
#include "next.c"
#include "rooms.c"
#include "log.c"
#include "start.c"
#include "paths.c"
#include "note.c"
#include "opening.c"
#include "asking.c"
#include "changing.c"
#include "walking.c"
#include "programs.c"
#include "environment.c"
#include "executing.c"
#include "loading.c"
#include "confining.c"
#include "raw.c"
