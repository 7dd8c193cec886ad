//! Changes of C text by tokens: what comes out is mostly C still, or nearly.

use crate::Dice;
use edgewise::frontend::lex::lex;

/// Texts to put in: every keyword that the front end knows, punctuators, and
/// small constructs with an end or without.
const DICTIONARY: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "?",
    "=",
    "==",
    "&&",
    "||",
    "!",
    "*",
    "&",
    "+",
    "-",
    "->",
    ".",
    "...",
    "++",
    "--",
    "/",
    "%",
    "<<",
    ">>=",
    "~",
    "^",
    "|",
    "#",
    "##",
    "@",
    "\\",
    "auto",
    "break;",
    "case 1:",
    "case 2 ... 5:",
    "const",
    "continue;",
    "default:",
    "do",
    "else",
    "enum",
    "extern",
    "for",
    "goto",
    "if",
    "inline",
    "register",
    "restrict",
    "return",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "volatile",
    "while",
    "__attribute__",
    "asm",
    "typeof",
    "__auto_type",
    "__extension__",
    "_Alignof",
    "_Alignas",
    "_Atomic",
    "_Generic",
    "_Noreturn",
    "_Static_assert",
    "__thread",
    "__label__",
    "__real__",
    "void",
    "char",
    "int",
    "unsigned long",
    "_Bool",
    "_Complex",
    "__int128",
    "_BitInt(7)",
    "__builtin_va_list",
    "double",
    "__builtin_offsetof",
    "__builtin_types_compatible_p",
    "__builtin_choose_expr",
    "'a'",
    "__builtin_constant_p",
    "__builtin_va_arg",
    "__builtin_unreachable()",
    "0",
    "1",
    "0x7fffffff",
    "2147483648",
    "1.5e-3",
    "\"s\"",
    "L\"w\"",
    "'\\0'",
    "\"open",
    "'open",
    "/*",
    "*/",
    "//",
    "a",
    "b",
    "f",
    "g",
    "T",
    "s",
    "x",
    "l:",
    "goto l;",
    "goto *p;",
    "&&l",
    "f(a)",
    "(T)",
    "(int)",
    "(a)",
    "({ a; })",
    "({ if (a) return; a; })",
    "if (a)",
    "else if (b)",
    "while (a)",
    "for (;;)",
    "for (int i = 0; i < 3; i++)",
    "do { } while (a);",
    "switch (a) {",
    "int x;",
    "int f(a) int a;",
    "typedef int T;",
    "struct s { int m; };",
    "enum { A, B = A + 2 };",
    "int g(int);",
    "extern int x;",
    "static int x = 1;",
    "int v[a];",
    "int t[] = { 1, 2 };",
    "{ .m = 1, [2] = 3, [4 ... 5] = 6 }",
    "(struct s){ 0 }",
    "__attribute__((noreturn))",
    "__attribute__((cleanup(f)))",
    "__attribute__((constructor))",
    "__attribute__((alias(\"f\")))",
    "asm(\"nop\");",
    "asm goto(\"\" : : : : l);",
    "asm(\"x\")",
    "[[noreturn]]",
    "_Static_assert(1, \"\");",
    "_Generic(a, int: 1, default: 2)",
    "sizeof(int)",
    "sizeof a",
    "typeof(a)",
    "a ? b : a",
    "a ?: b",
    "a && b || !a",
    "void f(void) {",
    "return a; }",
    "\n#pragma pack(push, 1)\n",
    "\n#pragma pack(pop)\n",
    "\n#pragma omp parallel\n",
    "\n#pragma weak x = f\n",
    "\n# 1 \"t.c\"\n",
    "\n# 7 \"/usr/include/x.h\" 1 3\n",
    "\n# 9 \"t.c\" 2\n",
    "\n# 4294967295 \"t.c\"\n",
    "\n#line 3\n",
    "_Pragma(\"once\")",
];

/// How many changes are made at once.
const CHANGES: usize = 4;
/// How many tokens are moved at once.
const RUN: usize = 30;

/// A text as its tokens, each with what stands before it.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let mut from = 0;
    let mut pieces: Vec<&[u8]> = Vec::new();
    for token in lex(text).all {
        pieces.push(&text[from..token.end as usize]);
        from = token.end as usize;
    }
    pieces
}

/// Some tokens in a row; most often few.
fn run(count: usize, dice: &mut Dice) -> std::ops::Range<usize> {
    let start = dice.roll(count);
    let longest = if dice.roll(3) == 0 { RUN } else { 3 };
    start..(start + 1 + dice.roll(longest)).min(count)
}

/// From a bracket to the one that closes it, if one is found at all.
fn group(pieces: &[&[u8]], dice: &mut Dice) -> Option<std::ops::Range<usize>> {
    let start = dice.roll(pieces.len());
    let open = start + pieces[start..].iter().position(|piece| opens(piece))?;
    let mut depth = 0usize;
    for (index, piece) in pieces.iter().enumerate().skip(open) {
        if opens(piece) {
            depth += 1;
        } else if matches!(piece.last(), Some(b')' | b']' | b'}')) {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(open..index + 1);
            }
        }
    }
    None
}

fn opens(piece: &[u8]) -> bool {
    matches!(piece.last(), Some(b'(' | b'[' | b'{'))
}

/// A few changes of a text.
pub fn mutate(text: &[u8], seed: u32) -> Vec<u8> {
    let mut dice = Dice::new(u64::from(seed));
    let mut pieces = pieces(text);
    for _ in 0..=dice.roll(CHANGES) {
        change(&mut pieces, &mut dice);
    }
    join(&pieces)
}

fn change(pieces: &mut Vec<&[u8]>, dice: &mut Dice) {
    let word = DICTIONARY[dice.roll(DICTIONARY.len())].as_bytes();
    if pieces.is_empty() {
        pieces.push(word);
        return;
    }
    let count = pieces.len();
    let whole = group(pieces, dice).filter(|_| dice.roll(2) == 0);
    let range = whole.unwrap_or_else(|| run(count, dice));
    let place = dice.roll(count + 1);
    match dice.roll(8) {
        0 | 1 => drop(pieces.drain(range)),
        2 => {
            let copy = pieces[range].to_vec();
            pieces.splice(place..place, copy);
        }
        3 => {
            let copy = pieces[range.clone()].to_vec();
            pieces.splice(range.end..range.end, copy);
        }
        4 => pieces.swap(range.start, dice.roll(count)),
        5 => pieces[range.start] = word,
        6 => {
            pieces.insert(range.end, b")");
            pieces.insert(range.start, b" (");
        }
        _ => pieces.insert(place, word),
    }
}

/// A run of tokens of one text in the place of one of another.
pub fn cross(one: &[u8], other: &[u8], seed: u32) -> Vec<u8> {
    let mut dice = Dice::new(u64::from(seed));
    let (mut ours, theirs) = (pieces(one), pieces(other));
    if ours.is_empty() || theirs.is_empty() {
        return join(&ours);
    }
    let range = group(&theirs, &mut dice).unwrap_or_else(|| run(theirs.len(), &mut dice));
    let place = run(ours.len(), &mut dice);
    ours.splice(place, theirs[range].to_vec());
    join(&ours)
}

/// Words that would run together are kept apart.
fn join(pieces: &[&[u8]]) -> Vec<u8> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut out: Vec<u8> = Vec::new();
    for piece in pieces {
        if out.last().is_some_and(is_word) && piece.first().is_some_and(is_word) {
            out.push(b' ');
        }
        out.extend(*piece);
    }
    out
}
