/* syscall(): whoever calls the kernel by number does what the functions do. */

#define P(argument) ((const char *)(argument))

struct how { /* of openat2 */
    uint64_t flags, mode, resolve;
};

/* Notes what comes before a call. Returns 0 if the call has to go through one of our functions. */
static int before_call(long number, long a, long b, long c, long d, long e)
{
    switch (number) {
#ifdef SYS_stat
    case SYS_stat: case SYS_access: case SYS_chmod: case SYS_chown: case SYS_utime: case SYS_utimes:
        note_looked_for(HERE, P(a), FOLLOW);
        break;
    case SYS_lstat: case SYS_readlink: case SYS_lchown:
        note_looked_for(HERE, P(a), NO_FOLLOW);
        break;
    case SYS_open: case SYS_creat: case SYS_unlink: case SYS_rmdir: case SYS_mkdir: case SYS_mknod:
    case SYS_rename: case SYS_link: case SYS_symlink:
        return 0;
    case SYS_futimesat:
        ask_at((int)a, P(b), 0);
        break;
    case SYS_fork: case SYS_vfork:
        break;
#endif
    case SYS_newfstatat: case SYS_utimensat:
        ask_at((int)a, P(b), (int)d);
        break;
    case SYS_statx:
        ask_at((int)a, P(b), (int)c);
        break;
    case SYS_faccessat: case SYS_fchmodat:
        ask_at((int)a, P(b), 0);
        break;
#ifdef SYS_faccessat2
    case SYS_faccessat2:
#endif
    case 452: /* fchmodat2 */
        ask_at((int)a, P(b), (int)d);
        break;
    case SYS_fchownat:
        ask_at((int)a, P(b), (int)e);
        break;
    case SYS_readlinkat:
        ask_at((int)a, P(b), AT_SYMLINK_NOFOLLOW);
        break;
    case SYS_statfs: case SYS_chdir: case SYS_getxattr: case SYS_setxattr: case SYS_listxattr: case SYS_removexattr:
        note_looked_for(HERE, P(a), FOLLOW);
        break;
    case SYS_lgetxattr: case SYS_lsetxattr: case SYS_llistxattr: case SYS_lremovexattr:
        note_looked_for(HERE, P(a), NO_FOLLOW);
        break;
    case SYS_fstat: case SYS_lseek:
        look_at_opened((int)a);
        break;
    case SYS_inotify_add_watch:
        note_looked_for(HERE, P(b), FOLLOW);
        break;
    case SYS_fanotify_mark:
        ask_at((int)d, P(e), 0);
        break;
    case SYS_openat: case SYS_unlinkat: case SYS_mkdirat: case SYS_mknodat: case SYS_linkat: case SYS_symlinkat:
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2: case SYS_truncate: case SYS_execve: case SYS_execveat: case SYS_name_to_handle_at:
    case SYS_chroot: case SYS_mount: case SYS_unshare: case SYS_setns:
        return 0;
    case 437: { /* openat2: what it opens is taken as read */
        const struct how *how = (const struct how *)c;
        if ((uintptr_t)how >= 4096 && !(how->flags & O_TRUNC)) {
            int follow = how->flags & O_NOFOLLOW ? NO_FOLLOW : FOLLOW;
            uint64_t known = note(EDGEWISE_LOOKED_FOR, (int)a, P(b), follow);
            note_also(known, EDGEWISE_READ, (int)a, P(b), follow);
        }
        break;
    }
    case SYS_pivot_root: case 428 /* open_tree */: case 429 /* move_mount */:
        mark("a process changes its root directory");
        break;
    case SYS_clone:
        before_spaces((unsigned long)a);
        break;
    case 435: /* clone3 */
        if ((uintptr_t)a >= 4096)
            before_spaces(*(const uint64_t *)a);
        break;
    case 425: /* io_uring_setup */
        mark("a process uses io_uring");
        break;
    case SYS_seccomp:
        before_filter();
        break;
    case SYS_prctl:
        if (a == PR_SET_SECCOMP)
            before_filter();
        break;
    }
    return 1;
}

/* The functions that do the same. */
static long by_function(long number, long a, long b, long c, long d, long e)
{
    switch (number) {
#ifdef SYS_open
    case SYS_open: return wrap_open(P(a), (int)b, (int)c);
    case SYS_creat: return wrap_creat(P(a), (int)b);
    case SYS_unlink: return wrap_unlink(P(a));
    case SYS_rmdir: return wrap_rmdir(P(a));
    case SYS_mkdir: return wrap_mkdir(P(a), (int)b);
    case SYS_rename: return wrap_rename(P(a), P(b));
    case SYS_link: return wrap_link(P(a), P(b));
    case SYS_symlink: return wrap_symlink(P(a), P(b));
    case SYS_mknod: return wrap_mknod(P(a), (int)b, c);
#endif
    case SYS_openat: return wrap_openat((int)a, P(b), (int)c, (int)d);
    case SYS_unlinkat: return wrap_unlinkat((int)a, P(b), (int)c);
    case SYS_mkdirat: return wrap_mkdirat((int)a, P(b), (int)c);
    case SYS_mknodat: return wrap_mknodat((int)a, P(b), (int)c, d);
    case SYS_linkat: return wrap_linkat((int)a, P(b), (int)c, P(d), (int)e);
    case SYS_symlinkat: return wrap_symlinkat(P(a), (int)b, P(c));
#ifdef SYS_renameat
    case SYS_renameat: return wrap_renameat((int)a, P(b), (int)c, P(d));
#endif
    case SYS_renameat2: return wrap_renameat2((int)a, P(b), (int)c, P(d), (unsigned)e);
    case SYS_truncate: return wrap_truncate(P(a), b);
    case SYS_execve: return wrap_execve(P(a), (char *const *)b, (char *const *)c);
    case SYS_execveat: return wrap_execveat((int)a, P(b), (char *const *)c, (char *const *)d, (int)e);
    case SYS_name_to_handle_at: return wrap_name_to_handle_at((int)a, P(b), (void *)c, (int *)d, (int)e);
    case SYS_chroot: return wrap_chroot(P(a));
    case SYS_mount: return wrap_mount(P(a), P(b), P(c), (unsigned long)d, (void *)e);
    case SYS_unshare: return wrap_unshare((int)a);
    default: return wrap_setns((int)a, (int)b);
    }
}

WRAP(long, syscall, long number, long a, long b, long c, long d, long e, long f)
{
    if (is_on() && !before_call(number, a, b, c, d, e))
        return by_function(number, a, b, c, d, e);
    return CALL(-1, syscall, number, a, b, c, d, e, f);
}
