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

/* A plain name is looked for in a directory; first in those for certain processors. No name stands for that of
 * the process. */
static void look_in(const char *directory, size_t length, const char *name, struct room *room)
{
    static const char *const before[] = {"/", "/glibc-hwcaps/x86-64-v4/", "/glibc-hwcaps/x86-64-v3/", "/glibc-hwcaps/x86-64-v2/"};
    size_t count = sizeof before / sizeof *before;

    if (!length) {
        directory = ".";
        length = 1;
    }
    if (length + length_of(name) + 32 >= PATH_MAX)
        return;
    copy(room->link, directory, length);
    put(room->link + length, "/glibc-hwcaps");
    note_looked_for(HERE, room->link, FOLLOW);
    for (size_t i = is_of_system(room->link) || !is_there(HERE, room->link) ? count - 1 : 0; i < count; i++) {
        put(put(room->link + length, before[count - 1 - i]), name);
        note_looked_for(HERE, room->link, FOLLOW);
    }
}

/* The same for a list of directories, which may be the project's. */
static void look_along(const char *directories, const char *name)
{
    struct room *room = directories ? take_room() : NULL;

    while (room && *directories) {
        const char *end = directories;
        while (*end && *end != ':' && *end != ';')
            end++;
        look_in(directories, (size_t)(end - directories), name, room);
        if (*end && !end[1])
            look_in(end, 0, name, room);
        directories = *end ? end + 1 : end;
    }
    if (room)
        leave_room(room);
}

/* What the loader may put for the variables of a search path. */
#ifdef __x86_64__
static const char *const libs[] = {"lib64", "lib/x86_64-linux-gnu", "lib"};
static const char *const platforms[] = {"x86_64", "haswell", "xeon_phi"};
#else
static const char *const libs[] = {"lib64", "lib/aarch64-linux-gnu", "lib"};
static const char *const platforms[] = {"aarch64"};
#endif

/* The length of a variable of a search path, if it stands at this place. */
static size_t length_of_variable(const char *at, const char *name)
{
    size_t length = length_of(name);

    if (*at != '$')
        return 0;
    if (at[1] == '{')
        return starts_with(at + 2, name) && at[2 + length] == '}' ? length + 3 : 0;
    return starts_with(at + 1, name) ? length + 1 : 0;
}

/* Directories of a search path with one choice of its variables, with a colon between them. */
static void look_along_chosen(const struct link_map *map, const char *directories, const char *name, const char *lib,
                              const char *platform)
{
    struct room *room = take_room();
    const char *file = map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
    size_t at = 0, origin = 0;

    if (!room)
        return;
    if (!(map->l_name && *map->l_name)) {
        long target = sys(SYS_readlinkat, HERE, file, room->real, PATH_MAX - 1);
        room->real[target > 0 ? target : 0] = 0;
    } else {
        put(room->real, length_of(file) < PATH_MAX ? file : "");
    }
    origin = (size_t)(last_of(room->real) - room->real);
    for (;; directories++) {
        size_t mark = length_of_variable(directories, "ORIGIN");
        size_t of_lib = length_of_variable(directories, "LIB");
        size_t of_platform = length_of_variable(directories, "PLATFORM");
        if (at + origin + 32 >= sizeof room->path)
            break;
        if (of_lib || of_platform) {
            at = (size_t)(put(room->path + at, of_lib ? lib : platform) - room->path);
            directories += (of_lib ? of_lib : of_platform) - 1;
        } else if (mark) {
            copy(room->path + at, origin ? room->real : "./", origin ? origin : 2);
            at += origin ? origin : 2;
            directories += mark - 1;
        } else if (*directories && *directories != ':') {
            room->path[at++] = *directories;
        } else {
            room->path[at] = 0;
            look_along(at ? room->path : ".", name);
            at = 0;
            if (!*directories)
                break;
        }
    }
    leave_room(room);
}

/* The same for each choice. Modules name such directories themselves (RPATH, RUNPATH). */
static void look_along_own(const struct link_map *map, const char *directories, const char *name)
{
    size_t lib_count = contains(directories, "LIB") ? sizeof libs / sizeof *libs : 1;
    size_t platform_count = contains(directories, "PLATFORM") ? sizeof platforms / sizeof *platforms : 1;

    if (!*directories)
        return;
    for (size_t i = 0; i < lib_count; i++)
        for (size_t j = 0; j < platform_count; j++)
            look_along_chosen(map, directories, name, libs[i], platforms[j]);
}

/* Those of the environment may have variables, too. */
static void look_along_given(const char *directories, const char *name)
{
    if (directories && contains(directories, "$"))
        look_along_own(first_module(), directories, name);
    else
        look_along(directories, name);
}

/* Whose search path counts for whom depends on how a library is loaded: those of all modules are looked at. */
static void look_in_modules(const char *name)
{
    for (const struct link_map *map = first_module(); map; map = map->l_next) {
        const char *strings = NULL;
        if (map->l_name && is_of_system(map->l_name))
            continue;
        for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_STRTAB)
                strings = address_in(map, entry->d_un.d_ptr);
        for (const ElfW(Dyn) *entry = map->l_ld; strings && entry && entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH)
                look_along_own(map, strings + entry->d_un.d_val, name);
    }
}

__attribute__((visibility("hidden"), used)) void *edgewise_before_dlopen(const char *name)
{
    static void *known;

    note_loads();
    if ((uintptr_t)name >= 4096 && is_on()) {
        if (contains(name, "/"))
            note_module(name);
        else {
            look_along_given(value_in(environ, "LD_LIBRARY_PATH="), name);
            look_in_modules(name);
        }
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
static const char *const names_of_files[] = {"LOCPATH=", "NLSPATH=", "GCONV_PATH=", "TZDIR=", "TZ=", "HOSTALIASES="};

static void note_variable(const char *variable)
{
    if (*variable != 'L' && *variable != 'N' && *variable != 'G' && *variable != 'T' && *variable != 'H')
        return;
    for (size_t i = 0; i < sizeof names_of_files / sizeof *names_of_files; i++) {
        const char *name = names_of_files[i], *value = variable + length_of(name);
        if (starts_with(variable, name) && contains(value, LOG_TEXT(root)))
            mark("a variable of the C library names files of the project");
    }
}

static void note_variables(char *const *variables)
{
    for (; *variables; variables++)
        note_variable(*variables);
}

/* A program may set them itself. */
WRAP(int, setenv, const char *name, const char *value, int replaces)
{
    if ((uintptr_t)name >= 4096 && (uintptr_t)value >= 4096 && is_on() && contains(value, LOG_TEXT(root)))
        for (size_t i = 0; i < sizeof names_of_files / sizeof *names_of_files; i++)
            if (starts_with(names_of_files[i], name) && names_of_files[i][length_of(name)] == '=')
                mark("a variable of the C library names files of the project");
    return CALL(-1, setenv, name, value, replaces);
}

WRAP(int, putenv, char *variable)
{
    if ((uintptr_t)variable >= 4096 && is_on())
        note_variable(variable);
    return CALL(-1, putenv, variable);
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

static int is_of_pattern(char c)
{
    return c == '*' || c == '?' || c == '[';
}

/* Where the process begins, and which of its variables may be patterns. A `*` stands for all of them. */
static void keep_variables(char **variables)
{
    long length = sys(SYS_getcwd, told_before, PATH_MAX);
    char *start = told_before + (length > 0 ? length : 1), *at = start;

    for (; *variables; variables++) {
        const char *name = *variables, *end = name, *value;
        while (*end && *end != '=')
            end++;
        for (value = end; *value && !is_of_pattern(*value); value++)
            ;
        if (!*value)
            continue;
        if (at + (end - name) + 2 > told_before + sizeof told_before) {
            at = put(start, "*");
            break;
        }
        copy(at, name, (size_t)(end - name));
        at += end - name;
        *at++ = ' ';
    }
    *at++ = 0;
    told_before_length = (size_t)(at - told_before);
}

/* Programs whose arguments tell which names they look for. */
static void keep_told(int count, char **arguments, char **variables)
{
    static const char *const names[] = {"sh", "dash", "bash", "find", "cmake"};
    const char *name = count > 0 && arguments[0] ? last_of(arguments[0]) : "";
    const char *end = count > 0 && arguments[0] ? arguments[count - 1] : NULL;

    for (size_t i = 0; end && i < sizeof names / sizeof *names; i++) {
        if (!equal(name, names[i]) || end < arguments[0])
            continue;
        told = arguments[0];
        told_length = (size_t)(end + length_of(end) + 1 - told);
        keep_variables(variables);
        told_hash = hash_bytes(EDGEWISE_TOLD, told, told_length);
        told_hash = hash_bytes(told_hash, told_before, told_before_length) | 1;
    }
}

/* What was found has been looked for in these directories first. */
static void note_searches(char *const *variables)
{
    const char *directories = value_in(variables, "LD_LIBRARY_PATH=");

    for (struct link_map *map = first_module(); map; map = map->l_next) {
        if (map->l_name && contains(map->l_name, "/")) {
            look_along_given(directories, last_of(map->l_name));
            look_in_modules(last_of(map->l_name));
        }
    }
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
        keep_told(count, arguments, variables);
    }
}

__attribute__((destructor, used)) static void end(void)
{
    note_loads();
}
