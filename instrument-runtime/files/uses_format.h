/* What the preloaded library (C) and the reader (Rust) share: the log of file uses of one test. */
#ifndef EDGEWISE_USES_FORMAT_H
#define EDGEWISE_USES_FORMAT_H

#include <stdint.h>

/* In the trace directory:
 *   files        the log, mapped by all processes of the test
 *   files.more   the records that found no room in it, behind each other */
#define EDGEWISE_USES_NAME "files"
#define EDGEWISE_USES_MORE_NAME "files.more"
#define EDGEWISE_USES_MAGIC "EDGWUSE1"

/* What was done to a path. What makes a file an input is noted before the call, what makes it an output
 * after it has succeeded: then no kill and no race takes an input for an output. */
#define EDGEWISE_READ 1       /* opened, so that what is in it counts */
#define EDGEWISE_WRITTEN 2    /* made, emptied, replaced or removed */
#define EDGEWISE_LOOKED_FOR 3 /* asked for, or not there */
#define EDGEWISE_LISTED 4
#define EDGEWISE_EXECUTED 5
#define EDGEWISE_COMPILED 6   /* the same as READ, by a compiler of ours that makes a unit of it */
#define EDGEWISE_DESCRIBED 7  /* the same as READ, by a make: it says how to build */
#define EDGEWISE_SOUGHT 8     /* the same as LOOKED_FOR, by a make or a compiler of ours */
#define EDGEWISE_CACHED 9     /* the same as LISTED, by a make, which asks for names that its rules have */
#define EDGEWISE_GLOBBED 10   /* the same as LISTED, by glob(): the pattern is noted as well */
#define EDGEWISE_TOLD 11      /* the same as LISTED; behind it, each behind a NUL, the working directory, that at the
                                 start of the process, names of variables whose values have characters of patterns,
                                 with spaces between, and its arguments: a shell, find, or cmake */
#define EDGEWISE_PATTERN 12   /* what glob() was asked for, without links up to the first part that is a pattern */
#define EDGEWISE_PATTERN_OF_MAKE 13

/* A file with several names was opened by one outside of the project, which may have another one in it. The
 * text is its device and its inode in decimal, with a space between. */
#define EDGEWISE_SEVERAL_NAMES 14

/* Opened only to append to it: nothing of it is read, unless another use says so. */
#define EDGEWISE_APPENDED 15
/* The same as SOUGHT, by a make that wanted to read it: a part of a makefile that is not there. */
#define EDGEWISE_INCLUDED 22

/* What became of processes. A program that is executed has to say EDGEWISE_LOADED afterwards: one that does
 * not is not seen, for whatever reason. */
#define EDGEWISE_EXEC 16     /* program, NUL, why it may not be seen */
#define EDGEWISE_SPAWN 17    /* the same for a child that is about to be made */
#define EDGEWISE_SPAWNED 18  /* `process` is that child; `serial` is that of its EDGEWISE_SPAWN */
#define EDGEWISE_RETURNED 19 /* it was not executed after all; `serial` as above */
#define EDGEWISE_LOADED 20   /* `process` has the library */
#define EDGEWISE_MARK 21     /* why not everything is seen */
#define EDGEWISE_UNSEEN 64   /* added to EXEC and SPAWN: though it loads the library, it is not seen */

#define EDGEWISE_COMPLETE 1 /* added to the size: all of the record is there */

struct edgewise_use {
    uint32_t size; /*  0: with this head, a multiple of 8; 0 behind the last record */
    uint16_t kind; /*  4 */
    uint16_t text; /*  6: length of the text behind the head */
    uint32_t process; /*  8 */
    uint32_t serial;  /* 12 */
};

/* The log: this head with texts, a table of hashes of what is in it already, records. */
struct edgewise_uses {
    uint8_t magic[8];     /*  0 */
    uint64_t size;        /*  8: of the file */
    uint64_t table;       /* 16: where the table is */
    uint64_t table_count; /* 24: a power of two, of 8 bytes each */
    uint64_t records;     /* 32: where the records are */
    uint64_t end;         /* 40: a record begins here, and all before it are taken */
    uint32_t serial;      /* 48 */
    uint32_t links;       /* 52: how often symbolic links were changed */
    uint32_t full;        /* 56: records go to files.more */
    uint32_t lost;        /* 60: a record found no room anywhere */
    uint32_t root;        /* 64: where the root of the project is, with a NUL behind it */
    uint32_t library;     /* 68: the same for the path of the library */
    uint32_t directory;   /* 72: the same for the trace directory */
    uint32_t root_length; /* 76 */
};

#define EDGEWISE_USES_HEAD 80
#define EDGEWISE_USE_HEAD 16

_Static_assert(sizeof(struct edgewise_uses) == EDGEWISE_USES_HEAD, "log");
_Static_assert(sizeof(struct edgewise_use) == EDGEWISE_USE_HEAD, "record");

#endif
