/* table.h: a table of named columns, read from comma-separated text. */
#ifndef TALLY_TABLE_H
#define TALLY_TABLE_H

#include <assert.h>
#include <stddef.h>

typedef enum { CELL_EMPTY, CELL_NUMBER, CELL_TEXT } CellKind;

typedef struct {
    CellKind kind;
    union {
        double number;
        char *text;
    } as;
} Cell;

typedef struct {
    Cell *cells;
    size_t number; /* counted from 1, in the order of the file */
} Row;

typedef struct {
    char **names;
    size_t column_count;
    size_t column_capacity;
    Row *rows;
    size_t row_count;
    size_t row_capacity;
} Table;

typedef struct {
    char delimiter;
    unsigned has_header : 1;
    unsigned skip_bad : 1;
} ReadStyle;

static inline const Cell *table_cell(const Table *table, size_t row, size_t column)
{
    assert(row < table->row_count && column < table->column_count);
    return &table->rows[row].cells[column];
}

Table *table_read(const char *path, const ReadStyle *style);
void table_free(Table *table);
size_t table_find_column(const Table *table, const char *name);
size_t table_numbers(const Table *table, size_t column, const ReadStyle *style, double **numbers);

#endif
