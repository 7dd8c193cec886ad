//! What a project is built with, and how one says there to make everything anew.

use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Builder {
    /// Also whatever we do not know.
    #[default]
    Make,
    Cmake,
    Meson,
}

/// How the programs of a project are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Way {
    pub builder: Builder,
    /// The build command of the configuration.
    pub command: Option<String>,
    /// Where it builds, if that is another directory than the root.
    pub directory: Option<String>,
    /// Whether that is there: before the first build there is nothing to clean.
    pub is_made: bool,
}

/// Where we propose to build, beside the user's own directory.
const OURS: &str = "build-edgewise";

impl Way {
    /// By the command of the configuration, or by what is in the root.
    pub fn of(command: Option<&str>, is_there: &dyn Fn(&str) -> bool) -> Self {
        let text = command.unwrap_or_default();
        let words = text.split(|c: char| c.is_whitespace() || "&;|(){}".contains(c));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let calls = |tool: &str| {
            words.iter().any(|word| word.rsplit('/').next().is_some_and(|name| name == tool))
        };
        let builder = if calls("cmake") || (text.is_empty() && is_there("CMakeLists.txt")) {
            Builder::Cmake
        } else if calls("meson") || (text.is_empty() && is_there("meson.build")) {
            Builder::Meson
        } else if calls("ninja") {
            if is_there("meson.build") { Builder::Meson } else { Builder::Cmake }
        } else {
            Builder::Make
        };
        let before: &[&str] = match builder {
            Builder::Make => &["-C", "--directory", "cd"],
            Builder::Cmake => &["--build", "-B", "-C"],
            Builder::Meson => &["-C", "setup"],
        };
        let directory = before.iter().find_map(|option| {
            let place = words.iter().position(|word| word == option)?;
            let found = words.get(place + 1)?.to_string();
            Some(found).filter(|found| !found.starts_with('-'))
        });
        let given = command.filter(|command| !command.trim().is_empty()).map(String::from);
        let is_made = is_there(directory.as_deref().unwrap_or(OURS));
        Self { builder, command: given, directory, is_made }
    }

    fn directory(&self) -> &str {
        self.directory.as_deref().unwrap_or(OURS)
    }

    /// Builds, with edgewise.
    pub fn build(&self) -> String {
        let directory = self.directory();
        match (&self.command, &self.builder) {
            (Some(_), _) => String::from("edgewise build"),
            (None, Builder::Make) => String::from("edgewise build -- make"),
            (None, Builder::Cmake) => format!(
                "edgewise build -- cmake -S . -B {directory} && edgewise build -- cmake --build {directory}"
            ),
            (None, Builder::Meson) => format!(
                "edgewise build -- meson setup {directory} && edgewise build -- meson compile -C {directory}"
            ),
        }
    }

    /// The same with all objects made anew.
    pub fn build_anew(&self) -> String {
        let directory = self.directory();
        let clean = match (&self.builder, &self.directory) {
            (Builder::Make, None) => String::from("make clean"),
            _ if !self.is_made => return self.build(),
            (Builder::Make, Some(directory)) => format!("make -C {directory} clean"),
            (Builder::Cmake, _) => format!("cmake --build {directory} --target clean"),
            (Builder::Meson, _) => format!("ninja -C {directory} clean"),
        };
        format!("{clean} && {}", self.build())
    }

    /// What to do if the build passes edgewise by.
    pub fn hand_over(&self) -> (&'static str, String) {
        match self.builder {
            Builder::Make => (
                "if it stays at 0, the build calls a compiler by its full path: hand it ours",
                String::from("edgewise build -- make CC=\"edgewise cc\""),
            ),
            Builder::Cmake => (
                "if it stays at 0, it was configured without edgewise, and calls the compiler by its full path: configure it with edgewise",
                format!("edgewise build -- cmake -S . -B {}", self.directory()),
            ),
            Builder::Meson => (
                "if it stays at 0, it was set up without edgewise, and calls the compiler by its full path: set it up with edgewise",
                format!("edgewise build -- meson setup {}", self.directory()),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_project_is_spoken_to_in_its_own_words() {
        let all = |_: &str| true;
        for (command, anew) in [
            ("make -s", "make clean && edgewise build"),
            ("make -j4 -C src", "make -C src clean && edgewise build"),
            (
                "mkdir -p out && cd out && { test -f Makefile || ../configure; } && make -j4",
                "make -C out clean && edgewise build",
            ),
            (
                "cmake -S . -B out && cmake --build out -j4",
                "cmake --build out --target clean && edgewise build",
            ),
            (
                "{ test -f b/build.ninja || meson setup b; } && ninja -C b",
                "ninja -C b clean && edgewise build",
            ),
            ("ninja -C out/x", "ninja -C out/x clean && edgewise build"),
            ("./compile.sh", "make clean && edgewise build"),
        ] {
            assert_eq!(Way::of(Some(command), &all).build_anew(), anew, "{command}");
        }
        let none = |_: &str| false;
        let fresh = Way::of(Some("cmake --build out"), &none);
        assert_eq!(fresh.build_anew(), "edgewise build", "nothing is there to be cleaned");
        let cmake = Way::of(None, &|file| file == "CMakeLists.txt");
        assert!(cmake.build().ends_with("cmake --build build-edgewise"), "{cmake:?}");
        assert!(cmake.hand_over().1.contains("cmake -S . -B build-edgewise"));
        let meson = Way::of(None, &|file| file == "meson.build");
        assert!(meson.build().contains("meson setup build-edgewise"), "{meson:?}");
        assert_eq!(Way::of(None, &none).build_anew(), "make clean && edgewise build -- make");
    }
}
