//! A history of a large project that nobody has: many procedures, and tests
//! that enter a few of them, in few ways.

use edgewise::cfg::format::Archives;
use edgewise::history::format::{FileState, FileUses, Outcome, Program, Test};
use edgewise::history::{History, Row};
use edgewise::ids::Fingerprint;
use edgewise::trace::module::Binding;

pub const PROCEDURES_OF_UNIT: usize = 50;
pub const EDGES: usize = 50;
const VECTORS: usize = 40;
/// Of a hundred rows, those that no other test has.
const FRESH: u64 = 3;
/// The share of procedures that a test enters.
const ENTERED: f64 = 0.08;

/// Numbers that look random.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

pub struct Project {
    pub units: Vec<Fingerprint>,
    /// How likely a test enters a procedure, of 2^32.
    entered: Vec<u64>,
    /// How likely a vector is, added up, of 2^32.
    vectors: Vec<u64>,
}

impl Project {
    pub fn new(procedures: usize) -> Self {
        let scale = (1u64 << 32) as f64;
        let wanted = procedures as f64 * ENTERED;
        // As many as it takes are entered by everybody, the others by Zipf's law.
        let sum =
            |head: f64| (1..=procedures).map(|rank| (head / rank as f64).min(1.0)).sum::<f64>();
        let (mut low, mut high) = (0.0, wanted);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if sum(middle) < wanted { low = middle } else { high = middle }
        }
        let mut entered: Vec<u64> =
            (1..=procedures).map(|rank| ((low / rank as f64).min(1.0) * scale) as u64).collect();
        // The popular ones are all over the project.
        let mut numbers = Numbers::new(1);
        for place in (1..procedures).rev() {
            entered.swap(place, numbers.below(place as u64 + 1) as usize);
        }
        let total: f64 = (1..=VECTORS).map(|rank| 1.0 / rank as f64).sum();
        let mut so_far = 0.0;
        let vectors = (1..=VECTORS).map(|rank| {
            so_far += 1.0 / rank as f64 / total;
            (so_far * scale) as u64
        });
        let units = (0..procedures.div_ceil(PROCEDURES_OF_UNIT))
            .map(|unit| Fingerprint::of(&unit.to_le_bytes()))
            .collect();
        Self { units, entered, vectors: vectors.collect() }
    }

    pub fn procedures(&self) -> usize {
        self.entered.len()
    }

    /// The procedure that most tests enter.
    pub fn most_entered(&self) -> usize {
        (0..self.entered.len()).max_by_key(|procedure| self.entered[*procedure]).unwrap_or(0)
    }

    pub fn place(&self, procedure: usize) -> (Fingerprint, u32) {
        let unit = self.units[procedure / PROCEDURES_OF_UNIT];
        (unit, (procedure % PROCEDURES_OF_UNIT) as u32)
    }

    /// What a test did.
    pub fn rows(&self, test: u64) -> Vec<Row> {
        let mut numbers = Numbers::new(test + 1_000_003);
        let mut rows = Vec::new();
        for (procedure, likely) in self.entered.iter().enumerate() {
            if numbers.next() >> 32 >= *likely {
                continue;
            }
            let vector = if numbers.below(100) < FRESH {
                numbers.next()
            } else {
                let drawn = numbers.next() >> 32;
                let which = self.vectors.partition_point(|so_far| *so_far <= drawn);
                Numbers::new((procedure * VECTORS + which.min(VECTORS - 1)) as u64).next()
            };
            let vector = (vector | 1) & ((1 << EDGES) - 1);
            let (unit, procedure) = self.place(procedure);
            let edges = vector.to_le_bytes()[..EDGES.div_ceil(8)].to_vec();
            rows.push(Row { unit, procedure, edges });
        }
        rows
    }

    /// Adds a test to a history, to be committed.
    pub fn add(&self, history: &mut History, test: u64) {
        let program = Program {
            path: String::from("prog"),
            link: Fingerprint::default(),
            units: self.units.clone(),
            outside_names: Vec::new(),
            binding: Binding::Closed,
            altered: Vec::new(),
            archives: Archives::default(),
        };
        for unit in &self.units {
            history.put_unit(*unit, b"");
        }
        let files = history.put_files(&FileState::new());
        let entry = Test {
            fingerprint: Fingerprint::of(&test.to_le_bytes()),
            outcome: Outcome::Passed,
            unclean: None,
            milliseconds: 5,
            programs: vec![history.put_program(&program)],
            inexact: false,
            unstable: false,
            files,
            loaded: files,
            uses: history.put_uses(&FileUses::default()),
            once: None,
            paths: None,
            outsider: None,
        };
        history.record(&name(test), entry, self.rows(test));
    }
}

pub fn name(test: u64) -> String {
    format!("suite/test-number-{test:07}")
}
