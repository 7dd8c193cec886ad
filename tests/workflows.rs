//! The workflows of docs/ci, run: jobs in fresh clones at different places, shard by shard, with artifacts and
//! caches as the services hand them on. What is ignored here is the same with tools that others wrote, which
//! `scripts/real-workflows` installs.

use crate::support::ci;

use crate::support::{copy, testdata};
use ci::Fate::{self, Failure, Skipped, Success};
use ci::github::{Event, Github};
use ci::gitlab::Gitlab;
use ci::real::{Act, GitlabCiLocal};
use ci::{Origin, strings, yaml};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn workflow(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci").join(name)
}

/// The project of the manual, with the workflows where they belong.
fn origin() -> Origin {
    Origin::new(|root| {
        copy(&testdata("manual/convert"), root);
        copy(&testdata("manual/ci"), root);
        let files = [
            ("github.yml", ".github/workflows/tests.yml"),
            ("action.yml", ".github/actions/edgewise/action.yml"),
            ("gitlab.yml", ".gitlab-ci.yml"),
        ];
        for (from, to) in files {
            std::fs::create_dir_all(root.join(to).parent().unwrap()).unwrap();
            std::fs::copy(workflow(from), root.join(to)).unwrap();
        }
    })
}

fn tests(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| format!("all/{name}")).collect()
}

fn all_tests() -> BTreeSet<String> {
    let list = std::fs::read_to_string(testdata("manual/ci/tests/list")).unwrap();
    list.lines().map(|line| format!("all/{}", line.split_whitespace().next().unwrap())).collect()
}

/// A service that knows the tool already.
fn github() -> Github {
    let mut github = Github::new(&workflow("github.yml"));
    let action = yaml(&workflow("action.yml"));
    let tag = action["inputs"]["tag"]["default"].as_str().unwrap();
    github.seed_tool(&format!("edgewise-tool-{tag}"));
    github
}

fn act() -> Act {
    Act::new(&workflow("github.yml"), &workflow("action.yml"))
}

fn gitlab() -> Gitlab {
    Gitlab::new(&workflow("gitlab.yml"))
}

fn gitlab_ci_local() -> GitlabCiLocal {
    GitlabCiLocal::new(&workflow("gitlab.yml"))
}

#[track_caller]
fn assert_fates(found: &BTreeMap<String, Fate>, expected: &[(&str, Fate)], log: &str) {
    let found: Vec<(&str, Fate)> =
        found.iter().map(|(name, fate)| (name.as_str(), *fate)).collect();
    assert_eq!(found, expected, "{log}");
}

#[test]
fn github_records_selects_and_updates() {
    on_github_records_selects_and_updates(github());
}

#[test]
#[ignore = "scripts/real-workflows"]
fn act_records_selects_and_updates() {
    on_github_records_selects_and_updates(act());
}

fn on_github_records_selects_and_updates(mut github: impl ci::github::Service) {
    let origin = origin();
    let main = origin.git(&["rev-parse", "HEAD"]);
    let run = github.run(&origin, &Event::push(&main));
    let recorded = [
        ("keep", Success),
        ("passed", Success),
        ("record", Success),
        ("select", Skipped),
        ("test", Skipped),
        ("update", Skipped),
    ];
    assert_fates(&run.fates, &recorded, &run.log);
    assert_eq!(run.ran(), all_tests());
    assert_eq!(run.tests.len(), 3, "{:?}", run.tests);

    // An edit of a header, and code that no test reaches.
    origin.git(&["checkout", "-q", "-b", "miles"]);
    origin.edit("include/convert.h", "1609.0", "1609.344");
    origin.edit(
        "src/length.c",
        "    case UNIT_MILE:\n        return",
        "    case UNIT_MILE:\n        if (value < 0)\n            return 0;\n        return",
    );
    origin.commit("miles");
    let pull = |origin: &Origin| Event::pull_request(7, &origin.merged("miles"));
    let run = github.run(&origin, &pull(&origin));
    let selected = [
        ("keep", Skipped),
        ("passed", Success),
        ("record", Skipped),
        ("select", Success),
        ("test", Success),
        ("update", Success),
    ];
    assert_fates(&run.fates, &selected, &run.log);
    assert_eq!(run.ran(), tests(&["mile"]), "{}", run.log);
    assert!(
        run.summary.contains("all/mile") && run.summary.contains("length_in_metres"),
        "{}",
        run.summary
    );
    let words = ["1 of 9 tests selected", "8 tests safely skipped"];
    assert!(words.iter().all(|words| run.summary.contains(words)), "{}", run.summary);
    let gap = "::warning file=src/length.c,line=22,";
    assert!(run.log.contains(gap), "{}", run.log);

    // The pull request has its own history now.
    std::fs::write(origin.path("NEWS.md"), "Miles.\n").unwrap();
    origin.commit("news");
    let run = github.run(&origin, &pull(&origin));
    let nothing = [
        ("keep", Skipped),
        ("passed", Success),
        ("record", Skipped),
        ("select", Success),
        ("test", Skipped),
        ("update", Skipped),
    ];
    assert_fates(&run.fates, &nothing, &run.log);
    assert_eq!(run.ran(), tests(&[]));

    // Another pull request knows nothing of it.
    origin.git(&["checkout", "-q", "-b", "words", "main"]);
    std::fs::write(origin.path("README.md"), "Converts.\n").unwrap();
    origin.commit("words");
    let run = github.run(&origin, &Event::pull_request(8, &origin.merged("words")));
    assert_fates(&run.fates, &nothing, &run.log);
    assert_eq!(run.ran(), tests(&[]));

    // The caches are gone: everything runs, and is known again.
    assert!(github.evict("edgewise-main-") > 0 && github.evict("edgewise-pr-") > 0);
    let run = github.run(&origin, &Event::pull_request(8, &origin.merged("words")));
    assert_fates(&run.fates, &selected, &run.log);
    assert_eq!(run.ran(), all_tests());
    assert_eq!(run.tests.len(), 3, "{:?}", run.tests);
    let run = github.run(&origin, &Event::pull_request(8, &origin.merged("words")));
    assert_fates(&run.fates, &nothing, &run.log);
}

#[test]
fn github_fails_where_a_test_fails_and_selects_it_again() {
    on_github_fails_where_a_test_fails_and_selects_it_again(github());
}

#[test]
#[ignore = "scripts/real-workflows"]
fn act_fails_where_a_test_fails_and_selects_it_again() {
    on_github_fails_where_a_test_fails_and_selects_it_again(act());
}

fn on_github_fails_where_a_test_fails_and_selects_it_again(mut github: impl ci::github::Service) {
    let origin = origin();
    let main = origin.git(&["rev-parse", "HEAD"]);
    github.run(&origin, &Event::push(&main));
    origin.git(&["checkout", "-q", "-b", "wrong"]);
    origin.edit("src/temperature.c", "celsius * 1.8 + 32", "celsius * 1.8 + 31");
    origin.commit("wrong");
    let run = github.run(&origin, &Event::pull_request(1, &origin.merged("wrong")));
    let failed = [
        ("keep", Skipped),
        ("passed", Failure),
        ("record", Skipped),
        ("select", Success),
        ("test", Failure),
        ("update", Success),
    ];
    assert_fates(&run.fates, &failed, &run.log);
    let affected = tests(&["batch", "boiling", "temperature"]);
    assert_eq!(run.ran(), affected, "{}", run.log);

    // Another push that has nothing to do with it does not make them pass.
    std::fs::write(origin.path("NEWS.md"), "Colder.\n").unwrap();
    origin.commit("news");
    let run = github.run(&origin, &Event::pull_request(1, &origin.merged("wrong")));
    assert_fates(&run.fates, &failed, &run.log);
    assert_eq!(run.ran(), affected);

    // Put right, they pass, and what failed before does not stay.
    origin.edit("src/temperature.c", "celsius * 1.8 + 31", "celsius * 1.8 + 32");
    origin.commit("right");
    let run = github.run(&origin, &Event::pull_request(1, &origin.merged("wrong")));
    assert_eq!(run.fate("passed"), Success, "{}", run.log);
    assert_eq!(run.ran(), affected);
    let run = github.run(&origin, &Event::pull_request(1, &origin.merged("wrong")));
    assert_eq!((run.fate("passed"), run.fate("test")), (Success, Skipped), "{}", run.log);

    // A build that fails is no success either.
    origin.edit("src/temperature.c", "celsius * 1.8 + 32;", "celsius * 1.8 + ;");
    origin.commit("broken");
    let run = github.run(&origin, &Event::pull_request(1, &origin.merged("wrong")));
    assert_eq!((run.fate("select"), run.fate("passed")), (Failure, Failure), "{}", run.log);
}

#[test]
fn github_keeps_what_was_recorded_where_a_test_fails_on_main() {
    on_github_keeps_what_was_recorded_where_a_test_fails_on_main(github());
}

#[test]
#[ignore = "scripts/real-workflows"]
fn act_keeps_what_was_recorded_where_a_test_fails_on_main() {
    on_github_keeps_what_was_recorded_where_a_test_fails_on_main(act());
}

fn on_github_keeps_what_was_recorded_where_a_test_fails_on_main(
    mut github: impl ci::github::Service,
) {
    let origin = origin();
    origin.edit("tests/mile.sh", "1609*", "1610*");
    let main = origin.commit("a mile and a bit");
    let run = github.run(&origin, &Event::push(&main));
    let failed = [
        ("keep", Success),
        ("passed", Failure),
        ("record", Failure),
        ("select", Skipped),
        ("test", Skipped),
        ("update", Skipped),
    ];
    assert_fates(&run.fates, &failed, &run.log);
    assert_eq!(run.ran(), all_tests());
    origin.git(&["checkout", "-q", "-b", "words"]);
    std::fs::write(origin.path("README.md"), "Converts.\n").unwrap();
    origin.commit("words");
    let run = github.run(&origin, &Event::pull_request(2, &origin.merged("words")));
    assert_eq!(run.ran(), tests(&["mile"]), "{}", run.log);
    assert_eq!(run.fate("passed"), Failure);
}

#[test]
fn gitlab_records_selects_and_updates() {
    on_gitlab_records_selects_and_updates(gitlab());
}

#[test]
#[ignore = "scripts/real-workflows"]
fn gitlab_ci_local_records_selects_and_updates() {
    on_gitlab_records_selects_and_updates(gitlab_ci_local());
}

fn on_gitlab_records_selects_and_updates(mut gitlab: impl ci::gitlab::Service) {
    let origin = origin();
    let main = origin.git(&["rev-parse", "HEAD"]);
    let run = gitlab.push(&origin, &main);
    assert_fates(&run.fates, &[("keep", Success), ("record", Success)], &run.log);
    assert_eq!(run.ran(), all_tests());
    assert_eq!(run.tests.len(), 3, "{:?}", run.tests);

    origin.git(&["checkout", "-q", "-b", "miles"]);
    origin.edit("include/convert.h", "1609.0", "1609.344");
    origin.commit("miles");
    let passed = [("select", Success), ("test", Success), ("update", Success)];
    let run = gitlab.merge_request(&origin, 7, &origin.merged("miles"));
    assert_fates(&run.fates, &passed, &run.log);
    assert_eq!(run.ran(), tests(&["mile"]), "{}", run.log);

    std::fs::write(origin.path("NEWS.md"), "Miles.\n").unwrap();
    origin.commit("news");
    let run = gitlab.merge_request(&origin, 7, &origin.merged("miles"));
    assert_fates(&run.fates, &passed, &run.log);
    assert_eq!(run.ran(), tests(&[]), "{}", run.log);
    assert!(
        run.log.contains("nothing has to run") && run.log.contains("nothing ran"),
        "{}",
        run.log
    );

    // A test that fails fails the pipeline, and is known to have failed.
    origin.edit("tests/mile.sh", "1609*", "1610*");
    origin.commit("wrong");
    let failed = [("select", Success), ("test", Failure), ("update", Success)];
    for _ in 0..2 {
        let run = gitlab.merge_request(&origin, 7, &origin.merged("miles"));
        assert_fates(&run.fates, &failed, &run.log);
        assert_eq!(run.ran(), tests(&["mile"]), "{}", run.log);
    }
    // Put right, it passes, and what failed before does not stay.
    origin.edit("tests/mile.sh", "1610*", "1609*");
    origin.commit("right");
    for ran in [&["mile"][..], &[]] {
        let run = gitlab.merge_request(&origin, 7, &origin.merged("miles"));
        assert_fates(&run.fates, &passed, &run.log);
        assert_eq!(run.ran(), tests(ran), "{}", run.log);
    }

    // Nothing is known any more.
    assert!(gitlab.evict() > 0);
    let run = gitlab.merge_request(&origin, 8, &origin.merged("miles"));
    assert_fates(&run.fates, &passed, &run.log);
    assert_eq!(run.ran(), all_tests());
}

/// What no run of ours would notice: versions of actions, and names that lead nowhere.
#[test]
fn workflows_are_well_formed() {
    let github = yaml(&workflow("github.yml"));
    let jobs = github["jobs"].as_object().unwrap();
    let action = yaml(&workflow("action.yml"));
    let own = action["runs"]["steps"].as_array().unwrap();
    let pinned = regex::Regex::new(r"^actions/[a-z/-]+@v[0-9]+$").unwrap();
    let steps = jobs.values().flat_map(|job| job["steps"].as_array().unwrap()).chain(own);
    for step in steps.filter_map(|step| step["uses"].as_str()) {
        assert!(step == "./.github/actions/edgewise" || pinned.is_match(step), "{step}");
    }
    let expression = regex::Regex::new(r"needs\.(\w+)\.").unwrap();
    for (name, job) in jobs {
        assert!(job["runs-on"].is_string(), "{name}");
        let needs = strings(&job["needs"]);
        assert!(needs.iter().all(|need| jobs.contains_key(need)), "{name}: {needs:?}");
        for found in expression.captures_iter(&job.to_string()) {
            assert!(
                needs.contains(&found[1].to_string()),
                "{name} asks {} and does not need it",
                &found[1]
            );
        }
        let steps = job["steps"].as_array().unwrap();
        let ids: Vec<&str> = steps.iter().filter_map(|step| step["id"].as_str()).collect();
        for output in job["outputs"].as_object().into_iter().flatten() {
            let asked = output.1.as_str().unwrap();
            assert!(
                ids.iter().any(|id| asked.contains(&format!("steps.{id}."))),
                "{name}: {asked}"
            );
        }
        // Names of tests are data: in the text of a script they would be commands.
        for script in steps.iter().filter_map(|step| step["run"].as_str()) {
            assert!(!script.contains("matrix.tests"), "{name}: {script}");
        }
    }
    assert_eq!(
        github["defaults"]["run"]["shell"], "bash",
        "without it a pipe hides what fails in it"
    );
    // The shards are all of those there are.
    let shards = jobs["record"]["strategy"]["matrix"]["shard"].as_array().unwrap();
    let count = format!("--shard ${{{{ matrix.shard }}}}/{}", shards.len());
    assert!(jobs["record"].to_string().contains(&count), "{count}");

    let gitlab = gitlab();
    let stages = strings(&yaml(&workflow("gitlab.yml"))["stages"]);
    for (name, job) in gitlab.jobs() {
        assert!(stages.contains(&job["stage"].as_str().unwrap().to_string()), "{name}");
    }
}
