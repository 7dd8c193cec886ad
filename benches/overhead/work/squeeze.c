/* Compresses a file at some levels and expands it again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static char *read_all(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    char *text;

    if (!file)
        exit(2);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    text = malloc(*size);
    if (!text || fread(text, 1, *size, file) != *size)
        exit(2);
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    static const int levels[] = {1, 3, 9};
    size_t size, room;
    char *text = read_all(argv[argc - 1], &size), *squeezed, *back = malloc(size);

    room = ZSTD_compressBound(size);
    squeezed = malloc(room);
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++) {
        size_t length = ZSTD_compress(squeezed, room, text, size, levels[i]);

        if (ZSTD_isError(length) || ZSTD_decompress(back, size, squeezed, length) != size)
            return 1;
        if (memcmp(back, text, size))
            return 1;
        printf("%d: %zu\n", levels[i], length);
    }
    return 0;
}
