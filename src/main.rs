fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let code = edgewise::compiler::run("gcc", &args).unwrap();
    std::process::exit(code);
}
