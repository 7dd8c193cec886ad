//! The way back from an offset in preprocessed text to file and line.

use crate::bytes;
use crate::ids::FpHasher;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Where a place of the text comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Index into [`LineMap::files`].
    pub file: u32,
    pub line: u32,
    /// The file that really holds the place, whatever `#line` calls it: the
    /// main file, or the one that was included.
    pub included: u32,
}

/// One run of text lines that continue the count of a line marker.
struct Run {
    /// Offset of the first byte of the run.
    start: u32,
    /// Index into `newlines` of the first line of the run.
    first: u32,
    file: u32,
    line: u32,
    included: u32,
}

#[derive(Default)]
pub struct LineMap {
    /// Names of files as the markers spell them.
    pub files: Vec<String>,
    by_name: FxHashMap<String, u32>,
    runs: Vec<Run>,
    /// Offset of the first byte of every line of the text.
    newlines: Vec<u32>,
    /// The main file, and what is included around this place.
    includes: Vec<u32>,
}

impl LineMap {
    /// Gives back the room that was kept for more.
    pub fn shrink_to_fit(&mut self) {
        self.files.shrink_to_fit();
        self.runs.shrink_to_fit();
        self.newlines.shrink_to_fit();
    }

    /// Notes that a line of the text begins at `offset`.
    pub fn newline(&mut self, offset: usize) {
        self.newlines.push(offset as u32);
    }

    /// Takes back the lines that begin behind `offset`.
    pub fn forget_after(&mut self, offset: usize) {
        let keep = self.newlines.partition_point(|start| *start as usize <= offset);
        self.newlines.truncate(keep);
    }

    /// Reads `# 12 "file.c" 1 3` (also in the `#line` form). `next` is where
    /// the next line begins. False if the line is no marker.
    pub fn marker(&mut self, line: &[u8], next: usize) -> bool {
        let Some((number, rest)) = marked(line) else { return false };
        let rest = rest.trim_ascii_start();
        let flags = rest.rsplit(|byte| *byte == b'"').next().unwrap_or_default();
        let file = match unquote(rest) {
            // With -g, gcc says behind the first marker in which directory it works.
            Some(name) if name.ends_with("//") && self.runs.len() == 1 => return true,
            Some(name) => self.file(name),
            None => match self.runs.last() {
                Some(run) => run.file,
                None => self.file(String::new()),
            },
        };
        // Flag 1 enters a file, 2 returns to one; without a flag it is `#line`.
        match flags.trim_ascii_start().first() {
            Some(b'1') => self.includes.push(file),
            Some(b'2') if self.includes.len() > 1 => {
                self.includes.pop();
            }
            _ if self.includes.is_empty() => self.includes.push(file),
            _ => {}
        }
        self.runs.push(Run {
            start: next as u32,
            first: self.newlines.len() as u32,
            file,
            line: number,
            included: self.includes.last().copied().unwrap_or(file),
        });
        true
    }

    fn file(&mut self, name: String) -> u32 {
        if let Some(index) = self.by_name.get(&name) {
            return *index;
        }
        let index = self.files.len() as u32;
        self.by_name.insert(name.clone(), index);
        self.files.push(name);
        index
    }

    /// Files that `#line` names, and that the preprocessor did not read.
    pub fn only_named(&self) -> Vec<u32> {
        let mut read = vec![false; self.files.len()];
        self.runs.iter().for_each(|run| read[run.included as usize] = true);
        (0..self.files.len() as u32).filter(|file| !read[*file as usize]).collect()
    }

    /// File and line of an offset, or `None` before the first marker.
    pub fn place(&self, offset: u32) -> Option<Place> {
        let run = &self.runs[..self.runs.partition_point(|run| run.start <= offset)];
        let run = run.last()?;
        let line = self.newlines.partition_point(|start| *start <= offset) as u32;
        Some(Place {
            file: run.file,
            line: run.line.saturating_add((line - 1).saturating_sub(run.first)),
            included: run.included,
        })
    }
}

/// The number of a line marker, and what stands behind it.
fn marked(line: &[u8]) -> Option<(u32, &[u8])> {
    let rest = line.strip_prefix(b"#")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"line").unwrap_or(rest).trim_ascii_start();
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    Some((number, &rest[digits..]))
}

/// Puts a part of a text into a hasher, line by line. Line markers and empty
/// lines are left out: these change where code only moved.
pub fn hash_lines(text: &[u8], part: Range<usize>, hasher: &mut FpHasher) {
    let mut from = part.start;
    let mut is_start = from == 0 || text[from - 1] == b'\n';
    for end in memchr::memchr_iter(b'\n', &text[part.clone()]).chain([part.len()]) {
        let line = &text[from..part.start + end];
        // Where comments are kept, code may stand behind one that ends here.
        let is_marker = is_start && marked(line).is_some() && !ends_comment(line);
        if !line.is_empty() && !is_marker {
            hasher.bytes(line);
        }
        (from, is_start) = (part.start + end + 1, true);
    }
}

fn ends_comment(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"*/").is_some()
}

/// The text between the quotes at the start of `rest`, escapes undone.
pub fn unquote(rest: &[u8]) -> Option<String> {
    let mut rest = rest.strip_prefix(b"\"")?.iter();
    let mut name = Vec::new();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return Some(bytes::to_text(&name).into_owned()),
            b'\\' => match rest.next()? {
                // Of what cannot stand in a line only its end has a letter.
                b'n' => name.push(b'\n'),
                // clang writes whatever is not ASCII as three digits.
                first @ b'0'..=b'7' => {
                    let mut value = u32::from(first - b'0');
                    let mut digits = rest.clone().take(2);
                    while let Some(digit @ b'0'..=b'7') = digits.next() {
                        value = value * 8 + u32::from(digit - b'0');
                        rest.next();
                    }
                    name.push(value as u8);
                }
                other => name.push(*other),
            },
            _ => name.push(*byte),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{hash_lines, unquote};
    use crate::frontend::lex::lex;
    use crate::ids::{Fingerprint, FpHasher};

    #[test]
    fn names_are_as_compilers_quote_them() {
        assert_eq!(unquote(br#""a\nb\"\\n.c" 1"#).unwrap(), "a\nb\"\\n.c");
    }

    fn of_lines(text: &str, from: usize) -> Fingerprint {
        let mut hasher = FpHasher::new("");
        hash_lines(text.as_bytes(), from..text.len(), &mut hasher);
        hasher.finish()
    }

    #[test]
    fn moved_lines_have_the_same_fingerprint() {
        let text = of_lines("# 1 \"a.c\"\nint a;\n b;", 0);
        assert_eq!(text, of_lines("# 9 \"b.c\" 2\n\nint a;\n#line 7\n b;\n", 0));
        assert_ne!(text, of_lines("# 1 \"a.c\"\nint a; b;", 0));
        assert_ne!(text, of_lines("# 1 \"a.c\"\nint a;\n#pragma b\n b;", 0));
    }

    #[test]
    fn the_directory_of_a_compile_is_no_file() {
        let text = "# 0 \"a.c\"\n# 1 \"/some/where//\"\n# 0 \"<built-in>\"\n# 1 \"a.c\"\nint a;\n";
        assert_eq!(lex(text.as_bytes()).lines.files, ["a.c", "<built-in>"]);
    }

    #[test]
    fn what_only_looks_like_a_marker_counts() {
        // The lexer takes none of them for one.
        assert_ne!(of_lines("a\n# 99999999999\n", 0), of_lines("a\n", 0));
        assert_ne!(of_lines("/*\n# 5 */ int x;", 0), of_lines("/*\n# 5 */ long x;", 0));
        assert_ne!(of_lines("}# 5\n", 1), of_lines("}\n", 1));
    }

    #[test]
    fn offsets_map_to_the_marked_file_and_line() {
        let text = "# 1 \"a.c\"\nint a;\nint b;\n# 7 \"dir/b.h\" 1\nint c;\n\nint d;\n";
        let tokens = lex(text.as_bytes());
        let at = |needle: &str| {
            let place = tokens.lines.place(text.find(needle).unwrap() as u32).unwrap();
            (tokens.lines.files[place.file as usize].as_str(), place.line)
        };
        assert_eq!(at("int a"), ("a.c", 1));
        assert_eq!(at("int b"), ("a.c", 2));
        assert_eq!(at("int c"), ("dir/b.h", 7));
        assert_eq!(at("int d"), ("dir/b.h", 9));
    }
}
