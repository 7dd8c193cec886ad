//! GitLab: jobs in the order of their needs, rules, caches of protected and other branches, artifacts that
//! are put where they came from.

use super::{Fate, Machine, Origin, copy_any, install, strings, yaml};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Whoever runs the pipeline.
pub trait Service {
    fn push(&mut self, origin: &Origin, sha: &str) -> Pipeline;
    fn merge_request(&mut self, origin: &Origin, number: u64, sha: &str) -> Pipeline;
    fn evict(&mut self) -> usize;
}

pub struct Gitlab {
    pipeline: Value,
    store: tempfile::TempDir,
    /// By the key with its suffix: each path, and where it is kept.
    caches: BTreeMap<String, Vec<(String, PathBuf)>>,
    machines: usize,
}

#[derive(Debug, Default)]
pub struct Pipeline {
    /// Only jobs that the rules let in.
    pub fates: BTreeMap<String, Fate>,
    pub tests: Vec<(String, BTreeSet<String>)>,
    pub log: String,
    /// Of each job: paths, and where they are kept.
    pub(super) artifacts: BTreeMap<String, Vec<(String, PathBuf)>>,
}

impl Pipeline {
    /// All tests that ran, each of which may run only once.
    #[track_caller]
    pub fn ran(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for (job, tests) in &self.tests {
            for test in tests {
                assert!(all.insert(test.clone()), "{test} ran twice, the second time in {job}");
            }
        }
        all
    }
}

pub type Variables = BTreeMap<String, String>;

/// Keys of the file that are no jobs.
const NO_JOBS: &[&str] = &["stages", "workflow", "default", "variables", "include"];

impl Gitlab {
    pub fn new(pipeline: &Path) -> Self {
        let store = tempfile::tempdir().unwrap();
        Self { pipeline: yaml(pipeline), store, caches: BTreeMap::new(), machines: 0 }
    }

    pub fn jobs(&self) -> BTreeMap<String, Value> {
        jobs(&self.pipeline)
    }

    fn run(&mut self, origin: &Origin, sha: &str, given: &[(&str, &str)]) -> Pipeline {
        let mut variables: Variables =
            given.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        variables.insert(String::from("CI_DEFAULT_BRANCH"), String::from("main"));
        let when = rule(&self.pipeline["workflow"]["rules"], &variables);
        assert!(when.is_some(), "the rules of the workflow let no pipeline in");
        let mut jobs = self.jobs();
        jobs.retain(|_, job| rule(&job["rules"], &variables).is_some());
        let mut pipeline = Pipeline::default();
        while pipeline.fates.len() < jobs.len() {
            let is_ready = |(name, job): &(&String, &Value)| {
                let needs = strings(&job["needs"]);
                let unknown = needs.iter().find(|need| !jobs.contains_key(*need));
                assert_eq!(unknown, None, "{name} needs a job that is not in the pipeline");
                !pipeline.fates.contains_key(*name)
                    && needs.iter().all(|need| pipeline.fates.contains_key(need))
            };
            let (name, job) = jobs.iter().find(is_ready).expect("jobs do not need each other");
            let when = rule(&job["rules"], &variables).unwrap();
            let succeeded =
                strings(&job["needs"]).iter().all(|need| pipeline.fates[need] == Fate::Success);
            let fate = match when.as_str() {
                "always" => self.job(&mut pipeline, origin, sha, &variables, name, job),
                "on_success" if succeeded => {
                    self.job(&mut pipeline, origin, sha, &variables, name, job)
                }
                "on_success" => Fate::Skipped,
                other => panic!("`when: {other}` is not known here"),
            };
            pipeline.fates.insert(name.clone(), fate);
        }
        pipeline
    }

    fn job(
        &mut self,
        pipeline: &mut Pipeline,
        origin: &Origin,
        sha: &str,
        variables: &Variables,
        name: &str,
        job: &Value,
    ) -> Fate {
        let mut fate = Fate::Success;
        let nodes = job["parallel"].as_u64().unwrap_or(1);
        let mut kept = Vec::new();
        for node in 1..=nodes {
            let mut variables = variables.clone();
            variables.insert(String::from("CI_NODE_INDEX"), node.to_string());
            variables.insert(String::from("CI_NODE_TOTAL"), nodes.to_string());
            self.machines += 1;
            let machine = Machine::new(self.machines);
            install(&machine.home().join(".cargo/bin"));
            machine.check_out(origin.directory.path(), sha);
            self.restore(&machine, &job["cache"], &variables);
            for (path, from) in
                strings(&job["needs"]).iter().flat_map(|need| &pipeline.artifacts[need])
            {
                copy_any(from, &machine.work.join(path));
            }
            let run = |lines: &Value, log: &mut String| {
                let script = strings(lines).join("\n");
                let mut shell = machine.shell(&["-eo", "pipefail"], &script);
                let output = shell.envs(&variables).output().unwrap();
                log.push_str(&format!("{name} {node}\n"));
                log.push_str(&String::from_utf8_lossy(&output.stdout));
                log.push_str(&String::from_utf8_lossy(&output.stderr));
                output.status.success()
            };
            let succeeded = run(&job["script"], &mut pipeline.log);
            if !job["after_script"].is_null() {
                run(&job["after_script"], &mut pipeline.log);
            }
            if succeeded {
                self.save(&machine, &job["cache"], &variables);
            } else {
                fate = Fate::Failure;
            }
            if succeeded || job["artifacts"]["when"] == "always" {
                for path in strings(&job["artifacts"]["paths"]) {
                    let to = self.store.path().join(format!(
                        "artifact-{}-{}",
                        self.machines,
                        kept.len()
                    ));
                    if machine.work.join(&path).exists() {
                        copy_any(&machine.work.join(&path), &to);
                        kept.push((path, to));
                    }
                }
            }
            let tests = machine.tests();
            if !tests.is_empty() {
                pipeline.tests.push((format!("{name} {node}"), tests));
            }
        }
        pipeline.artifacts.insert(name.to_string(), kept);
        fate
    }

    fn restore(&self, machine: &Machine, cache: &Value, variables: &Variables) {
        if cache.is_null() || cache["policy"] == "push" {
            return;
        }
        let keys = strings(&cache["key"]).into_iter().chain(strings(&cache["fallback_keys"]));
        let mut keys = keys.map(|key| key_of(&key, cache, variables));
        for (path, from) in keys.find_map(|key| self.caches.get(&key)).into_iter().flatten() {
            copy_any(from, &machine.work.join(path));
        }
    }

    fn save(&mut self, machine: &Machine, cache: &Value, variables: &Variables) {
        if cache.is_null() || cache["policy"] == "pull" {
            return;
        }
        let mut files = Vec::new();
        for path in strings(&cache["paths"]) {
            let to = self.store.path().join(format!("cache-{}-{}", self.machines, files.len()));
            if machine.work.join(&path).exists() {
                copy_any(&machine.work.join(&path), &to);
                files.push((path, to));
            }
        }
        self.caches.insert(key_of(cache["key"].as_str().unwrap(), cache, variables), files);
    }
}

impl Service for Gitlab {
    fn push(&mut self, origin: &Origin, sha: &str) -> Pipeline {
        let variables = [("CI_PIPELINE_SOURCE", "push"), ("CI_COMMIT_BRANCH", "main")];
        self.run(origin, sha, &variables)
    }

    fn merge_request(&mut self, origin: &Origin, number: u64, sha: &str) -> Pipeline {
        let number = number.to_string();
        let source = ("CI_PIPELINE_SOURCE", "merge_request_event");
        self.run(origin, sha, &[source, ("CI_MERGE_REQUEST_IID", &number)])
    }

    fn evict(&mut self) -> usize {
        std::mem::take(&mut self.caches).len()
    }
}

pub fn jobs(pipeline: &Value) -> BTreeMap<String, Value> {
    let all = pipeline.as_object().unwrap().iter();
    let jobs = all.filter(|(name, _)| !NO_JOBS.contains(&name.as_str()) && !name.starts_with('.'));
    jobs.map(|(name, job)| (name.clone(), job.clone())).collect()
}

/// A key with its suffix: main is protected, merge requests are not.
fn key_of(key: &str, cache: &Value, variables: &Variables) -> String {
    let key = expanded(key, variables);
    let is_protected = variables.contains_key("CI_COMMIT_BRANCH") && cache["unprotect"] != true;
    format!("{key}-{}", if is_protected { "protected" } else { "non_protected" })
}

pub fn expanded(text: &str, variables: &Variables) -> String {
    let expression = regex::Regex::new(r"\$(\w+)").unwrap();
    let value = |found: &regex::Captures<'_>| variables.get(&found[1]).cloned().unwrap_or_default();
    expression.replace_all(text, value).into_owned()
}

/// The `when` of the first rule that holds.
fn rule(rules: &Value, variables: &Variables) -> Option<String> {
    let rules = rules.as_array().expect("rules");
    let found = rules.iter().find(|rule| {
        let condition = rule["if"].as_str().expect("a rule has a condition");
        let (left, right) = condition.split_once(" == ").expect("a comparison");
        let side = |text: &str| match text.strip_prefix('$') {
            Some(name) => variables.get(name).cloned().unwrap_or_default(),
            None => text.trim_matches('"').to_string(),
        };
        side(left) == side(right)
    })?;
    Some(found["when"].as_str().unwrap_or("on_success").to_string())
}
