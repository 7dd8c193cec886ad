//! Sentences of others on a page: what stands in backticks is code, and files and places
//! of the sources are links.

/// A part of a sentence.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'t> {
    Text(&'t str),
    Code(&'t str),
    /// A file, perhaps with a line.
    Place(&'t str, Option<u32>),
}

/// Takes a sentence apart. A backtick without another is what it is.
pub fn parts<'t>(text: &'t str, is_file: &dyn Fn(&str) -> bool) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`')
        && let Some((code, after)) = behind.split_once('`')
    {
        plain(before, is_file, &mut parts);
        parts.push(Part::Code(code));
        rest = after;
    }
    plain(rest, is_file, &mut parts);
    parts
}

/// What is around a place: brackets and marks, which are no part of its name.
const AROUND: [char; 7] = ['(', ')', ',', ';', '.', ':', '"'];

fn plain<'t>(text: &'t str, is_file: &dyn Fn(&str) -> bool, parts: &mut Vec<Part<'t>>) {
    let mut told = 0;
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end().trim_start_matches(['(', '"']).trim_end_matches(AROUND);
        let place = match bare.rsplit_once(':') {
            Some((file, line)) if is_file(file) => {
                line.parse().ok().map(|line| Part::Place(file, Some(line)))
            }
            _ => is_file(bare).then_some(Part::Place(bare, None)),
        };
        if let Some(place) = place {
            let begin = at + word.find(bare).unwrap_or(0);
            if begin > told {
                parts.push(Part::Text(&text[told..begin]));
            }
            parts.push(place);
            told = begin + bare.len();
        }
        at += word.len();
    }
    if told < text.len() {
        parts.push(Part::Text(&text[told..]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Part<'_>> {
        parts(text, &|file| ["a.h", "lib/b.c"].contains(&file))
    }

    #[test]
    fn code_and_places_are_told_apart_from_words() {
        use Part::{Code, Place, Text};
        let parts = of("`shape` is declared otherwise (a.h:12)");
        let wanted =
            [Code("shape"), Text(" is declared otherwise ("), Place("a.h", Some(12)), Text(")")];
        assert_eq!(parts, wanted);
        assert_eq!(of("lib/b.c changed."), [Place("lib/b.c", None), Text(" changed.")]);
        assert_eq!(
            of("see lib/b.c:3, a.h"),
            [Text("see "), Place("lib/b.c", Some(3)), Text(", "), Place("a.h", None),]
        );
    }

    #[test]
    fn whatever_is_no_place_stays_as_it_is() {
        for text in ["", "one ` alone", "c.h:3 and lib/b.c:x", "::: ( )", "a.hh"] {
            let joined: Vec<Part<'_>> = of(text);
            let all = joined.iter().map(|part| match part {
                Part::Text(text) => *text,
                other => panic!("{other:?} in {text}"),
            });
            assert_eq!(all.collect::<String>(), text);
        }
    }
}
