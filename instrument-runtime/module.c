/* Finds notes, this module's build-id and the path of any module, the same way for all kinds of programs:
 * dl_iterate_phdr works in static, static-pie, PIE and non-PIE executables and in libraries. */

/* In .data, which every link has then. */
static volatile int here = 1;

static int covers(const struct dl_phdr_info *info, const ElfW(Phdr) *segment, uintptr_t address)
{
    return segment->p_type == PT_LOAD && address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
}

static uintptr_t read_hex(const char **at)
{
    uintptr_t value = 0;

    for (; **at; ++*at) {
        int letter = **at | 32, digit = **at <= '9' ? **at - '0' : letter - 'a' + 10;
        if (digit < 0 || digit > 15)
            break;
        value = value << 4 | (uintptr_t)digit;
    }
    return value;
}

/* What a line of /proc/self/maps, "start-end rights offset device inode path", says of an address: the
 * length of its path, 0 if the line is of another address, -1 if there is no path. */
static long path_in_line(const char *line, uintptr_t address, char path[PATH_MAX])
{
    uintptr_t first = read_hex(&line), end = (line++, read_hex(&line));
    const char *name = strchr(line, '/');

    if (address < first || address >= end)
        return 0;
    if (!name || strlen(name) >= PATH_MAX)
        return -1;
    memcpy(path, name, strlen(name) + 1);
    return (long)strlen(name);
}

static long mapped_path(uintptr_t address, char path[PATH_MAX])
{
    static char line[PATH_MAX + 128];
    char chunk[1024];
    size_t length = 0;
    long result = 0, got;
    int fd = sys_open("/proc/self/maps", O_RDONLY);

    if (fd < 0)
        return -1;
    while (!result && (got = sys(SYS_read, fd, chunk, sizeof chunk)) > 0)
        for (long i = 0; i < got && !result; i++) {
            if (chunk[i] != '\n') {
                if (length < sizeof line - 1)
                    line[length++] = chunk[i];
                continue;
            }
            line[length] = 0;
            length = 0;
            result = path_in_line(line, address, path);
        }
    sys(SYS_close, fd);
    return result ? result : -1;
}

static long module_path(const struct dl_phdr_info *info, char path[PATH_MAX])
{
    const char *name = info->dlpi_name;
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
    long length = -1;

    if (vdso && (uintptr_t)info->dlpi_phdr - vdso < EDGEWISE_PAGE)
        return 0;
    if (name && *name == '/' && strncmp(name, "/proc/", 6) && strlen(name) < PATH_MAX) {
        length = (long)strlen(name);
        memcpy(path, name, (size_t)length + 1);
        return length;
    }
    /* The executable has no name. If the kernel loaded no interpreter it is static, or was started as
     * `ld.so program`, and then the link names ld.so. */
    if ((!name || !*name) && getauxval(AT_BASE))
        length = sys(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, PATH_MAX - 1);
    if (length > 0) {
        path[length] = 0;
        return length;
    }
    /* A relative name is of little use: the working directory may have changed since it was opened. */
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            return mapped_path(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, path);
    return -1;
}

/* The content of a note in `size` bytes at `note`, or NULL. */
static const unsigned char *note_in(const unsigned char *note, size_t size, size_t align, const char *name,
                                    uint32_t type, size_t *length)
{
    const unsigned char *end = note + size;
    size_t name_size = strlen(name) + 1;
    ElfW(Nhdr) head;

    while ((size_t)(end - note) >= sizeof head) {
        memcpy(&head, note, sizeof head);
        size_t at = (sizeof head + head.n_namesz + align - 1) & ~(align - 1);
        size_t next = (at + head.n_descsz + align - 1) & ~(align - 1);
        if (at + head.n_descsz > (size_t)(end - note))
            return NULL;
        if (head.n_type == type && head.n_namesz == name_size && !memcmp(note + sizeof head, name, name_size)) {
            *length = head.n_descsz;
            return note + at;
        }
        if (next > (size_t)(end - note))
            return NULL;
        note += next;
    }
    return NULL;
}

static const unsigned char *find_note(const struct dl_phdr_info *info, const char *name, uint32_t type,
                                      size_t *length)
{
    const unsigned char *found = NULL;

    for (int i = 0; i < info->dlpi_phnum && !found; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            found = note_in((const unsigned char *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz,
                            segment->p_align == 8 ? 8 : 4, name, type, length);
    }
    return found;
}

static int if_this_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module *module = data;
    int mine = 0;
    long length;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        mine |= covers(info, &info->dlpi_phdr[i], (uintptr_t)&here);
    if (!mine)
        return 0;
    module->build_id = find_note(info, "GNU", NT_GNU_BUILD_ID, &module->build_id_length);
    module->path = room;
    length = module_path(info, module->path);
    module->path_length = length > 0 ? (size_t)length : 0;
    return 1;
}

static int this_module(struct module *module)
{
    module->build_id_length = 0;
    return dl_iterate_phdr(if_this_module, module) == 1 && module->path_length > 0;
}
