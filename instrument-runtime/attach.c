/* Maps a trace file over the map section, so that the kernel keeps every byte set from then on. */

/* A linker that does not take edgewise.ld knows start and end of a section by these names, for each
 * module its own as long as they are hidden. This object comes last: its part fills up the last page. */
#ifdef EDGEWISE_NO_SCRIPT
#define __edgewise_map_start __start_edgewise_map
#define __edgewise_map_stop __stop_edgewise_map
#define __edgewise_units_start __start_edgewise_units
#define __edgewise_units_stop __stop_edgewise_units
__asm__(".pushsection " EDGEWISE_MAP_SECTION ",\"aw\",%progbits\n"
        ".balign " EDGEWISE_TEXT(EDGEWISE_PAGE) "\n.zero " EDGEWISE_TEXT(EDGEWISE_PAGE) "\n.popsection\n"
        ".pushsection " EDGEWISE_UNITS_SECTION ",\"aw\",%progbits\n.balign 8\n.zero 8\n.popsection");
#endif

#define HIDDEN __attribute__((visibility("hidden")))
extern unsigned char __edgewise_map_start[] HIDDEN, __edgewise_map_stop[] HIDDEN;
extern unsigned char __edgewise_units_start[] HIDDEN, __edgewise_units_stop[] HIDDEN;

#define OTHER_MODULE 1 /* among error codes: those of the system are negative */

enum pass { COUNT, WRITE, COMPARE };

/* A trace file as it is mapped before its map is moved over the section. */
struct trace {
    struct edgewise_header header; /* as this module has it */
    char *file;
};

static KEPT int attached;
static KEPT const unsigned char *own_build_id; /* of this module, in its note */
static KEPT size_t own_build_id_length;

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

/* Is the file of a module and a case like these? Its path may differ: a copy elsewhere is the same
 * module. */
static int matches(const char *file, size_t size, const struct edgewise_header *own, const char *name)
{
    struct edgewise_header found;

    memcpy(&found, file, sizeof found); /* a copy: other processes are counting */
    if (own->case_offset && (found.case_offset > size || found.case_length > size - found.case_offset ||
                             found.case_length != own->case_length ||
                             memcmp(file + found.case_offset, name, own->case_length)))
        return 0;
    found.file_size = own->file_size;
    found.path_length = own->path_length;
    found.processes = own->processes;
    found.case_offset = found.case_offset ? own->case_offset : 0;
    return !memcmp(&found, own, sizeof found) &&
           walk_units(COMPARE, (void *)(file + own->unit_offset)) >= 0;
}

/* Maps a file that has its final name and is therefore complete. NULL on failure, with *error set. */
static char *map_existing(struct edgewise_header *own, const char *name, long *error)
{
    int fd = sys_open(file_path, O_RDWR);
    char *file = NULL;
    long size;

    *error = fd;
    if (fd < 0)
        return NULL;
    *error = OTHER_MODULE;
    size = sys(SYS_lseek, fd, 0, SEEK_END);
    if (size >= (long)own->path_offset)
        file = sys_map_shared(fd, (size_t)size, error);
    sys(SYS_close, fd);
    if (file && !matches(file, (size_t)size, own, name)) {
        sys(SYS_munmap, file, size);
        *error = OTHER_MODULE;
        return NULL;
    }
    own->file_size = (uint64_t)size;
    return file;
}

/* Makes the file under a name of its own and gives it the final name when it is complete. Returns its
 * mapping; NULL on failure with *error set, to -EEXIST if another process was first. */
static char *map_new(const struct edgewise_header *own, const char *module_path, const char *name, long *error)
{
    static char temporary[FILE_PATH_MAX];
    char *file = NULL;
    int fd = -EEXIST;

    /* The pid alone is not unique: pid namespaces, and leftovers of killed processes. */
    for (unsigned long n = 0; fd == -EEXIST; n++) {
        struct text path = {temporary, temporary + sizeof temporary};
        put_bytes(&path, file_path, directory_length);
        put(&path, EDGEWISE_NEW_PREFIX);
        put_number(&path, (unsigned long)sys(SYS_getpid));
        put(&path, ".");
        put_number(&path, n);
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
        if (own->case_offset)
            memcpy(file + own->case_offset, name, own->case_length);
        *error = sys(SYS_linkat, AT_FDCWD, temporary, AT_FDCWD, file_path, 0);
    }
    sys(SYS_unlinkat, AT_FDCWD, temporary, 0);
    if (file && *error) {
        sys(SYS_munmap, file, own->file_size);
        return NULL;
    }
    return file;
}

/* Opens the trace of a case, or that of all that is outside of any (NULL), and makes it if there is none.
 * 0 on failure, which is made known. */
static int open_trace(struct trace *trace, const char *name)
{
    struct edgewise_header *own = &trace->header;
    struct module module;
    struct text path = file_name();
    long error, units = walk_units(COUNT, NULL);

    if (units < 0 || (((uintptr_t)__edgewise_map_start | (uintptr_t)__edgewise_map_stop) & (EDGEWISE_PAGE - 1)))
        return fail("the map is not laid out as edgewise.ld does it", 0);
    if (!this_module(&module))
        return fail("cannot find the path of this module", 0);
    if (!module.build_id || !module.build_id_length || module.build_id_length > EDGEWISE_BUILD_ID_MAX)
        return fail("no usable build-id in this module", 0);

    own_build_id = module.build_id;
    own_build_id_length = module.build_id_length;
    memset(own, 0, sizeof *own);
    memcpy(own->magic, EDGEWISE_MAGIC, sizeof own->magic);
    own->version = EDGEWISE_VERSION;
    own->header_size = EDGEWISE_HEADER_SIZE;
    own->map_offset = EDGEWISE_HEADER_SIZE;
    own->map_size = (uint64_t)(__edgewise_map_stop - __edgewise_map_start);
    own->unit_offset = own->map_offset + own->map_size;
    own->unit_count = (uint64_t)units;
    own->path_offset = own->unit_offset + own->unit_count * sizeof(struct edgewise_unit_entry);
    own->path_length = module.path_length;
    own->file_size = own->path_offset + own->path_length;
    own->build_id_length = (uint32_t)module.build_id_length;
    memcpy(own->build_id, module.build_id, module.build_id_length);
    if (name) {
        own->case_offset = own->file_size;
        own->case_length = strlen(name);
        own->file_size += own->case_length;
    }

    put_hex(&path, module.build_id, module.build_id_length);
    if (name) {
        put(&path, ".");
        put_hash(&path, name);
    }
    put(&path, EDGEWISE_TRACE_SUFFIX);

    trace->file = map_existing(own, name, &error);
    if (error == -ENOENT) {
        trace->file = map_new(own, module.path, name, &error);
        if (error == -EEXIST)
            trace->file = map_existing(own, name, &error);
    }
    if (!trace->file)
        return fail(error == OTHER_MODULE ? "the trace file is of another module with the same build-id"
                                          : "cannot open or create the trace file", error);
    return 1;
}

/* Unmaps all but the map. Not in one go: where that was, another thread may have mapped something by now. */
static void close_trace(const struct trace *trace)
{
    const struct edgewise_header *own = &trace->header;

    sys(SYS_munmap, trace->file, own->map_offset);
    sys(SYS_munmap, trace->file + own->unit_offset, own->file_size - own->unit_offset);
}

/* Sets in the file what earlier constructors set in the section. Bytes are only ever stored as 1: wider
 * stores could undo what another process sets at the same time. */
static void merge_section(const struct trace *trace)
{
    const unsigned char *section = __edgewise_map_start;
    unsigned char *map = (unsigned char *)trace->file + trace->header.map_offset;

    for (size_t i = 0; i < trace->header.map_size; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, section + i, sizeof word);
        for (size_t k = i; word && k < i + sizeof word; k++)
            if (section[k])
                __atomic_store_n(&map[k], 1, __ATOMIC_RELAXED);
    }
}

/* Moves the file's map over the section. Returns 0, or an error. */
static long move_over_section(const struct trace *trace)
{
    unsigned char *section = __edgewise_map_start;
    size_t size = trace->header.map_size;
    long result;

    if (!size)
        return 0;
    result = sys(SYS_mremap, trace->file + trace->header.map_offset, size, size,
                 MREMAP_MAYMOVE | MREMAP_FIXED, section);
    if (result == (long)section)
        return 0;
    /* It may have unmapped the section before it failed: the probes need something there. */
    sys(SYS_mmap, section, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return result;
}

/* Takes the map out of the segments that dl_iterate_phdr tells of, in the program headers in memory: a host
 * may save and restore all that is writable. Where the map shares its segment, what is before it (RELRO,
 * .got.plt) goes with it. */
static int hide_map(struct dl_phdr_info *info, size_t size, void *data)
{
    ElfW(Phdr) *found = NULL;
    const ElfW(Phdr) *around = NULL;
    uintptr_t first, length;
    size_t gone;
    int rights;

    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (covers(info, segment, (uintptr_t)__edgewise_map_start))
            found = (ElfW(Phdr) *)segment;
        if (covers(info, segment, (uintptr_t)info->dlpi_phdr))
            around = segment;
    }
    if (!found)
        return 0;
    gone = (size_t)((uintptr_t)__edgewise_map_stop - (info->dlpi_addr + found->p_vaddr));
    if (!around || around == found || found->p_flags & PF_X || gone > found->p_filesz)
        return 1; /* all of the program is one segment */
    first = (uintptr_t)found & ~(uintptr_t)(EDGEWISE_PAGE - 1);
    length = (uintptr_t)(found + 1) - first;
    rights = PROT_READ | (around->p_flags & PF_X ? PROT_EXEC : 0);
    if (sys(SYS_mprotect, first, length, rights | PROT_WRITE))
        return 1;
    if (gone == found->p_memsz)
        found->p_type = PT_NULL;
    found->p_offset += gone;
    found->p_vaddr += gone;
    found->p_paddr += gone;
    found->p_filesz -= gone;
    found->p_memsz -= gone;
    sys(SYS_mprotect, first, length, rights);
    return 1;
}

static void attach(void)
{
    struct trace trace;
    long error;

    if (!walk_units(COUNT, NULL))
        return; /* no instrumented unit in this module */
    if (!open_trace(&trace, NULL))
        return;
    merge_section(&trace);
    error = move_over_section(&trace);
    if (error)
        fail("cannot map over the section", error);
    else
        __atomic_fetch_add(&((struct edgewise_header *)trace.file)->processes, 1, __ATOMIC_RELAXED);
    close_trace(&trace);
    attached = !error;
    if (attached)
        dl_iterate_phdr(hide_map, NULL);
}
