/// Analyses make many small pieces and drop them unit by unit, on several
/// threads: the system's allocator spends a third of their time on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(edgewise::cli::main());
}
