//! What selects what: the rules of safety, each with its words. Every reason goes by
//! one of them.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    Statement,
    Declaration,
    Definition,
    Resolution,
    Signature,
    Gone,
    Procedure,
    Flags,
    Composition,
    Unparsed,
    Link,
    UnanalysedCode,
    NotInstrumented,
    StaleProgram,
    UnknownProgram,
    AfterExclusion,
    ChangedFile,
    LoadedCode,
    UsedFile,
    BuildDescription,
    BuildInput,
    UnanalysedSource,
    UntracedProgram,
    NewSource,
    RetestAll,
    UnknownFile,
    NewTest,
    TestChanged,
    State,
    Dependency,
    NoHistory,
    All,
}

impl Rule {
    /// The change that it is about.
    pub fn change(self) -> &'static str {
        match self {
            Self::Statement => {
                "a statement, condition or case that was added, changed, moved or deleted"
            }
            Self::Declaration => "a declaration, type, attribute or pragma that changed",
            Self::Definition => {
                "a variable, in whatever unit it is defined, whose type or initialiser changed"
            }
            Self::Resolution => "a call or a name that means another procedure now",
            Self::Signature => "a procedure whose signature or attributes changed",
            Self::Gone => "a procedure that is gone",
            Self::Procedure => "a procedure that changed anywhere, without a look at its edges",
            Self::Flags => {
                "flags, files that these or asm name, the compiler's environment, or the compiler itself"
            }
            Self::Composition => {
                "what acts on a program without being named: sections, constructors, aliases, weak names, asm"
            }
            Self::Unparsed => "a source that does not parse, or did not parse before",
            Self::Link => "the link command, linker scripts, or what is linked without a record",
            Self::UnanalysedCode => {
                "a definition that code which is not analysed uses, or may look up by its name"
            }
            Self::NotInstrumented => {
                "a unit that is not instrumented, or is not what its record says"
            }
            Self::StaleProgram => "a program that is not built from its sources as they are",
            Self::UnknownProgram => "a program of which nothing is known now",
            Self::AfterExclusion => "a change beside excluded code that changed as well",
            Self::ChangedFile => "a file that a program is made of, without a look at its code",
            Self::LoadedCode => "a library or program that is not analysed, by its content",
            Self::UsedFile => {
                "a file of the project that a test opened, listed, looked for or executed"
            }
            Self::BuildDescription => "a build description, as long as nothing is built",
            Self::BuildInput => {
                "a file that a process of the build reads or looks for, as long as nothing is built"
            }
            Self::UnanalysedSource => {
                "what code that is not analysed is made of, as long as nothing is built"
            }
            Self::UntracedProgram => "what a program that leaves no trace is made of",
            Self::NewSource => "a source that no unit is made of, as long as nothing is built",
            Self::RetestAll => "a file that `retest-all` of edgewise.toml names",
            Self::UnknownFile => "a file of which nobody knows who reads it",
            Self::NewTest => "a new test",
            Self::TestChanged => {
                "a test whose command, or whose declared inputs or variables, changed"
            }
            Self::State => "a test that did not pass, or whose trace is not complete",
            Self::Dependency => "a fixture, or a test before it, that is selected",
            Self::NoHistory => "no history to compare with",
            Self::All => "whatever it is: `--algorithm all`",
        }
    }

    /// Whom such a change selects.
    pub fn selects(self) -> &'static str {
        match self {
            Self::Statement => "the tests that took the edge into it",
            Self::Declaration | Self::Definition => "the tests that reach a use of it",
            Self::Resolution => "the tests that reach it",
            Self::Signature | Self::Gone | Self::Procedure => "the tests that entered it",
            Self::Flags
            | Self::Composition
            | Self::Unparsed
            | Self::Link
            | Self::UnanalysedCode
            | Self::NotInstrumented => "the tests that ran a program with it",
            Self::StaleProgram | Self::UnknownProgram => "the tests that ran it",
            Self::AfterExclusion => "the tests that run the excluded code",
            Self::ChangedFile => "the tests that ran the program",
            Self::LoadedCode => "the tests whose processes loaded or ran it",
            Self::UsedFile => "that test",
            Self::BuildDescription
            | Self::BuildInput
            | Self::UnanalysedSource
            | Self::UntracedProgram
            | Self::NewSource
            | Self::RetestAll
            | Self::NoHistory
            | Self::All => "all tests",
            Self::UnknownFile => "the tests whose files could not be seen",
            Self::NewTest | Self::TestChanged | Self::State => "that test",
            Self::Dependency => "the tests that need it",
        }
    }
}
