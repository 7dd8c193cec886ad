//! The table.

use crate::build::Variant;
use crate::figures::Bars;
use crate::measure::Figures;
use std::fmt::Write;

/// One kind of figure as a ratio to the plain build by the same compiler.
struct Column {
    title: &'static str,
    of: fn(&Figures) -> f64,
}

const COLUMNS: [Column; 4] = [
    Column { title: "Instructions", of: |figures| figures.instructions as f64 },
    Column { title: "CPU time", of: |figures| figures.time().as_secs_f64() },
    Column { title: "Machine code", of: |figures| figures.text as f64 },
    Column { title: "CPU time of compiling", of: |figures| figures.compile.as_secs_f64() },
];

type Measured = Vec<(Variant, Figures)>;

/// The geometric mean of ratios to the plain build, without what only starts.
fn mean(results: &[(&str, Measured)], variant: Variant, of: fn(&Figures) -> f64) -> Option<f64> {
    let mut logs = Vec::new();
    for (_, measured) in results.iter().filter(|(name, _)| *name != "nothing") {
        let find = |variant| measured.iter().find(|(v, _)| *v == variant).map(|(_, f)| of(f));
        logs.push((find(variant)? / find(variant.base())?).ln());
    }
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// What has to be met, as far as it was measured.
pub fn bars(results: &[(&str, Measured)]) -> Bars {
    let mut bars = Bars::default();
    for (title, of, bar) in [("instructions", COLUMNS[0].of, 1.0), ("CPU time", COLUMNS[1].of, 1.1)]
    {
        let of_variant = |variant| mean(results, variant, of);
        if let (Some(ours), Some(gcov)) = (of_variant(Variant::Edgewise), of_variant(Variant::Gcov))
        {
            let name = format!("{title} of programs with probes, to plain; beside gcov");
            bars.at_most(&name, &format!("{ours:.3}"), &format!("{gcov:.3}"), ours / gcov, bar);
        }
    }
    if let Some(ours) = mean(results, Variant::Edgewise, COLUMNS[3].of) {
        bars.at_most("CPU time of compiling, to plain", &format!("{ours:.3}"), "1", ours, 1.6);
    }
    bars
}

pub fn text(results: &[(&str, Measured)], variants: &[Variant]) -> String {
    let mut text = String::new();
    let compared: Vec<Variant> = variants.iter().copied().filter(|v| v.base() != *v).collect();
    for Column { title, of } in COLUMNS {
        let head: Vec<&str> = compared.iter().map(|variant| variant.name()).collect();
        let _ = writeln!(text, "## {title}, as a ratio to the plain build by the same compiler\n");
        let _ = writeln!(text, "| program | plain | {} |", head.join(" | "));
        let _ = writeln!(text, "|---|--:|{}", "--:|".repeat(compared.len()));
        let mut logs = vec![(0.0, 0); compared.len()];
        for (name, measured) in results {
            let find = |variant| measured.iter().find(|(v, _)| *v == variant).map(|(_, f)| of(f));
            let plain = find(Variant::Plain).unwrap_or(f64::NAN);
            let _ = write!(text, "| {name} | {} |", amount(title, plain));
            for (variant, log) in compared.iter().zip(&mut logs) {
                let ratio = match (find(*variant), find(variant.base())) {
                    (Some(value), Some(base)) if base > 0.0 => value / base,
                    _ => f64::NAN,
                };
                // Start-up is another question than work.
                if *name != "nothing" && ratio.is_finite() {
                    *log = (log.0 + ratio.ln(), log.1 + 1);
                }
                let _ = write!(text, " {ratio:.3} |");
            }
            text.push('\n');
        }
        let means =
            logs.iter().map(|(sum, count)| format!("{:.3}", (sum / f64::from(*count)).exp()));
        let _ =
            writeln!(text, "| geometric mean | | {} |\n", means.collect::<Vec<_>>().join(" | "));
    }
    text
}

fn amount(title: &str, value: f64) -> String {
    match title {
        "Instructions" => format!("{:.1} M", value / 1e6),
        "Machine code" => format!("{:.0} kB", value / 1e3),
        _ => format!("{:.0} ms", value * 1e3),
    }
}
