/* Functions that execute programs. Each is announced, so that one that never says it has the library is known
 * not to be seen. */

static uint32_t announce(int kind, const struct program *program, const char *path)
{
    struct room *room = take_room();
    uint32_t serial = new_serial();
    size_t length = length_of(path);

    if (!room) {
        mark("no memory for paths");
        return serial;
    }
    if (length > PATH_MAX)
        length = PATH_MAX;
    copy(room->path, path, length);
    room->path[length++] = 0;
    if (program->doubt)
        length = (size_t)(put(room->path + length, program->doubt) - room->path);
    append_as(kind | (program->is_unseen ? EDGEWISE_UNSEEN : 0), this_process(), serial, room->path, length);
    leave_room(room);
    return serial;
}

static void take_back(uint32_t serial)
{
    append_as(EDGEWISE_RETURNED, this_process(), serial, "", 0);
}

/* Notes the program and looks at it. */
static struct program execute_at(int at, const char *path)
{
    uint64_t known = note(EDGEWISE_LOOKED_FOR, at, path, FOLLOW);

    note_also(known, EDGEWISE_EXECUTED, at, path, FOLLOW);
    return look_at_program(at, path);
}

/* The same for a name that is looked for on the path. */
static struct program execute_on_path(const char *name)
{
    const char *path = value_in(environ, "PATH=");
    struct program program = {NULL, 0, 0};
    struct room *room;

    if (contains(name, "/"))
        return execute_at(HERE, name);
    if (!path)
        path = "/bin:/usr/bin";
    room = take_room();
    if (!room) {
        mark("no memory for paths");
        return program;
    }
    while (path) {
        const char *end = path;
        char *at = room->link;
        while (*end && *end != ':')
            end++;
        if ((size_t)(end - path) + length_of(name) + 2 < PATH_MAX) {
            copy(at, path, (size_t)(end - path));
            at += end - path;
            if (end > path)
                *at++ = '/';
            put(at, name);
            note_looked_for(HERE, room->link, FOLLOW);
            if (!confined && !sys(SYS_faccessat, HERE, room->link, X_OK, 0)) {
                program = execute_at(HERE, room->link);
                break;
            }
        }
        path = *end ? end + 1 : NULL;
    }
    leave_room(room);
    return program;
}

/* In another root or as another user it may be out of sight, and the loader would complain. */
static int sees_library(void)
{
    return confined || !sys(SYS_faccessat, HERE, LOG_TEXT(library), R_OK, 0);
}

static int is_seen(const struct program *program)
{
    return !program->is_foreign && sees_library();
}

#define EXECUTE(look, name, path, variables, call)                     \
    struct program program = {NULL, 0, 0};                             \
    uint32_t serial = 0;                                               \
    int result;                                                        \
    int is_noted_here = is_on() && (uintptr_t)(path) >= 4096;          \
    if (is_noted_here)                                                 \
        program = look;                                                \
    WITH_NEEDS(variables, is_seen(&program));                          \
    if (is_noted_here)                                                 \
        serial = announce(EDGEWISE_EXEC, &program, path);              \
    result = call;                                                     \
    if (is_noted_here)                                                 \
        take_back(serial);                                             \
    WITHOUT_NEEDS();                                                   \
    return result

WRAP(int, execve, const char *path, char *const *arguments, char *const *variables)
{
    EXECUTE(execute_at(HERE, path), execve, path, variables, CALL(-1, execve, path, arguments, variables));
}

WRAP(int, execveat, int at, const char *path, char *const *arguments, char *const *variables, int flags)
{
    EXECUTE(execute_at(at, path), execveat, path, variables, CALL(-1, execveat, at, path, arguments, variables, flags));
}

WRAP(int, fexecve, int fd, char *const *arguments, char *const *variables)
{
    char path[48];

    put_number(put(path, "/proc/self/fd/"), (unsigned)fd);
    EXECUTE(execute_at(HERE, path), fexecve, path, variables, CALL(-1, fexecve, fd, arguments, variables));
}

WRAP(int, execvpe, const char *name, char *const *arguments, char *const *variables)
{
    EXECUTE(execute_on_path(name), execvpe, name, variables, CALL(-1, execvpe, name, arguments, variables));
}

WRAP(int, execv, const char *path, char *const *arguments)
{
    return wrap_execve(path, arguments, environ);
}

WRAP(int, execvp, const char *name, char *const *arguments)
{
    return wrap_execvpe(name, arguments, environ);
}

/* Those that take their arguments one by one. */
#define COUNT_ARGUMENTS()                              \
    va_list list;                                      \
    size_t count = 1;                                  \
    va_start(list, first);                             \
    while (va_arg(list, char *))                       \
        count++;                                       \
    va_end(list)
#define COLLECT_ARGUMENTS()                            \
    char *arguments[count + 1];                        \
    arguments[0] = (char *)first;                      \
    va_start(list, first);                             \
    for (size_t i = 1; first && i <= count; i++)       \
        arguments[i] = va_arg(list, char *)

WRAP(int, execl, const char *path, const char *first, ...)
{
    COUNT_ARGUMENTS();
    COLLECT_ARGUMENTS();
    va_end(list);
    return wrap_execve(path, arguments, environ);
}

WRAP(int, execlp, const char *name, const char *first, ...)
{
    COUNT_ARGUMENTS();
    COLLECT_ARGUMENTS();
    va_end(list);
    return wrap_execvpe(name, arguments, environ);
}

WRAP(int, execle, const char *path, const char *first, ...)
{
    char *const *variables;
    COUNT_ARGUMENTS();
    COLLECT_ARGUMENTS();
    variables = va_arg(list, char *const *);
    va_end(list);
    return wrap_execve(path, arguments, variables);
}

/* A child that is made and executes at once. It is named when its number is known, which may be after it has
 * said that it has the library. */
#define SPAWN(look, name)                                                                        \
    struct program program = {NULL, 0, 0};                                                       \
    uint32_t serial = 0;                                                                         \
    int result, number = 0;                                                                      \
    int is_noted_here = is_on() && (uintptr_t)path >= 4096;                                      \
    if (is_noted_here) {                                                                         \
        if (actions && *path != '/' && !confined && sys(SYS_faccessat, HERE, path, F_OK, 0))     \
            mark_moved(path);                                                                    \
        program = look;                                                                          \
    }                                                                                            \
    WITH_NEEDS(variables, is_seen(&program));                                                    \
    if (is_noted_here)                                                                           \
        serial = announce(EDGEWISE_SPAWN, &program, path);                                       \
    result = CALL(ENOSYS, name, &number, path, actions, attributes, arguments, variables);       \
    if (is_noted_here) {                                                                         \
        if (result)                                                                              \
            take_back(serial);                                                                   \
        else                                                                                     \
            append_as(EDGEWISE_SPAWNED, (uint32_t)number, serial, path, length_of(path));        \
    }                                                                                            \
    if (!result && process)                                                                      \
        *process = number;                                                                       \
    WITHOUT_NEEDS();                                                                             \
    return result

/* The child may go to another directory first, and the path is meant from there. */
static void mark_moved(const char *path)
{
    if (contains(path, "/"))
        mark("a program is spawned from a directory that is not known");
}

WRAP(int, posix_spawn, int *process, const char *path, const void *actions, const void *attributes,
     char *const *arguments, char *const *variables)
{
    SPAWN(execute_at(HERE, path), posix_spawn);
}

WRAP(int, posix_spawnp, int *process, const char *path, const void *actions, const void *attributes,
     char *const *arguments, char *const *variables)
{
    SPAWN(execute_on_path(path), posix_spawnp);
}

/* The child opens it; what it writes there is not told from what was there. */
WRAP(int, posix_spawn_file_actions_addopen, void *actions, int fd, const char *path, int flags, unsigned mode)
{
    if (!(flags & O_TRUNC)) {
        uint64_t known = note(EDGEWISE_LOOKED_FOR, HERE, path, FOLLOW);
        note_also(known, EDGEWISE_READ, HERE, path, FOLLOW);
    }
    return CALL(ENOSYS, posix_spawn_file_actions_addopen, actions, fd, path, flags, mode);
}

/* These start a shell inside of the C library, with the environment as it is. */
#define SHELL "/bin/sh"
#define BY_SHELL(type, failed, name, parameters, arguments)                 \
    WRAP(type, name, parameters)                                            \
    {                                                                       \
        char *const *variables = environ;                                   \
        type result;                                                        \
        if (is_on()) {                                                      \
            struct program program = look_at_program(HERE, SHELL);          \
            if (program.doubt)                                              \
                mark("the shell cannot be seen");                           \
        }                                                                   \
        WITH_NEEDS(variables, sees_library());                           \
        if (variables != environ) {                                         \
            char **own = environ;                                           \
            environ = (char **)variables;                                   \
            result = CALL(failed, name, arguments);                         \
            if (environ == (char **)variables)                              \
                environ = own;                                              \
        } else {                                                            \
            result = CALL(failed, name, arguments);                         \
        }                                                                   \
        WITHOUT_NEEDS();                                                    \
        return result;                                                      \
    }
BY_SHELL(int, -1, system, LIST(const char *command), LIST(command))
BY_SHELL(void *, NULL, popen, LIST(const char *command, const char *mode), LIST(command, mode))
