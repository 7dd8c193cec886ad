//! What all subjects came to: tables, CSV, JSON and plots.

use super::figures::Bars;
use super::path;
use super::plot::{self, Group};
use super::record;
use super::sums::{Sum, Sums};
use super::table::{self, Paths};
use super::tables;
use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use std::path::Path;

/// From the sharpest to the coarsest.
pub const TECHNIQUES: [&str; 4] = ["auto", "procedure", "file", "changed lines"];
/// Kinds that have to be seen as often, each by itself.
const NAMED: [&str; 9] = [
    "statement deleted",
    "operator",
    "constant",
    "condition negated",
    "case label removed",
    "call target",
    "macro",
    "procedure moved",
    "procedure renamed",
];
/// Pairs that have to differ in each row and in each of these kinds.
const LEAST: usize = 100;
/// The largest subject, and how many mutants of it have to be compared.
const LARGEST: (&str, usize) = ("tcl", 100);

/// Around what is written into the page.
const MARKS: [&str; 2] =
    ["<!-- figures, written by scripts/study report -->\n", "<!-- end of figures -->\n"];

pub fn write(results: &Path, out: &Path) -> anyhow::Result<()> {
    fs_err::create_dir_all(out)?;
    let mut sums = Sums::default();
    // What was compared elsewhere stays, unless it was compared here again.
    let mut outcomes = table::read_outcomes(out)?;
    let mut paths = table::read_paths(out)?;
    for entry in fs_err::read_dir(results)? {
        let file = entry?.path();
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else { continue };
        let Some(name) = name.strip_suffix(".jsonl") else { continue };
        match name.strip_suffix(".path") {
            Some(subject) => {
                paths.entry(subject.to_string()).or_default().extend(path::read(&file)?);
            }
            None => outcomes.entry(name.to_string()).or_default().extend(record::read(&file)?),
        }
    }
    for (subject, records) in &outcomes {
        records.values().for_each(|record| sums.add(subject, record));
    }
    ensure!(sums.all.changes > 0, "there are no results in {}", results.display());
    fs_err::write(out.join(table::OUTCOMES), table::of_outcomes(&outcomes)?)?;
    fs_err::write(out.join(table::PATHS), table::of_paths(&paths)?)?;
    let json = serde_json::json!({
        "all": sums.all, "mutants": sums.mutants, "no source": sums.beside,
        "versions": sums.versions, "subjects": sums.by_subject, "kinds": sums.by_kind,
    });
    fs_err::write(out.join("outcome.json"), format!("{json:#}\n"))?;
    fs_err::write(out.join("tables.md"), tables::all(&sums) + &tables::paths(&paths))?;
    let series = ["differ", "edgewise", "procedure", "file", "changed lines"];
    let groups = |sums: &BTreeMap<String, Sum>| -> Vec<Group> {
        sums.iter().map(|(name, sum)| group(name, sum)).collect()
    };
    let title = "Tests that behave differently, and tests selected, of all";
    fs_err::write(out.join("subjects.svg"), plot::bars(title, &series, &groups(&sums.by_subject)))?;
    fs_err::write(out.join("kinds.svg"), plot::bars(title, &series, &groups(&sums.by_kind)))?;
    let page = out.with_extension("md");
    let text = fs_err::read_to_string(&page)?;
    let figures = format!("{}{}", tables::short(&sums), tables::paths(&paths));
    fs_err::write(&page, in_page(&text, &figures).context("the page has no place for figures")?)?;
    print!("{}{}", tables::all(&sums), tables::paths(&paths));
    bars(&sums, &paths).print();
    Ok(())
}

/// The page with other figures in it.
fn in_page(page: &str, figures: &str) -> Option<String> {
    let [begin, end] = MARKS;
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{figures}\n{end}{after}"))
}

fn group(name: &str, sum: &Sum) -> Group {
    let mut values = vec![sum.differ as f64 / sum.tests.max(1) as f64];
    values.extend(TECHNIQUES.map(|technique| sum.share(technique)));
    Group { name: name.to_string(), values }
}

/// What has to be met.
fn bars(sums: &Sums, paths: &Paths) -> Bars {
    let mut bars = Bars::default();
    let [missed, differ] = [sums.all.missed, sums.all.differ].map(|count| count.to_string());
    let share = sums.all.missed as f64 / sums.all.differ.max(1) as f64;
    bars.at_most(
        "tests that behave differently and are missed; to all that do",
        &missed,
        &differ,
        share,
        0.0,
    );
    let least = |bars: &mut Bars, what: &str, count: usize, least: usize| {
        let ratio = count as f64 / least as f64;
        bars.at_least(
            &format!("{what}; to {least}"),
            &count.to_string(),
            &least.to_string(),
            ratio,
            1.0,
        );
    };
    least(&mut bars, "mutants", sums.mutants.changes, 5_000);
    least(&mut bars, "pairs of versions", sums.versions.changes, 20);
    least(&mut bars, "pairs of change and test that differ", sums.all.differ, 20_000);
    let of_kind = |kind: &'static str| (kind, sums.by_kind.get(kind).map_or(0, |sum| sum.differ));
    let rows = sums.by_row().into_iter().map(|(row, sum)| (row, sum.differ));
    let in_headers = ("edits of headers", sums.in_headers.differ);
    let counts = rows.chain(NAMED.map(of_kind)).chain([in_headers]);
    if let Some((kind, fewest)) = counts.min_by_key(|(_, differ)| *differ) {
        least(&mut bars, &format!("of these where there are fewest ({kind})"), fewest, LEAST);
    }
    let largest = sums.mutants_of.get(LARGEST.0).map_or(0, |sum| sum.changes);
    least(
        &mut bars,
        &format!("mutants of the largest subject ({})", LARGEST.0),
        largest,
        LARGEST.1,
    );
    let sum = |algorithm: &str| -> usize {
        paths
            .values()
            .flat_map(BTreeMap::values)
            .filter_map(|record| record.selected.get(algorithm))
            .sum()
    };
    if sum("path") > 0 {
        let (auto, path) = (sum("auto"), sum("path"));
        let ratio = auto as f64 / path as f64;
        bars.at_most(
            "tests selected; to those whose path differs",
            &auto.to_string(),
            &path.to_string(),
            ratio,
            1.02,
        );
    }
    bars
}
