//! What the history says of a test: the lines it reached, or why it is unclean.

use super::Project;
use edgewise::cfg::format::RawRecord;
use edgewise::history::History;
use std::collections::BTreeSet;

impl Project {
    /// Lines of a source that a test reached, by its rows.
    pub fn lines_reached(&self, source: &str, test: &str) -> BTreeSet<u32> {
        let history = History::open(&self.path(".edgewise/history")).unwrap();
        let entry = history.test(&format!("t/{test}")).unwrap();
        assert_eq!(entry.unclean, None, "{test}");
        let mut lines = BTreeSet::new();
        for row in history.rows(&format!("t/{test}")).unwrap() {
            let raw = RawRecord::new(history.unit(row.unit).unwrap()).unwrap();
            let index = raw.index().unwrap();
            let Some(file) = index.files.iter().position(|file| file == source) else {
                continue;
            };
            let graph = &raw.graphs(&index).unwrap()[row.procedure as usize];
            for (number, edge) in graph.edges.iter().enumerate() {
                let place = graph.node(edge.to).place;
                if row.is_taken(number) && place.file as usize == file {
                    lines.insert(place.line);
                }
            }
        }
        lines
    }

    /// Why a test has no complete trace.
    pub fn unclean(&self, test: &str) -> Option<String> {
        let history = History::open(&self.path(".edgewise/history")).unwrap();
        history.test(&format!("t/{test}")).unwrap().unclean.clone()
    }

    /// Of the lines marked `// @a b`, a test reached exactly those with its name.
    pub fn assert_reached(&self, source: &str, test: &str) {
        let lines = self.lines_reached(source, test);
        for (line, names) in marks(&self.read(source)) {
            let wanted = names.contains(&test.to_string());
            assert_eq!(lines.contains(&line), wanted, "{test}: line {line} of {source}");
        }
    }

    /// A test reached all lines that are marked with its name.
    pub fn assert_kept(&self, source: &str, test: &str) {
        let lines = self.lines_reached(source, test);
        for (line, names) in marks(&self.read(source)) {
            let wanted = names.contains(&test.to_string());
            assert!(lines.contains(&line) || !wanted, "{test}: line {line} of {source}");
        }
    }
}

fn marks(text: &str) -> Vec<(u32, Vec<String>)> {
    let mut marks = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((_, names)) = line.split_once("// @") {
            marks.push((number, names.split_whitespace().map(String::from).collect()));
        }
    }
    marks
}
