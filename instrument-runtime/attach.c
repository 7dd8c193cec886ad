/* Maps the test's trace file over the map section, so that the kernel keeps every byte set from then on. */

/* A linker that does not take edgewise.ld knows start and end of a section by these names, for each
 * module its own as long as they are hidden. This object comes last: its part fills up the last page. */
#ifdef EDGEWISE_NO_SCRIPT
#define __edgewise_map_start __start_edgewise_map
#define __edgewise_map_stop __stop_edgewise_map
#define __edgewise_units_start __start_edgewise_units
#define __edgewise_units_stop __stop_edgewise_units
__asm__(".pushsection " EDGEWISE_MAP_SECTION ",\"aw\",%progbits\n.balign 4096\n.zero 4096\n.popsection\n"
        ".pushsection " EDGEWISE_UNITS_SECTION ",\"aw\",%progbits\n.balign 8\n.zero 8\n.popsection");
#endif

#define HIDDEN __attribute__((visibility("hidden")))
extern unsigned char __edgewise_map_start[] HIDDEN, __edgewise_map_stop[] HIDDEN;
extern unsigned char __edgewise_units_start[] HIDDEN, __edgewise_units_stop[] HIDDEN;

#define OTHER_MODULE 1 /* among error codes: those of the system are negative */

enum pass { COUNT, WRITE, COMPARE };

/* Walks the descriptors; they say where each unit's bytes ended up, since LTO reorders units and
 * compilers pad between them. Returns the number of units, -1 if they are not as they should be. */
static long walk_units(enum pass pass, struct edgewise_unit_entry *table)
{
    const unsigned char *at = __edgewise_units_start;
    size_t map_size = (size_t)(__edgewise_map_stop - __edgewise_map_start);
    long units = 0;

    while ((size_t)(__edgewise_units_stop - at) >= sizeof(struct edgewise_unit)) {
        struct edgewise_unit unit;
        struct edgewise_unit_entry entry;
        static const unsigned char padding[8];
        if (!memcmp(at, padding, sizeof padding)) {
            at += sizeof padding;
            continue;
        }
        memcpy(&unit, at, sizeof unit);
        at += sizeof unit;
        memcpy(entry.id, unit.id, sizeof entry.id);
        entry.offset = (uintptr_t)unit.map - (uintptr_t)__edgewise_map_start;
        entry.count = unit.count;
        if (entry.offset > map_size || entry.count > map_size - entry.offset)
            return -1;
        if (pass == WRITE)
            table[units] = entry;
        if (pass == COMPARE && memcmp(&table[units], &entry, sizeof entry))
            return -1;
        units++;
    }
    return units;
}

/* Is the file of a module like this one? Its path may differ: a copy elsewhere is the same module. */
static int matches(const struct edgewise_header *file, const struct edgewise_header *own)
{
    struct edgewise_header found = *file; /* a copy: other processes are counting */

    found.file_size = own->file_size;
    found.path_length = own->path_length;
    found.processes = own->processes;
    return !memcmp(&found, own, sizeof found) &&
           walk_units(COMPARE, (void *)((char *)file + own->unit_offset)) >= 0;
}

/* Maps a file that has its final name and is therefore complete. NULL on failure, with *error set. */
static void *map_existing(const struct edgewise_header *own, long *error)
{
    int fd = sys_open(file_path, O_RDWR);
    void *file = NULL;

    *error = fd;
    if (fd < 0)
        return NULL;
    *error = OTHER_MODULE;
    if (sys(SYS_lseek, fd, 0, SEEK_END) >= (long)own->path_offset)
        file = sys_map_shared(fd, own->file_size, error);
    sys(SYS_close, fd);
    if (file && !matches(file, own)) {
        sys(SYS_munmap, file, own->file_size);
        *error = OTHER_MODULE;
        return NULL;
    }
    return file;
}

/* Makes the file under a name of its own and gives it the final name when it is complete. Returns its
 * mapping; NULL on failure with *error set, to -EEXIST if another process was first. */
static void *map_new(const struct edgewise_header *own, const char *module_path, long *error)
{
    static char temporary[FILE_PATH_MAX];
    char *file = NULL;
    int fd = -EEXIST;

    /* The pid alone is not unique: pid namespaces, and leftovers of killed processes. */
    for (unsigned long n = 0; fd == -EEXIST; n++) {
        struct text name = {temporary, temporary + sizeof temporary};
        put_bytes(&name, file_path, directory_length);
        put(&name, EDGEWISE_NEW_PREFIX);
        put_number(&name, (unsigned long)sys(SYS_getpid));
        put(&name, ".");
        put_number(&name, n);
        fd = sys_open(temporary, O_RDWR | O_CREAT | O_EXCL);
    }
    *error = fd;
    if (fd < 0)
        return NULL;
    sys(SYS_fchmod, fd, 0666);
    *error = sys_allocate(fd, own->file_size);
    if (!*error)
        file = sys_map_shared(fd, own->file_size, error);
    sys(SYS_close, fd);
    if (file) {
        memcpy(file, own, sizeof *own);
        walk_units(WRITE, (void *)(file + own->unit_offset));
        memcpy(file + own->path_offset, module_path, own->path_length);
        *error = sys(SYS_link, temporary, file_path);
    }
    sys(SYS_unlink, temporary);
    if (file && *error) {
        sys(SYS_munmap, file, own->file_size);
        return NULL;
    }
    return file;
}

/* Moves the file's map over the section, with the bytes that earlier constructors set. Bytes are only
 * ever stored as 1: wider stores could undo what another process sets at the same time. */
static long move_over_section(unsigned char *map, size_t size)
{
    unsigned char *section = __edgewise_map_start;
    long result;

    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, section + i, sizeof word);
        for (size_t k = i; word && k < i + sizeof word; k++)
            if (section[k])
                __atomic_store_n(&map[k], 1, __ATOMIC_RELAXED);
    }
    if (!size)
        return 0;
    result = sys(SYS_mremap, map, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, section);
    if (result == (long)section)
        return 0;
    /* It may have unmapped the section before it failed: the probes need something there. */
    sys(SYS_mmap, section, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return result;
}

static int attach(void)
{
    struct module module;
    struct edgewise_header own;
    struct text name = file_name();
    char *file;
    long error, units = walk_units(COUNT, NULL);

    if (!units)
        return 1; /* no instrumented unit in this module */
    if (units < 0 || (((uintptr_t)__edgewise_map_start | (uintptr_t)__edgewise_map_stop) & (EDGEWISE_PAGE - 1)))
        return fail("the map is not laid out as edgewise.ld does it", 0);
    if (!this_module(&module))
        return fail("cannot find the path of this module", 0);
    if (!module.build_id_length || module.build_id_length > EDGEWISE_BUILD_ID_MAX)
        return fail("no usable build-id in this module", 0);

    memset(&own, 0, sizeof own);
    memcpy(own.magic, EDGEWISE_MAGIC, sizeof own.magic);
    own.version = EDGEWISE_VERSION;
    own.header_size = EDGEWISE_HEADER_SIZE;
    own.map_offset = EDGEWISE_HEADER_SIZE;
    own.map_size = (uint64_t)(__edgewise_map_stop - __edgewise_map_start);
    own.unit_offset = own.map_offset + own.map_size;
    own.unit_count = (uint64_t)units;
    own.path_offset = own.unit_offset + own.unit_count * sizeof(struct edgewise_unit_entry);
    own.path_length = module.path_length;
    own.file_size = own.path_offset + own.path_length;
    own.build_id_length = (uint32_t)module.build_id_length;
    memcpy(own.build_id, module.build_id, module.build_id_length);

    put_hex(&name, module.build_id, module.build_id_length);
    put(&name, EDGEWISE_TRACE_SUFFIX);

    file = map_existing(&own, &error);
    if (error == -ENOENT) {
        file = map_new(&own, module.path, &error);
        if (error == -EEXIST)
            file = map_existing(&own, &error);
    }
    if (!file)
        return fail(error == OTHER_MODULE ? "the trace file is of another module with the same build-id"
                                          : "cannot open or create the trace file", error);
    error = move_over_section((unsigned char *)file + own.map_offset, own.map_size);
    if (!error)
        __atomic_fetch_add(&((struct edgewise_header *)file)->processes, 1, __ATOMIC_RELAXED);
    /* Not in one go: where the map was, another thread may have mapped something by now. */
    sys(SYS_munmap, file, own.map_offset);
    sys(SYS_munmap, file + own.unit_offset, own.file_size - own.unit_offset);
    return error ? fail("cannot map over the section", error) : 1;
}
