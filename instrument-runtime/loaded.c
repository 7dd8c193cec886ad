/* Notes the files of all modules this process has loaded: a change of one that is not instrumented must
 * also select the test. Every module notes all of them: an executable need not have a runtime, and a
 * plug-in brings libraries along. */

static KEPT unsigned long long noted_at; /* the loader's count of loads when they were last noted */

struct list {
    int fd;
    long error;
    char *end; /* of the lines in room */
};

/* Whole lines in one write each time: O_APPEND keeps those of several processes apart. */
static void write_list(struct list *list)
{
    long length = list->end - room, written = sys(SYS_write, list->fd, room, length);

    if (written != length)
        list->error = written < 0 ? written : -ENOSPC;
    list->end = room;
}

static int note_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct list *list = data;
    long length;

    (void)size;
    if (room + sizeof room - list->end < PATH_MAX)
        write_list(list);
    noted_at = info->dlpi_adds;
    length = module_path(info, list->end);
    if (length < 0 || memchr(list->end, '\n', (size_t)length)) {
        list->error = -EINVAL;
    } else if (length) {
        list->end += length;
        *list->end++ = '\n';
    }
    return 0;
}

static void note_loaded(void)
{
    struct text name = file_name();
    struct list list = {-1, 0, room};

    put(&name, EDGEWISE_LOADED_NAME);
    list.fd = open_shared();
    if (list.fd < 0) {
        list.error = list.fd;
    } else {
        dl_iterate_phdr(note_module, &list);
        write_list(&list);
        sys(SYS_close, list.fd);
    }
    if (list.error)
        fail("cannot note the loaded modules", list.error);
}

static int if_more_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    return info->dlpi_adds != noted_at ? 1 : -1; /* the first module tells */
}

static int loaded_since_noted(void)
{
    return dl_iterate_phdr(if_more_loaded, NULL) == 1;
}
