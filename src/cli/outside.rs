//! The names that code without graphs knows: libraries that processes load,
//! and objects that went into a program without a record.

use super::sources::Programs;
use crate::bytes;
use crate::history::History;
use crate::history::format::Test;
use crate::ids::{Fingerprint, TestId};
use crate::select::{Comparison, Outside};
use crate::trace::module::{KnownNames, LOOK_UPS, known_names};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub struct LoadedNames<'a> {
    root: &'a Path,
    /// What was in the processes of each test, as a number.
    of_test: FxHashMap<TestId, usize>,
    companies: Vec<Company<'a>>,
    /// Names of a module; `None` if it cannot be read. Read when first asked.
    names: RefCell<FxHashMap<PathBuf, Option<KnownNames>>>,
}

/// Code without graphs that was in the processes of a test.
struct Company<'a> {
    /// Modules that are not analysed.
    modules: Rc<BTreeSet<String>>,
    /// For each program, names that objects in it without a record know, sorted.
    in_programs: Vec<&'a [String]>,
}

impl<'a> LoadedNames<'a> {
    pub fn new(
        root: &'a Path,
        history: &History,
        candidates: &[(TestId, &Test)],
        programs: &'a Programs,
    ) -> Self {
        let mut numbers: FxHashMap<(Fingerprint, &[Fingerprint]), usize> = FxHashMap::default();
        let mut lists: FxHashMap<Fingerprint, Rc<BTreeSet<String>>> = FxHashMap::default();
        let mut companies = Vec::new();
        let mut of_test = FxHashMap::default();
        for (id, test) in candidates {
            let number = *numbers.entry((test.loaded, &test.programs)).or_insert_with(|| {
                let modules = lists.entry(test.loaded).or_insert_with(|| {
                    let modules = history.files(test.loaded).unwrap_or_default();
                    Rc::new(modules.into_keys().collect())
                });
                let ran = test.programs.iter().filter_map(|id| programs.get(id));
                let in_programs = ran.map(|(program, _)| program.outside_names.as_slice());
                companies
                    .push(Company { modules: modules.clone(), in_programs: in_programs.collect() });
                companies.len() - 1
            });
            of_test.insert(*id, number);
        }
        Self { root, of_test, companies, names: RefCell::default() }
    }

    /// Whether any module that any test loaded uses a name of others, or may.
    pub fn anyone_uses(&self, name: &str) -> bool {
        let modules: BTreeSet<&String> =
            self.companies.iter().flat_map(|c| c.modules.iter()).collect();
        modules.is_empty() || modules.iter().any(|module| self.module_uses(module, name))
    }

    fn module_uses(&self, module: &str, name: &str) -> bool {
        self.ask(module, |known| known.uses.contains(name))
    }

    /// What a module says; yes, if it cannot be read.
    fn ask(&self, module: &str, question: impl Fn(&KnownNames) -> bool) -> bool {
        self.known(module, |known| known.is_none_or(question))
    }

    fn known<T>(&self, module: &str, question: impl FnOnce(Option<&KnownNames>) -> T) -> T {
        let path = self.root.join(bytes::path(module));
        let mut names = self.names.borrow_mut();
        let known = names.entry(path).or_insert_with_key(|path| known_names(path));
        question(known.as_ref())
    }

    /// Whether a module defines a name for others; no, if it cannot be read.
    fn module_provides(&self, module: &str, name: &str) -> bool {
        self.known(module, |known| known.is_some_and(|known| known.provides.contains(name)))
    }

    fn company_uses(&self, company: &Company<'_>, name: &str) -> bool {
        // Without any library the C library is inside of the program, and it
        // is not known what of it.
        company.modules.is_empty()
            || company.in_programs.iter().any(|names| holds(names, name))
            || company.modules.iter().any(|module| self.module_uses(module, name))
    }

    fn companies(&self, program: &Comparison) -> impl Iterator<Item = &Company<'a>> {
        let tests = program.tests.iter();
        let numbers: BTreeSet<usize> =
            tests.filter_map(|test| self.of_test.get(test)).copied().collect();
        numbers.into_iter().map(|number| &self.companies[number])
    }
}

fn holds(sorted: &[String], name: &str) -> bool {
    sorted.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
}

impl Outside for LoadedNames<'_> {
    fn uses(&self, program: &Comparison, name: &str) -> bool {
        holds(&program.old.outside_names, name)
            || self.companies(program).any(|company| self.company_uses(company, name))
    }

    fn provides(&self, program: &Comparison, name: &str) -> bool {
        let provides = |company: &Company<'_>| {
            company.modules.is_empty()
                || company.modules.iter().any(|module| self.module_provides(module, name))
        };
        holds(&program.old.outside_names, name) || self.companies(program).any(provides)
    }

    fn looks_up(&self, test: TestId) -> bool {
        let Some(company) = self.of_test.get(&test).map(|number| &self.companies[*number]) else {
            return false;
        };
        let mut in_programs = company.in_programs.iter();
        in_programs.any(|names| LOOK_UPS.iter().any(|name| holds(names, name)))
            || company.modules.iter().any(|module| self.ask(module, |known| known.looks_up))
    }
}
