fn main() {
    std::process::exit(edgewise::cli::main());
}
