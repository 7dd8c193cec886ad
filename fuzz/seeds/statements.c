# 1 "t.c"
int g(int), *h(void);
_Noreturn void die(const char *why);
int flow(int a, int b)
{
    int c = a, d[3] = { 1, [2] = b }, *p = &c;
    if (a) b = 1; else if (b && !c) { b = 2; } else b = 3;
    while (a-- > 0 || g(b)) { if (a == 3) continue; if (b) break; }
    do c++; while (c < 9 && a);
    for (int i = 0, j = g(1); i < j; i++, j--) c += i ? j : d[i % 3];
    for (;;) { if (c) goto out; c = g(c) ?: 7; }
    switch (a) {
    case 0: c = 1;
    case 1: case 2: c = 2; break;
    case 5 ... 9: { c = 3; } break;
    default: die("x");
    }
    switch (b % 2) { case 0: do { c++; case 1: c--; } while (c); }
out:
    return c ? a > b ? g(a) : g(b) : *p + sizeof(int[c]) + (a, b);
}
