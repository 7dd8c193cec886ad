//! Generated units of any size, each with much of one thing. The tests check
//! that they end well; `benches/scale.rs` measures how their cost grows.

/// What must come of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every procedure has a graph, and every item was understood.
    Full,
    /// The last procedure is opaque, with a reason.
    Opaque,
    /// The same, because it has too many branches for probes.
    TooLarge,
    /// An item was not understood, and a problem says so.
    NotUnderstood,
}

pub struct Shape {
    pub name: &'static str,
    /// How many of the thing the tests ask for.
    pub size: usize,
    pub make: fn(usize) -> String,
    pub outcome: Outcome,
}

use Outcome::{Full, NotUnderstood, Opaque, TooLarge};

/// A shape a line: the things, how many of them, what must come of them, and
/// how they are made.
macro_rules! shapes {
    ($($name:ident: $size:literal $outcome:ident, $make:expr;)*) => {
        pub const SHAPES: &[Shape] = &[$(
            Shape { name: stringify!($name), size: $size, make: $make, outcome: $outcome },
        )*];
        #[allow(unused_macros)]
        macro_rules! for_each_shape {
            ($each:ident) => { $($each!($name);)* };
        }
    };
}

shapes! {
    // Ordinary things, many of them.
    procedures_of_20_mb: 20_000_000 Full, ordinary;
    statements: 100_000 Full, |n| body(&each(n, |i| format!("a = a + {i};\n")));
    declarations: 100_000 Full, |n| each(n, |i| format!("extern int v{i};\n"));
    definitions_of_variables: 100_000 Full, |n| each(n, |i| format!("int v{i} = {i};\n"));
    redeclarations: 100_000 Full, |n| format!("{}{}", "extern int v;\n".repeat(n), body("a = v;"));
    procedures_that_call_each_other: 20_000 Full, |n| {
        each(n, |i| format!("int p{i}(int);\n"))
            + &each(n, |i| {
                let (next, far) = ((i + 1) % n, (i * 7919) % n);
                format!("int p{i}(int a) {{ return a ? p{next}(a - 1) : p{far}(a); }}\n")
            })
    };
    typedefs_in_a_chain: 100_000 Full, |n| {
        let chain = each(n, |i| format!("typedef t{i} t{};\n", i + 1));
        format!("typedef int t0;\n{chain}t{n} f(t{n} a) {{ return a; }}\n")
    };
    structs_in_a_chain: 50_000 Full, |n| {
        let chain = each(n, |i| format!("struct s{} {{ struct s{i} *p; int m{i}; }};\n", i + 1));
        format!("struct s0 {{ int x; }};\n{chain}int f(struct s{n} *a) {{ return a->p != 0; }}\n")
    };
    structs_in_a_ring: 50_000 Full, |n| {
        let ring = each(n, |i| format!("struct s{i} {{ struct s{} *p; }};\n", (i + 1) % n));
        format!("{ring}int f(struct s0 *a) {{ return a->p != 0; }}\n")
    };
    members: 100_000 Full, |n| {
        let members = each(n, |i| format!("int m{i};\n"));
        format!("struct s {{ {members} }};\nint f(struct s *a) {{ return a->m0; }}\n")
    };
    enumerators: 100_000 Full, |n| {
        let list = each(n, |i| format!("e{i},\n"));
        format!("enum e {{ {list} }};\nint f(void) {{ return e{}; }}\n", n - 1)
    };
    enumerators_of_unknown_value: 100_000 Full, |n| {
        let list = each(n, |i| format!("e{i} = sizeof(int[{i} + 1]),\n"));
        format!("enum e {{ {list} }};\nint f(void) {{ return e{}; }}\n", n - 1)
    };
    prototypes_with_tags_of_their_own: 50_000 Full, |n| {
        let list = each(n, |i| format!("void g{i}(struct s *);\n"));
        format!("{list}void f(struct s *a) {{ g0(a); }}\n")
    };
    asm_items: 50_000 Full, |n| {
        each(n, |i| format!("static int v{i};\nasm(\".globl v{i}\");\n"))
    };
    asm_statements: 50_000 Full, |n| {
        each(n, |i| format!("static int v{i};\n"))
            + &body(&each(n, |i| format!("asm(\"incl v{i}\");\n")))
    };
    aliases: 50_000 Full, |n| {
        each(n, |i| {
            format!("static int v{i};\nextern int w{i} __attribute__((alias(\"v{i}\")));\n")
        })
    };
    attributes: 100_000 Full, |n| {
        format!("int v {};\n", each(n, |i| format!("__attribute__((aligned({i})))\n")))
    };

    // One thing with many parts.
    line_of_1_mb: 1_000_000 Full, |n| body(&each(n / 12, |_| String::from("a = a + 1; ")));
    string_of_5_mb: 5_000_000 Full, |n| {
        format!("const char *s = \"{}\";\n{}", "x".repeat(n), body("a = s[a];"))
    };
    strings_in_a_row: 100_000 Full, |n| format!("const char *s = {};", "\"ab\"\n".repeat(n));
    comment_of_5_mb: 5_000_000 Full, |n| format!("/*{}*/\n{}", "x\n".repeat(n / 2), body("a = 1;"));
    symbols_in_an_initialiser: 100_000 Full, |n| {
        let list = each(n, |i| format!("&v{i},\n"));
        each(n, |i| format!("extern int v{i};\n")) + &format!("int *table[] = {{ {list} }};\n")
    };
    declarators_in_a_declaration: 100_000 Full, |n| {
        format!("int {}z;\n", each(n, |i| format!("v{i},\n")))
    };
    initialised_declarators: 100_000 Full, |n| {
        format!("int {}z;\n", each(n, |i| format!("v{i} = {i},\n")))
    };
    local_declarators: 100_000 Full, |n| {
        body(&format!("int {}z;\n", each(n, |i| format!("v{i} = a,\n"))))
    };
    parameters: 100_000 Full, |n| {
        let list = each(n, |i| format!("int p{i},\n"));
        format!("int f({list} int last) {{ return last; }}\n")
    };
    parameters_in_the_old_style: 100_000 Full, |n| {
        let (names, types) =
            (each(n, |i| format!("p{i},\n")), each(n, |i| format!("int p{i};\n")));
        format!("int f({names} last) {types} {{ return last; }}\n")
    };
    arguments: 100_000 Full, |n| {
        format!("int g();\n{}", body(&format!("a = g({}a);", each(n, |i| format!("a + {i},\n")))))
    };
    arguments_that_branch: 20_000 TooLarge, |n| {
        format!("int g();\n{}", body(&format!("a = g({}a);", "a && g(),\n".repeat(n))))
    };
    initialisers_that_branch: 20_000 TooLarge, |n| {
        let text = body(&format!("struct s t = {{ {} }};", "a ? 2 : 1,\n".repeat(n)));
        format!("struct s {{ int t[9]; }};\n{text}")
    };
    comma_operands_that_branch: 20_000 TooLarge, |n| body(&format!("{}a;", "a && a,\n".repeat(n)));
    comma_operands: 100_000 Full, |n| body(&format!("{}a;", "a = g(a),\n".repeat(n)));
    sum_of_plain_operands: 100_000 Full, |n| body(&format!("a = {}1;", "a +\n".repeat(n)));
    pointers: 100_000 Full, |n| format!("int {}p;\n", "*".repeat(n));
    selectors: 100_000 Full, |n| {
        let text = body(&format!("a = s{};", "->p\n".repeat(n)));
        format!("struct s {{ struct s *p; }} *s;\n{text}")
    };

    // Control flow.
    cases: 100_000 TooLarge, |n| {
        switch(&each(n, |i| format!("case {i}: a += {i}; break;\n")))
    };
    cases_that_fall_through: 100_000 TooLarge, |n| switch(&each(n, |i| format!("case {i}: a++;\n")));
    case_ranges: 100_000 TooLarge, |n| {
        switch(&each(n, |i| format!("case {} ... {}: a--; break;\n", i * 10, i * 10 + 9)))
    };
    else_ifs: 100_000 TooLarge, |n| {
        body(&format!("{} a = 0;", each(n, |i| format!("if (a == {i}) a = 1; else\n"))))
    };
    ifs: 100_000 TooLarge, |n| body(&each(n, |i| format!("if (a == {i}) a = {i};\n")));
    loops: 100_000 TooLarge, |n| body(&each(n, |i| format!("while (a < {i}) a++;\n")));
    empty_loops: 100_000 TooLarge, |n| body(&"for (;;) { if (a) break; }\n".repeat(n));
    operands_of_and: 100_000 TooLarge, |n| {
        body(&format!("if ({}a) a = 1;", each(n, |i| format!("a > {i} &&\n"))))
    };
    operands_of_and_for_their_value: 100_000 TooLarge, |n| {
        body(&format!("a = {}a;", each(n, |i| format!("a > {i} &&\n"))))
    };
    operands_of_or_and_and: 100_000 TooLarge, |n| {
        body(&format!("if ({}a) a = 1;", each(n, |i| format!("a > {i} && a < 9 ||\n"))))
    };
    labels_and_gotos: 50_000 TooLarge, |n| {
        body(&each(n, |i| format!("if (a) goto l{};\nl{i}: a++;\n", (i * 7919) % n)))
    };
    labels_before_nothing: 50_000 Full, |n| body(&each(n, |i| format!("l{i}: ;\n")));
    gotos_in_a_chain: 50_000 Full, |n| {
        let chain = each(n, |i| format!("l{i}: goto l{};\n", i + 1));
        body(&format!("goto l0; {chain} l{n}: a++;"))
    };
    gotos_in_a_chain_backwards: 50_000 Full, |n| {
        let chain = each(n, |i| format!("l{i}: goto l{};\n", i + 1));
        let chain: Vec<&str> = chain.lines().rev().collect();
        body(&format!("goto l0; {} l{n}: a++;", chain.join("\n")))
    };
    gotos_in_a_ring: 50_000 Full, |n| {
        body(&format!("goto l0; {}", each(n, |i| format!("l{i}: goto l{};\n", (i + 1) % n))))
    };
    breaks_in_one_loop: 100_000 TooLarge, |n| {
        body(&format!("for (;;) {{ {} }}", "if (a) break; if (a) continue;\n".repeat(n)))
    };
    returns: 100_000 TooLarge, |n| body(&"if (a) return;\n".repeat(n));
    statement_expressions: 10_000 TooLarge, |n| body(&"a = ({ if (a) a++; a; });\n".repeat(n));
    statement_expressions_in_one_statement: 10_000 TooLarge, |n| {
        body(&format!("g({}a);", "({ if (a) a++; a; }),\n".repeat(n)))
    };

    // Scopes.
    one_name_in_sibling_scopes: 100_000 Full, |n| body(&"{ int x = a; a = x; }\n".repeat(n));
    one_name_of_static_locals: 100_000 Full, |n| body(&"{ static int x; a = x; }\n".repeat(n));
    local_externs: 50_000 Full, |n| body(&each(n, |i| format!("extern int v{i};\n")));
    local_prototypes: 50_000 Full, |n| body(&each(n, |i| format!("int g{i}(int); g{i}(a);\n")));
    one_local_extern_in_many_procedures: 50_000 Full, |n| {
        each(n, |i| format!("int f{i}(void) {{ extern int v; return v; }}\n"))
    };

    // Between the lines.
    line_markers: 100_000 Full, |n| each(n, |i| format!("# {i} \"t.c\"\nint v{i};\n"));
    line_markers_of_many_files: 100_000 Full, |n| {
        each(n, |i| format!("# 1 \"include/file{i}.h\" 1\nint v{i};\n# 2 \"t.c\" 2\n"))
    };
    pragmas: 100_000 Full, |n| {
        each(n, |i| format!("#pragma STDC FP_CONTRACT {i}\nint v{i};\n"))
    };
    pragmas_that_push: 100_000 Full, |n| {
        each(n, |i| format!("#pragma pack(push, {})\nint v{i};\n", 1 << (i % 4)))
    };
    pragmas_that_optimise: 100_000 Full, |n| {
        each(n, |i| format!("#pragma GCC optimize(\"O{}\")\nint v{i};\n", i % 4))
    };
    pragmas_about_symbols: 50_000 Full, |n| {
        each(n, |i| format!("static int v{i};\n#pragma weak w{i} = v{i}\n"))
    };
    pragmas_in_bodies: 20_000 Opaque, |n| {
        each(n, |i| format!("void f{i}(void) {{\n#pragma omp parallel\n}}\n"))
    };
    pragmas_in_one_body: 100_000 Opaque, |n| body(&"\n#pragma omp parallel\na++;\n".repeat(n));

    // As deep as is still followed, on the small stack of a thread.
    deep_blocks: 390 Full, |n| body(&nested(n, "{", "a++;", "}"));
    deep_parentheses: 190 Full, |n| body(&format!("a = {};", nested(n, "(", "g(a)", ")")));
    deep_loops: 190 Full, |n| body(&nested(n, "while (a && a) {", "a++;", "}"));
    deep_ifs: 190 Full, |n| body(&nested(n, "if (a) {\n", "a++;", "} else a--;\n"));
    deep_statement_expressions: 95 Full, |n| {
        body(&format!("a = {};", nested(n, "({\n", "a;", "; })")))
    };
    deep_calls: 390 Full, |n| body(&format!("a = {};", nested(n, "g(\n", "a", ")")));
    deep_conditionals: 190 Full, |n| {
        body(&format!("a = {}1;", each(n, |i| format!("a == {i} ? {i} :\n"))))
    };
    deep_structs: 390 Full, |n| {
        format!("struct s {};", nested(n, "{ struct\n", "{ int x; }", "m; }"))
    };
    deep_declarators: 390 Full, |n| format!("int {};", nested(n, "(*\n", "v", ")(void)"));

    // Too deep to follow.
    nested_blocks: 10_000 Opaque, |n| body(&nested(n, "{", "a++;", "}"));
    nested_parentheses: 10_000 Opaque, |n| body(&format!("a = {};", nested(n, "(", "a", ")")));
    nested_ifs: 10_000 Opaque, |n| body(&nested(n, "if (a) {\n", "a++;", "} else a--;\n"));
    nested_else: 10_000 Opaque, |n| body(&nested(n, "if (a) a--; else {\n", "a++;", "}"));
    nested_loops: 10_000 Opaque, |n| body(&nested(n, "while (a)\n", "a++;", ""));
    nested_switches: 10_000 Opaque, |n| {
        body(&nested(n, "switch (a) { case 1:\n", "a++;", "}"))
    };
    nested_statement_expressions: 10_000 Opaque, |n| {
        body(&format!("a = {};", nested(n, "({\n", "a;", "; })")))
    };
    nested_calls: 10_000 Opaque, |n| body(&format!("a = {};", nested(n, "g(\n", "a", ")")));
    nested_subscripts: 10_000 Opaque, |n| body(&format!("a = {};", nested(n, "t[\n", "a", "]")));
    nested_conditionals: 100_000 Opaque, |n| {
        body(&format!("a = {}1;", each(n, |i| format!("a == {i} ? {i} :\n"))))
    };
    nested_casts: 100_000 Opaque, |n| body(&format!("a = {}a;", "(int)\n".repeat(n)));
    signs: 100_000 Opaque, |n| body(&format!("a = {}a;", "- ".repeat(n)));
    sizeofs: 100_000 Opaque, |n| body(&format!("a = {}a;", "sizeof ".repeat(n)));
    assignments: 100_000 Opaque, |n| body(&format!("{}1;", "a =\n".repeat(n)));
    labels_on_one_statement: 50_000 Full, |n| body(&(each(n, |i| format!("l{i}:\n")) + "a++;"));
    cases_on_one_statement: 100_000 TooLarge, |n| {
        switch(&(each(n, |i| format!("case {i}:\n")) + "a++;"))
    };
    one_name_in_nested_scopes: 100_000 Opaque, |n| body(&nested(n, "{ int x = a;\n", ";", "}"));
    nested_lists: 10_000 NotUnderstood, |n| format!("int v[] = {};", nested(n, "{", "1", "}"));
    nested_structs: 50_000 NotUnderstood, |n| {
        format!("struct s {};", nested(n, "{ struct\n", "{ int x; }", "m; }"))
    };
    nested_declarators: 50_000 NotUnderstood, |n| {
        format!("int {};", nested(n, "(*\n", "v", ")(void)"))
    };
    nested_typeofs: 100_000 NotUnderstood, |n| {
        format!("{} v;", nested(n, "typeof(\n", "int", ")"))
    };
    nested_typeofs_in_a_body: 100_000 Opaque, |n| {
        body(&format!("{} v;", nested(n, "typeof(\n", "int", ")")))
    };
    nested_enumerations: 100_000 NotUnderstood, |n| format!("{} int;", "enum :\n".repeat(n));

    // Long in a way that is a deep tree to the left.
    sum_of_calls: 100_000 Full, |n| body(&format!("a = {}1;", "g(a) +\n".repeat(n)));
    sum_of_groups_that_branch: 100_000 TooLarge, |n| {
        body(&format!("a = {}1;", "(a && a) +\n".repeat(n)))
    };
    calls_of_what_a_call_returns: 100_000 Opaque, |n| body(&format!("a = g{};", "(a)\n".repeat(n)));
    members_of_what_a_call_returns: 100_000 Full, |n| {
        body(&format!("a = g(){};", "->p\n".repeat(n)))
    };
    extensions: 100_000 Full, |n| body(&format!("{} int x = a;", "__extension__\n".repeat(n)));

    // Not C.
    items_not_understood: 100_000 NotUnderstood, |n| {
        each(n, |i| format!("@ x{i};\n")) + &body("x1;")
    };
    unknown_types: 100_000 NotUnderstood, |n| each(n, |i| format!("unknown v{i};\n"));
    procedures_not_understood: 50_000 Opaque, |n| {
        each(n, |i| format!("int f{i}(void) {{ @ f0 f{i} }}\n"))
    };
    missing_ends_of_bodies: 50_000 NotUnderstood, |n| {
        each(n, |i| format!("int f{i}(int a) {{ if (a) {{ return a;\n}}\n"))
    };
    extra_ends_of_bodies: 50_000 NotUnderstood, |n| {
        each(n, |i| format!("int f{i}(int a) {{ return a; }} }}\n"))
    };
    open_braces: 100_000 NotUnderstood, |n| "{\n".repeat(n);
    open_parentheses: 100_000 NotUnderstood, |n| "(\n".repeat(n);
    closing_braces: 100_000 NotUnderstood, |n| "}\n".repeat(n);
    closing_parentheses: 100_000 NotUnderstood, |n| ")\n".repeat(n);
    items_with_an_open_parenthesis: 100_000 NotUnderstood, |n| "int v(;\n".repeat(n);
    items_with_an_open_bracket: 100_000 NotUnderstood, |n| "int v[;\n".repeat(n);
    items_with_an_open_brace: 100_000 NotUnderstood, |n| "struct s {;\n".repeat(n);
    items_with_an_open_attribute: 100_000 NotUnderstood, |n| "int v __attribute__((;\n".repeat(n);
    statements_with_an_open_parenthesis: 100_000 NotUnderstood, |n| body(&"a = (;\n".repeat(n));
    statements_with_mismatched_brackets: 100_000 Opaque, |n| body(&"a = (1];\n".repeat(n));
    literals_without_an_end: 100_000 NotUnderstood, |n| "\"abc\n'abc\n".repeat(n);
    body_without_an_end: 100_000 NotUnderstood, |n| {
        format!("void f(int a) {{ {}", each(n, |i| format!("a = {i};\n")))
    };
    switch_without_an_end: 100_000 NotUnderstood, |n| {
        format!("void f(int a) {{ switch (a) {{ {}", each(n, |i| format!("case {i}: a++;\n")))
    };
    list_without_an_end: 100_000 NotUnderstood, |n| {
        format!("int v[] = {{ {}", each(n, |i| format!("{i},\n")))
    };
    parameters_without_an_end: 100_000 NotUnderstood, |n| {
        format!("int f({}", each(n, |i| format!("int p{i},\n")))
    };
    members_without_an_end: 100_000 NotUnderstood, |n| {
        format!("struct s {{ {}", each(n, |i| format!("int m{i};\n")))
    };
    numbers: 100_000 NotUnderstood, |n| "1 ".repeat(n);
    words: 100_000 NotUnderstood, |n| each(n, |i| format!("w{i} "));
}

fn each(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// A procedure with this body.
fn body(text: &str) -> String {
    format!("void f(int a) {{\n{text}\n}}\n")
}

fn switch(cases: &str) -> String {
    body(&format!("switch (a) {{\n{cases} }}"))
}

fn nested(n: usize, open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(n), close.repeat(n))
}

/// About `bytes` of procedures such as people write.
fn ordinary(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 1000);
    let mut number = 0;
    while text.len() < bytes {
        text += &format!(
            "struct item{number} {{ int key; struct item{number} *next; char name[32]; }};\n\
             static int count{number};\n\
             static struct item{number} *find{number}(struct item{number} *list, int key)\n{{\n\
             \tfor (struct item{number} *at = list; at; at = at->next) {{\n\
             \t\tif (at->key == key && at->name[0] != '\\0')\n\t\t\treturn at;\n\
             \t\tcount{number} += at->key > {number} ? 1 : 0;\n\t}}\n\treturn 0;\n}}\n\
             int use{number}(struct item{number} *list, int mode)\n{{\n\tint result = 0;\n\
             \tswitch (mode) {{\n\tcase 0:\n\t\tresult = find{number}(list, mode) != 0;\n\
             \t\tbreak;\n\tcase 1:\n\tcase 2:\n\t\tdo {{\n\t\t\tresult++;\n\
             \t\t}} while (result < count{number});\n\t\tbreak;\n\
             \tdefault:\n\t\treturn -1;\n\t}}\n\treturn result;\n}}\n",
        );
        number += 1;
    }
    text
}
