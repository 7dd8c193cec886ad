/* Every module has a runtime of its own and exports nothing. They find each other by a note that says
 * where each has its part; what concerns the process as a whole is kept by the first of them. */

struct instance {
    /* Maps the module's section over to a case, or to what is outside of any (NULL). */
    void (*turn)(const char *name);
    /* Of the process: */
    int lock;
    int printed;
    int depth; /* cases begun and not ended */
    int apart; /* the case has a trace of its own */
    unsigned long latest; /* where the line of the last case that began ends; a forked child has its parent's */
    char name[EDGEWISE_CASE_MAX + 1];
};

static void turn(const char *name);
static KEPT struct instance instance __attribute__((used)) = {turn, 0, 0, 0, 0, 0, ""};

__asm__(".pushsection .note.edgewise,\"a\",%note\n"
        ".balign 4\n"
        ".long 9, 8, " EDGEWISE_TEXT(EDGEWISE_VERSION) "\n"
        ".asciz \"edgewise\"\n"
        ".balign 4\n"
        "0: .quad instance - 0b\n"
        ".popsection");

typedef void visit(struct instance *found, void *data);

struct visit {
    visit *work;
    void *data;
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct visit *each = data;
    size_t length;
    int64_t distance;
    const unsigned char *note = find_note(info, "edgewise", EDGEWISE_VERSION, &length);

    (void)size;
    if (note && length == sizeof distance) {
        memcpy(&distance, note, sizeof distance);
        each->work((struct instance *)((uintptr_t)note + (uintptr_t)distance), each->data);
    }
    return 0;
}

static void each_instance(visit *work, void *data)
{
    struct visit each = {work, data};

    dl_iterate_phdr(visit_module, &each);
}

static void if_first(struct instance *found, void *data)
{
    struct instance **first = data;

    if (!*first)
        *first = found;
}

/* The instance that speaks for the process. */
static struct instance *of_process(void)
{
    struct instance *first = NULL;

    each_instance(if_first, &first);
    return first ? first : &instance; /* a linker may have dropped the note */
}
