//! Names that somebody may have meant.

use std::collections::BTreeSet;

/// So many are named.
const MOST: usize = 5;

/// Those of the names that are most like one, the nearest first.
pub fn near<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = name.to_lowercase();
    let found: BTreeSet<(usize, &str)> = names
        .filter_map(|other| {
            let candidate = other.to_lowercase();
            // Of a test, what stands behind its suite may be meant.
            let own = candidate.rsplit('/').next().unwrap_or(&candidate);
            let distance = distance(&wanted, &candidate).min(distance(&wanted, own));
            let is_part = !wanted.is_empty() && candidate.contains(&wanted);
            let is_near = is_part || distance <= wanted.chars().count().div_ceil(4).max(1);
            is_near.then_some((distance, other))
        })
        .collect();
    found.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// How many letters are to be changed, added, left out or exchanged with the next one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mistyped_is_found() {
        let names = ["t/two", "t/one", "parse_header", "parse_body", "main"];
        let near = |name| near(name, names.into_iter());
        assert_eq!(near("tow"), ["t/two"]);
        assert_eq!(near("parse_haeder"), ["parse_header"]);
        assert_eq!(near("parse"), ["parse_body", "parse_header"]);
        assert_eq!(near("Main"), ["main"]);
        assert!(near("completely-different").is_empty());
        assert!(near("").is_empty());
    }
}
