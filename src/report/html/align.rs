//! Lays two versions of a text beside each other, line by line.

/// Up to so many pairs of lines are looked at.
const MOST_PAIRS: usize = 1 << 22;

/// A row of both versions, by the places of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    Same(usize, usize),
    Changed(usize, usize),
    Removed(usize),
    Added(usize),
    /// A line of the new version of which the old one says nothing.
    Beside(usize),
}

/// Lines are the same if their keys are. One without a key has no counterpart.
pub fn align(old: &[Option<&str>], new: &[Option<&str>]) -> Vec<Row> {
    let mut rows = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (next_old, next_new) in common(old, new).into_iter().chain([(old.len(), new.len())]) {
        between(&mut rows, new, i..next_old, j..next_new);
        if next_old < old.len() && next_new < new.len() {
            rows.push(Row::Same(next_old, next_new));
        }
        (i, j) = (next_old + 1, next_new + 1);
    }
    rows
}

/// Lines between two that are the same: what was and what is stand side by side.
fn between(
    rows: &mut Vec<Row>,
    new: &[Option<&str>],
    old: std::ops::Range<usize>,
    range: std::ops::Range<usize>,
) {
    let mut removed = old;
    for at in range {
        rows.push(match (new[at], removed.len()) {
            (None, _) => Row::Beside(at),
            (Some(_), 0) => Row::Added(at),
            (Some(_), _) => Row::Changed(removed.next().unwrap_or_default(), at),
        });
    }
    rows.extend(removed.map(Row::Removed));
}

/// A longest sequence of lines that both have; where there are too many, only what
/// both begin and end with.
fn common(old: &[Option<&str>], new: &[Option<&str>]) -> Vec<(usize, usize)> {
    let same = |i: usize, j: usize| old[i].is_some() && old[i] == new[j];
    let least = old.len().min(new.len());
    let start = (0..least).take_while(|at| same(*at, *at)).count();
    let end =
        (1..=least - start).take_while(|back| same(old.len() - back, new.len() - back)).count();
    let mut found: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    let (height, width) = (old.len() - start - end, new.len() - start - end);
    if height.saturating_mul(width) <= MOST_PAIRS {
        let mut best = vec![0u32; (height + 1) * (width + 1)];
        let at = |i: usize, j: usize| i * (width + 1) + j;
        for i in (0..height).rev() {
            for j in (0..width).rev() {
                best[at(i, j)] = match same(start + i, start + j) {
                    true => best[at(i + 1, j + 1)] + 1,
                    false => best[at(i + 1, j)].max(best[at(i, j + 1)]),
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < height && j < width {
            if same(start + i, start + j) {
                found.push((start + i, start + j));
                (i, j) = (i + 1, j + 1);
            } else if best[at(i + 1, j)] >= best[at(i, j + 1)] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    found.extend((0..end).rev().map(|back| (old.len() - 1 - back, new.len() - 1 - back)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let keys = |text: &'static str| -> Vec<Option<&'static str>> {
            text.split_whitespace().map(|w| (w != "?").then_some(w)).collect()
        };
        let rows = align(&keys(old.to_string().leak()), &keys(new.to_string().leak()));
        let each = rows.into_iter().map(|row| match row {
            Row::Same(i, j) => format!("{i}={j}"),
            Row::Changed(i, j) => format!("{i}~{j}"),
            Row::Removed(i) => format!("-{i}"),
            Row::Added(j) => format!("+{j}"),
            Row::Beside(j) => format!("?{j}"),
        });
        each.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lines_stand_beside_what_they_were() {
        assert_eq!(shown("a b c", "a b c"), "0=0 1=1 2=2");
        assert_eq!(shown("a b c", "a x c"), "0=0 1~1 2=2");
        assert_eq!(shown("a c", "a b c"), "0=0 +1 1=2");
        assert_eq!(shown("a b c", "a c"), "0=0 -1 2=1");
        assert_eq!(shown("a b", "? a ? x"), "?0 0=1 ?2 1~3");
        assert_eq!(shown("", "a"), "+0");
        assert_eq!(shown("a a", "a"), "0=0 -1");
        assert_eq!(shown("", ""), "");
    }
}
