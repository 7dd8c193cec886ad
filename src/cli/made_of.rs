//! What a test is made of: its own words, the files it declares, and the
//! variables that it names.

use super::files::{self, Links};
use super::reporting::Texts;
use super::{git, uses};
use crate::history::History;
use crate::history::format::{FileState, Test};
use crate::ids::{Fingerprint, FpHasher};
use crate::suite::{ListedAt, TestCase, TestCommand, list};
use anyhow::Context;
use globset::{Glob, GlobSetBuilder};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Fingerprints of tests, for one state of the project's files.
pub struct MadeOf<'a> {
    files: &'a FileState,
    /// Other names of directories, by which inputs may be declared.
    links: OnceCell<Links>,
    /// Declared inputs are mostly those of a whole suite.
    inputs: FxHashMap<Vec<String>, Fingerprint>,
    /// The same for earlier states, with what changed since.
    before: FxHashMap<(Vec<String>, Fingerprint), (Fingerprint, Option<String>)>,
    /// Lists of tests as they were at earlier states, where git has them.
    lists: FxHashMap<(String, Fingerprint), Option<String>>,
}

impl<'a> MadeOf<'a> {
    pub fn new(files: &'a FileState) -> Self {
        Self {
            files,
            links: OnceCell::new(),
            inputs: FxHashMap::default(),
            before: FxHashMap::default(),
            lists: FxHashMap::default(),
        }
    }

    pub fn fingerprint(&mut self, test: &TestCase) -> anyhow::Result<Fingerprint> {
        if test.inputs.is_empty() && test.variables.is_empty() {
            return Ok(test.fingerprint());
        }
        Ok(whole(test, self.inputs(test)?, |_| false))
    }

    fn links(&self, test: &TestCase) -> &Links {
        self.links.get_or_init(|| Links::new(&test.root, self.files))
    }

    fn inputs(&mut self, test: &TestCase) -> anyhow::Result<Fingerprint> {
        if let Some(known) = self.inputs.get(&test.inputs) {
            return Ok(*known);
        }
        let inputs = contents(&inputs_of(test, self.files, self.links(test))?);
        self.inputs.insert(test.inputs.clone(), inputs);
        Ok(inputs)
    }

    /// Says what makes a test another one than it was when it ran. That is found by trying
    /// what would have made it that one.
    pub fn difference(
        &mut self,
        test: &TestCase,
        known: &Test,
        history: &History,
    ) -> anyhow::Result<String> {
        let known_as = known.fingerprint;
        let (itself, earlier) = self.itself(test, known, history)?;
        if let Some(earlier) = earlier
            && self.fingerprint(&earlier)? == known_as
        {
            return Ok(itself);
        }
        if test.inputs.is_empty() && test.variables.is_empty() {
            return Ok(itself);
        }
        if test.fingerprint() == known_as {
            return Ok(String::from("it declares inputs or variables now, and did not before"));
        }
        let now = self.inputs(test)?;
        let (before, inputs) = self.before(test, known.files, history)?;
        let is_set = |name: &&String| std::env::var_os(name).is_some();
        let set: Vec<&String> = test.variables.iter().filter(is_set).take(MOST_TRIED).collect();
        for tried in 0..1_usize << set.len() {
            let unset: Vec<&String> =
                (0..set.len()).filter(|bit| tried >> bit & 1 == 1).map(|bit| set[bit]).collect();
            let variables = unset.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
            let variables =
                format!("{variables} was not set when it ran, and it declares that as a variable");
            for (state, told) in [(now, &None), (before, &inputs)] {
                let then = whole(test, state, |name| unset.contains(&name));
                match told {
                    _ if then != known_as => {}
                    Some(inputs) if unset.is_empty() => return Ok(inputs.clone()),
                    Some(inputs) => return Ok(format!("{inputs}; {variables}")),
                    None => return Ok(variables),
                }
            }
        }
        let itself = match test.variables.len() {
            0 => itself,
            _ => format!(
                "{itself}, or the value of a variable that counts for it ({})",
                test.variables.join(", ")
            ),
        };
        Ok(match inputs {
            Some(inputs) => format!("{itself}; {inputs}"),
            None => itself,
        })
    }

    /// What is to be said of a test whose own words changed: of one that a file lists, the line.
    /// And the test that its earlier line makes, if that can be had.
    fn itself(
        &mut self,
        test: &TestCase,
        known: &Test,
        history: &History,
    ) -> anyhow::Result<(String, Option<TestCase>)> {
        const OTHERS: &str = "its directory, environment, time limit or how it is judged";
        let itself = || (format!("its command changed, or {OTHERS}"), None);
        let (Some(listed), TestCommand::Shell(command)) = (&test.listed, &test.command) else {
            return Ok(itself());
        };
        let ListedAt { file, line } = listed;
        let then = history.files(known.files)?;
        match (then.get(file), self.files.get(file)) {
            (None, None) => return Ok(itself()),
            (then, now) if then == now => return Ok((format!("{OTHERS} changed"), None)),
            _ => {}
        }
        let key = (file.clone(), known.files);
        let text = self.lists.entry(key).or_insert_with(|| {
            let lines = Texts::new(&test.root, &then, self.files).then(file)?.join("\n");
            Some(lines)
        });
        let before = text.as_deref().and_then(|text| list::command_in(text, &test.runner_name));
        Ok(match before {
            Some(before) if before == *command => (format!("{OTHERS} changed"), None),
            Some(before) => {
                let says = format!("{file}:{line}: its command was `{before}`, and is `{command}`");
                let earlier = TestCase { command: TestCommand::Shell(before), ..test.clone() };
                (says, Some(earlier))
            }
            None => {
                let says =
                    format!("{file}:{line}: its command is `{command}` now and was another one");
                (format!("{says}, or {OTHERS} changed"), None)
            }
        })
    }

    /// The inputs of a test as they were, and what is to be said of those that changed.
    fn before(
        &mut self,
        test: &TestCase,
        state: Fingerprint,
        history: &History,
    ) -> anyhow::Result<(Fingerprint, Option<String>)> {
        let key = (test.inputs.clone(), state);
        if let Some(known) = self.before.get(&key) {
            return Ok(known.clone());
        }
        let then = history.files(state)?;
        let links = self.links(test);
        let (before, now) = (inputs_of(test, &then, links)?, inputs_of(test, self.files, links)?);
        let names: BTreeSet<&str> = before.keys().chain(now.keys()).copied().collect();
        let mut changed = names.into_iter().filter(|name| before.get(name) != now.get(name));
        let told = changed.next().map(|name| {
            let verb = uses::verb(before.contains_key(name), now.contains_key(name));
            match changed.count() {
                0 => format!("{name} {verb}, which it declares as an input"),
                more => {
                    format!("{name} {verb}, which it declares as an input, and {more} more did")
                }
            }
        });
        let found = (contents(&before), told);
        self.before.insert(key, found.clone());
        Ok(found)
    }
}

/// Variables that are tried whether they were set.
const MOST_TRIED: usize = 4;

/// The fingerprint of a test with its inputs, and its variables but those that are left out.
fn whole(
    test: &TestCase,
    inputs: Fingerprint,
    is_left_out: impl Fn(&String) -> bool,
) -> Fingerprint {
    let mut hasher = FpHasher::new("test and inputs");
    hasher.fp(&test.fingerprint());
    hasher.fp(&inputs);
    for name in &test.variables {
        hasher.str(name);
        match std::env::var_os(name).filter(|_| !is_left_out(name)) {
            Some(value) => hasher.bytes(value.as_encoded_bytes()),
            None => hasher.number(0),
        }
    }
    hasher.finish()
}

/// The files that a test declares.
fn inputs_of<'f>(
    test: &TestCase,
    files: &'f FileState,
    links: &Links,
) -> anyhow::Result<BTreeMap<&'f str, Fingerprint>> {
    let mut set = GlobSetBuilder::new();
    for pattern in &test.inputs {
        set.add(Glob::new(pattern).with_context(|| format!("inputs of {}", test.name))?);
    }
    let set = set.build()?;
    let is_match = |name: &String| files::matches(&set, name);
    let is_input = |name: &String| is_match(name) || links.others(name).iter().any(is_match);
    let files = files.iter().filter(|(name, _)| *name != git::STATE && is_input(name));
    Ok(files.map(|(name, content)| (name.as_str(), *content)).collect())
}

fn contents(inputs: &BTreeMap<&str, Fingerprint>) -> Fingerprint {
    let mut hasher = FpHasher::new("inputs");
    for (name, content) in inputs {
        hasher.str(name);
        hasher.fp(content);
    }
    hasher.finish()
}
