/* command.h: the options of the command line and the commands. */
#ifndef TALLY_COMMAND_H
#define TALLY_COMMAND_H

#include "format.h"
#include "table.h"

typedef struct {
    const char *column;
    NumberFormat format;
    ReadStyle read_style;
    size_t bin_count;
    unsigned reverse : 1;
    unsigned csv : 1;
    int argument_count;
    char **arguments; /* what is left without the options */
} Options;

typedef int (*CommandFunction)(const Options *options);

void options_parse(Options *options, int count, char **arguments);

int command_sum(const Options *options);
int command_mean(const Options *options);
int command_median(const Options *options);
int command_stats(const Options *options);
int command_hist(const Options *options);
int command_eval(const Options *options);
int command_convert(const Options *options);
int command_units(const Options *options);
int command_show(const Options *options);
int command_sort(const Options *options);
int command_filter(const Options *options);

#endif
