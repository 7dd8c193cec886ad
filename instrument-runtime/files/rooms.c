/* Room for paths. Not on the stack, which may be that of a signal handler or of a small thread; and not one
 * for all, since threads, handlers and vforked children come between. Whoever finds none free maps one. */

#define ROOMS 4
#define LONG_PATH (2 * PATH_MAX) /* a directory and a path from there */

struct room {
    char path[LONG_PATH]; /* as it is asked for, from the root on */
    char real[LONG_PATH]; /* without links, as far as it is resolved */
    char link[LONG_PATH]; /* the target of a link, or whatever else */
    int is_mapped;
};

static struct room *rooms; /* mapped when first needed: many processes never do */
static int is_taken[ROOMS];

static struct room *map_rooms(size_t count)
{
    long at = sys(SYS_mmap, 0, count * sizeof(struct room), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at < 0 && at >= -4095 ? NULL : (struct room *)at;
}

static struct room *take_room(void)
{
    struct room *all = __atomic_load_n(&rooms, __ATOMIC_ACQUIRE), *own, *none = NULL;

    if (!all && (all = map_rooms(ROOMS)) &&
        !__atomic_compare_exchange_n(&rooms, &none, all, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        sys(SYS_munmap, all, ROOMS * sizeof *all);
        all = none; /* another thread was first */
    }
    for (int i = 0; all && i < ROOMS; i++)
        if (!__atomic_load_n(&is_taken[i], __ATOMIC_RELAXED) &&
            !__atomic_exchange_n(&is_taken[i], 1, __ATOMIC_ACQUIRE))
            return &all[i];
    own = map_rooms(1);
    if (own)
        own->is_mapped = 1;
    return own;
}

static void leave_room(struct room *room)
{
    if (room->is_mapped)
        sys(SYS_munmap, room, sizeof *room);
    else
        __atomic_store_n(&is_taken[room - rooms], 0, __ATOMIC_RELEASE);
}
