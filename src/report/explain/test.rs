//! Why one test is selected, or may be skipped.

use super::diff::Diff;
use super::{SHOWN, list, rule};
use crate::report::text::{self, counted, one_line};
use crate::select::Reason;
use serde::Serialize;
use std::fmt::Write;

/// Of the files that a test used so many are shown.
const USED_SHOWN: usize = 10;

/// All that speaks for or against running a test.
#[derive(Debug, Serialize)]
pub struct Explanation {
    pub name: String,
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
    /// Changes in excluded code that it runs.
    pub excluded: Vec<Reason>,
    /// The changes that the first of the reasons are about.
    pub diffs: Vec<ProcedureDiff>,
    /// The run that the history has of it.
    pub last: Option<LastRun>,
    pub procedures: Vec<ChangedProcedure>,
    pub files: Vec<ChangedFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Selected,
    Skipped,
    /// Its suite says that it is not to be run.
    Disabled,
}

/// Both versions of a procedure.
#[derive(Debug, Serialize)]
pub struct ProcedureDiff {
    pub procedure: String,
    pub file: String,
    pub diff: Diff,
}

#[derive(Debug, Serialize)]
pub struct LastRun {
    /// The version of the history that it is compared with.
    pub version: Option<Version>,
    /// What became of it, for people: `passed`.
    pub outcome: String,
    pub seconds: f64,
    /// What it did: procedures that it entered, and edges that it took in them.
    pub procedures: usize,
    pub edges: usize,
    /// Those of them whose procedures were compared, since they may be other ones now.
    pub compared_procedures: usize,
    pub compared_edges: usize,
    /// Libraries and programs without records that its processes loaded or ran.
    pub loaded: usize,
    /// Why its trace cannot be relied upon, if so.
    pub unclean: Option<String>,
    /// It was carried over to a later version, and edges may be in it that the
    /// test does not take.
    pub inexact: bool,
    pub programs: Vec<ProgramRun>,
    /// Files of the project that it used; unknown if it is not known of all.
    pub files_used: Option<usize>,
    /// Why that is so.
    pub unseen: Option<String>,
    /// Those that are known, by name.
    pub used: Vec<String>,
    /// Files that it looked for in vain, by name.
    pub looked_for: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Version {
    pub id: String,
    /// When it was recorded, for people.
    pub when: String,
}

#[derive(Debug, Serialize)]
pub struct ProgramRun {
    pub program: String,
    pub units: usize,
    /// Units that are others now; unknown if nothing is known of the program now.
    pub changed_units: Option<usize>,
}

/// A procedure of a program that the test ran.
#[derive(Debug, Serialize)]
pub struct ChangedProcedure {
    pub program: String,
    pub procedure: String,
    pub file: String,
    pub line: u32,
    pub is_gone: bool,
    pub is_excluded: bool,
    /// Whether the test ran it; none if that is not known.
    pub is_entered: Option<bool>,
    /// Whether the test is selected for it.
    pub selects: bool,
    /// Where control comes from on the ways in it that lead elsewhere now.
    pub dangerous: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct ChangedFile {
    pub file: String,
    /// `changed`, `is new` or `is gone`.
    pub verb: &'static str,
    pub role: FileRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileRole {
    /// Of units, which are compared procedure by procedure.
    Code,
    /// The same, and the test opens it as well.
    UsedCode,
    Used,
    /// It was not there when the test looked for it.
    LookedFor,
    Unused,
    /// It is not known which files the test uses.
    Unknown,
    /// What it says is compared in another way: configuration, lists of tests.
    Configuration,
    Excluded,
}

impl FileRole {
    fn says(self) -> &'static str {
        match self {
            Self::Code => "compared as code",
            Self::UsedCode => "compared as code, and it uses it",
            Self::Used => "it uses it",
            Self::LookedFor => "it looked for it in vain",
            Self::Unused => "it does not use it",
            Self::Unknown => "it is not known whether it uses it",
            Self::Configuration => "what it says of this test is the same, or named above",
            Self::Excluded => "excluded",
        }
    }
}

impl Explanation {
    pub fn text(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Selected => "selected",
            Verdict::Skipped if self.excluded.is_empty() => "may be skipped",
            Verdict::Skipped => "skipped because [exclude] says so",
            Verdict::Disabled => "disabled: its suite says that it is not to be run",
        };
        let mut out = format!("{}: {verdict}\n", one_line(&self.name));
        self.add_reasons(&mut out);
        for ProcedureDiff { procedure, file, diff } in &self.diffs {
            let _ = writeln!(out, "    what changed in {procedure} ({file}):");
            diff.text(&mut out);
        }
        if let Some(last) = &self.last {
            last.text(&mut out);
            if self.verdict == Verdict::Skipped {
                self.add_grounds(&mut out, last);
            }
        }
        self.add_procedures(&mut out);
        list(&mut out, "changed files", told_together(&self.files).into_iter());
        let excluded = self.excluded.iter().map(text::place);
        list(&mut out, "changes in excluded code that it runs", excluded);
        out
    }

    /// All changed procedures that it enters, and some of the others.
    fn add_procedures(&self, out: &mut String) {
        const OTHERS: usize = 5;
        let is_entered = |procedure: &&ChangedProcedure| procedure.is_entered == Some(true);
        let all = |procedures: Vec<&ChangedProcedure>| {
            let mut told: Vec<String> = Vec::new();
            for text in procedures.into_iter().map(ChangedProcedure::text) {
                // It may be part of several programs.
                if !told.contains(&text) {
                    told.push(text);
                }
            }
            told
        };
        let (entered, others): (Vec<_>, Vec<_>) = self.procedures.iter().partition(is_entered);
        let (mut told, others) = (all(entered), all(others));
        let is_known = self.procedures.iter().any(|procedure| procedure.is_entered.is_some());
        match others.len() {
            0..=OTHERS => told.extend(others),
            more if is_known => {
                let count = match told.is_empty() {
                    true => counted(more, "procedure"),
                    false => format!("and {}", counted(more, "other")),
                };
                told.push(format!("{count} that it does not enter; --format json has them"));
            }
            more => told.push(format!(
                "{}, and it is not known which of them it enters; --format json has them",
                counted(more, "procedure")
            )),
        }
        if !told.is_empty() {
            out.push_str("    changed procedures in these programs:\n");
            told.iter().for_each(|line| out.push_str(&format!("        {line}\n")));
        }
    }

    /// The reasons, each with its rule unless the next one has the same.
    fn add_reasons(&self, out: &mut String) {
        for (place, reason) in self.reasons.iter().enumerate().take(SHOWN) {
            out.push_str(&super::reason(reason));
            let next = self.reasons.get(place + 1).filter(|_| place + 1 < SHOWN);
            if next.is_none_or(|next| next.rule() != reason.rule()) {
                out.push_str(&rule(reason.rule()));
            }
        }
        if self.reasons.len() > SHOWN {
            let more = self.reasons.len() - SHOWN;
            let _ = writeln!(out, "    and {more} more; --format json has them");
        }
    }

    /// Why it may be skipped, in sentences.
    fn add_grounds(&self, out: &mut String, last: &LastRun) {
        let (procedures, edges) =
            (counted(last.procedures, "procedure"), counted(last.edges, "edge"));
        let compared = counted(last.compared_edges, "edge");
        let what = match (last.compared_procedures, self.procedures.is_empty()) {
            (0, true) => String::from("no procedure in these programs changed"),
            (0, false) => String::from("none of them changed"),
            (some, _) if some == last.procedures => {
                String::from("all of them were compared, and none of these edges leads elsewhere")
            }
            (some, _) => format!(
                "{some} of them, with {compared}, {} compared, and none of these edges leads elsewhere; \
                 the others are as they were",
                if some == 1 { "was" } else { "were" }
            ),
        };
        // With excluded code, some of the edges do lead elsewhere.
        if self.excluded.is_empty() {
            let _ = writeln!(out, "    it entered {procedures} over {edges}: {what}");
        } else {
            let _ = writeln!(out, "    it entered {procedures} over {edges}");
        }
        let is_used = |file: &&ChangedFile| {
            matches!(file.role, FileRole::Used | FileRole::UsedCode | FileRole::LookedFor)
        };
        if last.files_used.is_some() && !self.files.iter().any(|file| is_used(&file)) {
            out.push_str("    no file that it used changed");
            if last.loaded > 0 {
                let loaded = match last.loaded {
                    1 => String::from("nor did the library"),
                    count => format!("nor did any of the {count} libraries"),
                };
                let _ = write!(out, ", {loaded} that its processes load and that are not analysed");
            }
            out.push('\n');
        }
    }
}

impl LastRun {
    fn text(&self, out: &mut String) {
        let Self { outcome, seconds, .. } = self;
        let _ = write!(out, "    the last time it {outcome}, in {seconds:.3} s");
        if let Some(Version { id, when }) = &self.version {
            let _ = write!(out, "; it is compared with version {id} of {when}");
        }
        match &self.unclean {
            Some(why) => {
                let _ = writeln!(out, ", without a complete trace: {why}");
            }
            None => out.push('\n'),
        }
        if self.inexact {
            out.push_str(
                "    since then it was carried over to later versions, with edges to spare\n",
            );
        }
        for ProgramRun { program, units, changed_units } in &self.programs {
            let units = counted(*units, "unit");
            let now = match changed_units {
                Some(0) => String::from("all as they were"),
                Some(changed) => format!("{changed} changed since"),
                None => String::from("whether they changed is not known"),
            };
            let _ = writeln!(out, "    it ran {}: {units}, {now}", one_line(program));
        }
        if let Some(count) = self.files_used {
            let used = format!("it used {} of the project", counted(count, "file"));
            add_names(out, &used, &self.used);
            if !self.looked_for.is_empty() {
                let count = counted(self.looked_for.len(), "file");
                add_names(out, &format!("it looked for {count} in vain"), &self.looked_for);
            }
        } else if let Some(why) = &self.unseen {
            let why = one_line(why);
            let _ = writeln!(out, "    which files it used is not known: {why}");
        }
    }
}

/// A line with the first of some names of files.
fn add_names(out: &mut String, what: &str, names: &[String]) {
    let _ = write!(out, "    {what}");
    let shown: Vec<String> = names.iter().take(USED_SHOWN).map(|name| one_line(name)).collect();
    if !shown.is_empty() {
        let _ = write!(out, ": {}", shown.join(", "));
    }
    if names.len() > shown.len() {
        let _ = write!(out, " and {} more", names.len() - shown.len());
    }
    out.push('\n');
}

/// Changed files, those together that are in one directory and of which the same is to be said.
fn told_together(files: &[ChangedFile]) -> Vec<String> {
    const MOST_OF_ONE: usize = 3;
    let directory = |file: &ChangedFile| {
        let end = file.file.rfind('/').map_or(0, |end| end + 1);
        file.file[..end].to_string()
    };
    let mut groups: Vec<(String, Vec<&ChangedFile>)> = Vec::new();
    for file in files {
        let own = directory(file);
        let is_alike = |(place, others): &&mut (String, Vec<&ChangedFile>)| {
            *place == own && others[0].verb == file.verb && others[0].role == file.role
        };
        match groups.iter_mut().find(is_alike) {
            Some((_, others)) => others.push(file),
            None => groups.push((own, vec![file])),
        }
    }
    let mut told = Vec::new();
    for (directory, files) in groups {
        let role = files[0].role.says();
        let of_all = match files[0].role {
            FileRole::Unused => "it does not use them",
            _ => "it is not known whether it uses them",
        };
        // What is known of each file by itself is of interest by itself.
        let is_dull = matches!(files[0].role, FileRole::Unused | FileRole::Unknown);
        if files.len() <= MOST_OF_ONE || directory.is_empty() || !is_dull {
            let each = files.iter().map(|f| format!("{} {}: {role}", one_line(&f.file), f.verb));
            told.extend(each);
            continue;
        }
        let verb = match files[0].verb {
            "is new" => "are new",
            "is gone" => "are gone",
            other => other,
        };
        told.push(format!("{} files in {} {verb}: {of_all}", files.len(), one_line(&directory)));
    }
    told
}

impl ChangedProcedure {
    fn text(&self) -> String {
        let Self { procedure, file, line, .. } = self;
        let mut out = format!("{procedure} ({file}:{line})");
        out.push_str(if self.is_gone { " is gone: " } else { ": " });
        let is_entered = self.is_entered == Some(true);
        out.push_str(match (self.is_entered, self.selects) {
            (None, false) => "it is not known whether it enters it",
            (Some(false), false) => "it does not enter it",
            (None | Some(false), true) => "selects it",
            (Some(true), false) if self.dangerous.is_empty() => {
                "it enters it, and no way in it leads elsewhere"
            }
            (Some(true), false) => "it enters it",
            (Some(true), true) => "it enters it, which selects it",
        });
        if is_entered && !self.dangerous.is_empty() {
            out.push_str("; these ways lead elsewhere now:");
        }
        if self.is_excluded {
            out.push_str(" (excluded)");
        }
        if is_entered {
            for way in self.dangerous.iter().take(SHOWN) {
                let _ = write!(out, "\n            {way}");
            }
        }
        out
    }
}
