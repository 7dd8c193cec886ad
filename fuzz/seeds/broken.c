# 1 "t.c"
int good(int a) { return a; }
@ what is this;
int bad(int a) { a = = 2; }
int later(int a) { if (a) return 1; return "open; }
int never(int a) { if (a) {
