//! `[[suite]]` in `edgewise.toml`: keys of all kinds as they are written, checked
//! and made into suites.

use crate::compiler::project::CONFIG_FILE;
use crate::suite::definition::{Source, Suite};
use crate::trace::cases::Cases;
use anyhow::{bail, ensure};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A `[[suite]]` as it is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Written {
    name: String,
    kind: Kind,
    configuration: Option<String>,
    directory: Option<PathBuf>,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    variables: Vec<String>,
    timeout: Option<u64>,
    file: Option<String>,
    generator: Option<String>,
    pattern: Option<Patterns>,
    command: Option<String>,
    list: Option<String>,
    independent: Option<bool>,
    build_type: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Ctest,
    Meson,
    Automake,
    Tap,
    List,
    Glob,
    Cases,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Patterns {
    One(String),
    Several(Vec<String>),
}

impl Kind {
    fn shown(self) -> &'static str {
        match self {
            Self::Ctest => "ctest",
            Self::Meson => "meson",
            Self::Automake => "automake",
            Self::Tap => "tap",
            Self::List => "list",
            Self::Glob => "glob",
            Self::Cases => "cases",
        }
    }

    /// The keys that only some kinds have.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Ctest => &["build-type"],
            Self::Meson | Self::Automake => &[],
            Self::Tap | Self::Glob => &["pattern", "command"],
            Self::List => &["file", "generator"],
            Self::Cases => &["list", "command", "independent"],
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Ctest => "directory = \"build\"",
            Self::Meson => "directory = \"build\"",
            Self::Automake => "directory = \".\"",
            Self::Tap => "pattern = \"t/*.t\"",
            Self::List => "file = \"tests/list\"",
            Self::Glob => "pattern = \"tests/*.sh\" and command = \"sh {}\"",
            Self::Cases => "list = \"./tests --list\" and command = \"./tests --only {case}\"",
        }
    }
}

/// Suites of the configuration, whose text says where each begins.
pub fn resolve(written: &[toml::Spanned<Written>], text: &str) -> anyhow::Result<Vec<Suite>> {
    let mut suites: Vec<Suite> = Vec::new();
    for spanned in written {
        let line = text[..spanned.span().start].matches('\n').count() + 1;
        let written = spanned.get_ref();
        let place = format!("{CONFIG_FILE}:{line}: suite `{}`", written.name);
        let suite = suite(written).map_err(|error| anyhow::anyhow!("{place}: {error}"))?;
        if suites.iter().any(|other| other.full_name() == suite.full_name()) {
            bail!(
                "{place}: there are two of that name\nhint: give one another name, or each a \
                 `configuration`"
            );
        }
        suites.push(suite);
    }
    Ok(suites)
}

fn suite(written: &Written) -> anyhow::Result<Suite> {
    let kind = written.kind;
    check_name("name", &written.name)?;
    if let Some(configuration) = &written.configuration {
        check_name("configuration", configuration)?;
    }
    check_keys(written)?;
    let missing = |key: &str| {
        let (shown, example) = (kind.shown(), kind.example());
        anyhow::anyhow!("kind {shown} needs `{key}`\nhint: for example {example}")
    };
    let patterns = || match written.pattern.clone() {
        Some(Patterns::One(pattern)) => Ok(vec![pattern]),
        Some(Patterns::Several(patterns)) if !patterns.is_empty() => Ok(patterns),
        _ => Err(missing("pattern")),
    };
    let with_mark = |mark: &str| {
        let command = written.command.clone().ok_or_else(|| missing("command"))?;
        let example = kind.example();
        ensure!(command.contains(mark), "its command has no `{mark}`\nhint: for example {example}");
        Ok(command)
    };
    let source = match kind {
        Kind::Ctest => Source::Ctest { build_type: written.build_type.clone() },
        Kind::Meson => Source::Meson,
        Kind::Automake => Source::Automake,
        Kind::Tap => {
            let command = written.command.as_ref().map(|_| with_mark("{}")).transpose()?;
            Source::Tap { patterns: patterns()?, command }
        }
        Kind::List => match (&written.file, &written.generator) {
            (Some(file), None) => Source::File(file.clone()),
            (None, Some(generator)) => Source::Generator(generator.clone()),
            (None, None) => return Err(missing("file` or `generator")),
            (Some(_), Some(_)) => bail!("it has both `file` and `generator`"),
        },
        Kind::Glob => Source::Glob { patterns: patterns()?, command: with_mark("{}")? },
        Kind::Cases => {
            let list = written.list.clone().ok_or_else(|| missing("list"))?;
            // Without a mark one process runs them all, and tells them apart.
            let command = written.command.clone().ok_or_else(|| missing("command"))?;
            let cases = match written.independent {
                Some(true) => Cases::Independent,
                _ => Cases::InOrder,
            };
            ensure!(
                cases == Cases::InOrder || !command.contains("{case}"),
                "`independent` has no effect: with `{{case}}` each case has a process of its \
                 own\nhint: remove `independent`"
            );
            Source::Cases { list, command, cases }
        }
    };
    Ok(Suite {
        name: written.name.clone(),
        configuration: written.configuration.clone(),
        directory: directory(written.directory.as_deref())?,
        inputs: written.inputs.clone(),
        variables: written.variables.clone(),
        timeout: written.timeout.map(Duration::from_secs),
        source,
    })
}

/// Names are put together as `configuration:suite/test`.
fn check_name(key: &str, name: &str) -> anyhow::Result<()> {
    ensure!(!name.is_empty(), "its {key} is empty");
    ensure!(!name.contains(['/', ':']), "its {key} `{name}` holds `/` or `:`");
    Ok(())
}

fn check_keys(written: &Written) -> anyhow::Result<()> {
    let given = [
        ("file", written.file.is_some()),
        ("generator", written.generator.is_some()),
        ("pattern", written.pattern.is_some()),
        ("command", written.command.is_some()),
        ("list", written.list.is_some()),
        ("independent", written.independent.is_some()),
        ("build-type", written.build_type.is_some()),
    ];
    let known = written.kind.keys();
    let mut foreign = given.iter().filter(|(key, is_given)| *is_given && !known.contains(key));
    if let Some((key, _)) = foreign.next() {
        let kind = written.kind.shown();
        let all = known.join("`, `");
        let hint = match known {
            [] => String::from("it has no keys of its own"),
            _ => format!("its own keys are `{all}`"),
        };
        bail!("kind {kind} has no key `{key}`\nhint: {hint}");
    }
    Ok(())
}

/// `.` and a slash at the end are nothing that tests should show.
fn directory(written: Option<&Path>) -> anyhow::Result<PathBuf> {
    let written = written.unwrap_or(Path::new(""));
    let shown = written.display();
    ensure!(written.is_relative(), "its directory {shown} is not relative to the root");
    Ok(crate::compiler::project::clean(written))
}

#[cfg(test)]
mod tests {
    use crate::cli::config::Config;

    fn error(text: &str) -> String {
        format!("{:#}", Config::parse(text).unwrap_err())
    }

    fn suite(rest: &str) -> String {
        format!("ignore = []\n\n[[suite]]\nname = \"s\"\n{rest}\n")
    }

    #[test]
    fn what_is_wrong_has_a_place_and_a_hint() {
        let cases = [
            ("kind = \"list\"", "needs `file` or `generator`"),
            ("kind = \"meson\"\nfile = \"x\"", "kind meson has no key `file`"),
            ("kind = \"glob\"\npattern = \"a/*\"", "needs `command`"),
            ("kind = \"glob\"\npattern = \"a/*\"\ncommand = \"sh\"", "has no `{}`"),
            ("kind = \"cases\"\ncommand = \"x {case}\"", "needs `list`"),
            ("kind = \"list\"\nfile = \"a\"\nindependent = true", "no key `independent`"),
            ("kind = \"list\"\nfile = \"a\"\ngenerator = \"b\"", "both"),
            ("kind = \"meson\"\nconfiguration = \"a:b\"", "holds `/` or `:`"),
            ("kind = \"meson\"\ndirectory = \"/x\"", "not relative"),
        ];
        for (rest, expected) in cases {
            let error = error(&suite(rest));
            assert!(error.contains("edgewise.toml:3: suite `s`: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn unknown_keys_and_kinds_have_a_place() {
        let error = error(&suite("kind = \"list\"\nfile = \"x\"\nfoo = 1"));
        assert!(error.contains("line 7") && error.contains("foo"), "{error}");
        let error = self::error(&suite("kind = \"make\""));
        assert!(error.contains("line 5") && error.contains("automake"), "{error}");
    }

    #[test]
    fn names_are_unique_within_a_configuration() {
        let two = |first: &str| {
            format!(
                "{}{}",
                suite(&format!("kind = \"meson\"\n{first}")),
                &suite("kind = \"meson\"")[12..]
            )
        };
        assert!(error(&two("")).contains("two of that name"));
        assert!(Config::parse(&two("configuration = \"debug\"")).is_ok());
    }

    #[test]
    fn every_kind_can_be_written() {
        for rest in [
            "kind = \"ctest\"\nbuild-type = \"Debug\"\ndirectory = \"build/\"\ntimeout = 3",
            "kind = \"meson\"\ninputs = [\"data/**\"]\nvariables = [\"LANG\"]",
            "kind = \"automake\"",
            "kind = \"tap\"\npattern = [\"t/*.t\", \"xt/*.t\"]",
            "kind = \"list\"\ngenerator = \"./list\"",
            "kind = \"glob\"\npattern = \"tests/*.sh\"\ncommand = \"sh {}\"",
            "kind = \"cases\"\nlist = \"./t -l\"\ncommand = \"./t {case}\"",
            "kind = \"cases\"\nlist = \"./t -l\"\ncommand = \"./t {cases}\"",
            "kind = \"cases\"\nlist = \"./t -l\"\ncommand = \"./t\"",
            "kind = \"cases\"\nlist = \"./t -l\"\ncommand = \"./t\"\nindependent = true",
        ] {
            Config::parse(&suite(rest)).unwrap();
        }
    }
}
