//! `curves`: trains the digits example in four modes, fusion and autotune on and off, and compares the losses.

use crate::checks::{Backend, packages};
use crate::util::{Result, Steps, cargo, program, read, target_dir};

/// The passes over the digits that are compared, and by how much their mean losses may differ.
const EPOCHS: &str = "30";
const TOLERANCE: f64 = 1e-3;

/// Trains on an engine, which is a feature and a device of the example, and compares.
pub(crate) fn run(steps: &mut Steps, backend: Backend) -> Result {
    let engine = backend.name();
    let mut build = cargo(&["build", "--bin", "digits"]);
    match backend {
        Backend::Flex => build.args(["--package", "digits"]),
        _ => build.args(packages(backend)).args(["--test", engine]),
    };
    steps.command("build", &mut build)?;
    let digits = target_dir().join("debug/digits");
    let folder = target_dir().join("curves");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut curves = Vec::new();
    for (fusion, autotune) in [("1", "1"), ("1", "0"), ("0", "1"), ("0", "0")] {
        let title = format!("fusion {fusion}, autotune {autotune}");
        let file = folder.join(format!("{engine}-{fusion}{autotune}"));
        let mut train = program(&digits.to_string_lossy(), &["train", "--epochs", EPOCHS]);
        train.args(["--device", engine, "--losses"]);
        train.arg(&file).arg("--model").arg(folder.join("model"));
        train
            .env("BURN_FUSION", fusion)
            .env("BURN_AUTOTUNE", autotune);
        steps.command(&title, &mut train)?;
        curves.push((title, losses(&read(&file)?)?));
    }
    steps.step("compare", || compare(&curves))
}

fn losses(text: &str) -> Result<Vec<f64>> {
    let parsed: std::result::Result<_, _> = text.lines().map(str::parse).collect();
    parsed.map_err(|error| format!("a loss is no number: {error}"))
}

/// Fails if a curve is further from the first than [`TOLERANCE`] anywhere.
fn compare(curves: &[(String, Vec<f64>)]) -> Result {
    let (_, first) = &curves[0];
    for (title, curve) in curves {
        if curve.len() != first.len() || curve.is_empty() {
            return Err(format!(
                "{title}: {} losses instead of {}",
                curve.len(),
                first.len()
            ));
        }
        let distances = curve
            .iter()
            .zip(first)
            .map(|(it, first)| (it - first).abs());
        // A loss that is no number is as far as can be.
        let largest = distances.fold(0.0, |a, b| if b <= a { a } else { b });
        println!("{title}: {curve:.5?}, at most {largest:.1e} from the first");
        if largest.is_nan() || largest > TOLERANCE {
            return Err(format!("{title}: the losses differ by {largest}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(losses: &[f64]) -> (String, Vec<f64>) {
        ("mode".into(), losses.to_vec())
    }

    #[test]
    fn curves_agree_within_the_tolerance() {
        let first = curve(&[1.0, 0.5]);
        assert_eq!(compare(&[first.clone(), curve(&[1.0005, 0.5])]), Ok(()));
        for other in [&[1.0, 0.502][..], &[1.0, f64::NAN], &[1.0]] {
            assert!(
                compare(&[first.clone(), curve(other)]).is_err(),
                "{other:?}"
            );
        }
    }
}
