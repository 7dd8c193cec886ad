/* main.c: finds the command by its name and runs it. */
#include "command.h"
#include "error.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

#define VERSION "1.2"

static int command_help(const Options *options);
static int command_version(const Options *options);

static const struct {
    const char *name;
    CommandFunction run;
    int argument_count;
    const char *help;
} commands[] = {
    { "sum", command_sum, 1, "FILE             add the numbers of a column" },
    { "mean", command_mean, 1, "FILE             their mean" },
    { "median", command_median, 1, "FILE             their median" },
    { "stats", command_stats, 1, "FILE             all of these and more" },
    { "hist", command_hist, 1, "FILE             a histogram" },
    { "show", command_show, 1, "FILE             the table" },
    { "sort", command_sort, 1, "FILE             the table, in order" },
    { "filter", command_filter, 2, "CONDITION FILE   the rows that fulfil it" },
    { "eval", command_eval, 1, "EXPRESSION       its value" },
    { "convert", command_convert, 3, "VALUE FROM TO    a value in another unit" },
    { "units", command_units, 0, "                 the units" },
    { "version", command_version, 0, "                 the version" },
    { "help", command_help, 0, "                 this text" },
};

static int command_help(const Options *options)
{
    size_t i;

    (void)options;
    puts("usage: tally COMMAND [-c COLUMN] [-f FORMAT] [-p DIGITS] [-d DELIMITER] [-b BINS] [-nrso]");
    for (i = 0; i < ARRAY_COUNT(commands); i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].help);
    return STATUS_OK;
}

static int command_version(const Options *options)
{
    (void)options;
    printf("tally %s, %zu commands\n", VERSION, ARRAY_COUNT(commands));
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    Options options;
    size_t i;

    if (argc < 2) {
        command_help(NULL);
        return STATUS_BAD;
    }
    for (i = 0; i < ARRAY_COUNT(commands); i++) {
        if (strcmp(commands[i].name, argv[1]) == 0)
            break;
    }
    if (i == ARRAY_COUNT(commands))
        die("no command '%s', try 'tally help'", argv[1]);
    options_parse(&options, argc - 2, argv + 2);
    if (options.argument_count != commands[i].argument_count)
        die("usage: tally %s %s", commands[i].name, commands[i].help);
    return commands[i].run(&options);
}
