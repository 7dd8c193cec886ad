/* options.c: parses the options of a command. */
#include "command.h"
#include "error.h"
#include "stats.h"
#include "text.h"

#include <string.h>

#define DEFAULT_BINS 5

static const Options defaults = {
    .column = "1",
    .read_style = { .delimiter = ',', .has_header = 1 },
    .bin_count = DEFAULT_BINS,
};

/* The number of columns, bins or digits that an option names. */
static size_t parse_count(char option, const char *text, size_t limit)
{
    size_t count;

    if (!text_to_count(text, limit, &count))
        die("option -%c needs a number from 0 to %zu, not '%s'", option, limit, text);
    return count;
}

static void parse_format(Options *options, const char *name)
{
    const NumberFormat *format = format_find(name);

    if (format == NULL)
        die("no format '%s'", name);
    options->format = *format;
}

/* Applies one option. Returns 1 if it used up the value. */
static int apply_option(Options *options, char option, const char *value)
{
    if (strchr("bcdfp", option) != NULL && (value == NULL || value[0] == '\0'))
        die("option -%c needs a value", option);
    switch (option) {
    case 'b':
        options->bin_count = parse_count(option, value, MAX_BINS);
        options->bin_count = options->bin_count > 0 ? options->bin_count : DEFAULT_BINS;
        return 1;
    case 'c':
        options->column = value;
        return 1;
    case 'd':
        options->read_style.delimiter = strcmp(value, "tab") == 0 ? '\t' : value[0];
        return 1;
    case 'f':
        parse_format(options, value);
        return 1;
    case 'p':
        options->format.precision = (int)parse_count(option, value, MAX_PRECISION);
        return 1;
    case 'n':
        options->read_style.has_header = 0;
        break;
    case 'o':
        options->csv = 1;
        break;
    case 'r':
        options->reverse = 1;
        break;
    case 's':
        options->read_style.skip_bad = 1;
        break;
    default:
        die("no option -%c", option);
    }
    return 0;
}

/* Separates the options from the other arguments, whose order stays. */
void options_parse(Options *options, int count, char **arguments)
{
    int i;

    *options = defaults;
    options->format = number_formats[0];
    options->arguments = arguments;
    for (i = 0; i < count; i++) {
        if (arguments[i][0] == '-' && arguments[i][1] >= 'a' && arguments[i][2] == '\0')
            i += apply_option(options, arguments[i][1], i + 1 < count ? arguments[i + 1] : NULL);
        else
            arguments[options->argument_count++] = arguments[i];
    }
}
