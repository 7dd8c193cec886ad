/* Strings without libc. */

static size_t length_of(const char *string)
{
    size_t length = 0;

    while (string[length])
        length++;
    return length;
}

/* The loops must stay loops: as calls they would end up in the host's own memcpy. */
static void copy(char *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        to[i] = from[i];
        __asm__ __volatile__("" ::: "memory");
    }
}

static int same(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

static int equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static int starts_with(const char *string, const char *start)
{
    while (*start)
        if (*string++ != *start++)
            return 0;
    return 1;
}

static int contains(const char *string, const char *part)
{
    for (; *string; string++)
        if (starts_with(string, part))
            return 1;
    return !*part;
}

static char *put(char *to, const char *string)
{
    while (*string)
        *to++ = *string++;
    *to = 0;
    return to;
}

static char *put_number(char *to, unsigned long number)
{
    char digits[24], *first = digits + sizeof digits - 1;

    *first = 0;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    return put(to, first);
}

/* Mixes 8 bytes at a time; what tells paths apart is all of the 64 bits. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    while (length) {
        uint64_t word = 0;
        size_t taken = length < 8 ? length : 8;
        for (size_t i = 0; i < taken; i++)
            word |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
        unsigned __int128 product = (unsigned __int128)(hash ^ word ^ 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
        hash = (uint64_t)product ^ (uint64_t)(product >> 64) ^ (hash << 23 | hash >> 41) ^ taken;
        bytes += taken;
        length -= taken;
    }
    return hash;
}
