/* Libraries: what the loader loads is not opened by any function that could be wrapped. */

/* A module, by the name the loader has for it; the kernel's own has no file. */
static void note_module(const char *name)
{
    uint64_t known;

    if (!name || !contains(name, "/"))
        return;
    known = note(EDGEWISE_LOOKED_FOR, HERE, name, FOLLOW);
    note_also(known, EDGEWISE_READ, HERE, name, FOLLOW);
}

static int note_each(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    note_module(info->dlpi_name);
    return 0;
}

static int loads_pending; /* something was loaded and is not noted yet */

/* The list of modules may change while we look, unless the loader holds it. */
static void note_loads(void)
{
    int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

    if (!log || !__atomic_exchange_n(&loads_pending, 0, __ATOMIC_RELAXED))
        return;
    iterate = find_behind_us("dl_iterate_phdr");
    if (iterate)
        iterate(note_each, NULL);
}

/* The function behind is jumped to, so that it sees who called: whose search path counts depends on that. */
#ifdef __x86_64__
#define PASS(name, before)                                                          \
    __asm__(".pushsection .text\n.globl " #name "\n.type " #name ",@function\n"     \
            #name ":\n"                                                             \
            "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\nsub $8, %rsp\n" \
            "call " #before "\n"                                                    \
            "add $8, %rsp\npop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n"                \
            "jmp *%rax\n.size " #name ", .-" #name "\n.popsection")
#else
#define PASS(name, before)                                                          \
    __asm__(".pushsection .text\n.globl " #name "\n.type " #name ",%function\n"     \
            #name ":\n"                                                             \
            "stp x29, x30, [sp, -80]!\nstp x0, x1, [sp, 16]\nstp x2, x3, [sp, 32]\n" \
            "stp x4, x5, [sp, 48]\nstp x6, x7, [sp, 64]\n"                          \
            "bl " #before "\nmov x16, x0\n"                                         \
            "ldp x6, x7, [sp, 64]\nldp x4, x5, [sp, 48]\n"                          \
            "ldp x2, x3, [sp, 32]\nldp x0, x1, [sp, 16]\nldp x29, x30, [sp], 80\n"  \
            "br x16\n.size " #name ", .-" #name "\n.popsection")
#endif

static void *nothing(void)
{
    return NULL;
}

static void *or_nothing(void **known, const char *name)
{
    void *found = next(known, name);

    return found ? found : (void *)nothing;
}

/* A plain name is looked for in directories; those of the environment may be the project's. */
static void look_along(const char *directories, const char *name)
{
    struct room *room = directories ? take_room() : NULL;

    while (room && *directories) {
        const char *end = directories;
        while (*end && *end != ':' && *end != ';')
            end++;
        if ((size_t)(end - directories) + length_of(name) + 2 < PATH_MAX) {
            copy(room->link, directories, (size_t)(end - directories));
            put(put(room->link + (end - directories), "/"), name);
            note_looked_for(HERE, room->link, FOLLOW);
        }
        directories = *end ? end + 1 : end;
    }
    if (room)
        leave_room(room);
}

__attribute__((visibility("hidden"), used)) void *edgewise_before_dlopen(const char *name)
{
    static void *known;

    note_loads();
    if ((uintptr_t)name >= 4096 && is_on()) {
        if (contains(name, "/"))
            note_module(name);
        else
            look_along(value_in(environ, "LD_LIBRARY_PATH="), name);
        __atomic_store_n(&loads_pending, 1, __ATOMIC_RELAXED);
    }
    return or_nothing(&known, "dlopen");
}
PASS(dlopen, edgewise_before_dlopen);

__attribute__((visibility("hidden"), used)) void *edgewise_before_dlmopen(long space, const char *name)
{
    static void *known;

    if (is_on() && space != 0) /* not LM_ID_BASE */
        mark("a library is loaded into a name space of its own");
    if ((uintptr_t)name >= 4096)
        note_module(name);
    return or_nothing(&known, "dlmopen");
}
PASS(dlmopen, edgewise_before_dlmopen);

/* Whoever asks one library for a function finds that library's, and goes past ours: it gets ours. */
static void *substitute(void *found, const char *name)
{
    void *ours = found ? find_in(own_module(), name) : NULL;

    return ours && found == find_behind_us(name) ? ours : found;
}

static void *known_dlsym, *known_dlvsym;

static void *dlsym_of_library(void *library, const char *name)
{
    void *(*behind)(void *, const char *) = next(&known_dlsym, "dlsym");

    return substitute(behind(library, name), name);
}

static void *dlvsym_of_library(void *library, const char *name, const char *version)
{
    void *(*behind)(void *, const char *, const char *) = next(&known_dlvsym, "dlvsym");

    return substitute(behind(library, name, version), name);
}

/* RTLD_DEFAULT and RTLD_NEXT depend on the caller, and find ours where it comes first. */
__attribute__((visibility("hidden"), used)) void *edgewise_before_dlsym(long library)
{
    void *behind = or_nothing(&known_dlsym, "dlsym");

    note_loads();
    return library == 0 || library == -1 || !is_on() || behind == (void *)nothing ? behind : (void *)dlsym_of_library;
}
PASS(dlsym, edgewise_before_dlsym);

__attribute__((visibility("hidden"), used)) void *edgewise_before_dlvsym(long library)
{
    void *behind = or_nothing(&known_dlvsym, "dlvsym");

    note_loads();
    return library == 0 || library == -1 || !is_on() || behind == (void *)nothing ? behind : (void *)dlvsym_of_library;
}
PASS(dlvsym, edgewise_before_dlvsym);

WRAP(int, dlclose, void *library)
{
    note_loads();
    return CALL(-1, dlclose, library);
}

/* Files that the C library reads because a variable says so. */
static void note_variables(char *const *variables)
{
    static const char *const names[] = {"LOCPATH=", "NLSPATH=", "GCONV_PATH=", "TZDIR=", "TZ=", "HOSTALIASES="};

    for (; *variables; variables++) {
        const char *first = *variables;
        if (*first != 'L' && *first != 'N' && *first != 'G' && *first != 'T' && *first != 'H')
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const char *value = *variables + length_of(names[i]);
            if (starts_with(*variables, names[i]) && contains(value, LOG_TEXT(root)))
                mark("a variable of the C library names files of the project");
        }
    }
}

static int is_name_of_make(const char *name)
{
    return equal(name, "make") || equal(name, "gmake") || equal(name, "bmake") || equal(name, "remake");
}

/* The program itself may be an argument of the loader, which is then what was executed. */
static void note_program(int count, char **arguments, char **variables)
{
    const ElfW(auxv_t) *aux;
    const char *executed = NULL;
    const ElfW(Phdr) *segments = NULL;
    size_t segment_count = 0;
    int by_loader = 1;

    while (*variables)
        variables++;
    for (aux = (const ElfW(auxv_t) *)(variables + 1); aux->a_type != AT_NULL; aux++) {
        if (aux->a_type == AT_EXECFN)
            executed = (const char *)aux->a_un.a_val;
        if (aux->a_type == AT_PHDR)
            segments = (const ElfW(Phdr) *)aux->a_un.a_val;
        if (aux->a_type == AT_PHNUM)
            segment_count = aux->a_un.a_val;
        if (aux->a_type == AT_BASE && aux->a_un.a_val)
            by_loader = 0;
    }
    if (by_loader && count > 0)
        executed = arguments[0];
    if (executed) {
        uint64_t known = note(EDGEWISE_LOOKED_FOR, HERE, executed, FOLLOW);
        note_also(known, EDGEWISE_EXECUTED, HERE, executed, FOLLOW);
        /* It reads what it hands on to the compiler. */
        is_compiling |= equal(last_of(executed), "ccache");
        is_make = is_name_of_make(last_of(executed));
        if (is_emulator(executed))
            mark("an emulator makes system calls itself");
    }
    if (!by_loader && segments && is_go(segments, segment_count))
        mark("a program written in Go makes its system calls itself");
}

/* What was found has been looked for in these directories first. */
static void note_searches(char *const *variables)
{
    const char *directories = value_in(variables, "LD_LIBRARY_PATH=");

    if (!directories || !*directories)
        return;
    for (struct link_map *map = first_module(); map; map = map->l_next)
        if (map->l_name && contains(map->l_name, "/"))
            look_along(directories, last_of(map->l_name));
}

__attribute__((constructor(101), used)) static void begin(int count, char **arguments, char **variables)
{
    struct link_map *map;

    if ((uintptr_t)variables < 4096 || variables != arguments + count + 1) /* musl tells constructors nothing */
        variables = NULL;
    start(variables ? variables : &environ ? environ : NULL);
    if (!log)
        return;
    for (map = first_module(); map; map = map->l_next)
        if (map->l_ld != _DYNAMIC)
            note_module(map->l_name);
    if (variables) {
        note_variables(variables);
        note_searches(variables);
        note_program(count, arguments, variables);
    }
}

__attribute__((destructor, used)) static void end(void)
{
    note_loads();
}
