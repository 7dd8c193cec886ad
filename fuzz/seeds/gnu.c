# 1 "t.c"
# 1 "/usr/include/x.h" 1 3
extern int printf(const char *, ...) __attribute__((format(printf, 1, 2)));
static inline int system(int a) { return a; }
# 4 "t.c" 2
#pragma pack(push, 1)
struct packed { char c; int i; } __attribute__((packed));
#pragma pack(pop)
extern int other __asm__("name") __attribute__((weak, alias("real")));
int real __attribute__((section(".data.x"), used)) = 1;
asm(".globl real");
static void __attribute__((constructor)) start(void) { __asm__ volatile("nop" : "=r"(real) : "0"(1) : "memory"); }
int expressions(int a)
{
    __auto_type b = ({ int t = a; if (t) t++; t; });
    typeof(a) c = __extension__ (a ?: b), d = (int){ a } + ((struct packed){ .i = a }).i;
    static int kept = sizeof(int) * 2;
    extern int far; int near(int);
    c = _Generic(a, int: 1, default: 2) + __builtin_constant_p(a) + __builtin_offsetof(struct packed, i);
    if (__builtin_expect(!!(a && b), 0)) __builtin_unreachable();
    return a + kept + far + near(c) + d + __real__ 2.0;
}
void computed(int a) { void *p = &&l; goto *p; l: a++; }
void local(void) { __label__ l; l: ; }
void nested(int a) { int in(int b) { return a + b; } in(1); }
void cleaned(void) { int x __attribute__((cleanup(done))) = 1; }
void jumped(int a) { asm goto("" : : : : l); l: a++; }
void pragma(int a) {
#pragma omp parallel
    a++;
}
int variadic(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); n = __builtin_va_arg(l, int); [[maybe_unused]] int k; return n; }
