//! GitHub Actions: jobs in the order of their needs, the actions that our workflow uses, and caches that
//! belong to a branch.

use super::expression::{Scope, holds, interpolated, value};
use super::{Fate, Machine, Origin, copy_any, install, strings, yaml};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What began a run.
pub struct Event {
    pub name: &'static str,
    pub sha: String,
    /// Whose caches are written.
    pub branch: String,
    pub number: Option<u64>,
}

impl Event {
    pub fn push(sha: &str) -> Self {
        let branch = String::from("refs/heads/main");
        Self { name: "push", sha: sha.to_string(), branch, number: None }
    }

    pub fn pull_request(number: u64, sha: &str) -> Self {
        let branch = format!("refs/pull/{number}/merge");
        Self { name: "pull_request", sha: sha.to_string(), branch, number: Some(number) }
    }
}

/// Whoever runs the workflow.
pub trait Service {
    fn run(&mut self, origin: &Origin, event: &Event) -> Run;

    /// Throws away what begins with a key, as the service does when there is no room.
    fn evict(&mut self, prefix: &str) -> usize;
}

struct Cache {
    branch: String,
    key: String,
    /// Where each path of it is kept.
    files: Vec<(String, PathBuf)>,
}

/// A service with its caches.
pub struct Github {
    workflow: Value,
    store: tempfile::TempDir,
    caches: Vec<Cache>,
    runs: usize,
    machines: usize,
}

/// What became of a run.
#[derive(Debug, Default)]
pub struct Run {
    pub fates: BTreeMap<String, Fate>,
    /// Tests that ran, for each job that ran some.
    pub tests: Vec<(String, BTreeSet<String>)>,
    pub summary: String,
    /// What all steps printed.
    pub log: String,
    pub(super) outputs: BTreeMap<String, Value>,
    pub(super) artifacts: BTreeMap<String, PathBuf>,
}

impl Run {
    #[track_caller]
    pub fn fate(&self, job: &str) -> Fate {
        *self.fates.get(job).unwrap_or_else(|| panic!("no job {job}"))
    }

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

/// A job on its machine.
struct Steps<'a> {
    machine: &'a Machine,
    event: &'a Event,
    origin: &'a Origin,
    shell: Option<String>,
    succeeded: bool,
    /// `with` of an action around these steps.
    inputs: Value,
    outputs: Map<String, Value>,
}

impl Github {
    pub fn new(workflow: &Path) -> Self {
        let store = tempfile::tempdir().unwrap();
        Self { workflow: yaml(workflow), store, caches: Vec::new(), runs: 0, machines: 0 }
    }

    /// The tool as an earlier run left it in the cache.
    pub fn seed_tool(&mut self, key: &str) {
        let kept = self.store.path().join("tool");
        install(&kept);
        let files = ["edgewise", "edgewise-cc"];
        let files = files.map(|name| (format!("~/.cargo/bin/{name}"), kept.join(name)));
        let branch = String::from("refs/heads/main");
        self.caches.push(Cache { branch, key: key.to_string(), files: files.to_vec() });
    }

    fn contexts(&self, run: &Run, event: &Event, job: &Value) -> Value {
        let needs = strings(&job["needs"]).into_iter().map(|need| {
            let outputs = run.outputs.get(&need).cloned().unwrap_or_default();
            let result = run.fates[&need].word();
            (need, json!({ "result": result, "outputs": outputs }))
        });
        json!({
            "github": {
                "event_name": event.name,
                "sha": event.sha,
                "ref": event.branch,
                "run_id": 1000 + self.runs,
                "run_attempt": 1,
                "event": { "number": event.number },
            },
            "needs": needs.collect::<Map<_, _>>(),
        })
    }

    fn job(
        &mut self,
        run: &mut Run,
        origin: &Origin,
        event: &Event,
        name: &str,
        job: &Value,
    ) -> Fate {
        let mut contexts = self.contexts(run, event, job);
        let needs = strings(&job["needs"]);
        let succeeded = needs.iter().all(|need| run.fates[need] == Fate::Success);
        let condition = job["if"].as_str().unwrap_or("success()");
        if !holds(condition, &Scope { contexts: &contexts, succeeded }) {
            return Fate::Skipped;
        }
        let rounds = rounds(&job["strategy"]["matrix"], &Scope { contexts: &contexts, succeeded });
        // As the service does it: a job of no rounds is an error.
        let mut fate = if rounds.is_empty() { Fate::Failure } else { Fate::Success };
        for round in rounds {
            contexts["matrix"] = round;
            self.machines += 1;
            let machine = Machine::new(self.machines);
            let shell = self.workflow["defaults"]["run"]["shell"].as_str().map(str::to_string);
            let mut steps = Steps {
                machine: &machine,
                event,
                origin,
                shell,
                succeeded: true,
                inputs: Value::Null,
                outputs: Map::new(),
            };
            self.steps(run, &mut steps, &mut contexts, job["steps"].as_array().unwrap());
            if !steps.succeeded {
                fate = Fate::Failure;
            }
            contexts["steps"] = Value::Object(steps.outputs);
            let scope = Scope { contexts: &contexts, succeeded: true };
            let outputs = job["outputs"].as_object().into_iter().flatten();
            let outputs = outputs.map(|(name, text)| {
                (name.clone(), interpolated(text.as_str().unwrap(), &scope).into())
            });
            run.outputs.insert(name.to_string(), Value::Object(outputs.collect()));
            let tests = machine.tests();
            if !tests.is_empty() {
                run.tests.push((name.to_string(), tests));
            }
        }
        fate
    }

    fn steps(&mut self, run: &mut Run, steps: &mut Steps<'_>, contexts: &mut Value, all: &[Value]) {
        for step in all {
            contexts["steps"] = Value::Object(steps.outputs.clone());
            contexts["inputs"] = steps.inputs.clone();
            let scope = Scope { contexts, succeeded: steps.succeeded };
            let condition = step["if"].as_str().unwrap_or("success()");
            if !holds(condition, &scope) {
                continue;
            }
            let filled = |values: &Value| -> BTreeMap<String, String> {
                let values = values.as_object().into_iter().flatten();
                let text = |value: &Value| match value {
                    Value::String(text) => interpolated(text, &scope),
                    other => other.to_string(),
                };
                values.map(|(name, value)| (name.clone(), text(value))).collect()
            };
            let (with, env) = (filled(&step["with"]), filled(&step["env"]));
            let id = step["id"].as_str().unwrap_or("").to_string();
            let is_fine = match (step["uses"].as_str(), step["run"].as_str()) {
                (Some(action), None) if action.starts_with("./") => {
                    self.composite(run, steps, contexts, action, with)
                }
                (Some(action), None) => self.action(run, steps, action, &with, &id),
                (None, Some(script)) => {
                    let shell = step["shell"].as_str().map(str::to_string);
                    shell_step(run, steps, &interpolated(script, &scope), shell, &env, &id)
                }
                _ => panic!("a step either uses an action or runs something: {step}"),
            };
            if !is_fine && step["continue-on-error"] != true {
                steps.succeeded = false;
            }
        }
    }

    /// An action of the repository itself.
    fn composite(
        &mut self,
        run: &mut Run,
        steps: &mut Steps<'_>,
        contexts: &mut Value,
        action: &str,
        with: BTreeMap<String, String>,
    ) -> bool {
        let action = yaml(&steps.machine.work.join(action).join("action.yml"));
        let mut inputs = Map::new();
        for (name, input) in action["inputs"].as_object().into_iter().flatten() {
            let given = with.get(name).cloned().map(Value::String);
            inputs.insert(name.clone(), given.unwrap_or_else(|| input["default"].clone()));
        }
        assert_eq!(action["runs"]["using"], "composite");
        let all = action["runs"]["steps"].as_array().unwrap();
        let has_shell = |step: &Value| step["run"].is_null() || step["shell"].is_string();
        assert!(all.iter().all(has_shell), "a step of an action has to name its shell");
        let mut own = Steps {
            machine: steps.machine,
            event: steps.event,
            origin: steps.origin,
            shell: None,
            succeeded: true,
            inputs: Value::Object(inputs),
            outputs: Map::new(),
        };
        self.steps(run, &mut own, contexts, all);
        own.succeeded
    }

    fn action(
        &mut self,
        run: &mut Run,
        steps: &mut Steps<'_>,
        action: &str,
        with: &BTreeMap<String, String>,
        id: &str,
    ) -> bool {
        let (name, _) = action.split_once('@').expect("an action has a version");
        match name {
            "actions/checkout" => {
                steps.machine.check_out(steps.origin.directory.path(), &steps.event.sha);
                true
            }
            "actions/cache" | "actions/cache/restore" => {
                let hit = self.restore(steps, with);
                // With what a step behind it would make, the first would save it.
                assert!(hit || name != "actions/cache", "{} is not in the cache", with["key"]);
                let outputs = json!({ "outputs": { "cache-hit": hit.to_string() } });
                steps.outputs.insert(id.to_string(), outputs);
                true
            }
            "actions/cache/save" => self.save(steps, with),
            "actions/upload-artifact" => self.upload(run, steps, with),
            "actions/download-artifact" => {
                let (before, behind) = with["pattern"].split_once('*').expect("a pattern");
                for (name, kept) in &run.artifacts {
                    if name.starts_with(before) && name.ends_with(behind) {
                        copy_any(kept, &steps.machine.work.join(&with["path"]).join(name));
                    }
                }
                true
            }
            _ => panic!("{action} is not known here"),
        }
    }

    /// Whether exactly that key was there. A beginning of it gives files too, and says no.
    fn restore(&self, steps: &Steps<'_>, with: &BTreeMap<String, String>) -> bool {
        let key = &with["key"];
        let others = with.get("restore-keys").map(String::as_str).unwrap_or_default();
        let others: Vec<&str> = others.lines().filter(|line| !line.is_empty()).collect();
        let paths: Vec<&str> = with["path"].lines().filter(|line| !line.is_empty()).collect();
        for branch in [steps.event.branch.as_str(), "refs/heads/main"] {
            // A cache of other paths is another cache, whatever its key is.
            let is_ours = |cache: &&Cache| {
                cache.branch == branch && cache.files.iter().map(|(path, _)| path).eq(paths.iter())
            };
            let ours: Vec<&Cache> = self.caches.iter().filter(is_ours).collect();
            let exact = ours.iter().find(|cache| cache.key == *key);
            let newest =
                |begin: &str| ours.iter().rev().find(move |cache| cache.key.starts_with(begin));
            let found = exact.or_else(|| newest(key));
            let Some(cache) = found.or_else(|| others.iter().find_map(|begin| newest(begin)))
            else {
                continue;
            };
            for (path, kept) in &cache.files {
                copy_any(kept, &place(steps.machine, path));
            }
            return cache.key == *key;
        }
        false
    }

    fn save(&mut self, steps: &Steps<'_>, with: &BTreeMap<String, String>) -> bool {
        let is_there =
            self.caches.iter().any(|c| c.key == with["key"] && c.branch == steps.event.branch);
        assert!(!is_there, "{} is in the cache, and stays as it is", with["key"]);
        let mut files = Vec::new();
        for (number, path) in with["path"].lines().filter(|line| !line.is_empty()).enumerate() {
            let kept = self.store.path().join(format!("cache-{}-{number}", self.caches.len()));
            let from = place(steps.machine, path);
            if from.exists() {
                copy_any(&from, &kept);
                files.push((path.to_string(), kept));
            }
        }
        let branch = steps.event.branch.clone();
        self.caches.push(Cache { branch, key: with["key"].clone(), files });
        true
    }

    fn upload(
        &mut self,
        run: &mut Run,
        steps: &Steps<'_>,
        with: &BTreeMap<String, String>,
    ) -> bool {
        let path = Path::new(&with["path"]);
        let is_hidden = path.iter().any(|part| part.to_string_lossy().starts_with('.'));
        let takes_hidden = with.get("include-hidden-files").is_some_and(|value| value == "true");
        let from = steps.machine.work.join(path);
        if !from.exists() || is_hidden && !takes_hidden {
            return true;
        }
        assert!(from.is_file(), "only single files are handed on here");
        let kept = self.store.path().join(format!("artifact-{}-{}", self.runs, with["name"]));
        copy_any(&from, &kept.join(path.file_name().unwrap()));
        let old = run.artifacts.insert(with["name"].clone(), kept);
        old.is_none()
    }
}

impl Service for Github {
    fn run(&mut self, origin: &Origin, event: &Event) -> Run {
        self.runs += 1;
        let mut run = Run::default();
        let jobs = self.workflow["jobs"].as_object().unwrap().clone();
        while run.fates.len() < jobs.len() {
            let is_ready = |(name, job): &(&String, &Value)| {
                let needs = strings(&job["needs"]);
                !run.fates.contains_key(*name)
                    && needs.iter().all(|need| run.fates.contains_key(need))
            };
            let (name, job) = jobs.iter().find(is_ready).expect("jobs do not need each other");
            let fate = self.job(&mut run, origin, event, name, job);
            run.fates.insert(name.clone(), fate);
        }
        run
    }

    fn evict(&mut self, prefix: &str) -> usize {
        let before = self.caches.len();
        self.caches.retain(|cache| !cache.key.starts_with(prefix));
        before - self.caches.len()
    }
}

/// Where a path of a cache is on a machine.
fn place(machine: &Machine, path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => machine.home().join(rest),
        None => machine.work.join(path),
    }
}

/// What a matrix makes of a job: one round without one.
fn rounds(matrix: &Value, scope: &Scope<'_>) -> Vec<Value> {
    let matrix = match matrix {
        Value::Null => return vec![Value::Null],
        Value::String(text) => value(text, scope),
        other => other.clone(),
    };
    let matrix = matrix.as_object().expect("a matrix");
    let (name, values) = matrix.iter().next().expect("a matrix has a dimension");
    assert_eq!(matrix.len(), 1, "one dimension is enough here");
    let values = values.as_array().expect("values");
    match name.as_str() {
        "include" => values.clone(),
        _ => values.iter().map(|value| json!({ name: value })).collect(),
    }
}

fn shell_step(
    run: &mut Run,
    steps: &mut Steps<'_>,
    script: &str,
    shell: Option<String>,
    env: &BTreeMap<String, String>,
    id: &str,
) -> bool {
    let options: &[&str] = match shell.or(steps.shell.clone()).as_deref() {
        Some("bash") => &["--noprofile", "--norc", "-eo", "pipefail"],
        None => &["-e"],
        Some(other) => panic!("{other} is no shell that is known here"),
    };
    let (outputs, summary) = (steps.machine.scratch("outputs"), steps.machine.scratch("summary"));
    std::fs::write(&outputs, "").unwrap();
    std::fs::write(&summary, "").unwrap();
    let mut shell = steps.machine.shell(options, script);
    shell.envs(env).env("GITHUB_OUTPUT", &outputs).env("GITHUB_STEP_SUMMARY", &summary);
    let output = shell.output().unwrap();
    run.log.push_str(&format!("$ {script}\n"));
    run.log.push_str(&String::from_utf8_lossy(&output.stdout));
    run.log.push_str(&String::from_utf8_lossy(&output.stderr));
    run.summary.push_str(&std::fs::read_to_string(summary).unwrap());
    let lines = std::fs::read_to_string(outputs).unwrap();
    let values = lines.lines().map(|line| {
        let (name, value) = line.split_once('=').expect("name=value");
        (name.to_string(), Value::from(value))
    });
    if !id.is_empty() {
        let values: Map<String, Value> = values.collect();
        steps.outputs.insert(id.to_string(), json!({ "outputs": values }));
    }
    output.status.success()
}
