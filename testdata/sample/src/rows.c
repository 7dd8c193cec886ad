/* rows.c: the commands that print rows of a table. */
#include "command.h"
#include "error.h"
#include "expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What filter looks names up in. */
typedef struct {
    const Table *table;
    size_t row;
} RowContext;

/* qsort passes no context to its callback. */
static size_t sort_column = 0;
static int sort_direction = 1;

static const char *cell_text(char *buffer, const Cell *cell, const NumberFormat *format)
{
    switch (cell->kind) {
    case CELL_NUMBER:
        return format_number(buffer, cell->as.number, format);
    case CELL_TEXT:
        return cell->as.text;
    case CELL_EMPTY:
        break;
    }
    return "-";
}

static int column_width(const Table *table, size_t column, const NumberFormat *format)
{
    char buffer[NUMBER_SIZE];
    size_t row, length, width = strlen(table->names[column]);

    for (row = 0; row < table->row_count; row++) {
        length = strlen(cell_text(buffer, table_cell(table, row, column), format));
        if (length > width)
            width = length;
    }
    return (int)width;
}

/* Prints the rows that are kept; all if kept is NULL. Numbers stand at the right. */
static void print_table(const Table *table, const Options *options, const char *kept)
{
    char buffer[NUMBER_SIZE];
    const char separator = options->csv ? options->read_style.delimiter : ' ';
    size_t line, column;

    for (line = 0; line <= table->row_count; line++) {
        if (line == 0 ? !options->read_style.has_header : kept != NULL && !kept[line - 1])
            continue;
        for (column = 0; column < table->column_count; column++) {
            const Cell *cell = line > 0 ? table_cell(table, line - 1, column) : NULL;
            const char *text = table->names[column];
            int width = options->csv ? 0 : column_width(table, column, &options->format);

            if (cell != NULL)
                text = cell_text(buffer, cell, &options->format);
            if (cell != NULL && cell->kind == CELL_TEXT)
                width = column + 1 < table->column_count ? -width : 0;
            printf("%*s", width, text);
            putchar(column + 1 < table->column_count ? separator : '\n');
        }
    }
}

static int compare_rows(const void *left, const void *right)
{
    const Row *a = left, *b = right;
    const Cell *x = &a->cells[sort_column], *y = &b->cells[sort_column];
    int order = 0;

    if (x->kind != y->kind)
        order = x->kind < y->kind ? -1 : 1;
    else if (x->kind == CELL_TEXT)
        order = strcmp(x->as.text, y->as.text);
    else if (x->kind == CELL_NUMBER)
        order = (x->as.number > y->as.number) - (x->as.number < y->as.number);
    if (order == 0)
        return a->number < b->number ? -1 : 1;
    return order > 0 ? sort_direction : -sort_direction;
}

int command_show(const Options *options)
{
    Table *table = table_read(options->arguments[0], &options->read_style);
    int status = table->row_count > 0 ? STATUS_OK : STATUS_EMPTY;

    print_table(table, options, NULL);
    table_free(table);
    return status;
}

int command_sort(const Options *options)
{
    Table *table = table_read(options->arguments[0], &options->read_style);

    if (table->row_count > 1) {
        sort_column = table_find_column(table, options->column);
        sort_direction = options->reverse ? -1 : 1;
        qsort(table->rows, table->row_count, sizeof(*table->rows), compare_rows);
    }
    print_table(table, options, NULL);
    table_free(table);
    return STATUS_OK;
}

/* The value of a column in the current row; "row" is the number of the row. */
static int lookup_column(const char *name, size_t length, const void *context, Value *value)
{
    const RowContext *row = context;
    const Cell *cell;
    size_t column;

    for (column = 0; column < row->table->column_count; column++) {
        if (strlen(row->table->names[column]) != length
            || strncmp(row->table->names[column], name, length) != 0)
            continue;
        cell = table_cell(row->table, row->row, column);
        if (cell->kind == CELL_NUMBER)
            *value = number_value(cell->as.number);
        else
            *value = cell->kind == CELL_TEXT ? text_value(cell->as.text, strlen(cell->as.text))
                                             : text_value("", 0);
        return 1;
    }
    *value = number_value((double)row->table->rows[row->row].number);
    return length == 3 && strncmp(name, "row", length) == 0;
}

int command_filter(const Options *options)
{
    Table *table = table_read(options->arguments[1], &options->read_style);
    RowContext context = { table, 0 };
    Scope scope = { lookup_column, &context };
    char *kept = calloc(table->row_count + 1, 1);
    size_t kept_count = 0;

    if (kept == NULL)
        die("out of memory");
    for (; context.row < table->row_count; context.row++) {
        if (value_is_true(evaluate(options->arguments[0], &scope)) != options->reverse) {
            kept[context.row] = 1;
            kept_count++;
        }
    }
    if (kept_count > 0)
        print_table(table, options, kept);
    else
        puts("no rows");
    free(kept);
    table_free(table);
    return kept_count > 0 ? STATUS_OK : STATUS_EMPTY;
}
