/* Who is who among the loaded modules. */

struct module {
    char *path; /* in room */
    size_t path_length;
    const unsigned char *build_id;
    size_t build_id_length; /* 0: none */
};

/* Describes the module that this very code is part of; 0 if it cannot be found or named. */
static int this_module(struct module *module);

/* Absolute path of a module's file: its length, 0 if it is not a file (vdso), -1 on failure. */
static long module_path(const struct dl_phdr_info *info, char path[PATH_MAX]);

/* The content of a module's note, or NULL. */
static const unsigned char *find_note(const struct dl_phdr_info *info, const char *name, uint32_t type,
                                      size_t *length);
