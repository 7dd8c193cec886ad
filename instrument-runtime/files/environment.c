/* What a program needs in its environment to be seen, put back where somebody has cleaned it. */

#define TRACE "EDGEWISE_TRACE="
#define PRELOAD "LD_PRELOAD="
/* The runtime of gcc's sanitizer refuses to start if another library comes before it. */
#define ASAN "ASAN_OPTIONS="
#define ASAN_ORDER "verify_asan_link_order=0"

struct needs {
    const char *trace, *preload, *asan; /* as they are, or NULL */
    size_t count;                       /* of variables */
    int is_met;
    int with_library;
};

static struct needs needs_of(char *const *variables, int with_library)
{
    struct needs needs = {NULL, NULL, NULL, 0, 0, with_library};
    int has_library;

    for (; variables && variables[needs.count]; needs.count++) {
        const char *variable = variables[needs.count];
        if (*variable == 'E' && !needs.trace && starts_with(variable, TRACE))
            needs.trace = variable;
        if (*variable == 'L' && !needs.preload && starts_with(variable, PRELOAD))
            needs.preload = variable;
        if (*variable == 'A' && !needs.asan && starts_with(variable, ASAN))
            needs.asan = variable;
    }
    /* Somebody else's run, whose processes are not for our log. */
    if (needs.trace && needs.trace[sizeof TRACE - 1] && !equal(needs.trace + sizeof TRACE - 1, LOG_TEXT(directory))) {
        needs.is_met = 1;
        return needs;
    }
    has_library = needs.preload && contains(needs.preload, LOG_TEXT(library));
    needs.is_met = has_library == with_library && needs.trace &&
                   equal(needs.trace + sizeof TRACE - 1, LOG_TEXT(directory)) && needs.asan &&
                   contains(needs.asan, ASAN_ORDER);
    return needs;
}

/* How much memory the environment takes with what is needed. */
static size_t size_of_needs(const struct needs *needs)
{
    size_t size = (needs->count + 4) * sizeof(char *);

    size += sizeof TRACE + length_of(LOG_TEXT(directory));
    size += sizeof PRELOAD + length_of(LOG_TEXT(library)) + (needs->preload ? length_of(needs->preload) : 0) + 1;
    return size + sizeof ASAN + sizeof ASAN_ORDER + (needs->asan ? length_of(needs->asan) : 0) + 1;
}

/* LD_PRELOAD with or without our library, which comes last: it is to see what those of the user make of a call. */
static char *put_preload(char *at, const struct needs *needs)
{
    const char *library = LOG_TEXT(library), *given = needs->preload ? needs->preload + sizeof PRELOAD - 1 : "";
    size_t length = length_of(library);

    at = put(at, PRELOAD);
    while (*given) {
        if (starts_with(given, library)) {
            given += length;
            continue;
        }
        *at++ = *given++;
    }
    if (needs->with_library) {
        if (at[-1] != '=' && at[-1] != ':')
            *at++ = ':';
        at = put(at, library);
    }
    *at = 0;
    return at + 1;
}

static char **fill_needs(char *const *variables, const struct needs *needs, void *memory)
{
    char **filled = memory, *at = (char *)(filled + needs->count + 4);
    size_t count = 0;

    for (size_t i = 0; i < needs->count; i++)
        if (variables[i] != needs->trace && variables[i] != needs->preload && variables[i] != needs->asan)
            filled[count++] = variables[i];
    filled[count++] = at;
    at = put(put(at, TRACE), LOG_TEXT(directory)) + 1;
    if (needs->with_library || needs->preload) {
        filled[count++] = at;
        at = put_preload(at, needs);
    }
    filled[count++] = at;
    at = put(at, needs->asan ? needs->asan : ASAN);
    if (!needs->asan || !contains(needs->asan, ASAN_ORDER)) {
        if (at[-1] != '=' && at[-1] != ':')
            *at++ = ':';
        at = put(at, ASAN_ORDER);
    }
    filled[count] = NULL;
    return filled;
}

/* The environment with what is needed, in memory of the calling function if it is not too much for a stack. */
#define STACK_MAX 65536
#define WITH_NEEDS(variables, seen)                                                                     \
    struct needs needs = {0};                                                                           \
    size_t needs_size = 1, needs_mapped = 0;                                                            \
    if (log) {                                                                                          \
        needs = needs_of(variables, seen);                                                              \
        needs_size = needs.is_met ? 1 : size_of_needs(&needs);                                          \
        needs_mapped = needs_size > STACK_MAX ? needs_size : 0;                                         \
    }                                                                                                   \
    char needs_stack[needs_mapped ? 1 : needs_size] __attribute__((aligned(16)));                       \
    void *needs_memory = needs_stack;                                                                   \
    if (needs_mapped)                                                                                   \
        needs_memory = (void *)sys(SYS_mmap, 0, needs_mapped, PROT_READ | PROT_WRITE,                   \
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);                                 \
    if (log && !needs.is_met && (long)needs_memory > 0)                                                 \
        variables = fill_needs(variables, &needs, needs_memory)

#define WITHOUT_NEEDS()      \
    if (needs_mapped)        \
        sys(SYS_munmap, needs_memory, needs_mapped)
