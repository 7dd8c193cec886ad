//! The names that code without graphs knows: libraries that processes load,
//! and objects that went into a program without a record.

use crate::history::History;
use crate::history::format::Test;
use crate::ids::{Fingerprint, TestId};
use crate::select::{Comparison, Outside};
use crate::trace::module::known_names;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub struct LoadedNames<'a> {
    root: &'a Path,
    /// Modules that the processes of each test loaded.
    loaded: FxHashMap<TestId, Rc<BTreeSet<String>>>,
    /// Names of a module; `None` if it cannot be read. Read when first asked.
    names: RefCell<FxHashMap<PathBuf, Option<HashSet<String>>>>,
}

impl<'a> LoadedNames<'a> {
    pub fn new(root: &'a Path, history: &History, candidates: &[(TestId, &Test)]) -> Self {
        let mut lists: FxHashMap<Fingerprint, Rc<BTreeSet<String>>> = FxHashMap::default();
        let mut loaded = FxHashMap::default();
        for (id, test) in candidates {
            let list = lists.entry(test.loaded).or_insert_with(|| {
                let modules = history.files(test.loaded).unwrap_or_default();
                Rc::new(modules.into_keys().collect())
            });
            loaded.insert(*id, list.clone());
        }
        Self { root, loaded, names: RefCell::default() }
    }

    /// Whether any module that any test loaded knows a name, or may.
    pub fn anyone_knows(&self, name: &str) -> bool {
        let modules: BTreeSet<&String> =
            self.loaded.values().flat_map(|list| list.iter()).collect();
        modules.is_empty() || modules.iter().any(|module| self.module_knows(module, name))
    }

    fn module_knows(&self, module: &str, name: &str) -> bool {
        let path = self.root.join(module);
        let mut names = self.names.borrow_mut();
        let known = names.entry(path).or_insert_with_key(|path| known_names(path));
        known.as_ref().is_none_or(|known| known.contains(name))
    }
}

impl Outside for LoadedNames<'_> {
    fn knows(&self, program: &Comparison, name: &str) -> bool {
        let in_objects =
            |version: &[String]| version.binary_search_by(|n| n.as_str().cmp(name)).is_ok();
        if in_objects(&program.old.outside_names) {
            return true;
        }
        let modules: BTreeSet<&String> = program
            .tests
            .iter()
            .filter_map(|test| self.loaded.get(test))
            .flat_map(|l| l.iter())
            .collect();
        // Without any library the C library is inside of the program, and it
        // is not known what of it.
        modules.is_empty() || modules.iter().any(|module| self.module_knows(module, name))
    }
}
