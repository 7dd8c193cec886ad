//! Which test may start now: what it needs has passed, what comes before it has
//! ended, and there is room for it.

use super::TestCase;
use crate::history::format::Outcome;
use rustc_hash::{FxHashMap, FxHashSet};

pub struct Schedule<'a> {
    tests: &'a [TestCase],
    /// Places at a time.
    room: usize,
    states: Vec<State>,
    /// For each test: those of this run that it needs, and those it comes after.
    needs: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
    locks: FxHashSet<&'a str>,
    used: usize,
    running: usize,
    is_alone: bool,
    waiting: usize,
    /// All before it have started.
    first: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Ended(Outcome),
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Start(usize),
    /// It will not run, and why.
    GiveUp(usize, String),
    /// Ask again when a test has ended.
    Wait,
    Done,
}

impl<'a> Schedule<'a> {
    pub fn new(tests: &'a [TestCase], room: usize) -> Self {
        let places: FxHashMap<&str, usize> =
            tests.iter().enumerate().map(|(place, test)| (test.name.as_str(), place)).collect();
        let found = |names: &[String]| -> Vec<usize> {
            names.iter().filter_map(|name| places.get(name.as_str()).copied()).collect()
        };
        Self {
            tests,
            room: room.max(1),
            states: vec![State::Waiting; tests.len()],
            needs: tests.iter().map(|test| found(&test.needs)).collect(),
            after: tests.iter().map(|test| found(&test.after)).collect(),
            locks: FxHashSet::default(),
            used: 0,
            running: 0,
            is_alone: false,
            waiting: tests.len(),
            first: 0,
        }
    }

    /// The first test that may start, which then counts as started.
    pub fn pick(&mut self) -> Next {
        if self.waiting == 0 {
            return Next::Done;
        }
        while self.states.get(self.first).is_some_and(|state| *state != State::Waiting) {
            self.first += 1;
        }
        let waiting =
            (self.first..self.tests.len()).filter(|at| self.states[*at] == State::Waiting);
        let mut found = None;
        let mut alone = None;
        for test in waiting {
            if let Some(why) = self.in_vain(test) {
                return self.give_up(test, why);
            }
            if !self.is_due(test) {
                continue;
            }
            if self.tests[test].resources.alone {
                alone = alone.or(Some(test));
            } else if self.has_room(test) {
                found = Some(test);
                break;
            } else if self.used >= self.room || self.is_alone {
                // Nothing else would fit either.
                return Next::Wait;
            }
        }
        match found.or(alone.filter(|_| self.running == 0)) {
            Some(test) => {
                self.start(test);
                Next::Start(test)
            }
            None if self.running > 0 => Next::Wait,
            // Nobody will ever end: they wait for each other.
            None => {
                let why = "it waits for tests that wait for it";
                self.give_up(self.first, String::from(why))
            }
        }
    }

    fn give_up(&mut self, test: usize, why: String) -> Next {
        self.states[test] = State::Ended(Outcome::Failed);
        self.waiting -= 1;
        Next::GiveUp(test, why)
    }

    /// Why a test cannot do anything, if so.
    fn in_vain(&self, test: usize) -> Option<String> {
        // One that had nothing to do is no obstacle.
        let is_met = |outcome| matches!(outcome, Outcome::Passed | Outcome::Skipped);
        let failed = |need: &&usize| matches!(self.states[**need], State::Ended(outcome) if !is_met(outcome));
        let need = self.needs[test].iter().find(failed)?;
        Some(format!("{}, which it needs, did not pass", self.tests[*need].name))
    }

    fn is_due(&self, test: usize) -> bool {
        let mut before = self.needs[test].iter().chain(&self.after[test]);
        before.all(|other| matches!(self.states[*other], State::Ended(_)))
    }

    fn has_room(&self, test: usize) -> bool {
        let resources = &self.tests[test].resources;
        let fits = self.running == 0 || self.used + resources.processors.max(1) <= self.room;
        fits && !self.is_alone && resources.locks.iter().all(|l| !self.locks.contains(l.as_str()))
    }

    fn start(&mut self, test: usize) {
        let resources = &self.tests[test].resources;
        self.states[test] = State::Running;
        self.used += resources.processors.max(1);
        self.running += 1;
        self.waiting -= 1;
        self.is_alone |= resources.alone;
        self.locks.extend(resources.locks.iter().map(String::as_str));
    }

    /// A test that was started has ended.
    pub fn ended(&mut self, test: usize, outcome: Outcome) {
        let resources = &self.tests[test].resources;
        self.states[test] = State::Ended(outcome);
        self.used -= resources.processors.max(1);
        self.running -= 1;
        self.is_alone &= !resources.alone;
        for lock in &resources.locks {
            self.locks.remove(lock.as_str());
        }
    }
}

/// The tests that have to run so that some of them can: with those they need,
/// and those that clean up after them. In the order of all tests.
pub fn with_fixtures(all: &[TestCase], wanted: impl Fn(&TestCase) -> bool) -> Vec<TestCase> {
    let places: FxHashMap<&str, usize> =
        all.iter().enumerate().map(|(place, test)| (test.name.as_str(), place)).collect();
    let mut cleaners: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (place, test) in all.iter().enumerate() {
        for user in &test.cleans_up_for {
            cleaners.entry(user).or_default().push(place);
        }
    }
    let mut chosen = vec![false; all.len()];
    let mut todo: Vec<usize> = (0..all.len()).filter(|place| wanted(&all[*place])).collect();
    while let Some(place) = todo.pop() {
        if std::mem::replace(&mut chosen[place], true) {
            continue;
        }
        let test = &all[place];
        todo.extend(test.needs.iter().filter_map(|need| places.get(need.as_str())));
        todo.extend(cleaners.get(test.name.as_str()).into_iter().flatten());
    }
    let chosen = all.iter().zip(chosen).filter(|(_, chosen)| *chosen);
    chosen.map(|(test, _)| test.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Resources;

    fn test(name: &str) -> TestCase {
        TestCase::shell(name.to_string(), String::from("true"))
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn what_is_needed_comes_first_and_has_to_pass() {
        let user = TestCase { needs: names(&["set-up"]), ..test("user") };
        let tests = [user, test("set-up"), test("other")];
        let mut schedule = Schedule::new(&tests, 4);
        assert_eq!(schedule.pick(), Next::Start(1));
        assert_eq!(schedule.pick(), Next::Start(2));
        assert_eq!(schedule.pick(), Next::Wait);
        schedule.ended(1, Outcome::Failed);
        let why = String::from("set-up, which it needs, did not pass");
        assert_eq!(schedule.pick(), Next::GiveUp(0, why));
        assert_eq!(schedule.pick(), Next::Done);
    }

    #[test]
    fn room_locks_and_being_alone() {
        let wide = Resources { processors: 2, ..Resources::default() };
        let locked = Resources { locks: names(&["port"]), ..Resources::default() };
        let alone = Resources { alone: true, ..Resources::default() };
        let tests = [
            TestCase { resources: alone, ..test("alone") },
            TestCase { resources: locked.clone(), ..test("a") },
            TestCase { resources: locked, ..test("b") },
            TestCase { resources: wide, ..test("wide") },
        ];
        let mut schedule = Schedule::new(&tests, 3);
        assert_eq!(schedule.pick(), Next::Start(1));
        assert_eq!(schedule.pick(), Next::Start(3), "b wants the lock that a has");
        assert_eq!(schedule.pick(), Next::Wait);
        schedule.ended(1, Outcome::Passed);
        assert_eq!(schedule.pick(), Next::Start(2));
        assert_eq!(schedule.pick(), Next::Wait);
        schedule.ended(2, Outcome::Passed);
        schedule.ended(3, Outcome::Passed);
        assert_eq!(schedule.pick(), Next::Start(0));
        schedule.ended(0, Outcome::Passed);
        assert_eq!(schedule.pick(), Next::Done);
    }

    #[test]
    fn tests_that_wait_for_each_other_fail() {
        let tests = [
            TestCase { needs: names(&["b"]), ..test("a") },
            TestCase { after: names(&["a"]), ..test("b") },
        ];
        let mut schedule = Schedule::new(&tests, 1);
        assert!(matches!(schedule.pick(), Next::GiveUp(0, _)));
        assert_eq!(schedule.pick(), Next::Start(1));
    }

    #[test]
    fn a_test_brings_what_sets_up_and_cleans_up_for_it() {
        let all = [
            test("set-up"),
            TestCase { needs: names(&["set-up"]), ..test("user") },
            TestCase { cleans_up_for: names(&["user"]), ..test("clean-up") },
            test("other"),
        ];
        let chosen = with_fixtures(&all, |test| test.name == "user");
        let chosen: Vec<&str> = chosen.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(chosen, ["set-up", "user", "clean-up"]);
    }
}
