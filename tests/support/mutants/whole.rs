//! Edits of procedures as a whole, and of what stands beside them: moved, renamed,
//! made static or global, with other types in their heads, added, deleted; packed structures, typedefs,
//! constructors.

use super::find::{Finder, range};
use super::outline::{Item, Tokens, close};
use super::tokens::{Token, TokenKind};
use super::{Edit, Kind, Mutant};

/// Procedures of the C library that a program may define by itself.
const LIBRARY: &[(&str, &str)] = &[
    ("strtod", "double strtod(const char *s, char **e) { if (e) *e = (char *)s; return 0; }"),
    ("strtol", "long strtol(const char *s, char **e, int b) { if (e) *e = (char *)s; return b; }"),
    ("atoi", "int atoi(const char *s) { return *s; }"),
    ("getenv", "char *getenv(const char *s) { return (char *)s; }"),
    (
        "qsort",
        "void qsort(void *p, unsigned long n, unsigned long s, int (*f)(const void *, const void *)) { }",
    ),
    (
        "fwrite",
        "unsigned long fwrite(const void *p, unsigned long s, unsigned long n, struct _IO_FILE *f) { return n; }",
    ),
    ("fputs", "int fputs(const char *s, struct _IO_FILE *f) { return 1; }"),
    ("fflush", "int fflush(struct _IO_FILE *f) { return -1; }"),
    ("strcmp", "int strcmp(const char *a, const char *b) { return *a - *b; }"),
    ("strncmp", "int strncmp(const char *a, const char *b, unsigned long n) { return *a - *b; }"),
    ("strchr", "char *strchr(const char *s, int c) { return 0; }"),
    ("strstr", "char *strstr(const char *a, const char *b) { return 0; }"),
    ("strlen", "unsigned long strlen(const char *s) { return *s ? 1 : 0; }"),
    ("memcmp", "int memcmp(const void *a, const void *b, unsigned long n) { return 0; }"),
    ("memchr", "void *memchr(const void *p, int c, unsigned long n) { return 0; }"),
    ("fclose", "int fclose(struct _IO_FILE *f) { return -1; }"),
    ("isatty", "int isatty(int n) { return 1; }"),
    ("toupper", "int toupper(int c) { return c; }"),
    ("tolower", "int tolower(int c) { return c; }"),
];

/// What acts by itself, at the beginning or at the end of the process.
const ACTING: &[&str] = &[
    "__attribute__((constructor)) static void edgewise_added(void) { __builtin_puts(\"added\"); }",
    "__attribute__((destructor)) static void edgewise_added(void) { __builtin_puts(\"added\"); }",
    "__attribute__((used)) static void edgewise_added(void) { __builtin_puts(\"added\"); } \
     __asm__(\".pushsection .init_array,\\\"aw\\\"\\n.quad edgewise_added\\n.popsection\");",
];

impl Finder<'_> {
    /// Edits of an item of a file as a whole.
    pub fn whole(&mut self, number: usize, items: &[Item], code: Tokens) {
        let item = &items[number];
        let is_header = self.source.file.ends_with(".h");
        if item.head[0].is("typedef") && !item.head.iter().any(|token| token.is("{")) {
            self.types(Kind::Typedef, item.head);
        }
        if item.body.is_none() && item.initialiser.is_none() && is_structure(item.head) {
            let around = [
                (range(item.head).start, "_Pragma(\"pack(push, 1)\") "),
                (item.end, " _Pragma(\"pack(pop)\")"),
            ];
            let around = around.map(|(at, text)| Edit { range: at..at, after: text.to_string() });
            self.add_edits(Kind::Pack, around.to_vec());
        }
        let (Some(_), Some(name)) = (item.body, name(item.head)) else {
            return;
        };
        if is_header {
            return;
        }
        self.types(Kind::Signature, item.head);
        if let Some(next) = items.get(number + 1) {
            self.moved(item, next);
        }
        self.linkage(item, name, items, code);
        let is_static = item.head.iter().any(|token| token.is("static"));
        if is_static {
            self.renamed(item, name, code);
            self.deleted(item, name, code);
        }
    }

    /// Edits at the beginning and the end of a file.
    pub fn file(&mut self, code: Tokens) {
        self.add(Kind::LineMore, 0..0, "/* A line more. */\n");
        if !self.source.file.ends_with(".c") {
            return;
        }
        let end = self.source.text.len();
        for acting in ACTING {
            self.add(Kind::Constructor, end..end, &format!("\n{acting}\n"));
        }
        for (name, text) in LIBRARY {
            let is_call = |at: usize| code[at].is(name) && code[at + 1].is("(");
            if (0..code.len().saturating_sub(1)).any(is_call) {
                self.add(Kind::Added, end..end, &format!("\n{text}\n"));
            }
        }
    }

    /// An edit of the body of an item that stays clear of some tokens, if there is one.
    fn inner(&self, item: &Item, clear_of: &[&Token]) -> Option<Edit> {
        let place = range(item.head).start..item.end;
        let is_inner = |mutant: &&Mutant| {
            let [Edit { range, .. }] = &mutant.edits[..] else {
                return false;
            };
            let is_clear = |token: &&Token| token.end() <= range.start || range.end <= token.start;
            mutant.kind.is_in_body()
                && place.start <= range.start
                && range.end < place.end
                && clear_of.iter().all(is_clear)
        };
        let inner: Vec<&Mutant> = self.found.iter().filter(is_inner).collect();
        Some(inner.get(inner.len() / 2)?.edits[0].clone())
    }

    /// Behind the next item, with an edit in it.
    fn moved(&mut self, item: &Item, next: &Item) {
        let Some(inner) = self.inner(item, &[]) else {
            return;
        };
        let text = &self.source.text;
        let (start, behind) = (range(item.head).start, range(next.head).start);
        let (between, other) = (&text[item.end..behind], &text[behind..next.end]);
        // What a directive says must stay where it is.
        if text[start..next.end].lines().any(|line| line.trim_start().starts_with('#')) {
            return;
        }
        let mut own = text[start..item.end].to_string();
        own.replace_range(inner.range.start - start..inner.range.end - start, &inner.after);
        let after = format!("{other}{between}{own}");
        self.add(Kind::Moved, start..next.end, &after);
    }

    /// Everywhere in its file, with an edit in it.
    fn renamed(&mut self, item: &Item, name: &str, code: Tokens) {
        let uses: Vec<&Token> = code.iter().filter(|token| token.is(name)).collect();
        let Some(inner) = self.inner(item, &uses) else {
            return;
        };
        let renamed = |token: &&Token| Edit {
            range: token.start..token.end(),
            after: format!("{name}_called_otherwise"),
        };
        let mut edits: Vec<Edit> = uses.iter().map(renamed).collect();
        edits.push(inner);
        edits.sort_by_key(|edit| edit.range.start);
        self.add_edits(Kind::Renamed, edits);
    }

    /// Static if it was not, and the other way round, with an edit in it.
    fn linkage(&mut self, item: &Item, name: &str, items: &[Item], code: Tokens) {
        let is_keyword = |token: &&Token| token.is("static");
        let mut edits = Vec::new();
        if item.head.iter().any(|token| token.is("inline")) {
            return;
        }
        if item.head.iter().any(|token| token.is("static")) {
            let declarations = items.iter().filter(|other| self::name(other.head) == Some(name));
            for keyword in declarations.filter_map(|other| other.head.iter().find(is_keyword)) {
                edits.push(Edit { range: keyword.start..keyword.end(), after: String::new() });
            }
        } else {
            let first = code.iter().find(|token| token.is(name)).map(|token| token.start);
            let is_declared_here = first.is_some_and(|at| range(item.head).contains(&at));
            if name == "main" || self.mentions.get(name) != Some(&1) || !is_declared_here {
                return;
            }
            let start = range(item.head).start;
            edits.push(Edit { range: start..start, after: String::from("static ") });
        }
        let Some(inner) = self.inner(item, &[]) else {
            return;
        };
        edits.push(inner);
        edits.sort_by_key(|edit| edit.range.start);
        self.add_edits(Kind::Linkage, edits);
    }

    /// With another one in its place, wherever it was used.
    fn deleted(&mut self, item: &Item, name: &str, code: Tokens) {
        let other = code.iter().find(|token| token.is(name)).and_then(|t| self.targets.other(t));
        let Some(other) = other.map(String::from) else {
            return;
        };
        let (start, end) = (range(item.head).start, item.end);
        let lines = self.source.text[start..end].matches('\n').count();
        let mut edits = vec![Edit { range: start..end, after: "\n".repeat(lines) }];
        let uses = code.iter().filter(|token| token.is(name));
        let uses = uses.filter(|token| token.end() <= start || end <= token.start);
        edits.extend(
            uses.map(|token| Edit { range: token.start..token.end(), after: other.clone() }),
        );
        edits.sort_by_key(|edit| edit.range.start);
        self.add_edits(Kind::Deleted, edits);
    }
}

/// The name of a procedure, from its head.
fn name<'a>(head: Tokens<'a>) -> Option<&'a str> {
    let open = head.iter().position(|token| token.is("("))?;
    let name = head[..open].last().filter(|token| token.kind == TokenKind::Word)?;
    (close(head, open) == head.len() - 1).then_some(name.text)
}

/// `struct tag { … }` or `typedef struct { … } name`.
fn is_structure(head: Tokens) -> bool {
    let first = usize::from(head[0].is("typedef"));
    head.get(first).is_some_and(|token| token.is("struct")) && head.iter().any(|t| t.is("{"))
}
