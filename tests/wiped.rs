//! A program that saves its variables and puts them back must not undo probes.

use crate::support::Project;
use crate::support::misses::Miss;

const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char __data_start[], __bss_start[], _end[];
static struct { char *at; size_t size; char *saved; } parts[16];
static int count, state = 3;

static void add(char *at, size_t size)
{
    parts[count].at = at;
    parts[count].size = size;
    parts[count++].saved = malloc(size);
}

static int writable(struct dl_phdr_info *info, size_t size, void *data)
{
    ElfW(Addr) fixed = 0;
    int i;
    if (*info->dlpi_name)
        return 0;
    for (i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            fixed = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        ElfW(Addr) start = p->p_vaddr < fixed ? fixed : p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W && start < p->p_vaddr + p->p_memsz)
            add((char *)info->dlpi_addr + start, p->p_vaddr + p->p_memsz - start);
    }
    return 0;
}

static void mapped(void)
{
    char line[4096], exe[4096] = "", rights[8], path[4096];
    unsigned long first, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        *path = 0;
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095s", &first, &end, rights, path) < 3)
            continue;
        if (!*exe)
            strcpy(exe, path);
        if (!strcmp(exe, path) && !strncmp(rights, "rw", 2))
            add((char *)first, end - first);
    }
    fclose(maps);
}

static int between(int n)
{
    if (n > 1)
        return n * 2;
    return n;
}

int main(int argc, char **argv)
{
    int i, got;
    char *buffer = malloc(1 << 20);
    setvbuf(stdout, buffer, _IOFBF, 1 << 20);
    if (argc > 1 && !strcmp(argv[1], "range"))
        add(__data_start, (size_t)(_end - __data_start));
    else if (argc > 1 && !strcmp(argv[1], "bss"))
        add(__bss_start, (size_t)(_end - __bss_start));
    else if (argc > 1 && !strcmp(argv[1], "segments"))
        dl_iterate_phdr(writable, NULL);
    else if (argc > 1 && !strcmp(argv[1], "maps"))
        mapped();
    for (i = 0; i < count; i++)
        memcpy(parts[i].saved, parts[i].at, parts[i].size);
    got = between(state++);
    for (i = 0; i < count; i++)
        memcpy(parts[i].at, parts[i].saved, parts[i].size);
    printf("%d %d\n", got, state);
    return 0;
}
"#;

/// Every way to save and restore, with a program that is linked with these flags.
fn every_way(flags: &str) {
    let project = Project::empty();
    project.write_config();
    project.write(
        "tests.list",
        "range ./prog range\nbss ./prog bss\nsegments ./prog segments\nmaps ./prog maps\n",
    );
    project.write("Makefile", &format!("prog: main.c\n\t$(CC) -w -O1 {flags} -o prog main.c\n"));
    project.write("main.c", SOURCE);
    project.record();
    assert!(project.selected().is_empty(), "{flags}");
    let all = ["range", "bss", "segments", "maps"];
    Miss { project }.edit("main.c", "n * 2", "n * 3", &all);
}

#[test]
fn globals_that_are_restored() {
    every_way("");
    every_way("-no-pie");
    every_way("-Wl,-z,now");
    every_way("-Wl,-z,norelro");
}

#[test]
fn globals_that_are_restored_in_static_programs() {
    every_way("-static");
}
