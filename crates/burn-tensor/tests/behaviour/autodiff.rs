//! Tapes and gradients. Each rule is checked against differences elsewhere.

use super::{ad, close, dev, message};
use burn_tensor::module::{conv_transpose1d, max_pool2d};
use burn_tensor::ops::{ConvTransposeOptions, MaxPoolOptions};
use burn_tensor::{Int, Tensor, activation};
use insta::assert_snapshot;

#[test]
fn a_gradient_lives_below_the_tape() {
    let x = Tensor::<1>::from_data([2.0, 3.0], &ad()).require_grad();
    let gradients = (x.clone() * x.clone()).backward();
    let gradient = x.grad(&gradients).unwrap();
    assert!(!gradient.is_autodiff());
    close(gradient, [4.0, 6.0]);
}

#[test]
fn gradients_are_taken_and_replaced() {
    let x = Tensor::<1>::from_data([2.0], &ad()).require_grad();
    let mut gradients = (x.clone() * 3.0).backward();
    x.grad_replace(&mut gradients, Tensor::from_data([7.0], &ad()));
    close(x.grad(&gradients).unwrap(), [7.0]);
    close(x.grad_remove(&mut gradients).unwrap(), [7.0]);
    assert!(x.grad(&gradients).is_none());
}

#[test]
fn a_leaf_is_a_leaf_once() {
    let x = Tensor::<1>::from_data([2.0], &ad()).require_grad();
    assert!(x.is_require_grad() && x.is_tracked());
    let same = x.clone().require_grad();
    let gradients = (same * 3.0).backward();
    close(x.grad(&gradients).unwrap(), [3.0]);
    let result = x.clone() * 2.0;
    assert!(!result.is_require_grad() && result.is_tracked());
}

#[test]
fn detaching_makes_a_constant_or_another_leaf() {
    let x = Tensor::<1>::from_data([2.0], &ad()).require_grad();
    let constant = (x.clone() * 2.0).detach();
    assert!(!constant.is_tracked() && constant.is_autodiff());
    let leaf = x.clone().detach();
    assert!(leaf.is_require_grad());
    let gradients = (leaf.clone() * 3.0).backward();
    assert!(x.grad(&gradients).is_none());
    close(leaf.grad(&gradients).unwrap(), [3.0]);
    assert!(!x.set_require_grad(false).is_tracked());
}

#[test]
fn tensors_leave_and_enter_the_tape() {
    let x = Tensor::<1>::from_data([2.0], &ad()).require_grad();
    let plain = x.clone().inner();
    assert!(!plain.is_autodiff() && !x.without_autodiff().is_autodiff());
    let constant = Tensor::from_inner(plain.clone());
    assert!(constant.is_autodiff() && !constant.is_tracked());
    assert!(!plain.inner().is_autodiff());
    let ints = Tensor::<1, Int>::from_data([1], &ad());
    assert!(!ints.inner().is_autodiff());
}

/// BC-003: the gradient through an empty selection is zero, not missing.
#[test]
fn nothing_selected_has_zero_gradient() {
    let x = Tensor::<1>::from_data([1.0, 2.0, 3.0], &ad()).require_grad();
    let gradients = x.clone().slice(0..0).sum().backward();
    close(x.grad(&gradients).unwrap(), [0.0, 0.0, 0.0]);
}

/// BC-039: operands that broadcast get gradients of their own shape.
#[test]
fn broadcast_operands_get_gradients_of_their_shape() {
    let x = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 4.0]], &ad());
    let t = Tensor::<2>::from_data([[1.0], [2.0]], &ad());
    let w = Tensor::<2>::from_data([[1.0], [1.0]], &ad()).require_grad();
    let b = Tensor::<2>::zeros([1, 3], &ad()).require_grad();
    let terms = (x.matmul(w.clone()) + b.clone() - t).powf_scalar(2.0);
    close(terms.clone(), [[4.0, 4.0, 4.0], [25.0, 25.0, 25.0]]);
    let gradients = terms.sum().backward();
    close(b.grad(&gradients).unwrap(), [[14.0, 14.0, 14.0]]);
    close(w.grad(&gradients).unwrap(), [[102.0], [144.0]]);
}

/// BC-047: a consumed tape is an error, and leaves are shared freely.
#[test]
fn a_second_pass_over_a_tape_is_refused() {
    let x = Tensor::<1>::from_data([3.0], &ad()).require_grad();
    let y = x.clone() * x.clone();
    y.clone().sum().backward();
    let text = message(|| (y * 2.0).sum().backward());
    assert_snapshot!(text, @"
    `backward`: the tape was consumed by an earlier backward pass, from the output of `mul` on
      legal: one pass over each part of a tape; add what shares it before the pass, or compute it again
    ");
    let (a, b) = (x.clone() * 2.0, x.clone() * 3.0);
    let (ga, gb) = (a.backward(), b.backward());
    close(x.grad(&ga).unwrap(), [2.0]);
    close(x.grad(&gb).unwrap(), [3.0]);
}

/// BC-049: the gradient of a product does not divide by its factors.
#[test]
fn zeros_in_a_product_have_finite_gradients() {
    let x = Tensor::<1>::from_data([2.0, 0.0, 3.0], &ad()).require_grad();
    let gradients = x.clone().prod().backward();
    close(x.grad(&gradients).unwrap(), [0.0, 6.0, 0.0]);
    let z = Tensor::<1>::from_data([0.0, 0.0, 3.0], &ad()).require_grad();
    let gradients = z.clone().prod().backward();
    close(z.grad(&gradients).unwrap(), [0.0, 0.0, 0.0]);
}

#[test]
fn gradients_have_gradients() {
    let x = Tensor::<1>::from_data([2.0], &ad()).require_grad();
    let first = (x.clone().powi_scalar(3)).backward_create_graph();
    let slope = x.grad(&first).unwrap();
    close(slope.clone(), [12.0]);
    assert!(slope.is_tracked());
    let second = slope.backward();
    // d²/dx² x³ = 6x
    close(x.grad(&second).unwrap(), [12.0]);
}

#[test]
fn joins_and_assignments_send_gradients_to_their_parts() {
    let x = Tensor::<1>::from_data([1.0, 2.0], &ad()).require_grad();
    let y = Tensor::<1>::from_data([3.0], &ad()).require_grad();
    let weights = Tensor::<1>::from_data([1.0, 10.0, 100.0], &ad());
    let gradients = (Tensor::cat(vec![x.clone(), y.clone()], 0) * weights.clone()).backward();
    close(x.grad(&gradients).unwrap(), [1.0, 10.0]);
    close(y.grad(&gradients).unwrap(), [100.0]);
    let z = Tensor::<1>::from_data([0.0, 0.0, 0.0], &ad()).require_grad();
    let gradients = (z.clone().slice_assign(1..2, y.clone()) * weights).backward();
    close(z.grad(&gradients).unwrap(), [1.0, 0.0, 100.0]);
    close(y.grad(&gradients).unwrap(), [10.0]);
}

/// BC-055: the value is linear far out and the gradient is the sigmoid everywhere.
#[test]
fn softplus_is_stable_with_its_gradient() {
    let values = [20.0, 50.0, 100.0, -100.0, 0.0];
    let x = Tensor::<1>::from_data(values, &ad()).require_grad();
    let y = activation::softplus(x.clone(), 1.0);
    close(y.clone(), [20.0, 50.0, 100.0, 0.0, core::f32::consts::LN_2]);
    let gradients = y.backward();
    close(x.grad(&gradients).unwrap(), [1.0, 1.0, 1.0, 0.0, 0.5]);
    let steep = activation::softplus(Tensor::<1>::from_data(values, &dev()), 5.0);
    close(steep, [20.0, 50.0, 100.0, 0.0, 0.138_629_44]);
}

/// BC-041: the adjoint of a convolution, with a place more at its end.
#[test]
fn a_transposed_convolution_has_gradients_of_the_right_length() {
    let x = Tensor::<3>::from_data([[[1.0, 2.0, 3.0, 4.0]]], &ad()).require_grad();
    let w = Tensor::<3>::from_data([[[1.0, 2.0, 3.0]]], &ad()).require_grad();
    let options = ConvTransposeOptions::new([2], [1], [1], [1], 1);
    let y = conv_transpose1d(x.clone(), w.clone(), None, options);
    close(y.clone(), [[[2.0, 5.0, 4.0, 9.0, 6.0, 13.0, 8.0, 12.0]]]);
    let gradients = y.sum().backward();
    close(x.grad(&gradients).unwrap(), [[[5.0, 6.0, 6.0, 6.0]]]);
    close(w.grad(&gradients).unwrap(), [[[9.0, 10.0, 10.0]]]);
}

/// BC-043: height and width have dilations of their own.
#[test]
fn a_dilated_pool_sends_gradients_to_the_largest() {
    let rows = [
        [1.0, 9.0, 2.0, 8.0],
        [3.0, 7.0, 4.0, 6.0],
        [5.0, 0.0, 11.0, 10.0],
    ];
    let x = Tensor::<4>::from_data([[rows]], &ad()).require_grad();
    let options = MaxPoolOptions::new([2, 2])
        .with_stride([1, 1])
        .with_dilation([1, 2]);
    let y = max_pool2d(x.clone(), options);
    close(y.clone(), [[[[4.0, 9.0], [11.0, 10.0]]]]);
    let weights = Tensor::<4>::from_data([[[[1.0, 2.0], [3.0, 4.0]]]], &ad());
    let gradients = (y * weights).sum().backward();
    let expected = [
        [0.0, 2.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 3.0, 4.0],
    ];
    close(x.grad(&gradients).unwrap(), [[expected]]);
}

/// BC-003: nothing chosen by indices has a gradient of zeros.
#[test]
fn a_selection_of_nothing_has_zero_gradient() {
    let x = Tensor::<1>::from_data([1.0, 2.0, 3.0], &ad()).require_grad();
    let none = Tensor::<1, Int>::zeros([0], &ad());
    let gradients = x.clone().select(0, none).sum().backward();
    close(x.grad(&gradients).unwrap(), [0.0, 0.0, 0.0]);
}
