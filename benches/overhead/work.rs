//! What the programs work on: the same bytes every time.

use crate::build::ours;
use crate::programs::{Input, Program};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program's work, ready to be given to any build of it.
pub struct Prepared {
    arguments: Vec<String>,
    /// Where an instrumented program leaves its trace or its profile.
    left: PathBuf,
}

impl Prepared {
    pub fn give<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.args(&self.arguments);
        command.env("EDGEWISE_TRACE", &self.left);
        command.env("LLVM_PROFILE_FILE", self.left.join("profile"));
        command.env("GCOV_PREFIX", &self.left)
    }

    pub fn left(&self) -> &Path {
        &self.left
    }

    /// Every run starts without anything left by others.
    pub fn clear(&self) -> std::io::Result<()> {
        if self.left.exists() {
            fs_err::remove_dir_all(&self.left)?;
        }
        fs_err::create_dir_all(&self.left)
    }
}

pub fn prepare(program: &Program, home: &Path) -> std::io::Result<Prepared> {
    fs_err::create_dir_all(home)?;
    let input = match program.work.input {
        Input::None => None,
        Input::File(name) => Some(ours(name)),
        Input::Text(size) => Some(written(home, "input.txt", &text(size))?),
        Input::Json(records) => Some(written(home, "input.json", &json(records))?),
    };
    let input = input.map(|path| path.to_string_lossy().into_owned());
    let arguments = program.work.arguments.iter().map(|argument| match *argument {
        "@" => input.clone().unwrap_or_default(),
        argument => argument.to_string(),
    });
    Ok(Prepared { arguments: arguments.collect(), left: home.join("left") })
}

fn written(home: &Path, name: &str, text: &str) -> std::io::Result<PathBuf> {
    let path = home.join(name);
    fs_err::write(&path, text)?;
    Ok(path)
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn word(&mut self) -> String {
        // Few words are used often, and many seldom.
        let rank = self.below(40) * self.below(40) * self.below(3);
        let mut letters = Self(rank.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let length = 2 + letters.below(8);
        (0..length).map(|_| char::from(b'a' + letters.below(26) as u8)).collect()
    }
}

fn text(size: usize) -> String {
    let mut numbers = Numbers(42);
    let mut text = String::with_capacity(size + 16);
    while text.len() < size {
        text.push_str(&numbers.word());
        text.push_str(if numbers.below(12) == 0 { ".\n" } else { " " });
    }
    text
}

fn json(records: usize) -> String {
    let mut numbers = Numbers(7);
    let mut text = String::from("[\n");
    for record in 0..records {
        let comma = if record == 0 { "" } else { "," };
        let (name, size) = (numbers.word(), numbers.below(1000));
        let parts: Vec<String> = (0..8).map(|_| numbers.below(100).to_string()).collect();
        let parts = parts.join(", ");
        let _ = writeln!(
            text,
            "{comma}{{\"name\": \"{name}\", \"size\": {size}, \"parts\": [{parts}]}}"
        );
    }
    text.push_str("]\n");
    text
}
