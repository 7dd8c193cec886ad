//! The trace files of one module: what ran outside of any case, and within each.

use super::format::TraceFile;
use crate::ids::Fingerprint;
use std::collections::BTreeMap;
use std::path::PathBuf;

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

    /// What counts for a case: its own, and what is outside of any.
    pub fn of_case(&self, name: &str) -> Probes {
        let mut all = self.outside.clone();
        if let Some(case) = self.cases.get(name) {
            add(&mut all, case.iter());
        }
        all
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
}
