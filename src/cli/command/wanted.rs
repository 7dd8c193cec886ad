//! Which tests somebody asks for.

use crate::cli::{completing, word};
use crate::suite::TestCase;
use anyhow::bail;
use std::str::FromStr;

#[derive(Debug, clap::Args)]
pub struct Wanted {
    /// Run only tests whose name contains one of these
    #[arg(value_name = "TEXT", value_parser = word(), add = completing::tests())]
    filters: Vec<String>,
    /// Run only tests with this label, as CTest and Meson have them; may be given several times
    #[arg(long, value_name = "LABEL", value_parser = word())]
    label: Vec<String>,
    /// Run only the I-th of N parts, 2/8 say; together they are all tests
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
}

/// A part of the tests.
#[derive(Clone, Copy, Debug)]
struct Shard {
    part: u64,
    parts: u64,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(part, parts)| {
            Some((part.parse::<u64>().ok()?, parts.parse::<u64>().ok()?))
        });
        match numbers {
            Some((part, parts)) if (1..=parts).contains(&part) => Ok(Self { part, parts }),
            _ => Err(String::from("it has to be like 2/8: the second of eight")),
        }
    }
}

impl Shard {
    /// By the name alone, so that a test stays in its part when others come.
    fn holds(self, test: &TestCase) -> bool {
        let mut number = [0; 8];
        number.copy_from_slice(&crate::ids::Fingerprint::of(test.name.as_bytes()).0[..8]);
        u64::from_le_bytes(number) % self.parts + 1 == self.part
    }
}

impl Wanted {
    pub fn holds(&self, test: &TestCase) -> bool {
        let matches = |filters: &[String], found: &dyn Fn(&String) -> bool| {
            filters.is_empty() || filters.iter().any(found)
        };
        matches(&self.filters, &|filter| test.name.contains(filter))
            && matches(&self.label, &|label| test.labels.contains(label))
            && self.shard.is_none_or(|shard| shard.holds(test))
    }

    pub fn has_filters(&self) -> bool {
        !self.filters.is_empty()
    }

    /// Nothing matches, which a part of the tests may do.
    pub fn complain(&self) -> anyhow::Result<()> {
        if self.shard.is_none() || self.has_filters() {
            let quoted = |words: &[String]| -> String {
                words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
            };
            let mut what = Vec::new();
            if !self.filters.is_empty() {
                what.push(format!("has a name with {} in it", quoted(&self.filters)));
            }
            if !self.label.is_empty() {
                what.push(format!("has the label {}", quoted(&self.label)));
            }
            if what.is_empty() {
                bail!("the suites have no tests\nhint: look at each [[suite]] in edgewise.toml");
            }
            bail!(
                "no test {}\nhint: `edgewise select --algorithm all` lists all tests",
                what.join(" and ")
            );
        }
        Ok(())
    }
}
