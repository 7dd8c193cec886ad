//! Which lines of the sources and other files changed, where the text that they had can be had.

use super::earlier::Texts;
use crate::cli::{files, uses};
use crate::report::html::align::{Row, align};
use crate::report::html::{ChangedFile, ChangedLines, Site, TextChange};
use std::collections::BTreeSet;

/// Adds to each file of the report that changed which of its lines did.
pub fn add(site: &mut Site, texts: &mut Texts<'_>) {
    let is_new = uses::verb(false, true);
    let mut found = Vec::new();
    for change in &site.changed_files {
        let place = site.files.binary_search_by(|file| file.name.as_str().cmp(&change.file));
        let Ok(place) = place else { continue };
        let now = texts.now(&change.file).map(<[String]>::to_vec);
        let then = texts.then(&change.file).map(<[String]>::to_vec);
        let lines = match (then, now) {
            (Some(then), Some(now)) => between(&then, &now),
            (None, Some(now)) if change.verb == is_new => ChangedLines {
                lines: (1..=now.len() as u32).collect(),
                is_whole: true,
                ..ChangedLines::default()
            },
            _ => ChangedLines { lines: named(site, &change.file), ..ChangedLines::default() },
        };
        found.push((place, lines));
    }
    for (place, lines) in found {
        site.files[place].changed = Some(lines);
    }
    let pages = &site.files;
    let has_page = |name: &str| pages.binary_search_by(|file| file.name.as_str().cmp(name)).is_ok();
    for change in &mut site.changed_files {
        if files::is_file(&change.file) && !has_page(&change.file) {
            change.text = Some(text(change, texts));
        }
    }
}

/// Both versions of a file that has no page of its own.
fn text(change: &ChangedFile, texts: &mut Texts<'_>) -> TextChange {
    let was_there = change.verb != uses::verb(false, true);
    let is_there = change.verb != uses::verb(true, false);
    let now = texts.now(&change.file).map(<[String]>::to_vec);
    let then = texts.then(&change.file).map(<[String]>::to_vec);
    match (then, now) {
        (None, _) if was_there => TextChange::Unknown(
            "What it was is not known: the history keeps no texts, and git does not have this \
             file as it was recorded.",
        ),
        (_, None) if is_there => TextChange::Unknown("It cannot be read."),
        (then, now) => TextChange::between(&then.unwrap_or_default(), &now.unwrap_or_default()),
    }
}

fn between(then: &[String], now: &[String]) -> ChangedLines {
    fn keys(lines: &[String]) -> Vec<Option<&str>> {
        lines.iter().map(|line| Some(line.as_str())).collect()
    }
    let mut changed = ChangedLines { is_whole: true, ..ChangedLines::default() };
    let mut gone = 0;
    for row in align(&keys(then), &keys(now)) {
        let line = match row {
            Row::Removed(_) => {
                gone += 1;
                continue;
            }
            Row::Same(_, line) => line,
            Row::Changed(_, line) | Row::Added(line) | Row::Beside(line) => {
                changed.lines.insert(line as u32 + 1);
                line
            }
        };
        if gone > 0 {
            changed.gone.insert(line as u32 + 1, std::mem::take(&mut gone));
        }
    }
    if gone > 0 {
        changed.gone.insert(now.len() as u32 + 1, gone);
    }
    changed
}

/// Lines of a file that reasons name: where code changed, and declarations.
fn named(site: &Site, file: &str) -> BTreeSet<u32> {
    let declared = format!("({file}:");
    let mut lines = BTreeSet::new();
    for danger in site.procedures.iter().flat_map(|procedure| &procedure.dangers) {
        let reason = &danger.reason;
        // Where a declaration makes the difference, the line is what it was.
        let new = reason.new.as_ref().filter(|new| new.text != reason.old.text);
        lines.extend(new.filter(|new| new.file == file).map(|new| new.line));
        let place = reason.because.split_once(&declared).map(|(_, behind)| behind);
        let line = place.and_then(|place| place.split(')').next()?.parse::<u32>().ok());
        lines.extend(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(then: &str, now: &str) -> (Vec<u32>, Vec<(u32, usize)>) {
        let lines = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let changed = between(&lines(then), &lines(now));
        (changed.lines.into_iter().collect(), changed.gone.into_iter().collect())
    }

    #[test]
    fn lines_are_marked_that_changed_came_or_went() {
        assert_eq!(of("a b c", "a b c"), (vec![], vec![]));
        assert_eq!(of("a b c", "a x c"), (vec![2], vec![]));
        assert_eq!(of("a c", "a b c"), (vec![2], vec![]));
        assert_eq!(of("a b c d", "a d"), (vec![], vec![(2, 2)]));
        assert_eq!(of("a b c", "a"), (vec![], vec![(2, 2)]));
        assert_eq!(of("a b c d", "x d"), (vec![1], vec![(2, 2)]));
    }
}
