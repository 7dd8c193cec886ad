# 1 "t.c"
typedef unsigned long size_t, *sizes;
typedef int (*callback)(void *, size_t);
struct list { struct list *next; union { int i; double d; }; unsigned bit : 3, : 0; char tail[]; };
enum kind { ONE, TWO = 5, THREE, BIG = 1 << 20, LAST = THREE + (TWO | 8) - 'a' };
enum : unsigned char { SMALL };
extern struct list *head, **heads[2][3];
static const callback table[] = { [ONE] = 0, [TWO ... THREE] = (callback)0, };
int (*signal(int, void (*)(int)))(int);
static inline int *f(struct list *(*get)(size_t n), int v[static 3], ...) { return v; }
int old(a, b) int a; char *b; { return a + *b; }
_Static_assert(sizeof(size_t) >= 4, "wide");
int tentative; int tentative; int tentative = 3;
struct point { int x, y; } origin = { .y = 1, x: 2 };
_Thread_local int each;
_Alignas(16) char aligned[_Alignof(double)];
_Atomic(int) counter;
implicit(n) { return n; }
int size(int n, int m[n][n]) { int v[n + 1], (*w)[n] = m; typedef int T[n]; T t; return sizeof v + w[0][0] + sizeof t; }
