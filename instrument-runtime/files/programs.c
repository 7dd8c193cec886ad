/* Looks at a program before it is executed: its interpreter is a file that is used, and some programs cannot
 * be seen. Whether one is seen is not decided here: it has to say so itself once it runs. */

#define SCRIPTS_MAX 5 /* as in the kernel */
#define HEAD_MAX 2048

struct program {
    const char *doubt; /* why it may not be seen, or NULL */
    int is_unseen;     /* whoever loads the library there is another program */
    int is_foreign;    /* it must not be given the library */
};

static const char *last_of(const char *path)
{
    const char *name = path;

    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

/* The loader, executed by itself, loads the library like any other. */
static int is_loader(const char *path)
{
    const char *name = last_of(path);

    return starts_with(name, "ld-") || starts_with(name, "ld.so") || starts_with(name, "ld64.so");
}

static void look_at_elf(const char *path, const char *head, long filled, struct program *program)
{
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)head;
    int has_interpreter = 0;
#ifdef __x86_64__
    int machine = EM_X86_64;
#else
    int machine = EM_AARCH64;
#endif

    if (head[EI_CLASS] != ELFCLASS64 || filled < (long)sizeof *elf || elf->e_machine != machine) {
        program->doubt = "a program for another kind of machine";
        program->is_foreign = 1;
        return;
    }
    for (size_t i = 0; i < elf->e_phnum; i++) {
        size_t at = elf->e_phoff + i * sizeof(ElfW(Phdr));
        const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(head + at);
        if (at + sizeof *segment > (size_t)filled) {
            program->doubt = "its head is too long";
            return;
        }
        has_interpreter |= segment->p_type == PT_INTERP;
    }
    if (!has_interpreter) {
        program->doubt = "statically linked";
        program->is_unseen = !is_loader(path); /* valgrind loads the library for the program inside of it */
    }
}

/* Who executes a setuid program as another does not hand the library on. */
static void look_at_rights(int fd, struct program *program)
{
    struct stat status;
    char capabilities[64];
    long user = sys(SYS_getuid);

    if (sys(SYS_fstat, fd, &status))
        return;
    if (status.st_mode & S_ISUID && status.st_uid != (uid_t)user)
        program->doubt = "a setuid program";
    if (status.st_mode & S_ISGID && status.st_gid != (gid_t)sys(SYS_getgid))
        program->doubt = "a setgid program";
    if (user && sys(SYS_fgetxattr, fd, "security.capability", capabilities, sizeof capabilities) > 0)
        program->doubt = "a program with capabilities";
}

static struct program look_at_program(int at, const char *path)
{
    struct program program = {NULL, 0, 0};
    struct room *room;
    char *head;

    if (confined || !(room = take_room()))
        return program;
    head = room->link;
    for (int i = 0; i < SCRIPTS_MAX; i++) {
        long filled;
        char *end, *interpreter = head + 2;
        int fd = (int)sys(SYS_openat, at, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) {
            if (fd != -ENOENT && fd != -ENOTDIR)
                program.doubt = "it cannot be read";
            break;
        }
        filled = sys(SYS_pread64, fd, head, HEAD_MAX, 0);
        if (filled >= 64 && same(head, "\177ELF", 4)) {
            look_at_elf(path, head, filled, &program);
            look_at_rights(fd, &program);
        }
        sys(SYS_close, fd);
        if (filled < 3 || head[0] != '#' || head[1] != '!')
            break;
        head[filled < 256 ? filled : 256] = 0;
        while (*interpreter == ' ' || *interpreter == '\t')
            interpreter++;
        for (end = interpreter; *end && *end != ' ' && *end != '\t' && *end != '\n'; end++)
            ;
        *end = 0;
        if (!*interpreter)
            break;
        note(EDGEWISE_LOOKED_FOR, HERE, interpreter, FOLLOW);
        note(EDGEWISE_EXECUTED, HERE, interpreter, FOLLOW);
        copy(room->path, interpreter, (size_t)(end - interpreter) + 1);
        path = room->path;
        at = HERE;
    }
    leave_room(room);
    return program;
}

/* Go makes its system calls itself, also where it uses the C library. It says who it is in a note. */
static int is_go(const ElfW(Phdr) *segments, size_t count)
{
    struct link_map *program = first_module();

    for (size_t i = 0; i < count; i++) {
        const char *notes = (const char *)((program ? program->l_addr : 0) + segments[i].p_vaddr);
        if (segments[i].p_type != PT_NOTE || !program)
            continue;
        for (size_t at = 0; at + 16 <= segments[i].p_filesz;) {
            const uint32_t *note = (const uint32_t *)(notes + at);
            if (note[0] == 4 && note[2] == 4 && same(notes + at + 12, "Go\0", 4))
                return 1;
            at += 12 + ((note[0] + 3ul) & ~3ul) + ((note[1] + 3ul) & ~3ul);
        }
    }
    return 0;
}

/* These make the system calls of the program that they run. */
static int is_emulator(const char *path)
{
    const char *name = last_of(path);

    return starts_with(name, "qemu-") || starts_with(name, "box64") || starts_with(name, "FEX");
}
