//! How well a project is covered, as text.

use super::text::counted;
use crate::cfg::format::UnitIndex;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What the answer rests on. Whatever can be checked is.
const ASSUMPTIONS: [&str; 6] = [
    "tests do the same every time they run on the same programs",
    "the environment stays as it is, apart from what edgewise records",
    "no code writes other code",
    "nothing depends on undefined behaviour across procedures, on addresses, code size or time",
    "no program reads its own binary or source",
    "tests do not depend on each other",
];

/// What a build left, as far as it can be read.
#[derive(Debug, Default)]
pub struct Health {
    pub programs: Vec<Program>,
    /// Sources that the real compiler compiled alone, and why.
    pub unanalysed: Vec<(String, String)>,
    /// Programs that leave no trace.
    pub untraced: Vec<String>,
}

#[derive(Debug)]
pub struct Program {
    pub name: String,
    /// Its units, or why they cannot be read.
    pub units: Result<Vec<UnitIndex>, String>,
}

/// Of each kind of thing, so many are shown, and the others counted.
pub fn text(health: &Health, shown: usize) -> String {
    let mut out = String::new();
    if health.programs.is_empty() {
        out.push_str(
            "0 units instrumented: no program was built with edgewise yet\n\
             hint: `edgewise build -- make`, after a clean if there are objects already\n",
        );
    }
    // A unit may be part of several programs.
    let mut units: BTreeMap<(&str, &str), &UnitIndex> = BTreeMap::new();
    for program in &health.programs {
        match &program.units {
            Ok(all) if all.is_empty() => {
                let _ = writeln!(out, "{}: nothing in it was instrumented", program.name);
            }
            Ok(all) => {
                let _ = writeln!(out, "{}: {}", program.name, counted(all.len(), "unit"));
                units.extend(
                    all.iter()
                        .map(|unit| ((unit.key.source.as_str(), unit.key.object.as_str()), unit)),
                );
            }
            Err(why) => {
                let _ = writeln!(out, "{}: cannot be read: {why}", program.name);
            }
        }
    }
    let procedures: usize = units.values().map(|unit| unit.procedures.len()).sum();
    let probes: u32 = units.values().map(|unit| unit.probe_count).sum();
    if !units.is_empty() {
        let _ = writeln!(
            out,
            "\n{} instrumented, {}, {} probes",
            counted(units.values().filter(|unit| unit.untouched.is_none()).count(), "unit"),
            counted(procedures, "procedure"),
            probes
        );
    }
    let mut untouched = Vec::new();
    let mut opaque = Vec::new();
    let mut problems = Vec::new();
    for unit in units.values() {
        let source = &unit.key.source;
        untouched.extend(unit.untouched.as_ref().map(|why| format!("{source}: {why}")));
        problems.extend(unit.problems.iter().cloned());
        for procedure in &unit.procedures {
            let name = &procedure.name;
            opaque.extend(procedure.opaque.as_ref().map(|why| format!("{source}: {name}: {why}")));
        }
    }
    let unanalysed: Vec<String> =
        health.unanalysed.iter().map(|(source, why)| format!("{source}: {why}")).collect();
    let lists = [
        ("opaque procedure", "compared as a whole", &opaque),
        ("unit without probes", "all of it counts as run", &untouched),
        ("place that was not understood", "names in it count as changed with it", &problems),
        ("program without a trace", "a change of it selects every test", &health.untraced),
        (
            "source that is not analysed",
            "a change of it, or of what it includes, selects every test",
            &unanalysed,
        ),
    ];
    for (what, meaning, lines) in lists.into_iter().filter(|(_, _, lines)| !lines.is_empty()) {
        let _ = writeln!(out, "\n{} \u{d7} {what}, {meaning}:", lines.len());
        for line in lines.iter().take(shown) {
            let _ = writeln!(out, "  {line}");
        }
        if lines.len() > shown {
            let _ = writeln!(out, "  and {} more; --all shows them", lines.len() - shown);
        }
    }
    out.push_str("\nAssumed:\n");
    ASSUMPTIONS.iter().for_each(|assumption| {
        let _ = writeln!(out, "  {assumption}");
    });
    out
}
