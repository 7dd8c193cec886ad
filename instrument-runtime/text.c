/* Builds short strings in fixed buffers: neither stdio nor malloc need be usable yet. */

struct text {
    char *at, *end;
};

/* One room for what needs paths, one after the other: each page touched costs time at start-up, and the
 * stack may be that of a small thread that loads a plug-in. */
static char room[2 * PATH_MAX];

/* Leaves out what does not fit; the buffers are sized so that everything does. */
static void put_bytes(struct text *text, const char *bytes, size_t length)
{
    if (length >= (size_t)(text->end - text->at))
        return;
    memcpy(text->at, bytes, length);
    text->at += length;
    *text->at = 0;
}

static void put(struct text *text, const char *string)
{
    put_bytes(text, string, strlen(string));
}

static void put_number(struct text *text, unsigned long number)
{
    char digits[24], *first = digits + sizeof digits;

    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    put_bytes(text, first, (size_t)(digits + sizeof digits - first));
}

static void put_hex(struct text *text, const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        put_bytes(text, &"0123456789abcdef"[bytes[i] >> 4], 1);
        put_bytes(text, &"0123456789abcdef"[bytes[i] & 15], 1);
    }
}

/* The 64-bit FNV-1a hash of a string, in hex. */
static void put_hash(struct text *text, const char *string)
{
    uint64_t hash = 0xcbf29ce484222325;
    unsigned char bytes[sizeof hash];

    for (; *string; string++)
        hash = (hash ^ (unsigned char)*string) * 0x100000001b3;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(hash >> (56 - 8 * i));
    put_hex(text, bytes, sizeof bytes);
}
