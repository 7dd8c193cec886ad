//! What probes cost: programs of real projects on CPU-bound work, plain, with
//! our probes, and with the coverage of gcc and clang, in turns.
//! `scripts/bench overhead` fetches the projects first.

mod build;
mod edges;
#[path = "../figures.rs"]
mod figures;
mod measure;
mod programs;
mod report;
mod work;

use anyhow::{Context, ensure};
use build::{LEVEL, Variant};
use clap::Parser;
use measure::Figures;
use programs::{PROGRAMS, Program};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Parser)]
struct Args {
    /// Where the projects are
    #[arg(long, default_value = "target/subjects")]
    subjects: PathBuf,
    /// Where programs are built; what is there is built again
    #[arg(long, default_value = "target/overhead")]
    scratch: PathBuf,
    /// How often each program is timed
    #[arg(long, default_value_t = 7)]
    repeat: u32,
    /// Do not count instructions
    #[arg(long)]
    no_instructions: bool,
    /// Variants to measure
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["plain", "edgewise", "gcov", "clang", "source", "sancov"])]
    variants: Vec<Variant>,
    /// The real edgewise
    #[arg(long)]
    edgewise: PathBuf,
    /// Cargo says this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
    /// Names of programs; all of them without a name
    names: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    fs_err::create_dir_all(&args.scratch)?;
    let scratch = fs_err::canonicalize(&args.scratch)?;
    let edgewise = fs_err::canonicalize(&args.edgewise)?;
    let (mut results, mut differing) = (Vec::new(), Vec::new());
    let mut edges = String::from("## Edges, of -O2 beside -Og\n\n");
    edges.push_str("| program | taken | differing |\n|---|--:|--:|\n");
    for program in
        PROGRAMS.iter().filter(|p| args.names.is_empty() || args.names.iter().any(|n| n == p.name))
    {
        eprintln!("{}", program.name);
        let subject = args.subjects.join(program.subject).join("src");
        let subject = if program.subject.is_empty() { args.subjects.clone() } else { subject };
        let subject = fs_err::canonicalize(subject)?;
        let home = scratch.join(program.name);
        let figures = look_at(program, &subject, &home, &edgewise, &args)
            .with_context(|| program.name.to_string())?;
        results.push((program.name, figures));
        if args.variants.contains(&Variant::Edgewise) {
            let compared = compare_edges(program, &subject, &home, &edgewise)
                .with_context(|| program.name.to_string())?;
            let count = compared.differing.len();
            let _ = writeln!(edges, "| {} | {} | {count} |", program.name, compared.taken);
            differing.extend(compared.differing);
        }
    }
    println!("{}{edges}", report::text(&results, &args.variants));
    report::bars(&results).print();
    ensure!(differing.is_empty(), "edges differ:\n{}", differing.join("\n"));
    Ok(())
}

/// Lays the edges of the program that is measured beside those of one that is
/// optimized as little as can be.
fn compare_edges(
    program: &Program,
    subject: &Path,
    home: &Path,
    edgewise: &Path,
) -> anyhow::Result<edges::Compared> {
    let variant = Variant::Edgewise;
    let other = home.join("debuggable");
    // The headers of the C library look whether there is optimization at all.
    let other = build::build(program, variant, "-Og", subject, &other, edgewise)?;
    let input = work::prepare(program, home)?;
    edges::compare(&home.join(variant.name()).join("program"), &other.program, &input)
}

/// Builds all variants of a program and measures them in turns.
fn look_at(
    program: &Program,
    subject: &Path,
    home: &Path,
    edgewise: &Path,
    args: &Args,
) -> anyhow::Result<Vec<(Variant, Figures)>> {
    let mut all = Vec::new();
    let input = work::prepare(program, home)?;
    for variant in &args.variants {
        let place = home.join(variant.name());
        let built = build::build(program, *variant, LEVEL, subject, &place, edgewise)?;
        let mut figures = Figures { compile: built.cpu, text: built.text, ..Figures::default() };
        if !args.no_instructions {
            figures.instructions = measure::instructions(&built.program, &input)?;
        }
        all.push((built.program, *variant, figures));
    }
    for _ in 0..args.repeat {
        for (path, _, figures) in &mut all {
            figures.times.push(measure::cpu_time(program, path, &input)?);
        }
    }
    Ok(all.into_iter().map(|(_, variant, figures)| (variant, figures)).collect())
}
