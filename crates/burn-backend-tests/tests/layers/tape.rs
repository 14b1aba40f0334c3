//! Tapes: what they keep, when they are used up, how they go.

use crate::{elements, floats};
use burn_backend::{Build, Device, Handle};
use burn_backend_tests::{Array, Generator};
use burn_dispatch::autodiff::{BackwardError, backward, detach, is_leaf, is_tracked, require_grad};
use burn_dispatch::{registry, transfer};
use burn_flex::device as flex;
use burn_ir::{ActivationOp, Dims, ReduceOp, UnaryOp};
use std::time::{Duration, Instant};

fn tape() -> Device {
    registry::autodiff(flex())
}

fn leaf<const D: usize>(shape: [usize; D], values: &[f64]) -> Handle {
    require_grad(floats(tape(), shape, values)).expect("the device has a tape")
}

#[test]
fn the_gradient_of_a_square_is_twice_the_argument() {
    let x = leaf([2], &[3.0, -1.0]);
    let square = tape().mul(x.clone(), x.clone());
    let gradients = backward(&square, false).unwrap();
    assert_eq!(elements(gradients.get(&x).unwrap()), [6.0, -2.0]);
}

#[test]
fn gradients_over_several_paths_add_up() {
    // d/dx (x·e^x + x) = e^x·(1 + x) + 1, at 0: 2
    let mut e = tape();
    let x = leaf([1], &[0.0]);
    let exp = e.unary(UnaryOp::Exp, x.clone());
    let product = e.mul(exp, x.clone());
    let sum = e.add(product, x.clone());
    let gradients = backward(&sum, false).unwrap();
    assert_eq!(elements(gradients.get(&x).unwrap()), [2.0]);
}

#[test]
fn a_stretched_operand_gets_the_sum_of_its_gradients() {
    let mut e = tape();
    let (row, column) = (leaf([1, 3], &[1.0, 2.0, 3.0]), leaf([2, 1], &[10.0, 20.0]));
    let product = e.mul(row.clone(), column.clone());
    let gradients = backward(&product, false).unwrap();
    assert_eq!(elements(gradients.get(&row).unwrap()), [30.0; 3]);
    assert_eq!(elements(gradients.get(&column).unwrap()), [6.0; 2]);
}

#[test]
fn gradients_are_on_the_device_below_unless_they_are_recorded() {
    let mut e = tape();
    let x = leaf([1], &[2.0]);
    let square = e.mul(x.clone(), x.clone());
    let recorded = backward(&square, true).unwrap().remove(&x).unwrap();
    assert!(is_tracked(&recorded) && recorded.device() == tape());
    let plain = backward(&square, false).unwrap().remove(&x).unwrap();
    assert!(plain.device() == flex());
}

#[test]
fn a_recorded_pass_leaves_the_tape_and_can_be_differentiated_again_and_again() {
    // x⁴: 4x³, 12x², 24x, 24
    let mut e = tape();
    let x = leaf([1], &[2.0]);
    let square = e.mul(x.clone(), x.clone());
    let mut y = e.mul(square.clone(), square);
    for expected in [32.0, 48.0, 48.0, 24.0] {
        y = backward(&y, true).unwrap().remove(&x).unwrap();
        assert_eq!(elements(&y), [expected]);
    }
    // 24 does not depend on x.
    let untracked = BackwardError::Untracked { cut: None };
    assert_eq!(backward(&y, true).err(), Some(untracked));
}

#[test]
fn a_tape_over_a_tape_gives_the_same_second_gradient() {
    let (mut below, mut above) = (tape(), registry::autodiff(tape()));
    let inner = leaf([1], &[0.7]);
    let outer = require_grad(transfer(inner.clone(), above).unwrap()).unwrap();
    let tanh = above.unary(UnaryOp::Tanh, outer.clone());
    let first = backward(&tanh, false).unwrap().remove(&outer).unwrap();
    let nested = backward(&first, false).unwrap().remove(&inner).unwrap();

    let tanh = below.unary(UnaryOp::Tanh, inner.clone());
    let first = backward(&tanh, true).unwrap().remove(&inner).unwrap();
    let recorded = backward(&first, false).unwrap().remove(&inner).unwrap();
    assert_eq!(elements(&nested), elements(&recorded));
}

#[test]
fn a_consumed_tape_is_an_error_that_names_the_operation() {
    let mut e = tape();
    let x = leaf([1], &[1.0]);
    let exp = e.unary(UnaryOp::Exp, x.clone());
    let sin = e.unary(UnaryOp::Sin, exp.clone());
    backward(&sin, false).unwrap();
    let again = backward(&sin, false).unwrap_err();
    assert_eq!(again, BackwardError::Consumed { operation: "sin" });
    let shared = e.unary(UnaryOp::Cos, exp);
    let part = backward(&shared, false).unwrap_err();
    assert_eq!(part, BackwardError::Consumed { operation: "exp" });
    insta::assert_snapshot!(part, @r"
    `backward`: the tape was consumed by an earlier backward pass, from the output of `exp` on
      legal: one pass over each part of a tape; add what shares it before the pass, or compute it again
    ");
}

#[test]
fn a_tensor_on_no_tape_is_an_error_that_says_what_to_do() {
    insta::assert_snapshot!(backward(&floats(tape(), [1], &[1.0]), false).unwrap_err(), @r"
    `backward`: the tensor is on no tape
      legal: a tensor made from one with `require_grad` on an autodiff device
    ");
    let below = floats(flex(), [1], &[1.0]);
    assert_eq!(
        backward(&below, false).unwrap_err(),
        BackwardError::Untracked { cut: None }
    );
    assert!(require_grad(below).is_none());
}

#[test]
fn detached_tensors_are_constants() {
    let mut e = tape();
    let x = leaf([1], &[3.0]);
    let constant = detach(x.clone());
    assert!(is_leaf(&x) && !is_tracked(&constant));
    let product = e.mul(x.clone(), constant);
    assert!(is_tracked(&product) && !is_leaf(&product));
    assert_eq!(
        elements(backward(&product, false).unwrap().get(&x).unwrap()),
        [3.0]
    );
}

#[test]
fn comparisons_and_integers_carry_no_gradient() {
    let mut e = tape();
    let x = leaf([1], &[3.0]);
    let positive = e.compare_scalar(burn_ir::CompareOp::Greater, x.clone(), 0.0);
    let int = e.cast(x.clone(), burn_std::DType::I64);
    let back = e.cast(int, burn_std::DType::F64);
    assert!(!is_tracked(&positive) && !is_tracked(&back));
}

#[test]
fn what_cannot_be_differentiated_is_named() {
    let mut e = tape();
    let x = leaf([2], &[3.0, 1.0]);
    let positive = e.compare_scalar(burn_ir::CompareOp::Greater, x.clone(), 2.0);
    let floats = e.cast(positive, burn_std::DType::F64);
    let scaled = e.mul_scalar(floats, 2.0);
    insta::assert_snapshot!(backward(&scaled, false).unwrap_err(), @r"
    `backward`: the tensor is on no tape, because no gradient flows through `greater`, which it was made with
      legal: a tensor to which differentiable operations lead from one with `require_grad`
    ");
    // Another path is enough.
    let product = e.mul(scaled, x.clone());
    let gradients = backward(&product, false).unwrap();
    assert_eq!(elements(gradients.get(&x).unwrap()), [2.0, 0.0]);
}

#[test]
fn steps_have_gradients_of_zeros() {
    let mut e = tape();
    let x = leaf([2], &[0.4, -1.6]);
    for op in [UnaryOp::Floor, UnaryOp::Round, UnaryOp::Sign] {
        let steps = e.unary(op, x.clone());
        let gradients = backward(&steps, false).unwrap();
        assert_eq!(elements(gradients.get(&x).unwrap()), [0.0, 0.0]);
    }
}

#[test]
fn a_product_with_zero_factors_has_exact_gradients() {
    // The gradient of each factor is the product of the others.
    let x = leaf([3], &[2.0, 0.0, 5.0]);
    let product = tape().reduce(ReduceOp::Prod, x.clone(), Dims::one(0));
    assert_eq!(
        elements(backward(&product, false).unwrap().get(&x).unwrap()),
        [0.0, 10.0, 0.0]
    );
}

#[test]
fn equal_extrema_share_the_gradient() {
    let x = leaf([4], &[1.0, 7.0, 7.0, 2.0]);
    let max = tape().reduce(ReduceOp::Max, x.clone(), Dims::one(0));
    assert_eq!(
        elements(backward(&max, false).unwrap().get(&x).unwrap()),
        [0.0, 0.5, 0.5, 0.0]
    );
}

#[test]
fn powers_have_finite_gradients_at_zero() {
    let mut e = tape();
    let (x, y) = (leaf([3], &[0.0, 0.0, 2.0]), leaf([3], &[0.0, 2.0, 3.0]));
    let power = e.binary(burn_ir::BinaryOp::Pow, x.clone(), y.clone());
    let gradients = backward(&power, false).unwrap();
    // y·x^(y-1), 0 for an exponent of 0; ln(x)·x^y, 0 for a base of 0.
    assert_eq!(elements(gradients.get(&x).unwrap()), [0.0, 0.0, 12.0]);
    assert_eq!(
        elements(gradients.get(&y).unwrap()),
        [0.0, 0.0, 8.0 * 2f64.ln()]
    );
}

#[test]
fn a_tape_of_a_million_nodes_goes_without_recursion() {
    // Views, since building the tape takes the time of this test.
    let mut e = tape();
    let mut x = leaf([1], &[1.0]);
    for _ in 0..1_000_000 {
        x = e.reshape(x, [1].into());
    }
    let start = Instant::now();
    drop(x);
    // A linear walk takes some tenths of a second without optimization; quadratic work would take hours.
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn a_long_tape_runs_backwards_without_recursion() {
    let mut e = tape();
    let x = leaf([1], &[1.0]);
    let mut y = x.clone();
    for _ in 0..50_000 {
        y = e.neg(y);
    }
    let gradients = backward(&y, true).unwrap();
    assert_eq!(elements(gradients.get(&x).unwrap()), [1.0]);
}

/// `Σ log_softmax(tanh(x·W)·V)·c`
fn network(e: &mut Device, [x, w, v, c]: [Handle; 4]) -> Handle {
    let hidden = e.matmul(x, w);
    let hidden = e.unary(UnaryOp::Tanh, hidden);
    let scores = e.matmul(hidden, v);
    let logs = e.activation(ActivationOp::LogSoftmax { dim: 1 }, scores);
    let weighted = e.mul(logs, c);
    e.reduce(ReduceOp::Sum, weighted, Dims::all(2))
}

#[test]
fn hessian_vector_products_agree_with_differences_of_gradients() {
    let mut generator = Generator::new("network");
    let mut random = |rows: usize, columns: usize| -> Vec<f64> {
        (0..rows * columns)
            .map(|_| generator.uniform(-1.0, 1.0))
            .collect()
    };
    let (x, w, v, c) = (random(5, 3), random(3, 4), random(4, 2), random(5, 2));
    let direction = random(3, 4);
    let mut e = tape();
    let with = |w: &[f64]| {
        let w = leaf([3, 4], w);
        let others = [
            floats(tape(), [5, 3], &x),
            floats(tape(), [4, 2], &v),
            floats(tape(), [5, 2], &c),
        ];
        let [x, v, c] = others;
        (w.clone(), network(&mut tape(), [x, w, v, c]))
    };
    let gradient = |w: &[f64]| {
        let (leaf, loss) = with(w);
        elements(backward(&loss, false).unwrap().get(&leaf).unwrap())
    };

    let (leaf, loss) = with(&w);
    let first = backward(&loss, true).unwrap().remove(&leaf).unwrap();
    let along = e.mul(first, floats(tape(), [3, 4], &direction));
    let product = elements(backward(&along, false).unwrap().get(&leaf).unwrap());

    // Central difference along the direction, with the step that balances truncation and rounding (∛ε).
    let step = 6e-6;
    let moved = |by: f64| -> Vec<f64> {
        let moved: Vec<f64> = w.iter().zip(&direction).map(|(w, d)| w + by * d).collect();
        gradient(&moved)
    };
    let expected = moved(step)
        .into_iter()
        .zip(moved(-step))
        .map(|(up, down)| (up - down) / (2.0 * step));
    for (found, expected) in product.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
    assert!(product.iter().any(|x| x.abs() > 1e-3), "{product:?}");
}

#[test]
fn values_kept_for_gradients_are_those_at_the_time() {
    // The engine overwrites what nobody holds; the tape holds what its rules read.
    let mut e = tape();
    let x = leaf([2], &[0.5, 2.0]);
    let exp = e.unary(UnaryOp::Exp, x.clone());
    let shifted = e.add_scalar(exp, 100.0);
    let gradient = elements(backward(&shifted, false).unwrap().get(&x).unwrap());
    let expected = Array::floats([2], [0.5f64.exp(), 2f64.exp()]);
    for (found, expected) in gradient.iter().zip(expected.data) {
        assert!(
            (found - expected.float()).abs() <= 2.0 * f64::EPSILON * found,
            "{found}"
        );
    }
}
