//! What probes cost: programs of real projects on CPU-bound work, plain, with
//! our probes, and with the coverage of gcc and clang, in turns.
//! `scripts/bench overhead` fetches the projects first.

mod build;
mod measure;
mod programs;
mod report;
mod work;

use anyhow::Context;
use build::Variant;
use clap::Parser;
use measure::Figures;
use programs::{PROGRAMS, Program};
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
    let mut results = Vec::new();
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
    }
    println!("{}", report::text(&results, &args.variants));
    Ok(())
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
        let built = build::build(program, *variant, subject, &home.join(variant.name()), edgewise)?;
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
