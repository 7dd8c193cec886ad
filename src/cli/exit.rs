//! The exit codes of all commands. This is their one home.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done; for `run` and `test`: all tests that ran passed |
//! | 1 | `run`, `test`: a test failed |
//! | 2 | the command, the configuration or the project is not right; nothing was changed |
//! | 3 | the history cannot be used (damaged, or of another version); nothing was changed |
//! | 4 | `select`: tests that the change can affect are missing in the output (`--budget`, other suites); `test`, `run`: tests were not run because only their harness can run them |
//! | 5 | `run --shadow`: a test failed that selection would have skipped |
//! | 6 | `history diff`: the histories do not say the same |
//! | 7 | `doctor`: something is to be done about how the project is set up |
//! | 130 | interrupted; what was recorded stays |
//!
//! `cc` and `build` exit with the code of the compiler (127 if there is none) or
//! of the build command;
//! `test` exits with that of a build that fails.

pub const OK: i32 = 0;
pub const TESTS_FAILED: i32 = 1;
pub const USER_ERROR: i32 = 2;
pub const HISTORY_UNUSABLE: i32 = 3;
pub const INCOMPLETE: i32 = 4;
pub const MISSED: i32 = 5;
pub const DIFFERENT: i32 = 6;
pub const TO_DO: i32 = 7;
pub const INTERRUPTED: i32 = 130;

/// The same table for `--help`.
pub const HELP: &str = "\
Exit codes:
  0    done; for run and test: all tests that ran passed
  1    run, test: a test failed
  2    the command, the configuration or the project is not right; nothing was changed
  3    the history cannot be used (damaged, or of another version); nothing was changed
  4    select: tests that the change can affect are missing in the output (--budget, other suites);
       test, run: tests were not run because only their harness can run them
  5    run --shadow: a test failed that selection would have skipped
  6    history diff: the histories do not say the same
  7    doctor: something is to be done about how the project is set up
  130  interrupted; what was recorded stays
cc and build exit as the compiler or the build command does, test as a build that fails.";
