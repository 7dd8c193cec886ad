//! Which changes are tried, and in what order: of every kind as many, those of one
//! file between those of others.

use super::change::{self, Change, Edit};
use super::coverage::Coverage;
use super::mutants::{self, Kind, Source};
use super::record::{Record, State};
use super::subject::Subject;
use super::tests;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// One edit of so many is in code that no test comes to.
const UNREACHED: usize = 20;
/// Tests whose commands are changed at once.
const COMMANDS: usize = 5;

/// What is still to do, shared by all who work on it.
pub struct Plan {
    queue: Mutex<Queue>,
    /// Changes that are to be compared, of each kind.
    quotas: BTreeMap<&'static str, usize>,
}

#[derive(Default)]
struct Queue {
    todo: BTreeMap<&'static str, Vec<Change>>,
    /// Compared, or being worked on.
    taken: BTreeMap<&'static str, usize>,
}

impl Plan {
    /// `wanted` mutants in all, those that are known counted in, and every version. What
    /// takes long, because all is built again, is tried less often.
    pub fn new(
        candidates: BTreeMap<&'static str, Vec<Change>>,
        wanted: usize,
        costly: usize,
        known: &BTreeMap<String, Record>,
    ) -> Self {
        let mut quotas = BTreeMap::new();
        for (kind, of_kind) in &candidates {
            let quota = match *kind {
                change::VERSION => of_kind.len(),
                kind if change::COSTLY.contains(&kind) => of_kind.len().min(costly),
                _ => 0,
            };
            quotas.insert(*kind, quota);
        }
        // One more for each in turn, until it is enough.
        let mut left = wanted;
        while left > 0 {
            let before = left;
            for (kind, of_kind) in &candidates {
                let quota = quotas.entry(kind).or_default();
                let is_apart = *kind == change::VERSION || change::COSTLY.contains(kind);
                if !is_apart && left > 0 && *quota < of_kind.len() {
                    *quota += 1;
                    left -= 1;
                }
            }
            if before == left {
                break;
            }
        }
        let mut queue = Queue::default();
        for (kind, of_kind) in candidates {
            let compared = of_kind.iter().filter_map(|change| known.get(&change.id()));
            let compared = compared.filter(|record| record.state == State::Compared).count();
            queue.taken.insert(kind, compared);
            let mut todo: Vec<Change> =
                of_kind.into_iter().filter(|change| !known.contains_key(&change.id())).collect();
            todo.reverse();
            queue.todo.insert(kind, todo);
        }
        Self { queue: Mutex::new(queue), quotas }
    }

    pub fn total(&self) -> usize {
        self.quotas.values().sum()
    }

    pub fn taken(&self) -> usize {
        self.lock().taken.values().sum()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// One of the kind that lacks the most.
    pub fn next(&self) -> Option<Change> {
        let mut queue = self.lock();
        let share = |kind: &str, taken: usize| taken as f64 / self.quotas[kind] as f64;
        let kinds = queue.todo.iter().filter(|(_, todo)| !todo.is_empty());
        let open = kinds.map(|(kind, _)| (*kind, queue.taken[kind]));
        let open = open.filter(|(kind, taken)| *taken < self.quotas[kind]);
        let (kind, _) = open.min_by(|a, b| share(a.0, a.1).total_cmp(&share(b.0, b.1)))?;
        *queue.taken.get_mut(kind)? += 1;
        queue.todo.get_mut(kind)?.pop()
    }

    /// It did not come to a comparison: another one has to take its place.
    pub fn give_back(&self, change: &Change) {
        if let Some(taken) = self.lock().taken.get_mut(change.kind) {
            *taken -= 1;
        }
    }
}

/// All changes of a subject, by kind.
pub fn candidates(
    subject: &Subject,
    coverage: &Coverage,
) -> anyhow::Result<BTreeMap<&'static str, Vec<Change>>> {
    let mut all: BTreeMap<&'static str, Vec<Change>> = BTreeMap::new();
    let mut sources = Vec::new();
    for file in subject.files(&subject.description.sources)? {
        // What is not text in one of the usual ways is left alone.
        if let Ok(text) = std::fs::read_to_string(subject.base.join(&file)) {
            sources.push(Source { file, text });
        }
    }
    let (unprobed, sources): (Vec<Source>, Vec<Source>) =
        sources.into_iter().partition(|source| subject.unprobed.contains(&source.file));
    let in_unprobed = mutants::mutants(&unprobed).into_iter();
    let in_unprobed = in_unprobed.filter(|(kind, _)| *kind != Kind::LineMore);
    let in_unprobed = spread(in_unprobed.flat_map(|(_, of_kind)| of_kind).collect());
    add(&mut all, change::UNPROBED, in_unprobed.into_iter().map(Edit::Mutant));
    for (kind, of_kind) in mutants::mutants(&sources) {
        let mut changes = Vec::new();
        let mut unreached = 0;
        for mutant in of_kind {
            if kind.is_in_body() && !coverage.is_reached(&mutant.file, mutant.line) {
                unreached += 1;
                if unreached % UNREACHED != 0 {
                    continue;
                }
            }
            changes.push(Change { kind: kind.name(), edit: Edit::Mutant(mutant) });
        }
        all.insert(kind.name(), changes);
    }
    let description = &subject.description;
    let versions = subject.versions.iter().map(|path| Edit::Version(path.clone()));
    add(&mut all, change::VERSION, versions);
    let flags = description.flags.iter();
    let flags = flags.map(|flag| Edit::Flag(flag.clone(), description.flag_files.clone()));
    add(&mut all, change::FLAG, flags);
    if let Some([file, behind]) = &description.link_place {
        let links = description.links.iter().map(|[old, new]| Edit::Link {
            flag: format!("-Wl,--defsym={old}={new}"),
            file: file.clone(),
            behind: behind.clone(),
        });
        add(&mut all, change::LINK, links);
    }
    for (kind, patterns) in
        [(change::GRAMMAR, &description.grammars), (change::DATA, &description.data)]
    {
        let mut files = Vec::new();
        for file in subject.files(patterns)? {
            files.push(spread(change::texts(kind, &file, &subject.base)?));
            // What a grammar does is C.
            if kind == change::GRAMMAR && file.ends_with(".y") {
                let text = fs_err::read_to_string(subject.base.join(&file))?;
                let mutants = mutants::mutants(&[Source { file, text }]).into_iter();
                let in_actions = mutants.filter(|(kind, _)| kind.is_in_body());
                files.extend(in_actions.map(|(_, of_kind)| {
                    let of_kind = of_kind.into_iter().map(Edit::Mutant);
                    of_kind.map(|edit| Change { kind, edit }).collect()
                }));
            }
        }
        all.insert(kind, in_turn(files));
    }
    let names: Vec<String> = tests::list(&subject.base)?.into_keys().collect();
    let groups = spread(names).chunks(COMMANDS).map(<[String]>::to_vec).collect::<Vec<_>>();
    add(&mut all, change::COMMAND, groups.into_iter().map(Edit::Commands));
    all.insert(change::SHADOW, shadows(subject)?);
    all.retain(|_, of_kind| !of_kind.is_empty());
    Ok(all)
}

fn add(
    all: &mut BTreeMap<&'static str, Vec<Change>>,
    kind: &'static str,
    edits: impl Iterator<Item = Edit>,
) {
    all.insert(kind, edits.map(|edit| Change { kind, edit }).collect());
}

/// Macros that make whoever includes them behave differently.
const TELLING: &[&str] = &[
    "#define exit(status) exit((status) ^ 1)",
    "#define strlen(text) (strlen(text) / 2)",
    "#define fwrite(from, size, count, file) fwrite(from, size, (count) / 2, file)",
    "#define fputs(text, file) fputs(\"other\", file)",
    "#define strcmp(a, b) (-strcmp(a, b))",
];

/// Headers that others include, under names that are searched before them: mutants, and
/// with a macro more.
fn shadows(subject: &Subject) -> anyhow::Result<Vec<Change>> {
    let mut files = Vec::new();
    for [from, to] in &subject.description.shadows {
        let mut includes = String::new();
        let within = |pattern: &str| match to.as_str() {
            "." => pattern.to_string(),
            to => format!("{to}/{pattern}"),
        };
        for file in subject.files(&[within("*.c"), within("*.h")])? {
            let text = fs_err::read(subject.base.join(file))?;
            let text = String::from_utf8_lossy(&text);
            text.lines().filter(|line| line.contains("include")).for_each(|line| {
                includes.push_str(line);
                includes.push('\n');
            });
        }
        for file in subject.files(&[format!("{from}/*.h")])? {
            let text = fs_err::read_to_string(subject.base.join(&file))?;
            let name = file.rsplit('/').next().unwrap_or(&file);
            let is_included =
                ['"', '<'].iter().any(|open| includes.contains(&format!("{open}{name}")));
            let to = format!("{to}/{name}");
            let to = to.strip_prefix("./").unwrap_or(&to).to_string();
            if subject.base.join(&to).exists() || !is_included {
                continue;
            }
            let shadow = |edit| Change { kind: change::SHADOW, edit };
            let with = TELLING.iter().map(|line| Edit::ShadowWith {
                header: file.clone(),
                to: to.clone(),
                line,
            });
            files.push(with.map(shadow).collect());
            let of_file = mutants::mutants(&[Source { file: file.clone(), text }]).into_iter();
            let of_file = of_file.filter(|(kind, _)| *kind != Kind::LineMore);
            let of_file = of_file.flat_map(|(_, of_kind)| of_kind);
            let of_file = of_file.map(|mutant| shadow(Edit::Shadow(mutant, to.clone())));
            files.push(spread(of_file.collect()));
        }
    }
    Ok(in_turn(files))
}

/// The same things in an order that is always the same and looks like none.
fn spread<T>(things: Vec<T>) -> Vec<T> {
    let mut numbered: Vec<(u64, T)> = Vec::with_capacity(things.len());
    for (number, thing) in things.into_iter().enumerate() {
        numbered.push(((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15), thing));
    }
    numbered.sort_by_key(|(key, _)| *key);
    numbered.into_iter().map(|(_, thing)| thing).collect()
}

/// The first of each, the second of each, and so on.
fn in_turn(files: Vec<Vec<Change>>) -> Vec<Change> {
    let longest = files.iter().map(Vec::len).max().unwrap_or(0);
    let rounds = (0..longest).flat_map(|round| files.iter().filter_map(move |f| f.get(round)));
    rounds.cloned().collect()
}
