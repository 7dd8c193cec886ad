//! Which units of a program a change can concern: those that changed, and those
//! that mention a name whose definition did. The others are on both sides what
//! they were, and are not even read.

use super::sources::{FromSources, Programs, Units};
use super::summary::{Summaries, UnitSummary, external_names};
use crate::cfg::format::UnitKey;
use crate::history::History;
use crate::history::format::Program;
use crate::history::store::StoreError;
use crate::ids::Fingerprint;
use crate::select::changes::ChangedDefinitions;
use crate::select::link::{UnitNames, left_out, names_defined};
use crate::select::one_path::SPLITTERS;
use crate::select::program::empty_composition;
use crate::select::version::{ProgramVersion, UnitVersion};
use crate::select::{Comparison, Edits, NewProgram};
use crate::trace::module::LOOK_UPS;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;

/// A program of the history and what to compare it with.
pub struct Concerned {
    pub program: Fingerprint,
    /// None if the history of its units cannot be read.
    pub comparison: Option<Comparison>,
}

/// How much of a program is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// What a change can concern.
    Concerned,
    /// All of it, if anything changed: calls are followed from its roots on.
    Whole,
}

/// All programs that a change can concern.
pub fn comparisons(
    history: &History,
    summaries: &Summaries,
    programs: &Programs,
    sources: &mut FromSources,
    extent: Extent,
) -> Result<Vec<Concerned>, StoreError> {
    let mut found = Vec::new();
    let mut changed = Vec::new();
    let now = std::mem::take(&mut sources.now);
    for (id, (program, tests)) in programs {
        let is_readable = program.units.iter().all(|unit| summaries.unit(*unit).is_some());
        match now.get(id) {
            _ if !is_readable => found.push(Concerned { program: *id, comparison: None }),
            Some(Ok(now)) => changed.push((*id, Pair { old: program, now })),
            Some(Err(why)) => {
                let old = version(history, &mut sources.units, program, |_| false)?;
                let new = NewProgram::Unknown(why.clone());
                let comparison =
                    Some(Comparison { old, new, tests: tests.clone(), edits: Edits::default() });
                found.push(Concerned { program: *id, comparison });
            }
            None => {}
        }
    }
    let pairs: Vec<&Pair<'_>> = changed.iter().map(|(_, pair)| pair).collect();
    let index = OnceCell::new();
    let mut search = Search {
        history,
        summaries,
        units: &mut sources.units,
        pairs,
        index,
        may_join_others: false,
    };
    let mut concerned = search.concerned()?;
    if extent == Extent::Whole && !concerned.is_empty() {
        concerned = search.everything();
    }
    let may_join_others = search.may_join_others;
    for (id, pair) in &changed {
        let is_concerned = |unit: &Fingerprint| concerned.contains(unit);
        let same_frame =
            pair.old.link == pair.now.link && pair.old.outside_names == pair.now.outside_names;
        if same_frame
            && !may_join_others
            && !pair.old.units.iter().chain(&pair.now.units).any(is_concerned)
        {
            continue;
        }
        let (old, new) = pair.versions(history, &mut sources.units, &is_concerned)?;
        let tests = programs[id].1.clone();
        let new = NewProgram::Version(new);
        let comparison = Some(Comparison { old, new, tests, edits: Edits::default() });
        found.push(Concerned { program: *id, comparison });
    }
    found.sort_by_key(|concerned| concerned.program);
    Ok(found)
}

/// A program then and now.
struct Pair<'a> {
    old: &'a Program,
    now: &'a Program,
}

impl Pair<'_> {
    fn versions(
        &self,
        history: &History,
        units: &mut Units,
        is_concerned: &dyn Fn(&Fingerprint) -> bool,
    ) -> Result<(ProgramVersion, ProgramVersion), StoreError> {
        let old = version(history, units, self.old, is_concerned)?;
        Ok((old, version(history, units, self.now, is_concerned)?))
    }
}

/// A program with those of its units that are concerned.
fn version(
    history: &History,
    units: &mut Units,
    program: &Program,
    is_concerned: impl Fn(&Fingerprint) -> bool,
) -> Result<ProgramVersion, StoreError> {
    let mut read = Vec::new();
    for id in program.units.iter().filter(|id| is_concerned(id)) {
        read.extend(units.get(history, *id)?);
    }
    Ok(ProgramVersion::new(program.clone(), read))
}

struct Search<'a> {
    history: &'a History,
    summaries: &'a Summaries,
    units: &'a mut Units,
    pairs: Vec<&'a Pair<'a>>,
    /// Units of the old programs that define or mention each name.
    index: OnceCell<FxHashMap<&'a str, Vec<Fingerprint>>>,
    /// A unit defines other names than before: a link may take it for programs that do not
    /// have it.
    may_join_others: bool,
}

impl<'a> Search<'a> {
    fn concerned(&mut self) -> Result<FxHashSet<Fingerprint>, StoreError> {
        let mut concerned: FxHashSet<Fingerprint> = FxHashSet::default();
        // What one program uses no more another may use now: each is asked by itself.
        for pair in self.pairs.clone() {
            self.add_changed_units(pair, &mut concerned)?;
            if pair.old.outside_names == pair.now.outside_names {
                continue;
            }
            // Whether it matters who names something else hangs on who defines it.
            let [before, after] = [pair.old, pair.now].map(|p| p.outside_names.iter());
            let [before, after] = [before, after].map(|names| names.collect::<FxHashSet<_>>());
            for name in before.symmetric_difference(&after) {
                concerned.extend(self.listing(name));
            }
        }
        if concerned.is_empty() {
            return Ok(concerned);
        }
        loop {
            let count = concerned.len();
            // Who makes more than one path of a run does so for all of the program.
            SPLITTERS.iter().for_each(|name| self.add_one_of_each(name, &mut concerned));
            let names = self.changed_names(&concerned)?;
            for name in &names {
                concerned.extend(self.listing(name));
            }
            if !names.is_empty() {
                LOOK_UPS.iter().for_each(|name| self.add_one_of_each(name, &mut concerned));
            }
            if concerned.len() == count {
                return Ok(concerned);
            }
        }
    }

    /// Units that are only in the old version of a program, or only in the new, and
    /// those that tell what that means for the others of the program.
    fn add_changed_units(
        &mut self,
        pair: &Pair<'_>,
        concerned: &mut FxHashSet<Fingerprint>,
    ) -> Result<(), StoreError> {
        if pair.old.units == pair.now.units {
            return Ok(());
        }
        let old: FxHashSet<Fingerprint> = pair.old.units.iter().copied().collect();
        let now: FxHashSet<Fingerprint> = pair.now.units.iter().copied().collect();
        let gone = old.difference(&now).copied().collect();
        let new = now.difference(&old).copied().collect();
        let (before, after) = (self.names(&gone)?, self.names(&new)?);
        let (needed, needs) = (self.needs(&gone)?, self.needs(&new)?);
        concerned.extend(gone.iter().chain(&new));
        self.may_join_others |= self.may_define_more(&gone, &new)?;
        // In another order, another of several definitions may come first.
        let places = |units: &[Fingerprint]| -> Vec<Option<Fingerprint>> {
            units.iter().map(|id| (old.contains(id) && now.contains(id)).then_some(*id)).collect()
        };
        // A name that is used no more may leave out a unit that acts by itself:
        // whether it does hangs on all of the program.
        let acts = |id: &Fingerprint| {
            old.contains(id) && self.summaries.unit(*id).is_some_and(|unit| unit.acts)
        };
        let is_reordered = places(&pair.old.units) != places(&pair.now.units);
        let is_left_out = before.difference(&after).any(|name| self.listing(name).iter().any(acts));
        let dropped: Vec<&String> = needed.difference(&needs).collect();
        if is_reordered || is_left_out || self.may_leave_out(pair, &dropped)? {
            concerned.extend(old.union(&now));
        }
        for name in after.difference(&before) {
            concerned.extend(self.one_that_knows(pair, name));
        }
        // Whether a name was needed before, or only used if it was there.
        for name in needs.difference(&needed) {
            concerned.extend(self.one_that(pair, name, |unit| !lists(&unit.weak, name)));
            concerned.extend(self.one_that(pair, name, |unit| lists(&unit.weak, name)));
        }
        Ok(())
    }

    /// Whether a link may leave out units, since names are needed no more.
    fn may_leave_out(&mut self, pair: &Pair<'_>, dropped: &[&String]) -> Result<bool, StoreError> {
        let Program { archives, units: old, .. } = pair.old;
        if archives.members.is_empty() && archives.offered.is_empty() {
            return Ok(false);
        }
        let in_program: FxHashSet<Fingerprint> = old.iter().copied().collect();
        let has_definer = |name: &&&String| {
            let mut units = self.listing(name).iter().filter(|id| in_program.contains(id));
            let defines = |id: &Fingerprint| {
                self.summaries.unit(*id).is_some_and(|unit| lists(&unit.defines, name))
            };
            archives.offer(name) || units.any(defines)
        };
        if !dropped.iter().any(|name| has_definer(&name)) {
            return Ok(false);
        }
        if dropped.iter().any(|name| archives.offer(name)) {
            return Ok(true);
        }
        let mut read: FxHashMap<Fingerprint, Arc<UnitVersion>> = FxHashMap::default();
        for id in old.iter().chain(&pair.now.units) {
            if self.summaries.unit(*id).is_none() {
                let Some(unit) = self.units.get(self.history, *id)? else { return Ok(true) };
                read.insert(*id, unit);
            }
        }
        let names = |units: &[Fingerprint]| -> Vec<UnitNames<'_>> {
            let names = units.iter().map(|id| match self.summaries.unit(*id) {
                Some(unit) => unit.link_names(),
                None => UnitNames::of(&read[id]),
            });
            names.collect()
        };
        let (before, after) = (names(old), names(&pair.now.units));
        // Units keep their places, unless there are others: then all is read anyway.
        if before.len() != after.len() {
            return Ok(true);
        }
        let successors: Vec<Option<usize>> = (0..after.len()).map(Some).collect();
        let is_member = |id: &Fingerprint| {
            let unit = self.summaries.unit(*id);
            unit.is_none_or(|unit| archives.members.binary_search(&unit.key).is_ok())
        };
        let is_member: Vec<bool> = old.iter().map(is_member).collect();
        let needs = |name: &str| {
            pair.old.outside_names.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
        };
        let left = left_out(&before, &after, &is_member, &successors, needs);
        Ok(left.contains(&true))
    }

    /// Names that units need of others.
    fn needs(&mut self, ids: &FxHashSet<Fingerprint>) -> Result<FxHashSet<String>, StoreError> {
        let mut names = FxHashSet::default();
        for id in ids {
            if let Some(unit) = self.units.get(self.history, *id)? {
                names.extend(UnitNames::of(&unit).needs.into_iter().map(String::from));
            }
        }
        Ok(names)
    }

    fn names(&mut self, ids: &FxHashSet<Fingerprint>) -> Result<FxHashSet<String>, StoreError> {
        let mut names = FxHashSet::default();
        for id in ids {
            let unit: Option<Arc<UnitVersion>> = self.units.get(self.history, *id)?;
            names.extend(unit.iter().flat_map(|u| external_names(&u.index).map(String::from)));
        }
        Ok(names)
    }

    /// Whether one of these units defines a name that it did not before, or acts by itself,
    /// which may define whatever it names.
    fn may_define_more(
        &mut self,
        before: &FxHashSet<Fingerprint>,
        after: &FxHashSet<Fingerprint>,
    ) -> Result<bool, StoreError> {
        let mut defined: FxHashSet<(UnitKey, String)> = FxHashSet::default();
        for id in before {
            let Some(unit) = self.units.get(self.history, *id)? else { return Ok(true) };
            let key = &unit.index.key;
            defined.extend(names_defined(&unit).map(|name| (key.clone(), name.to_string())));
        }
        for id in after {
            let Some(unit) = self.units.get(self.history, *id)? else { return Ok(true) };
            let acts = unit.index.composition != empty_composition();
            let place = |name: &str| (unit.index.key.clone(), name.to_string());
            if acts || names_defined(&unit).any(|name| !defined.contains(&place(name))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn everything(&self) -> FxHashSet<Fingerprint> {
        let units = self.pairs.iter().flat_map(|pair| pair.old.units.iter().chain(&pair.now.units));
        units.copied().collect()
    }

    /// Names of the image whose definition changed, as far as the units tell.
    fn changed_names(
        &mut self,
        concerned: &FxHashSet<Fingerprint>,
    ) -> Result<Vec<String>, StoreError> {
        let mut versions = Vec::new();
        for pair in &self.pairs {
            let is_concerned = |id: &Fingerprint| concerned.contains(id);
            versions.push(pair.versions(self.history, self.units, &is_concerned)?);
        }
        let old: Vec<&ProgramVersion> = versions.iter().map(|(old, _)| old).collect();
        let new: Vec<&ProgramVersion> = versions.iter().map(|(_, new)| new).collect();
        let changed = ChangedDefinitions::between(&old, &new, None);
        Ok(changed.external().map(|(name, _)| name.to_string()).collect())
    }

    fn listing(&self, name: &str) -> &[Fingerprint] {
        let (pairs, summaries) = (&self.pairs, self.summaries);
        let index = self.index.get_or_init(|| {
            let mut index: FxHashMap<&'a str, Vec<Fingerprint>> = FxHashMap::default();
            let ids: FxHashSet<Fingerprint> =
                pairs.iter().flat_map(|pair| pair.old.units.iter().copied()).collect();
            for id in ids {
                let names = summaries.unit(id).map_or("", |unit| unit.names.as_str());
                names.lines().for_each(|name| index.entry(name).or_default().push(id));
            }
            index
        });
        index.get(name).map_or(&[], Vec::as_slice)
    }

    /// For each program a unit that knows the name, if there is one.
    fn add_one_of_each(&self, name: &str, concerned: &mut FxHashSet<Fingerprint>) {
        concerned.extend(self.pairs.iter().filter_map(|pair| self.one_that_knows(pair, name)));
    }

    fn one_that_knows(&self, pair: &Pair<'_>, name: &str) -> Option<Fingerprint> {
        self.one_that(pair, name, |_| true)
    }

    /// A unit of both versions that knows a name in some way.
    fn one_that(
        &self,
        pair: &Pair<'_>,
        name: &str,
        knows: impl Fn(&UnitSummary) -> bool,
    ) -> Option<Fingerprint> {
        let listing: FxHashSet<&Fingerprint> = self.listing(name).iter().collect();
        let mut units = pair.old.units.iter().filter(|id| listing.contains(id));
        let is_it = |id: &&Fingerprint| {
            pair.now.units.contains(id) && self.summaries.unit(**id).is_some_and(&knows)
        };
        units.find(is_it).copied()
    }
}

/// Whether a name is one of some, which have a line each.
fn lists(names: &str, name: &str) -> bool {
    names.lines().any(|known| known == name)
}
