/* numeric.c: the commands that print numbers. */
#include "command.h"
#include "error.h"
#include "expr.h"
#include "stats.h"
#include "text.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>

#define BAR_WIDTH 20

static void print_number(const char *title, double value, const NumberFormat *format)
{
    char text[NUMBER_SIZE];

    if (title != NULL)
        printf("%-10s ", title);
    printf("%s\n", format_number(text, value, format));
}

/* Reads the numbers of the chosen column; says so if there are none. */
static size_t load(const Options *options, double **numbers)
{
    Table *table = table_read(options->arguments[0], &options->read_style);
    size_t count = 0;

    *numbers = NULL;
    if (table->row_count > 0)
        count = table_numbers(table, table_find_column(table, options->column),
                              &options->read_style, numbers);
    table_free(table);
    if (count == 0)
        puts("no numbers");
    return count;
}

/* Prints one number that is computed from all numbers of the column. */
static int print_statistic(const Options *options, double (*compute)(double *, size_t))
{
    double *numbers;
    size_t count = load(options, &numbers);

    if (count > 0)
        print_number(NULL, compute(numbers, count), &options->format);
    free(numbers);
    return count > 0 ? STATUS_OK : STATUS_EMPTY;
}

int command_sum(const Options *options)
{
    return print_statistic(options, stats_sum);
}

int command_mean(const Options *options)
{
    return print_statistic(options, stats_mean);
}

int command_median(const Options *options)
{
    return print_statistic(options, stats_median);
}

int command_stats(const Options *options)
{
    double *numbers, low, high;
    size_t count = load(options, &numbers);

    if (count == 0)
        return STATUS_EMPTY;
    stats_range(numbers, count, &low, &high);
    printf("%-10s %zu\n", "count", count);
    print_number("sum", stats_sum(numbers, count), &options->format);
    print_number("lowest", low, &options->format);
    print_number("highest", high, &options->format);
    print_number("mean", stats_mean(numbers, count), &options->format);
    print_number("median", stats_median(numbers, count), &options->format);
    print_number("deviation", stats_deviation(numbers, count), &options->format);
    free(numbers);
    return STATUS_OK;
}

int command_hist(const Options *options)
{
    Histogram histogram;
    char text[NUMBER_SIZE];
    double *numbers;
    size_t bin, length, count = load(options, &numbers);

    if (count == 0)
        return STATUS_EMPTY;
    stats_histogram(numbers, count, options->bin_count, &histogram);
    for (bin = 0; bin < histogram.bin_count; bin++) {
        format_number(text, histogram.low + histogram.width * (double)bin, &options->format);
        printf("%10s %4zu ", text, histogram.counts[bin]);
        length = histogram.counts[bin] * BAR_WIDTH / histogram.peak;
        while (length-- > 0)
            putchar('*');
        putchar('\n');
    }
    free(numbers);
    return STATUS_OK;
}

int command_eval(const Options *options)
{
    Value value = evaluate(options->arguments[0], NULL);

    if (value.kind == VALUE_NUMBER)
        print_number(NULL, value.as.number, &options->format);
    else
        printf("%.*s\n", (int)value.as.text.length, value.as.text.start);
    return value_is_true(value) ? STATUS_OK : STATUS_EMPTY;
}

int command_convert(const Options *options)
{
    const Unit *pair[2];
    double value;
    int i;

    if (!text_to_number(options->arguments[0], &value))
        die("'%s' is not a number", options->arguments[0]);
    for (i = 0; i < 2; i++) {
        pair[i] = unit_find(options->arguments[i + 1]);
        if (pair[i] == NULL)
            die("no unit '%s'", options->arguments[i + 1]);
    }
    print_number(NULL, unit_convert(value, pair[0], pair[1]), &options->format);
    return STATUS_OK;
}

int command_units(const Options *options)
{
    size_t i;

    (void)options;
    for (i = 0; i < unit_count; i++)
        printf("%-4s %-18s %s\n", units[i].name, units[i].title,
               dimension_name(units[i].dimension));
    return STATUS_OK;
}
