//! The trace files of one module: what ran outside of any case, and within each; and the order in
//! which the cases of a process began.

use super::format::TraceFile;
use crate::ids::Fingerprint;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

/// What counts for a case beside what it ran itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cases {
    /// What ran in the cases before it in the same process: they may leave anything behind.
    #[default]
    InOrder,
    /// Nothing: the suite says that no case depends on another.
    Independent,
}

/// For each unit, the bytes of its probes.
pub type Probes = BTreeMap<Fingerprint, Vec<u8>>;

/// All that a test left of one module.
#[derive(Default)]
pub struct Traced {
    pub module: PathBuf,
    pub build_id: Vec<u8>,
    /// How many processes ran the module, those aside that were forked.
    pub processes: u32,
    outside: Probes,
    cases: BTreeMap<String, Probes>,
}

impl Traced {
    pub fn by_module(files: Vec<TraceFile>) -> Vec<Self> {
        let mut modules: BTreeMap<Vec<u8>, Self> = BTreeMap::new();
        for file in files {
            let traced = modules.entry(file.build_id.clone()).or_default();
            // Copies of a module share its traces; any of them will do.
            traced.module = file.module;
            traced.build_id = file.build_id;
            traced.processes = traced.processes.saturating_add(file.processes);
            let probes = match file.case {
                Some(name) => traced.cases.entry(name).or_default(),
                None => &mut traced.outside,
            };
            add(probes, file.units.iter().map(|(unit, bytes)| (unit, bytes)));
        }
        modules.into_values().collect()
    }

    pub fn case_names(&self) -> impl Iterator<Item = &String> {
        self.cases.keys()
    }

    /// What ran at all.
    pub fn everything(&self) -> Probes {
        let mut all = self.outside.clone();
        self.cases.values().for_each(|case| add(&mut all, case.iter()));
        all
    }

    /// What counts for a case that depends on no other: its own, and what is outside of any.
    pub fn of_case(&self, name: &str) -> Probes {
        let mut all = self.outside.clone();
        self.add_case(name, &mut all);
        all
    }

    fn add_case(&self, name: &str, to: &mut Probes) {
        if let Some(case) = self.cases.get(name) {
            add(to, case.iter());
        }
    }

    /// Hands out what counts for each case together with the cases before it; several times for a case
    /// that began several times.
    pub fn in_order(&self, order: &Order, mut take: impl FnMut(&str, &Probes)) {
        let mut counted: Vec<Probes> = Vec::new();
        let mut followers = order.followers.clone();
        for step in &order.steps {
            let mut probes = match step.before {
                None => self.outside.clone(),
                Some(before) => {
                    followers[before] -= 1;
                    // The last that needs it takes it: most often that is the only one.
                    match followers[before] {
                        0 => std::mem::take(&mut counted[before]),
                        _ => counted[before].clone(),
                    }
                }
            };
            self.add_case(&step.case, &mut probes);
            step.ends.iter().for_each(|case| take(case, &probes));
            let is_needed = followers[counted.len()] > 0;
            counted.push(if is_needed { probes } else { Probes::new() });
        }
    }
}

/// Which cases began before which in one process.
#[derive(Default)]
pub struct Order {
    steps: Vec<Step>,
    /// How many steps come right behind each.
    followers: Vec<u32>,
}

/// A case that began for the first time in its process and in those that forked it.
struct Step {
    before: Option<usize>,
    case: String,
    /// Cases that began when this was the last step: the case itself, and those that began again.
    ends: BTreeSet<String>,
}

/// A line of the list.
struct Begin {
    before: Option<usize>,
    case: String,
}

impl Order {
    /// Reads the list of the runtime, with the names of the cases by their hashes. None if it is
    /// damaged, or does not have all of the cases.
    pub fn parse(list: &str, names: &BTreeMap<String, String>) -> Option<Self> {
        let mut ends_at: HashMap<usize, usize> = HashMap::new();
        let mut begins: Vec<Begin> = Vec::new();
        let mut at = 0;
        for line in list.split_inclusive('\n') {
            at += line.len();
            // The number of the process behind it is for the runtime.
            let mut words = line.strip_suffix('\n')?.split(' ');
            let (before, hash) = words.next().zip(words.next())?;
            let before = match before.parse().ok()? {
                0 => None,
                end => Some(*ends_at.get(&end)?),
            };
            ends_at.insert(at, begins.len());
            begins.push(Begin { before, case: names.get(hash)?.clone() });
        }
        let order = Self::of(&begins);
        let begun: BTreeSet<&String> = begins.iter().map(|begin| &begin.case).collect();
        names.values().all(|name| begun.contains(name)).then_some(order)
    }

    fn of(begins: &[Begin]) -> Self {
        let mut order = Self::default();
        // How many lines refer to each, and the state behind it: its step, and the cases so far.
        let mut referred = vec![0; begins.len()];
        for before in begins.iter().filter_map(|begin| begin.before) {
            referred[before] += 1;
        }
        let mut states: Vec<(Option<usize>, HashSet<&str>)> = Vec::new();
        for (number, begin) in begins.iter().enumerate() {
            let (mut last, mut so_far) = match begin.before {
                None => (None, HashSet::new()),
                Some(before) => {
                    referred[before] -= 1;
                    match referred[before] {
                        0 => std::mem::take(&mut states[before]),
                        _ => states[before].clone(),
                    }
                }
            };
            if so_far.insert(&begin.case) {
                if let Some(before) = last {
                    order.followers[before] += 1;
                }
                let case = begin.case.clone();
                order.steps.push(Step { before: last, case, ends: BTreeSet::new() });
                order.followers.push(0);
                last = Some(order.steps.len() - 1);
            }
            if let Some(step) = last {
                order.steps[step].ends.insert(begin.case.clone());
            }
            states.push(if referred[number] > 0 { (last, so_far) } else { Default::default() });
        }
        order
    }
}

fn add<'a>(to: &mut Probes, from: impl Iterator<Item = (&'a Fingerprint, &'a Vec<u8>)>) {
    for (unit, bytes) in from {
        let known = to.entry(*unit).or_default();
        if known.len() < bytes.len() {
            known.resize(bytes.len(), 0);
        }
        known.iter_mut().zip(bytes).for_each(|(known, byte)| *known |= byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(case: Option<&str>, bytes: [u8; 3]) -> TraceFile {
        TraceFile {
            module: PathBuf::from("/prog"),
            build_id: vec![1],
            case: case.map(String::from),
            processes: 1,
            units: vec![(Fingerprint::default(), bytes.to_vec())],
            offsets: Vec::new(),
        }
    }

    #[test]
    fn what_is_outside_counts_for_every_case() {
        let files =
            vec![file(Some("a"), [1, 0, 0]), file(None, [0, 1, 0]), file(Some("b"), [0, 0, 1])];
        let modules = Traced::by_module(files);
        assert_eq!(modules.len(), 1);
        let bytes = |probes: Probes| probes[&Fingerprint::default()].clone();
        assert_eq!(bytes(modules[0].of_case("a")), [1, 1, 0]);
        assert_eq!(bytes(modules[0].of_case("b")), [0, 1, 1]);
        assert_eq!(bytes(modules[0].of_case("elsewhere")), [0, 1, 0]);
        assert_eq!(bytes(modules[0].everything()), [1, 1, 1]);
    }

    /// What counts for each case, as bytes.
    fn counted(list: &str) -> Option<Vec<(String, Vec<u8>)>> {
        let cases = [("a", [1, 0, 0]), ("b", [0, 1, 0]), ("c", [0, 0, 1])];
        let names = cases.iter().map(|(name, _)| (format!("#{name}"), name.to_string())).collect();
        let files = cases.iter().map(|(name, bytes)| file(Some(name), *bytes)).collect();
        let order = Order::parse(list, &names)?;
        let mut all: BTreeMap<String, Probes> = BTreeMap::new();
        Traced::by_module(files)[0].in_order(&order, |case, probes| {
            add(all.entry(case.to_string()).or_default(), probes.iter());
        });
        let bytes = |probes: Probes| probes[&Fingerprint::default()].clone();
        Some(all.into_iter().map(|(name, probes)| (name, bytes(probes))).collect())
    }

    fn expected(bytes: [[u8; 3]; 3]) -> Option<Vec<(String, Vec<u8>)>> {
        let names = ["a", "b", "c"].iter().map(|name| name.to_string());
        Some(names.zip(bytes.map(Vec::from)).collect())
    }

    #[test]
    fn earlier_cases_of_a_process_count_for_later_ones() {
        let in_a_row = "0 #a\n5 #b\n10 #c\n";
        assert_eq!(counted(in_a_row), expected([[1, 0, 0], [1, 1, 0], [1, 1, 1]]));
        // Two children of one process, which ran `a` itself.
        let forked = "0 #a\n5 #b\n5 #c\n";
        assert_eq!(counted(forked), expected([[1, 0, 0], [1, 1, 0], [1, 0, 1]]));
        let apart = "0 #a\n0 #b\n0 #c\n";
        assert_eq!(counted(apart), expected([[1, 0, 0], [0, 1, 0], [0, 0, 1]]));
        let again = "0 #a\n5 #b\n10 #a\n16 #b\n0 #c\n";
        assert_eq!(counted(again), expected([[1, 1, 0], [1, 1, 0], [0, 0, 1]]));
    }

    #[test]
    fn a_list_that_is_damaged_tells_no_order() {
        for list in ["", "0 #a\n", "0 #a\n4 #b\n10 #c\n", "0 #a\n5 #b\n10 #c", "0 #d\n", "x #a\n"] {
            assert_eq!(counted(list), None, "{list:?}");
        }
    }
}
