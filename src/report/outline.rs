//! A source as people see it, before it is preprocessed: what stands on a line, and where
//! a word is used. A rough reading, good enough to tell of a change and nothing else.

use super::html::align::{Row, align};
use rustc_hash::FxHashSet;

/// What stands somewhere outside of procedures, or a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Macro,
    Include,
    /// `#if` and its kin.
    Condition,
    /// Any other line for the preprocessor.
    Directive,
    Declaration,
    Procedure,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: Kind,
    pub first: u32,
    pub last: u32,
    /// The macro, or what is declared, with the line of each name.
    pub names: Vec<(String, u32)>,
}

impl Item {
    pub fn has(&self, line: u32) -> bool {
        self.first <= line && line <= self.last
    }
}

pub struct Outline {
    /// The lines without their comments.
    code: Vec<String>,
    pub items: Vec<Item>,
}

impl Outline {
    pub fn of(lines: &[String]) -> Self {
        let code = without_comments(lines);
        let items = Reader::new(&code).read();
        Self { code, items }
    }

    pub fn at(&self, line: u32) -> Option<&Item> {
        let next = self.items.partition_point(|item| item.first <= line);
        self.items[..next].iter().rev().find(|item| item.has(line))
    }

    /// Whether nothing but comments or blanks is on a line.
    pub fn is_blank(&self, line: u32) -> bool {
        self.line(line).is_none_or(|code| code.trim().is_empty())
    }

    fn line(&self, line: u32) -> Option<&str> {
        Some(self.code.get((line as usize).checked_sub(1)?)?.as_str())
    }

    /// The tokens of an item.
    pub fn text_of(&self, item: &Item) -> String {
        let lines = (item.first..=item.last).filter_map(|line| self.line(line));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        tokens(&text).join(" ")
    }

    /// The definition of a macro: the last, if there are several.
    pub fn macro_named(&self, name: &str) -> Option<&Item> {
        let macros = self.items.iter().filter(|item| item.kind == Kind::Macro);
        macros.rev().find(|item| item.names.iter().any(|(own, _)| own == name))
    }

    /// Whether an item of another version says what one of this version of the file says;
    /// none if there is nothing of its kind and name here.
    pub fn says(&self, other: &Self, item: &Item) -> Option<bool> {
        let name = item.names.first().map(|(name, _)| name);
        let is_like = |own: &&Item| {
            own.kind == item.kind
                && name.is_none_or(|name| own.names.iter().any(|(own, _)| own == name))
        };
        let text = other.text_of(item);
        let mut alike = self.items.iter().filter(is_like).peekable();
        alike.peek()?;
        Some(alike.any(|own| self.text_of(own) == text))
    }

    /// The lines in which what this version and another say of a name differ, if there is one
    /// item of it in each that the other does not have.
    pub fn differences(&self, other: &Self, name: &str) -> Option<[Vec<(u32, String)>; 2]> {
        let own = self.only_here(other, name)?;
        let others = other.only_here(self, name)?;
        let [old, new] = [self.head(own), other.head(others)];
        let keys = |lines: &[(u32, String)]| -> Vec<String> {
            lines.iter().map(|(_, line)| tokens(line).join(" ")).collect()
        };
        let (before, now) = (keys(&old), keys(&new));
        let before: Vec<Option<&str>> = before.iter().map(|key| Some(key.as_str())).collect();
        let now: Vec<Option<&str>> = now.iter().map(|key| Some(key.as_str())).collect();
        let mut found = [Vec::new(), Vec::new()];
        for row in align(&before, &now) {
            let (was, is) = match row {
                Row::Changed(was, is) => (Some(was), Some(is)),
                Row::Removed(was) => (Some(was), None),
                Row::Added(is) => (None, Some(is)),
                Row::Same(..) | Row::Beside(_) => continue,
            };
            found[0].extend(was.map(|place| old[place].clone()));
            found[1].extend(is.map(|place| new[place].clone()));
        }
        Some(found)
    }

    fn only_here(&self, other: &Self, name: &str) -> Option<&Item> {
        let is_named = |item: &&Item| item.names.iter().any(|(own, _)| own == name);
        let known = other.items.iter().filter(is_named);
        let known: FxHashSet<String> = known.map(|item| other.text_of(item)).collect();
        let mut here = self.items.iter().filter(is_named);
        here.find(|item| !known.contains(&self.text_of(item)))
    }

    /// The lines of an item that say something; of a procedure those before its body.
    fn head(&self, item: &Item) -> Vec<(u32, String)> {
        let lines = (item.first..=item.last).filter(|line| !self.is_blank(*line));
        let mut lines: Vec<(u32, String)> =
            lines.map(|line| (line, self.line(line).unwrap_or_default().trim().into())).collect();
        if item.kind == Kind::Procedure {
            let body = lines.iter().position(|(_, line)| line.contains('{'));
            lines.truncate(body.map_or(lines.len(), |place| place + 1));
        }
        lines
    }

    /// The line of a procedure that has a word first: of one of its variables, the declaration.
    pub fn first_use(&self, procedure: &str, word: &str) -> Option<(u32, String)> {
        let is_it = |item: &&Item| {
            item.kind == Kind::Procedure && item.names.iter().any(|(own, _)| own == procedure)
        };
        let item = self.items.iter().find(is_it)?;
        let has = |line: &u32| self.line(*line).is_some_and(|c| word_tokens(c).any(|w| w == word));
        let line = (item.first..=item.last).find(has)?;
        Some((line, self.line(line)?.trim().to_string()))
    }

    /// The lines on which one of some words is used.
    pub fn uses(&self, words: &FxHashSet<String>) -> Vec<u32> {
        let has = |line: &String| word_tokens(line).any(|word| words.contains(word));
        (1..).zip(&self.code).filter(|(_, line)| has(line)).map(|(number, _)| number).collect()
    }

    /// The tokens from a line on to the end of the statement there.
    pub fn statement(&self, line: u32) -> Vec<String> {
        let lines = line..=self.end_of_statement(line);
        lines.filter_map(|line| self.line(line)).flat_map(tokens).collect()
    }

    pub fn end_of_statement(&self, line: u32) -> u32 {
        const MOST: u32 = 12;
        let is_end = |line: &u32| self.line(*line).is_none_or(|c| c.contains([';', '{', '}']));
        (line..line.saturating_add(MOST)).find(is_end).unwrap_or(line)
    }

    /// Whether what begins on one line of a procedure goes on to another.
    pub fn goes_on(&self, first: u32, line: u32) -> bool {
        let is_inside = |item: &Item| item.kind == Kind::Procedure && item.has(first);
        self.at(line).is_some_and(is_inside)
            && !self.is_blank(line)
            && self.end_of_statement(first) >= line
    }

    /// The words of an item.
    pub fn words(&self, item: &Item) -> FxHashSet<&str> {
        let lines = (item.first..=item.last).filter_map(|line| self.line(line));
        lines.flat_map(word_tokens).collect()
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Words, literals and single signs of a text without comments.
pub fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            c if c.is_whitespace() || c == '\\' => {
                rest = &rest[c.len_utf8()..];
                continue;
            }
            '"' | '\'' => literal(rest, c),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        found.push(rest[..length].to_string());
        rest = &rest[length..];
    }
    found
}

/// How long a literal is that a text begins with.
fn literal(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return place,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return place + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn word_tokens(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let c = rest.chars().next()?;
            let length = match c {
                '"' | '\'' => literal(rest, c),
                c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (token, behind) = rest.split_at(length);
            rest = behind;
            if is_word(c) {
                return Some(token);
            }
        }
    })
}

fn without_comments(lines: &[String]) -> Vec<String> {
    let mut is_inside = false;
    let bare = lines.iter().map(|line| {
        let mut out = String::new();
        let mut rest = line.as_str();
        while let Some(c) = rest.chars().next() {
            if is_inside {
                match rest.find("*/") {
                    Some(end) => {
                        is_inside = false;
                        rest = &rest[end + 2..];
                        out.push(' ');
                    }
                    None => break,
                }
            } else if rest.starts_with("//") {
                break;
            } else if rest.starts_with("/*") {
                is_inside = true;
                rest = &rest[2..];
            } else {
                let length = match c {
                    '"' | '\'' => literal(rest, c),
                    c => c.len_utf8(),
                };
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
        }
        out
    });
    bare.collect()
}

/// A token of a declaration, with the line it is on and how deep it is in brackets.
struct Token {
    text: String,
    line: u32,
    braces: usize,
    others: usize,
}

struct Reader<'c> {
    code: &'c [String],
    items: Vec<Item>,
    open: Vec<Token>,
    braces: usize,
    others: usize,
    is_procedure: bool,
}

impl<'c> Reader<'c> {
    fn new(code: &'c [String]) -> Self {
        let (items, open) = (Vec::new(), Vec::new());
        Self { code, items, open, braces: 0, others: 0, is_procedure: false }
    }

    fn read(mut self) -> Vec<Item> {
        let code = self.code;
        let mut place = 0;
        while place < code.len() {
            let first = place;
            if code[place].trim_start().starts_with('#') {
                while place + 1 < code.len() && code[place].trim_end().ends_with('\\') {
                    place += 1;
                }
                self.directive(first, place);
            } else {
                // Where branches of the preprocessor each have a bracket, we lose count.
                if code[place].starts_with('}') && !self.open.is_empty() {
                    (self.braces, self.others) = (1, 0);
                }
                for token in tokens(&code[place]) {
                    self.token(token, place as u32 + 1);
                }
            }
            place += 1;
        }
        self.end(code.len() as u32);
        self.items.sort_by_key(|item| item.first);
        self.items
    }

    fn directive(&mut self, first: usize, last: usize) {
        let text: String = self.code[first..=last].concat();
        let mut words = word_tokens(&text);
        let kind = match words.next() {
            Some("define" | "undef") => Kind::Macro,
            Some("include" | "include_next" | "import") => Kind::Include,
            Some(
                "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "else" | "endif",
            ) => Kind::Condition,
            _ => Kind::Directive,
        };
        let line = first as u32 + 1;
        let name = words.next().filter(|_| kind == Kind::Macro);
        let names = name.map(|name| (name.to_string(), line)).into_iter().collect();
        self.items.push(Item { kind, first: line, last: last as u32 + 1, names });
    }

    fn token(&mut self, text: String, line: u32) {
        let sign = text.chars().next().filter(|_| text.chars().count() == 1);
        if sign == Some('{') && self.braces == 0 {
            let is = |word: &str| self.open.iter().any(|t| t.text == word && t.others == 0);
            // What `extern "C"` encloses is as if it was not enclosed.
            if self.open.len() == 2 && self.open[0].text == "extern" {
                self.open.clear();
                return;
            }
            let last = self.open.last().map(|token| token.text.as_str());
            let is_type = ["struct", "union", "enum"].iter().any(|word| is(word));
            self.is_procedure = !is("=") && (last == Some(")") || !is_type);
        }
        if self.open.is_empty() && matches!(sign, Some('}' | ';')) {
            return;
        }
        match sign {
            Some('}') => self.braces = self.braces.saturating_sub(1),
            Some(')' | ']') => self.others = self.others.saturating_sub(1),
            _ => {}
        }
        let (braces, others) = (self.braces, self.others);
        self.open.push(Token { text, line, braces, others });
        match sign {
            Some('{') => self.braces += 1,
            Some('(' | '[') => self.others += 1,
            Some('}') if self.braces == 0 && self.is_procedure => self.end(line),
            Some(';') if self.braces == 0 && self.others == 0 => self.end(line),
            _ => {}
        }
    }

    fn end(&mut self, last: u32) {
        let open = std::mem::take(&mut self.open);
        if let Some(first) = open.first().map(|token| token.line) {
            let kind = if self.is_procedure { Kind::Procedure } else { Kind::Declaration };
            self.items.push(Item { kind, first, last, names: declared(&open) });
        }
        (self.braces, self.others, self.is_procedure) = (0, 0, false);
    }
}

/// Names that are declared: tags, enumerators, and what stands where a declarator does.
fn declared(tokens: &[Token]) -> Vec<(String, u32)> {
    const NO_NAMES: &[&str] =
        &["__attribute__", "__attribute", "__declspec", "_Alignas", "alignas"];
    let mut found: Vec<(String, u32)> = Vec::new();
    let mut is_enum = false;
    let text = |place: usize| tokens.get(place).map_or("", |token| token.text.as_str());
    for (place, token) in tokens.iter().enumerate() {
        let is_name = token.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !NO_NAMES.contains(&token.text.as_str());
        let before = place.checked_sub(1).map_or("", &text);
        let behind = text(place + 1);
        if token.text == "enum" && token.braces == 0 {
            is_enum = true;
        }
        let is_tag = matches!(before, "struct" | "union" | "enum") && matches!(behind, "{" | ";");
        let is_enumerator =
            is_enum && token.braces == 1 && token.others == 0 && matches!(before, "{" | ",");
        let is_pointer = before == "*"
            && place.checked_sub(2).map_or("", &text) == "("
            && matches!(behind, ")" | "[")
            && token.others == 1;
        let is_before_pointer = behind == "(" && text(place + 2) == "*";
        let is_declarator = token.others == 0
            && !is_before_pointer
            && matches!(behind, ";" | "=" | "[" | "," | "(")
            && !is_tag
            // The values of an initialiser are no declarators.
            && before != "="
            && (!before.is_empty() || behind == "(");
        let counts = match token.braces {
            0 => is_tag || is_declarator || is_pointer,
            _ => is_enumerator,
        };
        if is_name && counts && !found.iter().any(|(name, _)| *name == token.text) {
            found.push((token.text.clone(), token.line));
        }
        if token.text == "{" && token.braces == 0 && before == ")" {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Outline {
        Outline::of(&text.lines().map(String::from).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(text: &str, expected: &[(Kind, u32, u32, &[&str])]) {
        let found = outline(text).items;
        let found: Vec<_> = found
            .iter()
            .map(|item| {
                let names: Vec<&str> = item.names.iter().map(|(name, _)| name.as_str()).collect();
                (item.kind, item.first, item.last, names)
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(kind, first, last, n)| (*kind, *first, *last, n.to_vec()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_stands_on_a_line_is_told() {
        check("#define A 1\n", &[(Kind::Macro, 1, 1, &["A"])]);
        check(
            "# define F(x) \\\n  ((x) * 2)\nint a;\n",
            &[(Kind::Macro, 1, 2, &["F"]), (Kind::Declaration, 3, 3, &["a"])],
        );
        check(
            "struct item {\n    int id;\n    long weight;\n};\n",
            &[(Kind::Declaration, 1, 4, &["item"])],
        );
        check(
            "enum mode {\n    FAST, /* , NONE */\n    SLOW = 5\n};\n",
            &[(Kind::Declaration, 1, 4, &["mode", "FAST", "SLOW"])],
        );
        check("typedef struct { int a; } pair;\n", &[(Kind::Declaration, 1, 1, &["pair"])]);
        check("typedef int (*compare)(int, int);\n", &[(Kind::Declaration, 1, 1, &["compare"])]);
        check("static const int table[] = { 1, 2 };\n", &[(Kind::Declaration, 1, 1, &["table"])]);
        check("static long limit = sizeof(int) * 2;\n", &[(Kind::Declaration, 1, 1, &["limit"])]);
        check("int weigh(struct item *item);\n", &[(Kind::Declaration, 1, 1, &["weigh"])]);
        check(
            "#ifdef A\nint a(void)\n{\n    return 1;\n}\n#endif\n",
            &[
                (Kind::Condition, 1, 1, &[]),
                (Kind::Procedure, 2, 5, &["a"]),
                (Kind::Condition, 6, 6, &[]),
            ],
        );
        check(
            "extern \"C\" {\nint a;\n}\nint b;\n",
            &[(Kind::Declaration, 2, 2, &["a"]), (Kind::Declaration, 4, 4, &["b"])],
        );
        // What cannot be counted does not reach beyond the next end of a procedure.
        check(
            "void f(void)\n{\n#if A\n    if (a) {\n#else\n    if (b) {\n#endif\n    }\n}\nint c;\n",
            &[
                (Kind::Procedure, 1, 9, &["f"]),
                (Kind::Condition, 3, 3, &[]),
                (Kind::Condition, 5, 5, &[]),
                (Kind::Condition, 7, 7, &[]),
                (Kind::Declaration, 10, 10, &["c"]),
            ],
        );
    }

    #[test]
    fn comments_and_literals_use_nothing() {
        let outline =
            outline("/* LIMIT\n LIMIT */ int a; // LIMIT\nchar *b = \"LIMIT\";\nint c = LIMIT;\n");
        let words: FxHashSet<String> = FxHashSet::from_iter([String::from("LIMIT")]);
        assert_eq!(outline.uses(&words), [4]);
        assert!(outline.is_blank(1) && !outline.is_blank(2));
        assert_eq!(outline.statement(4), ["int", "c", "=", "LIMIT", ";"]);
    }

    #[test]
    fn what_differs_of_a_declaration_is_told_line_by_line() {
        let differ = |old: &str, new: &str, name: &str| {
            let found = outline(old).differences(&outline(new), name)?;
            Some(found.map(|lines| {
                let lines = lines.into_iter().map(|(line, text)| format!("{line} {text}"));
                lines.collect::<Vec<_>>().join("; ")
            }))
        };
        let said = |old: &str, new: &str| Some([old.to_string(), new.to_string()]);
        assert_eq!(
            differ(
                "struct a {\n int b;\n int c; /* c */\n};\n",
                "int x;\nstruct a {\n long b;\n int c;\n};\n",
                "a"
            ),
            said("2 int b;", "3 long b;")
        );
        assert_eq!(
            differ("#define A 1\n", "#define A 2\n", "A"),
            said("1 #define A 1", "1 #define A 2")
        );
        // A prototype that stays says nothing, nor does a body.
        assert_eq!(
            differ(
                "int f(int);\nint f(int a)\n{\n return 1;\n}\n",
                "int f(int);\nint f(long a)\n{\n return 2;\n}\n",
                "f"
            ),
            said("2 int f(int a)", "2 int f(long a)")
        );
        assert_eq!(differ("int a;\n", "int  a; /* a */\n", "a"), None);
        assert_eq!(differ("int a;\n", "int b;\n", "a"), None);
    }

    #[test]
    fn a_variable_is_declared_where_it_is_first() {
        let outline = outline("int n;\nint f(void)\n{\n    // n\n    int n;\n    n = 1;\n}\n");
        assert_eq!(outline.first_use("f", "n"), Some((5, String::from("int n;"))));
        assert_eq!(outline.first_use("f", "m"), None);
    }

    #[test]
    fn statements_go_on_to_their_end() {
        let outline =
            outline("int f(\n    int a)\n{\n    g(a,\n\n      a);\n    h();\n}\nint b\n= 1;\n");
        let goes_on = |first, line| outline.goes_on(first, line);
        assert!(goes_on(1, 2) && goes_on(1, 3) && goes_on(4, 6));
        assert!(!goes_on(4, 5), "a blank line is no part of it");
        assert!(!goes_on(4, 7) && !goes_on(7, 8) && !goes_on(9, 10));
    }

    #[test]
    fn nothing_in_a_text_makes_it_fail() {
        for text in ["'", "\"\\", "}}}", "((((", "{", "#", "#define", "/*", "\\", "é\"é", "a('"] {
            let _ = outline(text).at(1);
        }
    }
}
