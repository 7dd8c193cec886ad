/* The functions that ours stand in front of. They are looked up in the tables of the loaded modules behind
 * ours when first needed: dlsym would take the loader's lock, which a forked child may find taken for good,
 * and would tie us to one C library. */

#define EXPORT __attribute__((visibility("default"), used))

/* The C name of a wrapper is not that of the function, so that no declaration of a header stands in its way. */
#define WRAP_AS(type, name, parameters)                 \
    static void *next_##name;                           \
    EXPORT type wrap_##name parameters __asm__(#name);  \
    EXPORT type wrap_##name parameters
#define WRAP(type, name, ...) WRAP_AS(type, name, (__VA_ARGS__))

#define NEXT(name) ((__typeof__(&wrap_##name))next(&next_##name, #name))

/* A program may ask whether a function is there, find ours, and have a C library without it. */
#define CALL_AS(failed, name, arguments) \
    (NEXT(name) ? NEXT(name) arguments : (set_errno(ENOSYS), (failed)))
#define CALL(failed, name, ...) CALL_AS(failed, name, (__VA_ARGS__))

extern struct r_debug _r_debug __attribute__((weak));
extern struct r_debug *_dl_debug_addr __attribute__((weak)); /* where musl has it */
extern int *__errno_location(void) __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

static int get_errno(void)
{
    return __errno_location ? *__errno_location() : 0;
}

static void set_errno(int error)
{
    if (__errno_location)
        *__errno_location() = error;
}

static struct link_map *first_module(void)
{
    if (&_r_debug)
        return _r_debug.r_map;
    return &_dl_debug_addr && _dl_debug_addr ? _dl_debug_addr->r_map : NULL;
}

static struct link_map *own_module(void)
{
    struct link_map *map = first_module();

    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map;
}

/* glibc has put addresses into the dynamic section, musl has not. */
static const void *address_in(const struct link_map *map, ElfW(Addr) at)
{
    return (const void *)(at < map->l_addr ? at + map->l_addr : at);
}

/* The default version of a function of one module, or NULL. */
__attribute__((noinline)) static void *find_in(const struct link_map *map, const char *name)
{
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const ElfW(Half) *versions = NULL;
    const uint32_t *gnu = NULL, *old = NULL;
    uint32_t hash = 5381;

    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        const void *at = address_in(map, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB: symbols = at; break;
        case DT_STRTAB: strings = at; break;
        case DT_VERSYM: versions = at; break;
        case DT_GNU_HASH: gnu = at; break;
        case DT_HASH: old = at; break;
        }
    }
    if (!symbols || !strings)
        return NULL;
#define MATCHES(i)                                                                     \
    (symbols[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && \
     !(versions && versions[i] & 0x8000) && equal(strings + symbols[i].st_name, name))
    if (gnu) {
        uint32_t buckets = gnu[0], start = gnu[1], words = gnu[2];
        const uint32_t *bucket = gnu + 4 + words * (sizeof(ElfW(Addr)) / sizeof *gnu);
        const uint32_t *chain = bucket + buckets;
        for (const char *at = name; *at; at++)
            hash = hash * 33 + (unsigned char)*at;
        if (!buckets || bucket[hash % buckets] < start)
            return NULL;
        for (uint32_t i = bucket[hash % buckets];; i++) {
            if ((chain[i - start] | 1) == (hash | 1) && MATCHES(i))
                return (void *)(map->l_addr + symbols[i].st_value);
            if (chain[i - start] & 1)
                return NULL;
        }
    }
    for (uint32_t i = 0; old && i < old[1]; i++)
        if (MATCHES(i))
            return (void *)(map->l_addr + symbols[i].st_value);
#undef MATCHES
    return NULL;
}

static void *find_behind_us(const char *name)
{
    struct link_map *map = own_module();

    while (map && (map = map->l_next)) {
        void *found = find_in(map, name);
        if (found)
            return found;
    }
    return NULL;
}

__attribute__((noinline)) static void *next(void **known, const char *name)
{
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);

    if (!found) {
        found = find_behind_us(name);
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found;
}
