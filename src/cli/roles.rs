//! What role a changed file plays in a selection.

use super::build_state::BuildState;
use super::files::{self, Links};
use super::from_before;
use super::git;
use super::lookups::{Lookup, Lookups};
use super::snapshot::Source;
use super::workspace::Workspace;
use crate::bytes;
use crate::compiler::project::Project;
use crate::history::format::FileState;
use crate::select::Rule;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A build description: how programs are made may change.
    BuildDescription,
    /// Input of a program that runs during the build.
    GeneratorInput,
    /// A process of the build reads it, or looks for it: a grammar, a template.
    BuildInput,
    /// A source that no unit is made of.
    Source,
    /// A header of code that is not analysed, perhaps.
    UnanalysedInput,
    /// Part of a program that leaves no trace.
    Untraced,
    /// The user said that it matters to all.
    RetestAll,
    /// Behind a link that leads out of the project, where uses are not recorded.
    Elsewhere,
    /// The build has not made anew what is made of it.
    NotTakenUp,
    /// Nobody knows who reads it.
    Unknown,
}

impl Role {
    /// Whether a change concerns all tests, or only those of which it is not known
    /// which files they use.
    pub fn is_for_all(self, source: Source) -> bool {
        match self {
            Self::Unknown => false,
            // What is built shows what became of them.
            Self::BuildDescription | Self::Source => source == Source::Sources,
            _ => true,
        }
    }

    /// The rule that a change goes by.
    pub fn rule(self, source: Source) -> Rule {
        match self {
            Self::BuildDescription if source == Source::Sources => Rule::BuildDescription,
            Self::Source if source == Source::Sources => Rule::NewSource,
            Self::GeneratorInput | Self::BuildInput => Rule::BuildInput,
            Self::UnanalysedInput => Rule::UnanalysedSource,
            Self::Untraced => Rule::UntracedProgram,
            Self::RetestAll => Rule::RetestAll,
            Self::NotTakenUp => Rule::StaleProgram,
            Self::BuildDescription | Self::Source | Self::Elsewhere | Self::Unknown => {
                Rule::UnknownFile
            }
        }
    }
}

/// The files that units account for.
pub struct UnitFiles {
    pub all: HashSet<String>,
    /// Those that are compiled themselves.
    pub sources: HashSet<String>,
}

impl UnitFiles {
    /// Adds the files that links among them lead to, link by link.
    pub fn follow_links(&mut self, project: &Project) {
        for files in [&mut self.all, &mut self.sources] {
            let mut todo: Vec<String> =
                files.iter().filter(|name| !name.starts_with('/')).cloned().collect();
            while let Some(name) = todo.pop() {
                let place = project.place(&name);
                let (Ok(target), Some(directory)) = (place.read_link(), place.parent()) else {
                    continue;
                };
                let target = project.record_path(directory, &bytes::name(target));
                if !target.starts_with('/') && files.insert(target.clone()) {
                    todo.push(target);
                }
            }
        }
    }
}

/// Changed, added and removed files that no unit and no suite accounts for.
pub fn changes(
    workspace: &Workspace,
    built: &BuildState,
    old: &FileState,
    new: &FileState,
    units: &UnitFiles,
    source: Source,
) -> anyhow::Result<Vec<(String, Role)>> {
    let ignored = workspace.config.ignored()?;
    let retest_all = workspace.config.retest_all()?;
    let from_sources = source == Source::Sources;
    let lookups = Lookups::new(&workspace.project.root, built);
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    let others = new.iter().filter(|(name, now)| old.get(*name) != Some(*now));
    let names: BTreeSet<&String> = gone.chain(others.map(|(name, _)| name)).collect();
    let links = Links::new(&workspace.project.root, new);
    let mut found = Vec::new();
    for name in names {
        // Of a directory with files in it these tell all there is.
        if name.ends_with('/') && (has_files(old, name) || has_files(new, name)) {
            continue;
        }
        // Since it is as it was when everything was built, the programs show what
        // became of it.
        let is_built = built.complete.as_ref().is_some_and(|c| c.get(name) == new.get(name));
        // Each commit is a change of it: it counts for those who are known to ask.
        if name == git::STATE {
            if from_sources && built.inputs.contains(name) && !is_built {
                found.push((name.clone(), Role::BuildInput));
            }
            continue;
        }
        let mut other_names = links.others(name).into_iter();
        if files::matches(&retest_all, name)
            || other_names.any(|name| files::matches(&retest_all, &name))
        {
            found.push((name.clone(), Role::RetestAll));
            continue;
        }
        if from_sources && built.generator_files.contains(name) && !is_built {
            found.push((name.clone(), Role::GeneratorInput));
            continue;
        }
        let is_configuration = files::is_configuration(workspace, name);
        let is_known = built.known().is_some_and(|known| known.get(name) == new.get(name));
        let is_left = || {
            let is_sought = |known| lookups.between(name, known, new).is_some();
            is_left(workspace, built, units, name)
                || !ignored.is_match(name) && built.known().is_some_and(is_sought)
        };
        if !is_configuration && !from_sources && !is_known && is_left() {
            found.push((name.clone(), Role::NotTakenUp));
            continue;
        }
        if is_configuration || files::matches(&ignored, name) {
            continue;
        }
        let mut untraced = built.untraced.values();
        let is_of_unit = units.all.contains(name) || name.ends_with(".c");
        if untraced.any(|files| files.as_ref().map_or(is_of_unit, |files| files.contains(name))) {
            found.push((name.clone(), Role::Untraced));
            continue;
        }
        let may_be_sought = from_sources && !is_built;
        let sought = may_be_sought.then(|| lookups.between(name, old, new)).flatten();
        if units.all.contains(name) {
            // What is built shows what became of it; from sources only units
            // are looked at.
            let may_be_shared = built.has_unknown_inputs && !units.sources.contains(name);
            let is_shared = may_be_shared || built.unanalysed.contains(name);
            if from_sources && is_shared && !is_built {
                found.push((name.clone(), Role::UnanalysedInput));
            } else if sought == Some(Lookup::Process)
                || from_sources && !is_built && built.is_read_by_others(name)
            {
                found.push((name.clone(), Role::BuildInput));
            }
            continue;
        }
        if name.starts_with('/') {
            if from_sources && built.unanalysed.contains(name) && !is_built {
                found.push((name.clone(), Role::UnanalysedInput));
            }
            continue;
        }
        let is_new = !old.contains_key(name);
        // A make that looks for a part of a makefile does not care for its ending.
        let is_included = built.described.contains(name);
        let may_be_read = built.inputs.contains(name)
            || sought.is_some()
            || (is_new && built.missing.contains(name) && (!is_header(name) || is_included))
            || built.looks_below(name) && new.contains_key(&format!("{name}/"))
            || (built.unseen().is_some() && !built.outputs.contains(name));
        let role = if files::is_build_description(name) && !is_built {
            Role::BuildDescription
        } else if name.ends_with(".c") && !is_built {
            Role::Source
        } else if from_sources && may_be_read && !is_built {
            Role::BuildInput
        } else {
            Role::Unknown
        };
        let is_seen = role.is_for_all(source) || !is_elsewhere(&workspace.project.root, name);
        found.push((name.clone(), if is_seen { role } else { Role::Elsewhere }));
    }
    let role = if from_sources { Role::BuildInput } else { Role::NotTakenUp };
    found.extend(built.edited(&workspace.project.root).map(|name| (name, role)));
    found.extend(built.reconfigured(&workspace.project.root).map(|name| (name, Role::NotTakenUp)));
    Ok(found)
}

/// Whether programs as they are built are made of a file as it was. Of a build that is not
/// ours nothing is known; of the files of units, and of what is linked, their records say it.
fn is_left(workspace: &Workspace, built: &BuildState, units: &UnitFiles, name: &str) -> bool {
    let reads = [&built.inputs, &built.generator_files, &built.unanalysed];
    let is_read = reads.iter().any(|files| files.contains(name));
    let says_how = files::is_build_description(name) || built.described.contains(name);
    let is_input = says_how || is_read && !units.all.contains(name);
    let is_linked = from_before::is_object_or_was(&workspace.project.root, name);
    built.known().is_some() && is_input && !is_linked && !built.outputs.contains(name)
}

fn has_files(state: &FileState, directory: &str) -> bool {
    let below = state.range(directory.to_string()..).skip_while(|(name, _)| *name == directory);
    below.take(1).any(|(name, _)| name.starts_with(directory))
}

/// Whether a link on the way to a file leads out of the project. What is gone was
/// where its directory is.
fn is_elsewhere(root: &Path, name: &str) -> bool {
    let Ok(inside) = root.canonicalize() else { return true };
    let path = root.join(bytes::path(name));
    let real = path.ancestors().skip(1).find_map(|directory| directory.canonicalize().ok());
    real.is_none_or(|real| !real.starts_with(&inside))
}

/// What units include is found by preprocessing them again.
fn is_header(name: &str) -> bool {
    [".h", ".hh", ".hpp", ".inc"].iter().any(|end| name.ends_with(end))
}

/// What to say of a file that changed, and a hint.
pub fn explain(
    file: &str,
    verb: &str,
    role: Role,
    source: Source,
) -> (String, Option<&'static str>) {
    const REBUILD: &str = "rebuild (edgewise test) to see what it means for the programs";
    const ANEW: &str =
        "build; if the build finds nothing to do though it should, clean first (make clean)";
    const IGNORE: &str = "files that neither the build nor a test reads, like logs, belong in `ignore` of edgewise.toml";
    let from_sources = source == Source::Sources;
    match role {
        Role::BuildDescription if from_sources => {
            (format!("{file} {verb}: programs may be built otherwise"), Some(REBUILD))
        }
        Role::GeneratorInput => (
            format!("{file} {verb}: a program that runs in the build is made of it"),
            Some(REBUILD),
        ),
        Role::BuildInput => {
            (format!("{file} {verb}: the build reads it, or may do so"), Some(REBUILD))
        }
        Role::Source if from_sources => {
            (format!("{file} {verb}: it may become part of a program"), Some(REBUILD))
        }
        Role::UnanalysedInput => {
            (format!("{file} {verb}: code that is not analysed may include it"), Some(REBUILD))
        }
        Role::Untraced => {
            (format!("{file} {verb}: a program that leaves no trace is made of it"), None)
        }
        Role::NotTakenUp => (format!("{file} {verb}, and not all is made anew since"), Some(ANEW)),
        Role::RetestAll => (format!("{file} {verb}, and retest-all names it"), None),
        Role::BuildDescription | Role::Source => {
            (format!("{file} {verb}, and it is not known which tests read it"), None)
        }
        Role::Elsewhere => {
            (format!("{file} {verb}: it lies outside of the project, behind a link"), Some(IGNORE))
        }
        Role::Unknown => {
            let is_code = is_header(file) || files::is_build_description(file);
            let what = format!("{file} {verb}, and it is not known which tests read it");
            (what, (!is_code).then_some(IGNORE))
        }
    }
}
