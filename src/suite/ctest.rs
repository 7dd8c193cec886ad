//! Suites of kind `ctest`: tests and their properties as CTest lists them. Each
//! command is run by us, and judged as CTest does.

use super::tool::{Place, shown};
use super::{Change, SuiteError, TestCase, TestCommand, Variable, cmake_regex};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

const LIST: &str = "--show-only=json-v1";
/// The version of the list that we know.
const MAJOR: u64 = 1;
/// Where CTest keeps the timeout of tests without one of their own.
const SETTINGS: &str = "DartConfiguration.tcl";
const DISABLED: &str = "it is DISABLED in CMake";

#[derive(Deserialize)]
struct List {
    kind: String,
    version: Version,
    tests: Vec<Listed>,
}

#[derive(Deserialize)]
struct Version {
    major: u64,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    /// Missing if there is no such program, or not in this configuration.
    command: Option<Vec<String>>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    value: Value,
}

/// Asks CTest for the tests of a build directory. The timeout is for those that
/// have none of their own, in the place of CTest's general one.
pub fn read(
    place: &Place,
    build_type: Option<&str>,
    timeout: Option<Duration>,
) -> Result<Vec<TestCase>, SuiteError> {
    if place.absolute().is_dir() && !place.absolute().join("CTestTestfile.cmake").exists() {
        // CTest itself would list no tests, and be content.
        return Err(place.error(format!(
            "{} has no CTestTestfile.cmake\nhint: `directory` names the build directory of \
             CMake, and the project has to call enable_testing()",
            shown(place.directory)
        )));
    }
    let ask = |option: &str| {
        let mut words = vec!["ctest", option];
        words.extend(build_type.iter().flat_map(|name| ["-C", name]));
        place.run(&words, None, "")
    };
    let text = ask(LIST)?;
    let settings = fs_err::read_to_string(place.absolute().join(SETTINGS)).unwrap_or_default();
    let mut tests = parse(&text, timeout.or_else(|| default_timeout(&settings)), place)?;
    add_unavailable(&mut tests, &ask("-N")?);
    Ok(tests)
}

/// Adds what only the list for people has: tests that are not there in this
/// configuration, which CTest fails to run.
fn add_unavailable(tests: &mut Vec<TestCase>, names: &str) {
    let known: HashSet<String> = tests.iter().map(|test| test.name.clone()).collect();
    for line in names.lines() {
        let numbered = line.trim_start().strip_prefix("Test ").map(str::trim_start);
        let Some((_, name)) = numbered.and_then(|rest| rest.strip_prefix('#')?.split_once(": "))
        else {
            continue;
        };
        let enabled = name.strip_suffix(" (Disabled)");
        if !known.contains(name) && !enabled.is_some_and(|name| known.contains(name)) {
            let disabled = enabled.map(|_| String::from(DISABLED));
            let name = enabled.unwrap_or(name).to_string();
            tests.push(TestCase { name, disabled, ..TestCase::default() });
        }
    }
}

/// The timeout that `include(CTest)` leaves; without it there is none.
fn default_timeout(settings: &str) -> Option<Duration> {
    let value = settings.lines().find_map(|line| line.strip_prefix("TimeOut:"))?;
    let seconds = value.trim().parse().ok().filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(seconds))
}

fn parse(
    text: &str,
    default_timeout: Option<Duration>,
    place: &Place,
) -> Result<Vec<TestCase>, SuiteError> {
    let complain = |what: &str| place.error(format!("`ctest {LIST}`: {what}"));
    let start = text.find('{').ok_or_else(|| complain("it printed no list"))?;
    // CTest complains of expressions there that it cannot compile.
    let words = text[..start].trim();
    if !words.is_empty() {
        return Err(complain(words));
    }
    let list: List = serde_json::from_str(text)
        .map_err(|error| complain(&format!("its list is not one that we know: {error}")))?;
    if list.kind != "ctestInfo" || list.version.major != MAJOR {
        let (kind, version) = (list.kind, list.version.major);
        return Err(complain(&format!(
            "its list is {kind} of version {version}, and we know ctestInfo of version {MAJOR}"
        )));
    }
    let mut fixtures = Fixtures::default();
    let mut tests = Vec::new();
    for listed in &list.tests {
        let test = test_case(listed, &mut fixtures, default_timeout, place)
            .map_err(|what| complain(&format!("test `{}`: {what}", listed.name)))?;
        tests.push(test);
    }
    fixtures.connect(&mut tests);
    Ok(tests)
}

/// Tests by the fixtures that they set up, require or clean up.
#[derive(Default)]
struct Fixtures {
    set_up: HashMap<String, Vec<String>>,
    required: HashMap<String, Vec<String>>,
    /// By test.
    requires: HashMap<String, Vec<String>>,
    cleans_up: HashMap<String, Vec<String>>,
}

fn test_case(
    listed: &Listed,
    fixtures: &mut Fixtures,
    default_timeout: Option<Duration>,
    place: &Place,
) -> Result<TestCase, String> {
    let mut test = TestCase { name: listed.name.clone(), ..TestCase::default() };
    test.command = TestCommand::Words(listed.command.clone().unwrap_or_default());
    test.directory = place.directory.to_path_buf();
    test.timeout = default_timeout;
    // What CTest tells its tests, for those that would open a window.
    let interactive = Change::Set(String::from("1"));
    test.environment
        .push(Variable { name: String::from("CTEST_INTERACTIVE_DEBUG_MODE"), change: interactive });
    let mut modifications = Vec::new();
    let mut after_match = None;
    for Property { name, value } in &listed.properties {
        let strings = || strings(value).map_err(|what| format!("{name} is {what}"));
        let expressions = || {
            let translate = |expression: String| {
                cmake_regex::translate(&expression)
                    .map_err(|what| format!("{name} `{expression}`: {what}"))
            };
            strings()?.into_iter().map(translate).collect::<Result<Vec<_>, _>>()
        };
        let number = || value.as_f64().ok_or_else(|| format!("{name} is {value}, not a number"));
        let judgement = &mut test.judgement;
        match name.as_str() {
            "WORKING_DIRECTORY" => {
                let path = value.as_str().ok_or_else(|| format!("{name} is {value}"))?;
                test.directory = place.relative(path);
            }
            "ENVIRONMENT" => test.environment.extend(strings()?.iter().map(|text| variable(text))),
            "ENVIRONMENT_MODIFICATION" => modifications = strings()?,
            "TIMEOUT" => {
                // 0 is for ever.
                let seconds = number()?;
                test.timeout = Duration::try_from_secs_f64(seconds).ok().filter(|t| !t.is_zero());
            }
            "TIMEOUT_AFTER_MATCH" => {
                after_match = value.get("timeout").and_then(Value::as_f64);
            }
            "WILL_FAIL" => judgement.will_fail = is_true(value),
            "PASS_REGULAR_EXPRESSION" => judgement.pass = expressions()?,
            "FAIL_REGULAR_EXPRESSION" => judgement.fail = expressions()?,
            "SKIP_REGULAR_EXPRESSION" => judgement.skip = expressions()?,
            "SKIP_RETURN_CODE" => judgement.skip_code = Some(number()? as i32),
            "REQUIRED_FILES" => judgement.required_files = strings()?,
            "DEPENDS" => test.after = strings()?,
            "FIXTURES_SETUP" => {
                for fixture in strings()? {
                    fixtures.set_up.entry(fixture).or_default().push(test.name.clone());
                }
            }
            "FIXTURES_REQUIRED" => {
                for fixture in strings()? {
                    fixtures.required.entry(fixture).or_default().push(test.name.clone());
                }
                fixtures.requires.insert(test.name.clone(), strings()?);
            }
            "FIXTURES_CLEANUP" => {
                fixtures.cleans_up.insert(test.name.clone(), strings()?);
            }
            "RESOURCE_LOCK" => test.resources.locks = strings()?,
            "RUN_SERIAL" => test.resources.alone = is_true(value),
            "PROCESSORS" => test.resources.processors = (number()? as usize).max(1),
            "LABELS" => test.labels = strings()?,
            "DISABLED" if is_true(value) => {
                test.disabled = Some(String::from(DISABLED));
            }
            // How costs are reckoned, what is attached, and what projects invent.
            _ => {}
        }
    }
    test.environment.extend(modified(&modifications)?);
    // The clock starts anew at the match.
    if let (Some(timeout), Some(more)) = (&mut test.timeout, after_match) {
        *timeout += Duration::try_from_secs_f64(more).unwrap_or_default();
    }
    Ok(test)
}

impl Fixtures {
    /// What sets up comes before, and has to pass; what cleans up comes after.
    fn connect(&self, tests: &mut [TestCase]) {
        // A disabled test keeps nobody waiting.
        let runs: HashMap<String, bool> =
            tests.iter().map(|test| (test.name.clone(), test.disabled.is_none())).collect();
        let all = |by: &HashMap<String, Vec<String>>, fixtures: Option<&Vec<String>>| {
            let mut found: Vec<String> = Vec::new();
            for test in fixtures.into_iter().flatten().filter_map(|f| by.get(f)).flatten() {
                if !found.contains(test) {
                    found.push(test.clone());
                }
            }
            found
        };
        for test in tests {
            test.needs = all(&self.set_up, self.requires.get(&test.name));
            test.needs.retain(|need| runs.get(need) == Some(&true));
            test.cleans_up_for = all(&self.required, self.cleans_up.get(&test.name));
            // CTest lists what sets up and, for what cleans up, all users too.
            let needs = &test.needs;
            test.after.retain(|other| runs.get(other) == Some(&true) && !needs.contains(other));
        }
    }
}

fn is_true(value: &Value) -> bool {
    value == &Value::Bool(true)
}

/// A list of strings; of a single one CTest makes a list too.
fn strings(value: &Value) -> Result<Vec<String>, String> {
    let not_strings = || format!("{value}, not a list of texts");
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(values) => {
            let texts = values.iter().map(|value| value.as_str().map(String::from));
            texts.collect::<Option<_>>().ok_or_else(not_strings)
        }
        _ => Err(not_strings()),
    }
}

/// `NAME=VALUE`, or a name alone, which is taken out of the environment.
fn variable(text: &str) -> Variable {
    match text.split_once('=') {
        Some((name, value)) => {
            Variable { name: name.to_string(), change: Change::Set(value.to_string()) }
        }
        None => Variable { name: text.to_string(), change: Change::Unset },
    }
}

/// Changes like `PATH=path_list_prepend:/opt/bin`.
fn modified(modifications: &[String]) -> Result<Vec<Variable>, String> {
    let mut changes: Vec<Variable> = Vec::new();
    for modification in modifications {
        let parts = modification
            .split_once('=')
            .and_then(|(name, rest)| rest.split_once(':').map(|(how, value)| (name, how, value)));
        let unknown = || format!("ENVIRONMENT_MODIFICATION `{modification}` is not understood");
        let (name, how, value) = parts.ok_or_else(unknown)?;
        let value = value.to_string();
        let change = match how {
            "reset" => {
                changes.retain(|change| change.name != name);
                continue;
            }
            "set" => Change::Set(value),
            "unset" => Change::Unset,
            "string_append" => Change::Append(value, ""),
            "string_prepend" => Change::Prepend(value, ""),
            "path_list_append" => Change::Append(value, ":"),
            "path_list_prepend" => Change::Prepend(value, ":"),
            "cmake_list_append" => Change::Append(value, ";"),
            "cmake_list_prepend" => Change::Prepend(value, ";"),
            _ => return Err(unknown()),
        };
        changes.push(Variable { name: name.to_string(), change });
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn parsed(tests: &str) -> Result<Vec<TestCase>, SuiteError> {
        let place = Place { root: Path::new("/p"), suite: "unit", directory: Path::new("build") };
        let text = format!(
            r#"{{"kind":"ctestInfo","version":{{"major":1,"minor":0}},"tests":[{tests}]}}"#
        );
        parse(&text, Some(Duration::from_secs(1500)), &place)
    }

    fn with(properties: &str) -> Result<TestCase, SuiteError> {
        let tests = parsed(&format!(
            r#"{{"name":"t","command":["/p/build/t"],"properties":[{properties}]}}"#
        ));
        tests.map(|mut tests| tests.remove(0))
    }

    #[test]
    fn directories_are_relative_to_the_root() {
        let test = with(r#"{"name":"WORKING_DIRECTORY","value":"/p/build/sub"}"#).unwrap();
        assert_eq!(test.directory, PathBuf::from("build/sub"));
        let test = with(r#"{"name":"WORKING_DIRECTORY","value":"/tmp"}"#).unwrap();
        assert_eq!(test.directory, PathBuf::from("/tmp"));
    }

    #[test]
    fn timeouts() {
        assert_eq!(with("").unwrap().timeout, Some(Duration::from_secs(1500)));
        let timeout = |text| with(text).unwrap().timeout;
        assert_eq!(timeout(r#"{"name":"TIMEOUT","value":0.0}"#), None);
        let two = r#"{"name":"TIMEOUT","value":2.5},{"name":"TIMEOUT_AFTER_MATCH","value":{"regex":["x"],"timeout":4.0}}"#;
        assert_eq!(timeout(two), Some(Duration::from_millis(6500)));
        assert_eq!(default_timeout("# x\nTimeOut: 1500\n"), Some(Duration::from_secs(1500)));
        assert_eq!(default_timeout("TimeOut:\n"), None);
    }

    #[test]
    fn variables_are_set_and_changed_in_order() {
        let text = r#"{"name":"ENVIRONMENT_MODIFICATION","value":["A=set:1","A=reset:","P=path_list_append:/x:y","Q=unset:"]},
            {"name":"ENVIRONMENT","value":["B=x=y","C"]}"#;
        let test = with(text).unwrap();
        let set = |name: &str, change| Variable { name: name.to_string(), change };
        let expected = [
            set("CTEST_INTERACTIVE_DEBUG_MODE", Change::Set("1".into())),
            set("B", Change::Set("x=y".into())),
            set("C", Change::Unset),
            set("P", Change::Append("/x:y".into(), ":")),
            set("Q", Change::Unset),
        ];
        assert_eq!(test.environment, expected);
        assert!(with(r#"{"name":"ENVIRONMENT_MODIFICATION","value":["A=guess:1"]}"#).is_err());
    }

    #[test]
    fn fixtures_connect_tests() {
        let tests = parsed(
            r#"{"name":"up","properties":[{"name":"FIXTURES_SETUP","value":["db"]}]},
            {"name":"off","properties":[{"name":"FIXTURES_SETUP","value":["db"]},{"name":"DISABLED","value":true}]},
            {"name":"use","properties":[{"name":"FIXTURES_REQUIRED","value":["db"]},{"name":"DEPENDS","value":["first","gone","up"]}]},
            {"name":"first"},
            {"name":"down","properties":[{"name":"FIXTURES_CLEANUP","value":["db"]},{"name":"DEPENDS","value":["use","up"]}]}"#,
        )
        .unwrap();
        assert_eq!((&tests[2].needs, &tests[2].after), (&vec!["up".into()], &vec!["first".into()]));
        assert_eq!(tests[4].cleans_up_for, ["use"]);
        assert_eq!(tests[4].after, ["use", "up"]);
        assert!(tests[1].disabled.is_some());
        assert_eq!(tests[0].command, TestCommand::Words(vec![]));
    }

    #[test]
    fn tests_that_only_the_other_list_has_are_not_available() {
        let mut tests =
            parsed(r#"{"name":"a"},{"name":"b","properties":[{"name":"DISABLED","value":true}]}"#)
                .unwrap();
        let names = "Test project /p\n  Test  #1: a\n  Test  #2: b (Disabled)\n  Test #10: c: d\n  Test #11: e (Disabled)\n\nTotal Tests: 4\n";
        add_unavailable(&mut tests, names);
        let shown: Vec<_> =
            tests.iter().map(|test| (test.name.as_str(), test.disabled.is_some())).collect();
        assert_eq!(shown, [("a", false), ("b", true), ("c: d", false), ("e", true)]);
        assert_eq!(tests[2].command, TestCommand::Words(vec![]));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        let place = Place { root: Path::new("/p"), suite: "unit", directory: Path::new("") };
        let later = r#"{"kind":"ctestInfo","version":{"major":2,"minor":0},"tests":[]}"#;
        let error = parse(later, None, &place).unwrap_err().to_string();
        assert!(error.contains("suite `unit`") && error.contains("version 2"), "{error}");
        let error = with(r#"{"name":"PASS_REGULAR_EXPRESSION","value":["(a*)*"]}"#).unwrap_err();
        assert!(error.to_string().contains("`(a*)*`"), "{error}");
        let error = parse("RegularExpression::compile(): Nested\n{}", None, &place).unwrap_err();
        assert!(error.to_string().contains("Nested"), "{error}");
    }
}
