//! One procedure in, its graph out.

use crate::support::graph_text;

use graph_text::graph;

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(graph(source).lines().collect::<Vec<_>>(), expected, "{source}");
}

#[test]
fn straight_code_and_returns() {
    check("void f(void) { }", &["entry > exit"]);
    check("void f(int a) { a = 1; ; a = 2; }", &["entry > a = 1", "a = 1 > a = 2", "a = 2 > exit"]);
    check("int f(int a) { return a; a = 1; }", &["entry > return a", "return a > exit"]);
    check(
        "void f(int a) { int b; int c = a; b = c; }",
        &["entry > int c = a", "int c = a > b = c", "b = c > exit"],
    );
}

#[test]
fn if_else() {
    check("void f(int a) { if (a) a = 1; }", &["entry > a", "a T> a = 1 F> exit", "a = 1 > exit"]);
    check(
        "void f(int a) { if (a) a = 1; else if (!a) a = 2; else a = 3; a = 4; }",
        &[
            "entry > a",
            "a T> a = 1 F> !a",
            "a = 1 > a = 4",
            "!a T> a = 2 F> a = 3",
            "a = 2 > a = 4",
            "a = 3 > a = 4",
            "a = 4 > exit",
        ],
    );
}

#[test]
fn loops() {
    check("void f(int a) { while (a) a--; }", &["entry > a", "a T> a-- F> exit", "a-- > a"]);
    check("void f(int a) { do a--; while (a); }", &["entry > a--", "a-- > a", "a T> a-- F> exit"]);
    check(
        "void f(int a) { for (a = 0; a < 3; a++) { if (a == 2) continue; if (a) break; } }",
        &[
            "entry > a = 0",
            "a = 0 > a < 3",
            "a < 3 T> a == 2 F> exit",
            "a == 2 T> a++ F> a",
            "a T> exit F> a++",
            "a++ > a < 3",
        ],
    );
    check("void f(int a) { for (;;) a++; }", &["entry > a++", "a++ > a++"]);
    check("void f(void) { for (;;) ; }", &["entry > spin", "spin > spin"]);
    check("void f(int a) { while (1) if (a) return; }", &["entry > 1", "1 T> a", "a T> exit F> 1"]);
    check(
        "void f(int a) { for (int i = a; i; ) i--; }",
        &["entry > int i = a", "int i = a > i", "i T> i-- F> exit", "i-- > i"],
    );
}

#[test]
fn switches() {
    check(
        "void f(int a) { switch (a) { case 1: a = 1; case 2: case 3: a = 2; break; default: a = 3; } }",
        &[
            "entry > a",
            "a case 1> a = 1 case 2> a = 2 case 3> a = 2 default> a = 3",
            "a = 1 > a = 2",
            "a = 2 > exit",
            "a = 3 > exit",
        ],
    );
    check(
        "void f(int a) { switch (a) { case 1 ... 5: a = 1; } }",
        &["entry > a", "a case 1 ... 5> a = 1 default> exit", "a = 1 > exit"],
    );
    // Duff's device: cases inside of a loop inside of the switch.
    check(
        "void f(int n) { switch (n % 2) { case 0: do { n++; case 1: n--; } while (n); } }",
        &[
            "entry > n % 2",
            "n % 2 case 0> n++ case 1> n-- default> exit",
            "n++ > n--",
            "n-- > n",
            "n T> n++ F> exit",
        ],
    );
}

#[test]
fn gotos_and_labels() {
    check(
        "void f(int a) { again: a--; if (a) goto again; goto end; a = 9; end: ; }",
        &["entry > a--", "a-- > a", "a T> a-- F> exit"],
    );
    check(
        "void f(int a) { if (a) goto out; a = 1; out: a = 2; }",
        &["entry > a", "a T> a = 2 F> a = 1", "a = 1 > a = 2", "a = 2 > exit"],
    );
}

#[test]
fn operands_that_branch_are_nodes() {
    check(
        "void f(int a, int b) { if (a && b) a = 1; }",
        &["entry > a", "a T> b F> exit", "b T> a = 1 F> exit", "a = 1 > exit"],
    );
    check(
        "void f(int a, int b) { if (!(a || b)) a = 1; }",
        &["entry > a", "a F> b T> exit", "b F> a = 1 T> exit", "a = 1 > exit"],
    );
    check(
        "int f(int a, int b) { return a && b; }",
        &["entry > a", "a T> b F> return a && b", "b > return a && b", "return a && b > exit"],
    );
    check(
        "void f(int a, int b) { a = b ? 1 : b > 2 ? 2 : 3; }",
        &[
            "entry > b",
            "b T> 1 F> b > 2",
            "1 > a = b ? 1 : b > 2 ? 2 : 3",
            "b > 2 T> 2 F> 3",
            "2 > a = b ? 1 : b > 2 ? 2 : 3",
            "3 > a = b ? 1 : b > 2 ? 2 : 3",
            "a = b ? 1 : b > 2 ? 2 : 3 > exit",
        ],
    );
}

#[test]
fn what_is_not_evaluated_is_no_node() {
    check(
        "int f(int a) { return sizeof(a ? 1 : 2); }",
        &["entry > return sizeof(a ? 1 : 2)", "return sizeof(a ? 1 : 2) > exit"],
    );
    check("void f(int a) { static int s = 1 ? 2 : 3; a = s; }", &["entry > a = s", "a = s > exit"]);
    check("void f(void) { int b[1 ? 2 : 3]; b[0] = 1; }", &["entry > b[0] = 1", "b[0] = 1 > exit"]);
}

#[test]
fn calls_that_never_return_lead_nowhere() {
    check(
        "_Noreturn void die(void); void f(int a) { if (a) die(); a = 1; }",
        &["entry > a", "a T> die() F> a = 1", "die() ", "a = 1 > exit"],
    );
}

#[test]
fn statement_expressions_have_their_control_flow_in_the_graph() {
    check(
        "int f(int a) { return ({ if (a) a = 1; a + 2; }); }",
        &[
            "entry > return ({ if (a) a = 1; a + 2; })",
            "return ({ if (a) a = 1; a + 2; }) > a",
            "a T> a = 1 F> a + 2",
            "a = 1 > a + 2",
            "a + 2 > return ({ if (a) a = 1; a + 2; })",
            "return ({ if (a) a = 1; a + 2; }) > exit",
        ],
    );
}

/// C does not say which operand comes first, so whoever enters an expression
/// of which one operand may leave has reached all of it: a node in front.
#[test]
fn an_operand_that_may_leave_puts_a_node_in_front() {
    check(
        "int g(int); void f(int a, int b) { a = 5, b && g(a); }",
        &[
            "entry > a = 5, b && g(a)",
            "a = 5, b && g(a) > b",
            "b T> g(a) F> a = 5, b && g(a)",
            "g(a) > a = 5, b && g(a)",
            "a = 5, b && g(a) > exit",
        ],
    );
    check(
        "int g(int); void f(int a, int b) { if (b && g(a)) a = 5; }",
        &["entry > b", "b T> g(a) F> exit", "g(a) T> a = 5 F> exit", "a = 5 > exit"],
    );
}

#[test]
fn computed_gotos_meet_in_one_node() {
    check(
        "int f(int x) { static void *t[] = {&&a, &&b}; goto *t[x]; a: x = 1; b: if (x) goto *t[0]; return x; }",
        &[
            "entry > goto *t[x]",
            "goto *t[x] > goto *",
            "goto * a> x = 1 b> x",
            "x = 1 > x",
            "x T> goto *t[0] F> return x",
            "goto *t[0] > goto *",
            "return x > exit",
        ],
    );
    check(
        "int f(int x) { static const int t[] = {&&a - &&a, &&b - &&a}; goto *(&&a + t[x]); a: return 1; b: return 2; }",
        &[
            "entry > goto *(&&a + t[x])",
            "goto *(&&a + t[x]) > goto *",
            "goto * a> return 1 b> return 2",
            "return 1 > exit",
            "return 2 > exit",
        ],
    );
    check(
        "void g(void *); void f(void) { here: g(&&here); }",
        &["entry > g(&&here)", "g(&&here) > exit"],
    );
}

#[test]
fn asm_statements_and_asm_goto() {
    check(
        "int f(int x) { asm volatile(\"nop\" : \"+r\"(x)); return x; }",
        &[
            "entry > asm volatile(\"nop\" : \"+r\"(x))",
            "asm volatile(\"nop\" : \"+r\"(x)) > return x",
            "return x > exit",
        ],
    );
    check(
        "int f(int x) { asm goto(\"jmp %l[out]\" : : : : out, end); x = 1; out: x = 2; end: return x; }",
        &[
            "entry > asm goto(\"jmp %l[out]\" : : : : out, end)",
            "asm goto(\"jmp %l[out]\" : : : : out, end) out> x = 2 end> return x > x = 1",
            "x = 1 > x = 2",
            "x = 2 > return x",
            "return x > exit",
        ],
    );
}

#[test]
fn what_scopes_call_when_they_are_left() {
    check(
        "void c(int *); void f(void) { int a __attribute__((cleanup(c))) = 1; a = 2; }",
        &[
            "entry > int a __attribute__((cleanup(c))) = 1",
            "int a __attribute__((cleanup(c))) = 1 > a = 2",
            "a = 2 > end of the scope of a __attribute__((cleanup(c)))",
            "end of the scope of a __attribute__((cleanup(c))) > exit",
        ],
    );
    check(
        "void c(int *); void d(int *); void f(void) { int a __attribute__((cleanup(c))); { int b __attribute__((cleanup(d))); b = 1; } }",
        &[
            "entry > b = 1",
            "b = 1 > end of the scope of b __attribute__((cleanup(d)))",
            "end of the scope of b __attribute__((cleanup(d))) > end of the scope of a __attribute__((cleanup(c)))",
            "end of the scope of a __attribute__((cleanup(c))) > exit",
        ],
    );
    check(
        "void c(int *); void f(int x) { again: ; int a __attribute__((cleanup(c))) = x; if (a) goto again; }",
        &[
            "entry > int a __attribute__((cleanup(c))) = x",
            "int a __attribute__((cleanup(c))) = x > a",
            "a F> end of the scope of a __attribute__((cleanup(c))) T> end of the scope of a __attribute__((cleanup(c)))",
            "end of the scope of a __attribute__((cleanup(c))) > exit",
            "end of the scope of a __attribute__((cleanup(c))) > int a __attribute__((cleanup(c))) = x",
        ],
    );
    check(
        "void c(int *); int f(int x) { while (x) { int a __attribute__((cleanup(c))) = x; if (x == 1) break; if (x == 2) continue; if (x == 3) goto out; if (x == 4) return a; x--; } out: return 0; }",
        &[
            "entry > x",
            "x T> int a __attribute__((cleanup(c))) = x F> return 0",
            "int a __attribute__((cleanup(c))) = x > x == 1",
            "x == 1 T> end of the scope of a __attribute__((cleanup(c))) F> x == 2",
            "end of the scope of a __attribute__((cleanup(c))) > return 0",
            "x == 2 T> end of the scope of a __attribute__((cleanup(c))) F> x == 3",
            "end of the scope of a __attribute__((cleanup(c))) > x",
            "x == 3 F> x == 4 T> end of the scope of a __attribute__((cleanup(c)))",
            "x == 4 T> return a F> x--",
            "return a > end of the scope of a __attribute__((cleanup(c)))",
            "end of the scope of a __attribute__((cleanup(c))) > exit",
            "x-- > end of the scope of a __attribute__((cleanup(c)))",
            "end of the scope of a __attribute__((cleanup(c))) > x",
            "return 0 > exit",
            "end of the scope of a __attribute__((cleanup(c))) > return 0",
        ],
    );
}

#[test]
fn procedures_inside_of_procedures() {
    check(
        "int f(int x) { int g(int y) { return y + x; } return g(x); }",
        &["entry > return g(x)", "return g(x) > exit"],
    );
    check(
        "void f(int a) { __label__ out; void g(void) { goto out; } g(); out: ; }",
        &["opaque: a label of the procedure around this one at t.c:1"],
    );
}

#[test]
fn local_labels() {
    check(
        "int f(int x) { x = ({ __label__ l; if (x) goto l; x = 2; l: x; }); x = ({ __label__ l; if (x) goto l; x = 3; l: x; }); return x; }",
        &[
            "entry > x = ({ __label__ l; if (x) goto l; x = 2; l: x; })",
            "x = ({ __label__ l; if (x) goto l; x = 2; l: x; }) > x",
            "x T> x F> x = 2",
            "x = 2 > x",
            "x > x = ({ __label__ l; if (x) goto l; x = 2; l: x; })",
            "x = ({ __label__ l; if (x) goto l; x = 2; l: x; }) > x = ({ __label__ l; if (x) goto l; x = 3; l: x; })",
            "x = ({ __label__ l; if (x) goto l; x = 3; l: x; }) > x",
            "x T> x F> x = 3",
            "x = 3 > x",
            "x > x = ({ __label__ l; if (x) goto l; x = 3; l: x; })",
            "x = ({ __label__ l; if (x) goto l; x = 3; l: x; }) > return x",
            "return x > exit",
        ],
    );
}

#[test]
fn odd_switches() {
    check(
        "void f(int a) { switch (a) case 1: a = 2; }",
        &["entry > a", "a case 1> a = 2 default> exit", "a = 2 > exit"],
    );
    check(
        "void f(int a) { switch (a) default: a = 2; }",
        &["entry > a", "a default> a = 2", "a = 2 > exit"],
    );
    check(
        "void f(int a) { switch (a) { if (a) case 1: a = 2; else case 2: a = 3; } }",
        &[
            "entry > a",
            "a case 1> a = 2 case 2> a = 3 default> exit",
            "a = 2 > exit",
            "a = 3 > exit",
        ],
    );
    check(
        "void f(int a) { switch (a) { default: a = 1; case 1: a = 2; } }",
        &["entry > a", "a default> a = 1 case 1> a = 2", "a = 1 > a = 2", "a = 2 > exit"],
    );
    check(
        "void f(int a, int b) { switch (a) { case 1: switch (b) { case 1: a = 1; break; } break; case 2: b = 2; } }",
        &[
            "entry > a",
            "a case 1> b case 2> b = 2 default> exit",
            "b case 1> a = 1 default> exit",
            "a = 1 > exit",
            "b = 2 > exit",
        ],
    );
    check(
        "void f(int a) { switch (a) { } a = 1; }",
        &["entry > a", "a default> a = 1", "a = 1 > exit"],
    );
    check(
        "void f(int a) { while (a) switch (a) { case 1: continue; case 2: break; } }",
        &["entry > a", "a T> a F> exit", "a case 1> a case 2> a default> a"],
    );
    check(
        "void f(int a) { switch (a) { case 1 ... 3: case 'a' ... 'z': a = 2; } }",
        &[
            "entry > a",
            "a case 1 ... 3> a = 2 case 'a' ... 'z'> a = 2 default> exit",
            "a = 2 > exit",
        ],
    );
    check(
        "void f(int a) { switch (a) { case 1: a = 1; __attribute__((fallthrough)); case 2: a = 2; } }",
        &[
            "entry > a",
            "a case 1> a = 1 case 2> a = 2 default> exit",
            "a = 1 > a = 2",
            "a = 2 > exit",
        ],
    );
    check(
        "void f(int a) { switch (a) { a = 9; case 1: a = 2; } }",
        &["entry > a", "a case 1> a = 2 default> exit", "a = 2 > exit"],
    );
}

#[test]
fn labels_in_odd_places() {
    check(
        "int f(int a) { goto l; l: ; int b = a; m: return b; }",
        &["entry > int b = a", "int b = a > return b", "return b > exit"],
    );
    check(
        "void f(int a) { if (a) goto end; a = 1; end: }",
        &["entry > a", "a T> exit F> a = 1", "a = 1 > exit"],
    );
}

#[test]
fn loops_with_parts_missing() {
    check(
        "void f(int a) { for (a = 0;; a++) if (a > 3) break; }",
        &["entry > a = 0", "a = 0 > a > 3", "a > 3 T> exit F> a++", "a++ > a > 3"],
    );
    check("void f(void) { for (;;) ; }", &["entry > spin", "spin > spin"]);
    check("void f(int a) { while (a--) ; }", &["entry > a--", "a-- T> a-- F> exit"]);
    check(
        "void f(int a) { do { if (a) break; a = 1; } while (0); a = 2; }",
        &["entry > a", "a T> a = 2 F> a = 1", "a = 1 > 0", "0 F> a = 2", "a = 2 > exit"],
    );
    check(
        "void f(int a) { while (1) { if (a) return; } }",
        &["entry > 1", "1 T> a", "a T> exit F> 1"],
    );
}

#[test]
fn arrays_of_variable_size_and_compound_literals() {
    check(
        "void f(int n) { int a[n ? n : 1]; a[0] = 1; }",
        &[
            "entry > int a[n ? n : 1]",
            "int a[n ? n : 1] > n",
            "n T> n F> 1",
            "n > int a[n ? n : 1]",
            "1 > int a[n ? n : 1]",
            "int a[n ? n : 1] > a[0] = 1",
            "a[0] = 1 > exit",
        ],
    );
    check(
        "int f(int n) { return sizeof(int[n]); }",
        &["entry > return sizeof(int[n])", "return sizeof(int[n]) > exit"],
    );
    check(
        "int g(int *); int f(int a) { return g((int[]){a ? 1 : 2, a}); }",
        &[
            "entry > return g((int[]){a ? 1 : 2, a})",
            "return g((int[]){a ? 1 : 2, a}) > a",
            "a T> 1 F> 2",
            "1 > return g((int[]){a ? 1 : 2, a})",
            "2 > return g((int[]){a ? 1 : 2, a})",
            "return g((int[]){a ? 1 : 2, a}) > exit",
        ],
    );
}

/// gcc and clang do not agree on what a break in the head of a loop breaks.
#[test]
fn jumps_out_of_statement_expressions() {
    check(
        "int f(int a) { return 1 + ({ if (a) return 5; a; }); }",
        &[
            "entry > return 1 + ({ if (a) return 5; a; })",
            "return 1 + ({ if (a) return 5; a; }) > a",
            "a T> return 5 F> a",
            "return 5 > exit",
            "a > return 1 + ({ if (a) return 5; a; })",
            "return 1 + ({ if (a) return 5; a; }) > exit",
        ],
    );
    check(
        "int f(int a) { for (;;) { a = ({ if (a > 3) break; if (a == 2) continue; a + 1; }); } return a; }",
        &[
            "entry > a = ({ if (a > 3) break; if (a == 2) continue; a + 1; })",
            "a = ({ if (a > 3) break; if (a == 2) continue; a + 1; }) > a > 3",
            "a > 3 T> return a F> a == 2",
            "a == 2 T> a = ({ if (a > 3) break; if (a == 2) continue; a + 1; }) F> a + 1",
            "a + 1 > a = ({ if (a > 3) break; if (a == 2) continue; a + 1; })",
            "a = ({ if (a > 3) break; if (a == 2) continue; a + 1; }) > a = ({ if (a > 3) break; if (a == 2) continue; a + 1; })",
            "return a > exit",
        ],
    );
    check(
        "int f(int a) { a = ({ if (a) goto out; 3; }); out: return a; }",
        &[
            "entry > a = ({ if (a) goto out; 3; })",
            "a = ({ if (a) goto out; 3; }) > a",
            "a T> return a F> 3",
            "3 > a = ({ if (a) goto out; 3; })",
            "a = ({ if (a) goto out; 3; }) > return a",
            "return a > exit",
        ],
    );
    check(
        "void f(int a) { while (a) while (({ if (a) break; 1; })) a--; }",
        &["opaque: a break or continue in the head of a loop at t.c:1"],
    );
}

#[test]
fn setjmp_is_a_call_and_longjmp_does_not_return() {
    check(
        "int setjmp(void *); _Noreturn void longjmp(void *, int); int f(void *b, int a) { if (setjmp(b) == 0) { a = 1; longjmp(b, 1); } return a; }",
        &[
            "entry > setjmp(b) == 0",
            "setjmp(b) == 0 T> a = 1 F> return a",
            "a = 1 > longjmp(b, 1)",
            "longjmp(b, 1) ",
            "return a > exit",
        ],
    );
}

#[test]
fn built_in_functions() {
    check(
        "int f(int a) { if (a) return 1; __builtin_unreachable(); }",
        &[
            "entry > a",
            "a T> return 1 F> __builtin_unreachable()",
            "return 1 > exit",
            "__builtin_unreachable() ",
        ],
    );
    check(
        "int f(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); n = __builtin_va_arg(l, int); __builtin_va_end(l); return n; }",
        &[
            "entry > __builtin_va_start(l, n)",
            "__builtin_va_start(l, n) > n = __builtin_va_arg(l, int)",
            "n = __builtin_va_arg(l, int) > __builtin_va_end(l)",
            "__builtin_va_end(l) > return n",
            "return n > exit",
        ],
    );
}

/// Which branch the compiler chose is not known here.
#[test]
fn generic_selections() {
    check(
        "int g(int); int f(int a) { return _Generic(a, int: g(a), default: a && 1); }",
        &[
            "entry > return _Generic(a, int: g(a), default: a && 1)",
            "return _Generic(a, int: g(a), default: a && 1) > _Generic(a, int: g(a), default: a && 1)",
            "_Generic(a, int: g(a), default: a && 1) case int> g(a) default> a",
            "g(a) > return _Generic(a, int: g(a), default: a && 1)",
            "a T> 1 F> return _Generic(a, int: g(a), default: a && 1)",
            "1 > return _Generic(a, int: g(a), default: a && 1)",
            "return _Generic(a, int: g(a), default: a && 1) > exit",
        ],
    );
    check(
        "int f(int a) { return _Generic(a, int: 1, default: 2); }",
        &[
            "entry > return _Generic(a, int: 1, default: 2)",
            "return _Generic(a, int: 1, default: 2) > exit",
        ],
    );
}

#[test]
fn pragmas_inside_of_bodies() {
    check(
        "void f(int a) { a = 1;\n#pragma GCC unroll 2\nfor (; a < 9; a++) ; }",
        &["entry > a = 1", "a = 1 > a < 9", "a < 9 T> a++ F> exit", "a++ > a < 9"],
    );
    check(
        "void f(int a) {\n#pragma omp parallel\na = 1; }",
        &["opaque: a pragma inside of the body that decides on the form of the code"],
    );
}

#[test]
fn conditional_operands_everywhere() {
    check(
        "int f(int a, int b) { return a ?: b; }",
        &["entry > a", "a F> b T> return a ?: b", "b > return a ?: b", "return a ?: b > exit"],
    );
    check(
        "void f(int a, int b) { if (a ?: b) a = 1; }",
        &["entry > a", "a F> b T> a = 1", "b T> a = 1 F> exit", "a = 1 > exit"],
    );
    check(
        "void f(int a, int b, int c) { if (a ? b : c) a = 1; }",
        &["entry > a", "a T> b F> c", "b T> a = 1 F> exit", "c T> a = 1 F> exit", "a = 1 > exit"],
    );
    check(
        "void f(int a, int b) { if (a = b, a > 2) b = 1; }",
        &["entry > a = b, a > 2", "a = b, a > 2 T> b = 1 F> exit", "b = 1 > exit"],
    );
    check(
        "int g(int, int); int f(int a, int b) { return g(a && b, 1); }",
        &[
            "entry > return g(a && b, 1)",
            "return g(a && b, 1) > a",
            "a T> b F> return g(a && b, 1)",
            "b > return g(a && b, 1)",
            "return g(a && b, 1) > exit",
        ],
    );
    check(
        "int f(int *t, int a) { return t[a ? 1 : 2]; }",
        &[
            "entry > return t[a ? 1 : 2]",
            "return t[a ? 1 : 2] > a",
            "a T> 1 F> 2",
            "1 > return t[a ? 1 : 2]",
            "2 > return t[a ? 1 : 2]",
            "return t[a ? 1 : 2] > exit",
        ],
    );
    check(
        "void f(int a, int b) { switch (a && b) { case 1: a = 2; } }",
        &[
            "entry > a",
            "a T> b F> a && b",
            "b > a && b",
            "a && b case 1> a = 2 default> exit",
            "a = 2 > exit",
        ],
    );
    check(
        "void f(int a, int b) { for (a = b ? 1 : 2; a && b; a += b || a) ; }",
        &[
            "entry > b",
            "b T> 1 F> 2",
            "1 > a = b ? 1 : 2",
            "2 > a = b ? 1 : 2",
            "a = b ? 1 : 2 > a",
            "a T> b F> exit",
            "b T> b F> exit",
            "b F> a T> a += b || a",
            "a > a += b || a",
            "a += b || a > a",
        ],
    );
    check(
        "void f(int a) { int x[2] = { a ? 1 : 2, [1] = a || 2 }; x[0] = 1; }",
        &[
            "entry > int x[2] = { a ? 1 : 2, [1] = a || 2 }",
            "int x[2] = { a ? 1 : 2, [1] = a || 2 } > a",
            "a T> 1 F> 2",
            "1 > a",
            "2 > a",
            "a F> 2 T> int x[2] = { a ? 1 : 2, [1] = a || 2 }",
            "2 > int x[2] = { a ? 1 : 2, [1] = a || 2 }",
            "int x[2] = { a ? 1 : 2, [1] = a || 2 } > x[0] = 1",
            "x[0] = 1 > exit",
        ],
    );
    check(
        "void f(int a, int b) { if (!a && !(a && b)) a = 1; }",
        &["entry > !a", "!a T> a F> exit", "a T> b F> a = 1", "b F> a = 1 T> exit", "a = 1 > exit"],
    );
    check(
        "void die(void) __attribute__((noreturn)); int f(int a) { return a ? 1 : (die(), 2); }",
        &[
            "entry > return a ? 1 : (die(), 2)",
            "return a ? 1 : (die(), 2) > a",
            "a T> 1 F> die(), 2",
            "1 > return a ? 1 : (die(), 2)",
            "die(), 2 ",
            "return a ? 1 : (die(), 2) > exit",
        ],
    );
}

#[test]
fn code_that_nobody_reaches_is_left_out() {
    check(
        "int f(int a) { return 1; while (a) a--; return 2; }",
        &["entry > return 1", "return 1 > exit"],
    );
    check(
        "void f(int a) { _Static_assert(1 ? 1 : 0, \"x\"); a = 1; }",
        &["entry > a = 1", "a = 1 > exit"],
    );
}

#[test]
fn what_is_not_understood_is_opaque() {
    for source in [
        "void f(int a) { a = = 2; }",
        "void f(int a) { goto nowhere; }",
        "void f(int a) { l: a = 1; l: a = 2; }",
        "void f(int a) { void *p = &&nowhere; goto *p; }",
        "void f(int a) { break; }",
        "void f(int a) { case 1: a = 2; }",
    ] {
        assert!(graph(source).starts_with("opaque: "), "{source}: {}", graph(source));
    }
}

#[test]
fn old_style_definitions_and_odd_declarators() {
    check(
        "struct s *f(a, b) int a; char *b; { return 0; }",
        &["entry > return 0", "return 0 > exit"],
    );
    check("f(a) { return a; }", &["entry > return a", "return a > exit"]);
    check(
        "typedef int T; int f(void) { T (x), *y = &x, (*z)(T) = 0; return *y; }",
        &[
            "entry > T (x), *y = &x, (*z)(T) = 0",
            "T (x), *y = &x, (*z)(T) = 0 > return *y",
            "return *y > exit",
        ],
    );
}
