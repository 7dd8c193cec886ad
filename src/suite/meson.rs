//! Suites of kind `meson`: tests as Meson itself would run them, told by a script
//! within Meson's own Python. Each command is run by us, and judged as Meson does.

use super::judgement::Judgement;
use super::tap::Dialect;
use super::tool::Place;
use super::{Change, SuiteError, TestCase, TestCommand, Variable};
use crate::bytes;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

const SCRIPT: &str = include_str!("meson_tests.py");
/// What the script puts where the value of a variable would stand.
const MARK: &str = "\u{1}edgewise\u{1}";
const SKIP_CODE: i32 = 77;
const ERROR_CODE: i32 = 99;
/// A fixed number instead of Meson's random one.
const PERTURB: (&str, &str) = ("MALLOC_PERTURB_", "85");
/// What is between values of a variable, as far as projects are known to use it.
const SEPARATORS: &[&str] = &[":", ";", ",", " "];
/// Of Rust's own harness, where no test ran.
const NO_RUST_TEST: &str = r"(?m)^test result: ok\. 0 passed; 0 failed;";

#[derive(Deserialize)]
struct List {
    version: String,
    tests: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    project: String,
    suites: Vec<String>,
    /// None if it was built for another machine and nothing runs it here.
    command: Option<Vec<String>>,
    variables: BTreeMap<String, Option<String>>,
    should_fail: bool,
    timeout: Option<f64>,
    workdir: Option<String>,
    is_parallel: bool,
    protocol: String,
}

/// Asks Meson for the tests of a build directory.
pub fn read(place: &Place) -> Result<Vec<TestCase>, SuiteError> {
    let failed = |error: std::io::Error| place.error(format!("cannot write a script: {error}"));
    // In a directory of its own, since Python looks for modules beside it.
    let directory = tempfile::tempdir().map_err(failed)?;
    let path = directory.path().join("meson_tests.py");
    fs_err::write(&path, SCRIPT).map_err(failed)?;
    let path = bytes::name(path);
    if place.absolute().is_dir() && !place.absolute().join("meson-private").exists() {
        return Err(place.error(
            "its directory is not one that `meson setup` made\nhint: `directory` names the build \
             directory of Meson",
        ));
    }
    let text = place.run(&["meson", "runpython", &path], None, "")?;
    parse(&text, place)
}

fn parse(text: &str, place: &Place) -> Result<Vec<TestCase>, SuiteError> {
    let list: List = serde_json::from_str(text).map_err(|error| {
        place.error(format!("what Meson says of its tests is not understood: {error}\n{text}"))
    })?;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut tests = Vec::new();
    for listed in &list.tests {
        let mut test = test_case(listed, place).map_err(|what| {
            let (version, name) = (&list.version, &listed.name);
            place.error(format!("Meson {version}, test `{name}`: {what}"))
        })?;
        // Meson does not mind two tests of one name in one suite.
        let count = seen.entry(test.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            test.name = format!("{}#{count}", test.name);
        }
        tests.push(test);
    }
    Ok(tests)
}

fn test_case(listed: &Listed, place: &Place) -> Result<TestCase, String> {
    // A project whose name holds a colon cannot be named.
    let project = if listed.project.contains(':') { "" } else { &listed.project };
    let runner_name = format!("{project}:{}", listed.name);
    let mut test = TestCase { name: shown_name(listed), runner_name, ..TestCase::default() };
    let mut command = listed.command.clone().unwrap_or_default();
    if listed.command.is_none() {
        test.disabled = Some(String::from("it is built for another machine, and has no wrapper"));
    }
    test.directory = place.relative(listed.workdir.as_deref().unwrap_or_default());
    test.timeout = match listed.timeout {
        Some(seconds) if seconds > 0.0 => Duration::try_from_secs_f64(seconds).ok(),
        _ => None,
    };
    test.resources.alone = !listed.is_parallel;
    test.labels = listed.suites.clone();
    // To Meson a crash is a failure, also one that was asked for.
    let by_code = Judgement {
        will_fail: listed.should_fail,
        may_crash: true,
        skip_code: Some(SKIP_CODE),
        error_code: Some(ERROR_CODE),
        ..Judgement::default()
    };
    test.judgement = match listed.protocol.as_str() {
        "exitcode" => by_code,
        "gtest" => {
            let base = listed.workdir.as_ref().map_or(String::new(), |dir| format!("{dir}/"));
            command.push(format!("--gtest_output=xml:{base}{}.xml", listed.name));
            by_code
        }
        "tap" => Judgement {
            will_fail: listed.should_fail,
            tap: Some(Dialect::Meson),
            ..Judgement::default()
        },
        "rust" => Judgement {
            will_fail: listed.should_fail,
            skip: vec![String::from(NO_RUST_TEST)],
            ..Judgement::default()
        },
        other => return Err(format!("its protocol `{other}` is not known")),
    };
    test.command = TestCommand::Words(command);
    for (name, value) in &listed.variables {
        test.environment.extend(changes(name, value.as_deref())?);
    }
    let (perturb, value) = PERTURB;
    if !listed.variables.contains_key(perturb) && std::env::var_os(perturb).is_none() {
        let change = Change::Set(value.to_string());
        test.environment.push(Variable { name: perturb.to_string(), change });
    }
    Ok(test)
}

/// The name that `meson test` shows if there is more than one suite, so that
/// another suite does not rename all tests.
fn shown_name(listed: &Listed) -> String {
    let suites: Vec<&str> = listed
        .suites
        .iter()
        .filter_map(|suite| suite.split_once(':').map(|(_, name)| name))
        .filter(|name| !name.is_empty())
        .collect();
    let suites = match suites.is_empty() {
        true => String::new(),
        false => format!(":{}", suites.join("+")),
    };
    format!("{}{suites} / {}", listed.project, listed.name)
}

/// How a variable changes, by what became of the mark in its place.
fn changes(name: &str, value: Option<&str>) -> Result<Vec<Variable>, String> {
    let change = |change| Variable { name: name.to_string(), change };
    let Some(value) = value else { return Ok(vec![change(Change::Unset)]) };
    let Some((before, after)) = value.split_once(MARK) else {
        return Ok(vec![change(Change::Set(value.to_string()))]);
    };
    let unknown = || format!("what is between the values of {name} is not known");
    let mut found = Vec::new();
    if !before.is_empty() {
        let split = SEPARATORS.iter().find_map(|s| before.strip_suffix(s).map(|text| (text, *s)));
        let (text, separator) = split.ok_or_else(unknown)?;
        found.push(change(Change::Prepend(text.to_string(), separator)));
    }
    if !after.is_empty() {
        let split = SEPARATORS.iter().find_map(|s| after.strip_prefix(s).map(|text| (text, *s)));
        let (text, separator) = split.ok_or_else(unknown)?;
        found.push(change(Change::Append(text.to_string(), separator)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn parsed(tests: &str) -> Result<Vec<TestCase>, SuiteError> {
        let place = Place { root: Path::new("/p"), suite: "m", directory: Path::new("b") };
        parse(&format!(r#"{{"version":"1.0.1","tests":[{tests}]}}"#), &place)
    }

    fn listed(name: &str, suites: &str, more: &str) -> String {
        format!(
            r#"{{"name":"{name}","project":"pro","suites":[{suites}],"command":["/p/b/t"],
            "should_fail":false,"timeout":30,"is_parallel":true{more}}}"#
        )
    }

    #[test]
    fn names_hold_the_suite_and_are_unique() {
        let rest = r#","variables":{},"workdir":null,"protocol":"exitcode""#;
        let tests = parsed(&format!(
            "{},{},{}",
            listed("a", r#""pro""#, rest),
            listed("a", r#""pro:x","pro:y""#, rest),
            listed("a", r#""pro""#, rest),
        ))
        .unwrap();
        let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, ["pro / a", "pro:x+y / a", "pro / a#2"]);
        assert_eq!(tests[0].directory, PathBuf::from("b"));
    }

    #[test]
    fn variables_by_their_marks() {
        let set = |change| Variable { name: String::from("V"), change };
        let of = |value: &str| changes("V", Some(&value.replace('@', MARK))).unwrap();
        assert_eq!(of("a:b"), [set(Change::Set("a:b".into()))]);
        assert_eq!(of("a:b:@"), [set(Change::Prepend("a:b".into(), ":"))]);
        assert_eq!(of("@,c"), [set(Change::Append("c".into(), ","))]);
        let both = [set(Change::Prepend("a".into(), ":")), set(Change::Append("c".into(), ":"))];
        assert_eq!(of("a:@:c"), both);
        assert_eq!(of("@"), []);
        assert_eq!(changes("V", None).unwrap(), [set(Change::Unset)]);
        assert!(changes("V", Some(&format!("x|{MARK}"))).is_err());
    }

    #[test]
    fn an_unknown_protocol_is_an_error() {
        let rest = r#","variables":{},"workdir":null,"protocol":"junit""#;
        let error = parsed(&listed("a", r#""pro""#, rest)).unwrap_err().to_string();
        assert!(error.contains("suite `m`") && error.contains("`junit`"), "{error}");
    }
}
