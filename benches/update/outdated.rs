//! Coverage that nobody updates: what tests took at the first version, taken for what
//! they take at a later one.

use edgewise::cfg::format::{RawRecord, UnitIndex};
use edgewise::history::{History, Row};
use edgewise::ids::Fingerprint;
use std::collections::BTreeMap;
use std::path::Path;

/// What tests took, by object and procedure.
pub type NamedRows = BTreeMap<String, BTreeMap<(String, String), Vec<u8>>>;

fn indexes(history: &History) -> anyhow::Result<BTreeMap<Fingerprint, UnitIndex>> {
    let mut indexes = BTreeMap::new();
    for unit in history.units()? {
        indexes.insert(unit, RawRecord::new(history.unit(unit)?)?.index()?);
    }
    Ok(indexes)
}

/// The rows of all tests, by object and name of the procedure.
pub fn named_rows(history: &History) -> anyhow::Result<NamedRows> {
    let indexes = indexes(history)?;
    let mut all: NamedRows = BTreeMap::new();
    for (name, _) in history.tests() {
        for Row { unit, procedure, edges } in history.rows(name)? {
            let index = &indexes[&unit];
            let procedure = index.procedures[procedure as usize].name.clone();
            let key = (index.key.object.clone(), procedure);
            all.entry(name.clone()).or_default().insert(key, edges);
        }
    }
    Ok(all)
}

/// Puts what tests took at the first version, edge by edge in their order, into the
/// history of a later one.
pub fn transplant(first: &NamedRows, to: &Path) -> anyhow::Result<()> {
    let mut history = History::open(to)?;
    let indexes = indexes(&history)?;
    let tests: Vec<_> = history.tests().map(|(name, test)| (name.clone(), test.clone())).collect();
    for (name, test) in tests {
        let Some(known) = first.get(&name) else { continue };
        let mut rows = Vec::new();
        for program in &test.programs {
            for unit in history.program(*program)?.units {
                let index = &indexes[&unit];
                for (number, procedure) in (0..).zip(&index.procedures) {
                    let key = (index.key.object.clone(), procedure.name.clone());
                    let Some(edges) = known.get(&key) else { continue };
                    let count = procedure.edge_count as usize;
                    let mut edges = edges.clone();
                    edges.resize(count.div_ceil(8), 0);
                    if let (Some(last), 1..) = (edges.last_mut(), count % 8) {
                        *last &= (1 << (count % 8)) - 1;
                    }
                    rows.push(Row { unit, procedure: number, edges });
                }
            }
        }
        rows.sort();
        rows.dedup_by_key(|row| (row.unit, row.procedure));
        history.record(&name, test, rows);
    }
    history.commit()?;
    Ok(())
}
