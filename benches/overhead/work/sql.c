/* Runs the statements of a file in a database in memory. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static int show(void *data, int count, char **values, char **names)
{
    (void)data;
    (void)names;
    for (int i = 0; i < count; i++)
        printf("%s%c", values[i] ? values[i] : "", i + 1 < count ? '|' : '\n');
    return 0;
}

int main(int argc, char **argv)
{
    static char text[65536];
    FILE *file = fopen(argv[argc - 1], "r");
    sqlite3 *db;
    char *message = NULL;

    if (!file || !fread(text, 1, sizeof text - 1, file) || sqlite3_open(":memory:", &db))
        return 2;
    if (sqlite3_exec(db, text, show, NULL, &message)) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    sqlite3_close(db);
    return 0;
}
