//! `edgewise cc` as one word. What it does follows from its name.

fn main() {
    std::process::exit(edgewise::cli::main());
}
