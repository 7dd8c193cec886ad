//! Tools that others wrote, which run workflows on this machine without containers: act those of GitHub,
//! gitlab-ci-local those of GitLab. `scripts/real-workflows` installs them.

use super::github::{self, Event, Run};
use super::gitlab::{self, Pipeline, Variables};
use super::{Fate, Origin, check_out, copy_any, git, strings, tests_in, yaml};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What comes with this file: actions that need no network, and an rsync for gitlab-ci-local.
const OURS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/ci/tools");

fn installed(path: &str) -> PathBuf {
    let directory = std::env::var_os("EDGEWISE_WORKFLOW_TOOLS");
    Path::new(&directory.expect("scripts/real-workflows runs this")).join(path)
}

/// Where a tool keeps what it has, with an edgewise that is looked at: the tools clear away what jobs leave.
struct Place {
    directory: tempfile::TempDir,
    runs: usize,
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap(), runs: 0 };
        let programs = place.path("home/.cargo/bin");
        std::fs::create_dir_all(&programs).unwrap();
        let edgewise = Path::new(env!("CARGO_BIN_EXE_edgewise"));
        let script = format!(
            "#!/bin/sh\n\
             '{}' \"$@\"\n\
             status=$?\n\
             if [ \"$1\" = run ] && [ -e .edgewise/results.xml ]; then\n\
             cp .edgewise/results.xml '{kept}/'$$.xml\n\
             fi\n\
             if [ -s \"${{GITHUB_STEP_SUMMARY-}}\" ]; then cp \"$GITHUB_STEP_SUMMARY\" '{kept}/summary'; fi\n\
             exit $status\n",
            edgewise.display(),
            kept = place.path("kept").display(),
        );
        std::fs::write(place.path("edgewise"), script).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.path("edgewise"), executable).unwrap();
        let links = [
            ("edgewise", place.path("edgewise")),
            ("edgewise-cc", edgewise.with_file_name("edgewise-cc")),
        ];
        for (name, to) in links {
            std::os::unix::fs::symlink(to, programs.join(name)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The next run: a clone in another directory.
    fn project(&mut self, origin: &Origin, sha: &str) -> PathBuf {
        self.runs += 1;
        let kept = self.path("kept");
        let _ = std::fs::remove_dir_all(&kept);
        std::fs::create_dir_all(&kept).unwrap();
        let project = self.path(&format!("run{}/project", self.runs));
        std::fs::create_dir_all(&project).unwrap();
        check_out(&project, origin.directory.path(), sha);
        project
    }

    /// A tool with a fresh environment. Directories come before the rest of the path.
    fn tool(&self, program: PathBuf, directory: &Path, before: &[PathBuf]) -> Command {
        let programs = [self.path("home/.cargo/bin"), self.path("")];
        let system = std::env::var_os("PATH").unwrap();
        let system: Vec<PathBuf> = std::env::split_paths(&system).collect();
        let path = std::env::join_paths(before.iter().chain(&programs).chain(&system)).unwrap();
        let mut tool = Command::new(program);
        tool.current_dir(directory).env_clear().env("PATH", path);
        tool.env("HOME", self.path("home")).env("LC_ALL", "C.UTF-8");
        tool.envs(std::env::var_os("EDGEWISE_CACHE").map(|cache| ("EDGEWISE_CACHE", cache)));
        tool
    }

    /// Of each `edgewise run`: what ran.
    fn tests(&self) -> Vec<(String, BTreeSet<String>)> {
        let results = std::fs::read_dir(self.path("kept")).unwrap().map(|entry| entry.unwrap());
        let tests = results.map(|result| {
            (result.file_name().to_string_lossy().into_owned(), tests_in(&result.path()))
        });
        tests.filter(|(_, tests)| !tests.is_empty()).collect()
    }
}

fn text_of(output: &Output) -> String {
    let both = [&output.stdout, &output.stderr];
    both.map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

pub struct Act {
    place: Place,
    workflow: PathBuf,
    /// The step that restores the tool, with its key.
    tool: Value,
}

impl Act {
    /// As for a service that knows the tool already.
    pub fn new(workflow: &Path, action: &Path) -> Self {
        let action = yaml(action);
        let tag = action["inputs"]["tag"]["default"].as_str().unwrap();
        let mut tool = action["runs"]["steps"][0]["with"].clone();
        tool["key"] = tool["key"].as_str().unwrap().replace("${{ inputs.tag }}", tag).into();
        let act = Self { place: Place::new(), workflow: workflow.to_path_buf(), tool };
        act.seed();
        act
    }

    fn seed(&self) {
        let save = json!({ "uses": "actions/cache/save@v4", "with": self.tool });
        let seed = json!({
            "on": "push",
            "jobs": { "seed": { "runs-on": "ubuntu-24.04", "steps": [save] } },
        });
        let directory = self.place.path("seed");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("seed.yml"), seed.to_string()).unwrap();
        let mut act = self.act(&directory);
        let output = act.args(["push", "--workflows", "seed.yml"]).output().unwrap();
        assert!(output.status.success(), "{}", text_of(&output));
    }

    fn act(&self, directory: &Path) -> Command {
        let mut act = self.place.tool(installed("venv/bin/act"), directory, &[]);
        act.args(["--json", "--strict", "--platform", "ubuntu-24.04=-self-hosted"]);
        for name in ["cache", "upload-artifact", "download-artifact"] {
            let action = format!("actions/{name}@v4={OURS}/actions/{name}");
            act.args(["--local-repository", &action]);
        }
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        act.args(["--artifact-server-addr", "127.0.0.1", "--cache-server-addr", "127.0.0.1"]);
        act.args(["--artifact-server-port", &free.port().to_string()]);
        let places = [
            ("--artifact-server-path", "artifacts"),
            ("--cache-server-path", "cache"),
            ("--action-cache-path", "jobs"),
        ];
        for (option, place) in places {
            act.arg(option).arg(self.place.path(place));
        }
        act.arg("--env").arg(format!("NODE_PATH={}", installed("node_modules").display()));
        act
    }
}

impl github::Service for Act {
    fn run(&mut self, origin: &Origin, event: &Event) -> Run {
        let project = self.place.project(origin, &event.sha);
        let mut text = json!({ "ref": event.branch });
        if let Some(number) = event.number {
            text["number"] = number.into();
            text["pull_request"] = json!({ "number": number, "base": { "ref": "main" } });
        }
        let file = project.with_file_name("event.json");
        std::fs::write(&file, text.to_string()).unwrap();
        let mut act = self.act(&project);
        act.arg(event.name).arg("--eventpath").arg(file);
        act.args(["--env", &format!("GITHUB_RUN_ID={}", 1000 + self.place.runs)]);
        let output = act.args(["--env", "GITHUB_RUN_ATTEMPT=1"]).output().unwrap();

        let mut run = Run { tests: self.place.tests(), ..Run::default() };
        run.summary = std::fs::read_to_string(self.place.path("kept/summary")).unwrap_or_default();
        let jobs = yaml(&self.workflow)["jobs"].as_object().unwrap().clone();
        run.fates = jobs.keys().map(|job| (job.clone(), Fate::Skipped)).collect();
        for line in text_of(&output).lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                run.log.push_str(&format!("{line}\n"));
                continue;
            };
            let (job, message) = (&line["jobID"], line["msg"].as_str().unwrap_or_default());
            run.log.push_str(&format!(
                "{}: {}\n",
                job.as_str().unwrap_or("act"),
                message.trim_end()
            ));
            let fate = match line["jobResult"].as_str() {
                Some("success") => Fate::Success,
                Some("failure") => Fate::Failure,
                Some(other) => panic!("a job ended in {other}"),
                None => continue,
            };
            let known = run.fates.get_mut(job.as_str().unwrap()).unwrap();
            if *known != Fate::Failure {
                *known = fate;
            }
        }
        run
    }

    /// All that is in the cache, but for the tool.
    fn evict(&mut self, _: &str) -> usize {
        std::fs::remove_dir_all(self.place.path("cache")).unwrap();
        self.seed();
        1
    }
}

pub struct GitlabCiLocal {
    place: Place,
    pipeline: Value,
}

impl GitlabCiLocal {
    pub fn new(pipeline: &Path) -> Self {
        Self { place: Place::new(), pipeline: yaml(pipeline) }
    }

    fn run(&mut self, origin: &Origin, sha: &str, options: &[&str]) -> Pipeline {
        let project = self.place.project(origin, sha);
        for of_the_last in ["builds", "artifacts"] {
            let _ = std::fs::remove_dir_all(self.place.path("state").join(of_the_last));
        }
        // What it takes the names of project and default branch from.
        git(&project, &["checkout", "-q", "-B", "main"]);
        git(&project, &["remote", "add", "origin", "git@git.example.org:group/project.git"]);
        git(&project, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
        git(&project, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
        let program = installed("node_modules/.bin/gitlab-ci-local");
        let mut tool = self.place.tool(program, &project, &[PathBuf::from(OURS)]);
        tool.args(["--force-shell-executor", "--shell-isolation", "--no-artifacts-to-source"]);
        tool.args(["--no-color", "--state-dir", "../../state"]);
        tool.arg("--home").arg(self.place.path("home"));
        // The same file each time.
        tool.args((self.place.runs > 1).then_some("--no-json-schema-validation"));
        let output = tool.args(options).output().unwrap();

        let log = text_of(&output);
        let mut fates = BTreeMap::new();
        let ended = regex::Regex::new(r"(?m)^ (PASS|FAIL|WARN)  (\w+)").unwrap();
        for found in ended.captures_iter(&String::from_utf8_lossy(&output.stdout)) {
            assert_ne!(&found[1], "WARN", "an after_script failed\n{log}");
            let fate = if &found[1] == "PASS" { Fate::Success } else { Fate::Failure };
            let known = fates.entry(found[2].to_string()).or_insert(fate);
            if *known != Fate::Failure {
                *known = fate;
            }
        }
        Pipeline { fates, tests: self.place.tests(), log, ..Pipeline::default() }
    }

    /// What gitlab-ci-local does not do itself: where there is nothing of a key, the others are tried.
    fn fall_back(&self, variables: &Variables) {
        let caches = self.place.path("state/cache");
        for job in gitlab::jobs(&self.pipeline).values() {
            let others = strings(&job["cache"]["fallback_keys"]);
            let Some(key) = job["cache"]["key"].as_str().filter(|_| !others.is_empty()) else {
                continue;
            };
            let own = caches.join(gitlab::expanded(key, variables));
            let mut others = others.iter().map(|key| caches.join(key));
            if let Some(other) = others.find(|other| other.exists() && !own.exists()) {
                copy_any(&other, &own);
            }
        }
    }
}

impl gitlab::Service for GitlabCiLocal {
    fn push(&mut self, origin: &Origin, sha: &str) -> Pipeline {
        self.run(origin, sha, &[])
    }

    fn merge_request(&mut self, origin: &Origin, number: u64, sha: &str) -> Pipeline {
        let name = String::from("CI_MERGE_REQUEST_IID");
        let number = number.to_string();
        let given = format!("{name}={number}");
        self.fall_back(&Variables::from([(name, number)]));
        // All that tells the one from the other for the rules.
        let source = "CI_PIPELINE_SOURCE";
        let event = format!("{source}=merge_request_event");
        let mut options = vec!["--unset-variable", "CI_COMMIT_BRANCH"];
        options.extend(["--ignore-predefined-vars", source]);
        options.extend(["--variable", &event, "--variable", &given]);
        self.run(origin, sha, &options)
    }

    fn evict(&mut self) -> usize {
        let caches = self.place.path("state/cache");
        let count = std::fs::read_dir(&caches).unwrap().count();
        std::fs::remove_dir_all(caches).unwrap();
        count
    }
}
