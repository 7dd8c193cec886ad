/* table.c: reads comma-separated text into a table. */
#include "table.h"

#include "error.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMENT_SIGN '#'

/* The fields of one line. */
typedef struct {
    char **items;
    size_t count;
    size_t capacity;
} Fields;

/* Reads one line without its end. Returns 0 at the end of the file. */
static int read_line(FILE *file, char **line, size_t *capacity)
{
    size_t length = 0;
    int c;

    while ((c = getc(file)) != EOF && c != '\n')
        APPEND(*line, length, *capacity, (char)c);
    if (c == EOF && length == 0)
        return 0;
    APPEND(*line, length, *capacity, '\0');
    return 1;
}

/* Splits a line at the delimiter; the fields stay inside the line. */
static void split_line(char *line, char delimiter, Fields *fields)
{
    char *end;

    fields->count = 0;
    while ((end = strchr(line, delimiter)) != NULL) {
        *end = '\0';
        APPEND(fields->items, fields->count, fields->capacity, text_trim(line));
        line = end + 1;
    }
    APPEND(fields->items, fields->count, fields->capacity, text_trim(line));
}

static Cell make_cell(const char *text)
{
    Cell cell = { CELL_EMPTY, { 0.0 } };

    if (text[0] == '\0' || strcmp(text, "-") == 0)
        return cell;
    if (text_to_number(text, &cell.as.number)) {
        cell.kind = CELL_NUMBER;
    } else {
        cell.kind = CELL_TEXT;
        cell.as.text = text_copy(text, strlen(text));
    }
    return cell;
}

static void add_names(Table *table, const Fields *fields, int has_header)
{
    char name[32];
    const char *source;
    size_t i;

    for (i = 0; i < fields->count; i++) {
        snprintf(name, sizeof(name), "c%zu", i + 1);
        source = has_header && fields->items[i][0] != '\0' ? fields->items[i] : name;
        APPEND(table->names, table->column_count, table->column_capacity,
               text_copy(source, strlen(source)));
    }
}

static void add_row(Table *table, const Fields *fields)
{
    Row row = { NULL, table->row_count + 1 };
    size_t i;

    row.cells = enlarge(NULL, fields->count, sizeof(*row.cells));
    for (i = 0; i < fields->count; i++)
        row.cells[i] = make_cell(fields->items[i]);
    APPEND(table->rows, table->row_count, table->row_capacity, row);
}

/* Reads the file at path, or the standard input if path is "-". */
Table *table_read(const char *path, const ReadStyle *style)
{
    char problem[160] = "";
    Table *table = NULL;
    Fields fields = { NULL, 0, 0 };
    char *line = NULL;
    size_t capacity = 0, number = 0;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");

    if (file == NULL) {
        snprintf(problem, sizeof(problem), "%s", strerror(errno));
        goto done;
    }
    table = calloc(1, sizeof(*table));
    if (table == NULL) {
        snprintf(problem, sizeof(problem), "out of memory");
        goto done;
    }
    while (read_line(file, &line, &capacity)) {
        number++;
        if (line[0] == '\0' || line[0] == COMMENT_SIGN)
            continue;
        split_line(line, style->delimiter, &fields);
        if (table->names == NULL) {
            add_names(table, &fields, style->has_header);
            if (style->has_header)
                continue;
        }
        if (fields.count != table->column_count) {
            snprintf(problem, sizeof(problem), "line %zu: %zu fields instead of %zu", number,
                     fields.count, table->column_count);
            goto done;
        }
        add_row(table, &fields);
    }

done:
    free(fields.items);
    free(line);
    if (file != NULL && file != stdin)
        fclose(file);
    if (problem[0] != '\0') {
        table_free(table);
        die("%s: %s", path, problem);
    }
    return table;
}

void table_free(Table *table)
{
    size_t row, column;

    if (table == NULL)
        return;
    for (row = 0; row < table->row_count; row++) {
        for (column = 0; column < table->column_count; column++) {
            if (table->rows[row].cells[column].kind == CELL_TEXT)
                free(table->rows[row].cells[column].as.text);
        }
        free(table->rows[row].cells);
    }
    for (column = 0; column < table->column_count; column++)
        free(table->names[column]);
    free(table->names);
    free(table->rows);
    free(table);
}

/* Finds a column by its name or its number, counted from 1. */
size_t table_find_column(const Table *table, const char *name)
{
    size_t column, number;

    for (column = 0; column < table->column_count; column++) {
        if (text_same(table->names[column], name))
            return column;
    }
    if (text_to_count(name, table->column_count, &number) && number > 0)
        return number - 1;
    die("no column '%s'", name);
}

/* Collects the numbers of a column. The caller frees the array. */
size_t table_numbers(const Table *table, size_t column, const ReadStyle *style, double **numbers)
{
    size_t row, count = 0, capacity = 0;

    *numbers = NULL;
    for (row = 0; row < table->row_count; row++) {
        const Cell *cell = table_cell(table, row, column);

        if (cell->kind == CELL_EMPTY)
            continue;
        if (cell->kind == CELL_TEXT) {
            if (!style->skip_bad)
                die("row %zu: '%s' is not a number", table->rows[row].number, cell->as.text);
            warn("row %zu: '%s' skipped", table->rows[row].number, cell->as.text);
            continue;
        }
        APPEND(*numbers, count, capacity, cell->as.number);
    }
    return count;
}
