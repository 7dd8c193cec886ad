//! `edgewise cc` as one word. What it does follows from its name.

/// As in the program `edgewise`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(edgewise::cli::main());
}
