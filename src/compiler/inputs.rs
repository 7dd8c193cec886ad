//! The files that the real compiler reads for a source we do not analyse.

use super::flags::{self, Effect, Given};
use super::toolchain::Compiler;
use super::written::Reads;
use crate::bytes;
use std::path::Path;
use std::process::Stdio;

/// What the compiler lists for the sources of a command, and the files that its
/// arguments name, such as specs. None if it cannot say.
pub fn of_command(
    compiler: &Compiler,
    directory: &Path,
    arguments: &[String],
) -> Option<Vec<String>> {
    if arguments.iter().any(|argument| argument == "-") {
        return None;
    }
    let output = compiler
        .command()
        .current_dir(directory)
        .args(bytes::all(without_products(arguments)))
        .arg("-M")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let listed = || prerequisites(&bytes::to_text(&output.stdout));
    let mut inputs = output.status.success().then(listed)?;
    let mut reads = Reads::of_compile();
    let parts = without_products(arguments).into_iter().flat_map(|word| reads.parts(word));
    inputs
        .extend(parts.filter(|part| directory.join(bytes::path(part)).is_file()).map(String::from));
    inputs.sort();
    inputs.dedup();
    Some(inputs)
}

/// The arguments without those that ask for a product.
fn without_products(arguments: &[String]) -> Vec<&str> {
    let makes = |given: &Given<'_>| match given.effect() {
        Effect::CompileOnly | Effect::Output | Effect::Dependencies => true,
        Effect::Preprocessor => given.words[0].contains(",-M"),
        _ => given
            .flag
            .is_some_and(|flag| ["-S", "-save-temps", "--save-temps", "-MJ"].contains(&flag.name)),
    };
    flags::each(arguments).filter(|given| !makes(given)).flat_map(|given| given.words).collect()
}

/// All names behind the colons of make's rules.
pub(super) fn prerequisites(rules: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rule in rules.replace("\\\n", " ").lines() {
        let Some((_, list)) = rule.split_once(": ") else { continue };
        let mut name = String::new();
        let mut characters = list.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters.peek().is_some_and(|next| matches!(next, ' ' | '#')) => {
                    name.extend(characters.next());
                }
                '$' if characters.peek() == Some(&'$') => name.extend(characters.next()),
                ' ' => names.push(std::mem::take(&mut name)),
                other => name.push(other),
            }
        }
        names.push(name);
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_rules() {
        let rules = "a.o: a.c \\\n  dir/a\\ b.h x$$y.h\nb.o: b.c\n";
        assert_eq!(prerequisites(rules), ["a.c", "dir/a b.h", "x$y.h", "b.c"]);
    }

    #[test]
    fn products_are_not_asked_for() {
        let words = ["-c", "-Ix", "-MD", "-MF", "d", "-Wp,-MD,e", "a.cc", "-o", "a.o"];
        let words = words.map(String::from);
        assert_eq!(without_products(&words), ["-Ix", "a.cc"]);
    }
}
