/* What the runtime (C) and the reader (Rust) share: names, the unit descriptor and the trace file. */
#ifndef EDGEWISE_FORMAT_H
#define EDGEWISE_FORMAT_H

#include <stdint.h>

#define EDGEWISE_TEXT_OF(number) #number
#define EDGEWISE_TEXT(number) EDGEWISE_TEXT_OF(number)

#define EDGEWISE_ENVIRONMENT "EDGEWISE_TRACE"
#define EDGEWISE_MAP_SECTION "edgewise_map"
#define EDGEWISE_UNITS_SECTION "edgewise_units"

/* In the directory that the variable names:
 *   <build-id in hex>.trace   one per module, shared by all processes of the test
 *   <build-id>.<hash>.trace   the same for what ran within one case of edgewise.h
 *   cases                     one line per begin of a case: where the line ends of the case that began before it
 *                             in the same process or in the one that forked it (0: none), and the case's hash
 *   <build-id>.<process>.<thread>.<first>.<window>.path   a window of a thread's log of nodes
 *   loaded                    one absolute path per line, of every module that a process had loaded
 *   unclean.<pid>             its existence, even empty, says that the test's trace is not complete
 *   new.<pid>.<n>             a trace file in the making; left over only if its process was killed */
#define EDGEWISE_TRACE_SUFFIX ".trace"
#define EDGEWISE_PATH_SUFFIX ".path"
#define EDGEWISE_LOADED_NAME "loaded"
#define EDGEWISE_CASES_NAME "cases"
#define EDGEWISE_UNCLEAN_PREFIX "unclean."
#define EDGEWISE_NEW_PREFIX "new."

/* Runners listen on abstract sockets of this name with a number behind it, from 0 on. */
#define EDGEWISE_CHANNEL_NAME "edgewise.runner."
#define EDGEWISE_CHANNELS 16

#define EDGEWISE_MAGIC "EDGWTRC1"
#define EDGEWISE_VERSION 3
#ifdef __x86_64__
#define EDGEWISE_PAGE 4096
#else
#define EDGEWISE_PAGE 65536 /* the largest that kernels for aarch64 have */
#endif
#define EDGEWISE_HEADER_SIZE EDGEWISE_PAGE
#define EDGEWISE_HEADER_USED 128
#define EDGEWISE_UNIT_ID_SIZE 16
#define EDGEWISE_UNIT_ENTRY_SIZE 32
#define EDGEWISE_BUILD_ID_MAX 32
#define EDGEWISE_CASE_MAX 1000 /* bytes of a name */

/* In memory, in EDGEWISE_UNITS_SECTION: one per instrumented unit, written by the instrumented source. */
struct edgewise_unit {
    unsigned char id[EDGEWISE_UNIT_ID_SIZE];
    unsigned char *map;
    unsigned long long count;
};

/* In the trace file, at unit_offset: where the unit's bytes lie, counted from the start of the map. */
struct edgewise_unit_entry {
    uint8_t id[EDGEWISE_UNIT_ID_SIZE]; /*  0 */
    uint64_t offset;                   /* 16 */
    uint64_t count;                    /* 24 */
};

/* The trace file, little endian: header, map (whole pages), unit table, module path, name of the case.
 * Only the map and `processes` ever change once the file has its name. */
struct edgewise_header {
    uint8_t magic[8];                        /*  0 */
    uint32_t version;                        /*  8 */
    uint32_t header_size;                    /* 12 */
    uint64_t file_size;                      /* 16 */
    uint64_t map_offset;                     /* 24 */
    uint64_t map_size;                       /* 32 */
    uint64_t unit_offset;                    /* 40 */
    uint64_t unit_count;                     /* 48 */
    uint64_t path_offset;                    /* 56 */
    uint64_t path_length;                    /* 64: no NUL at the end */
    uint32_t build_id_length;                /* 72 */
    uint32_t processes;                      /* 76: times the module was attached; forked children do not count */
    uint8_t build_id[EDGEWISE_BUILD_ID_MAX]; /* 80 */
    uint64_t case_offset;                    /* 112: 0 if it is not of a case */
    uint64_t case_length;                    /* 120: no NUL at the end */
};

/* In a log of nodes: a node that runs. Zeros follow the last. */
struct edgewise_step {
    uint32_t run;       /*  0: of a procedure, by the thread's count from 1 on; or EDGEWISE_START */
    uint32_t map;       /*  4: where the unit's bytes lie, as in edgewise_unit_entry */
    uint32_t procedure; /*  8 */
    uint32_t node;      /* 12 */
};

/* The first step of a log: `map` runs of procedures began before it, in the process that forked this one. */
#define EDGEWISE_START 4294967295
#define EDGEWISE_STEP_SIZE 16

_Static_assert(sizeof(struct edgewise_step) == EDGEWISE_STEP_SIZE, "step");
_Static_assert(sizeof(struct edgewise_unit) == EDGEWISE_UNIT_ENTRY_SIZE, "unit descriptor");
_Static_assert(sizeof(struct edgewise_unit_entry) == EDGEWISE_UNIT_ENTRY_SIZE, "unit entry");
_Static_assert(sizeof(struct edgewise_header) == EDGEWISE_HEADER_USED, "header");

#endif
