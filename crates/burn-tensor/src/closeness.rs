//! How close two tensors are, for people to read.

use crate::Tensor;
use std::fmt::Write;

/// Prints for each of the tolerances 0.1 to 1e-8 how many elements differ by no more.
///
/// # Panics
/// If the shapes differ, or a tensor cannot be read.
#[track_caller]
pub fn check_closeness<const D: usize>(output: &Tensor<D>, expected: &Tensor<D>) {
    print!("{}", report(output, expected));
}

#[track_caller]
fn report<const D: usize>(output: &Tensor<D>, expected: &Tensor<D>) -> String {
    assert!(
        output.shape() == expected.shape(),
        "`check_closeness`: an output of shape {} where {} is expected\n  legal: one shape",
        output.shape(),
        expected.shape()
    );
    let numbers = |tensor: &Tensor<D>| tensor.to_data().iter::<f64>().collect::<Vec<_>>();
    let (output, expected) = (numbers(output), numbers(expected));
    let total = output.len();
    let mut text = String::from("Closeness of two tensors\n");
    for exponent in 1..=8 {
        let tolerance = 10f64.powi(-exponent);
        let pairs = output.iter().zip(&expected);
        // Equal infinities are close, and no NaN is.
        let close = pairs.filter(|(x, y)| x == y || (*x - *y).abs() <= tolerance);
        let close = close.count();
        let share = match total {
            0 => 100.0,
            total => 100.0 * close as f64 / total as f64,
        };
        let verdict = match share {
            100.0.. => "PASS",
            90.0.. => "WARN",
            _ => "FAIL",
        };
        writeln!(
            text,
            "  {tolerance:.0e}: {close}/{total} ({share:.2} %) [{verdict}]"
        )
        .expect("a string takes all");
    }
    text
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn a_report_counts_the_elements_within_each_tolerance() {
        let device = Device::flex();
        let expected = Tensor::<1>::ones([10], &device);
        let mut changes = [0.0; 10];
        (changes[0], changes[1]) = (0.05, f32::NAN);
        let found = report(
            &(expected.clone() + Tensor::from_data(changes, &device)),
            &expected,
        );
        let lines: Vec<_> = found.lines().skip(1).map(str::trim).collect();
        assert_eq!(lines[0], "1e-1: 9/10 (90.00 %) [WARN]");
        assert_eq!(lines[1], "1e-2: 8/10 (80.00 %) [FAIL]");
        assert_eq!(lines.len(), 8);
        let same = report(&expected, &expected);
        assert!(same.ends_with("1e-8: 10/10 (100.00 %) [PASS]\n"), "{same}");
    }
}
