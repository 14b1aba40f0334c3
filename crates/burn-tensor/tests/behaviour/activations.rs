//! Activations, losses and functional layers.

use super::{close, dev};
use burn_tensor::activation::*;
use burn_tensor::ops::AttentionModuleOptions;
use burn_tensor::{Bool, Int, Tensor, TensorData, loss, module};

fn floats<const N: usize>(values: [f32; N]) -> Tensor<1> {
    Tensor::from_data(values, &dev())
}

fn matrix<const A: usize, const B: usize>(values: [[f32; B]; A]) -> Tensor<2> {
    Tensor::from_data(values, &dev())
}

/// BC-067: quiet softmax is never NaN, and may give nothing at all.
#[test]
fn gates_and_quiet_maxima() {
    close(
        glu(matrix([[1.0, 2.0, 0.0, -1.0]]), 1),
        [[0.5, 0.537_882_86]],
    );
    close(
        quiet_softmax(floats([2.0, -1.0]), 0),
        [0.843_794_76, 0.042_010_07],
    );
    close(quiet_softmax(floats([0.0, 0.0]), 0), [1.0 / 3.0, 1.0 / 3.0]);
    close(quiet_softmax(floats([-1000.0, -1000.0]), 0), [0.0, 0.0]);
    close(quiet_softmax(floats([1000.0, -1000.0]), 0), [1.0, 0.0]);
}

/// Against f64 evaluations of the formulas in the docs.
#[test]
fn curves_follow_their_formulas() {
    close(elu(floats([-4.0, 0.5]), 2.0), [-1.963_368_7, 0.5]);
    close(celu(floats([-4.0, 0.5]), 2.0), [-1.729_329_4, 0.5]);
    close(selu(floats([-4.0, 0.5])), [-1.725_898_6, 0.525_350_5]);
    close(elu(floats([-1e-4, 100.0]), 1.0), [-9.999_5e-5, 100.0]);
    close(
        gelu_approximate(floats([-1.0, 0.5, 3.0])),
        [-0.158_808, 0.345_714, 2.996_362_7],
    );
    close(
        gelu(floats([-1.0, 0.0, 1.0])),
        [-0.158_655_25, 0.0, 0.841_344_75],
    );
    close(silu(floats([-1.0, 1.0])), [-0.268_941_43, 0.731_058_6]);
    close(mish(floats([-1.0, 1.0])), [-0.303_401_47, 0.865_098_4]);
    close(softsign(floats([-1.0, 3.0])), [-0.5, 0.75]);
    close(tanhshrink(floats([0.0, 1.0])), [0.0, 0.238_405_84]);
    close(
        softplus_with_threshold(floats([-4.0, 0.5, 3.0]), 2.0, 5.0),
        [1.677_031_8e-4, 0.656_630_8, 3.0],
    );
}

#[test]
fn the_logarithm_of_a_sigmoid_is_stable() {
    close(
        log_sigmoid(floats([-200.0, 0.0, 200.0])),
        [-200.0, -core::f32::consts::LN_2, 0.0],
    );
}

#[test]
fn pieces_join_where_they_should() {
    close(relu(floats([-1.0, 0.0, 2.0])), [0.0, 0.0, 2.0]);
    close(relu6(floats([-1.0, 3.0, 8.0])), [0.0, 3.0, 6.0]);
    close(leaky_relu(floats([-2.0, 2.0]), 0.1), [-0.2, 2.0]);
    close(
        hard_sigmoid(floats([-4.0, 0.0, 1.0, 4.0]), 0.2, 0.5),
        [0.0, 0.5, 0.7, 1.0],
    );
    close(
        hard_swish(floats([-4.0, 0.0, 1.0, 4.0])),
        [0.0, 0.0, 2.0 / 3.0, 4.0],
    );
    close(
        hardtanh(floats([-4.0, 0.5, 3.0]), -1.0, 1.0),
        [-1.0, 0.5, 1.0],
    );
    let x = || floats([-4.0, -0.5, 0.0, 1.0, 4.0]);
    close(shrink(x(), 1.0, 0.25), [-3.75, 0.0, 0.0, 0.0, 3.75]);
    close(hard_shrink(x(), 1.0), [-4.0, 0.0, 0.0, 0.0, 4.0]);
    close(soft_shrink(x(), 1.0), [-3.0, 0.0, 0.0, 0.0, 3.0]);
    close(threshold(x(), 1.0, -9.0), [-9.0, -9.0, -9.0, -9.0, 4.0]);
    close(thresholded_relu(x(), 1.0), [0.0, 0.0, 0.0, 0.0, 4.0]);
    close(
        prelu(matrix([[-4.0, -0.5], [0.0, -1.0]]), floats([0.1, 0.2])),
        [[-0.4, -0.1], [0.0, -0.2]],
    );
    close(prelu(floats([-4.0, -0.5]), floats([0.1])), [-0.4, -0.05]);
}

#[test]
fn nan_stays_nan() {
    let f: [fn(Tensor<1>) -> Tensor<1>; 10] = [
        relu,
        |x| leaky_relu(x, 0.1),
        |x| elu(x, 1.0),
        |x| softplus(x, 1.0),
        |x| shrink(x, 1.0, 0.25),
        |x| threshold(x, 1.0, 0.0),
        |x| hardtanh(x, -1.0, 1.0),
        hard_swish,
        log_sigmoid,
        mish,
    ];
    for (at, f) in f.iter().enumerate() {
        assert!(
            f(floats([f32::NAN])).into_scalar::<f32>().is_nan(),
            "activation {at}"
        );
    }
}

#[test]
fn maxima_are_soft_along_a_dim() {
    close(
        softmax(matrix([[0.0, 0.0], [1000.0, 0.0]]), -1),
        [[0.5, 0.5], [1.0, 0.0]],
    );
    close(log_softmax(floats([1000.0, 0.0]), 0), [0.0, -1000.0]);
    close(
        softmin(floats([-4.0, 0.5, 3.0]), 0),
        [0.988_122, 0.010_977_044, 9.010_506_3e-4],
    );
}

#[test]
fn cross_entropy_averages_rows() {
    let logits = matrix([[1.0, 2.0], [3.0, 1.0]]);
    let target = matrix([[0.0, 1.0], [1.0, 0.0]]);
    // (ln(1 + e^-1) + ln(1 + e^-2)) / 2
    close(
        loss::cross_entropy_with_logits(logits, target),
        [0.220_094_86],
    );
}

#[test]
fn a_linear_layer_keeps_leading_dims() {
    let weight = || matrix([[1.0, 2.0, 3.0], [3.0, 1.0, 0.0]]);
    let bias = || Some(floats([1.0, 1.0, 1.0]));
    close(
        module::linear(floats([1.0, 2.0]), weight(), bias()),
        [8.0, 5.0, 4.0],
    );
    let x = Tensor::<3>::ones([4, 5, 2], &dev());
    assert_eq!(module::linear(x, weight(), bias()).dims(), [4, 5, 3]);
    let empty = Tensor::<2>::ones([0, 2], &dev());
    assert_eq!(module::linear(empty, weight(), None).dims(), [0, 3]);
}

#[test]
fn norms_scale_to_mean_zero_and_variance_one() {
    let x = || matrix([[1.0, 2.0], [3.0, 1.0]]);
    let (gamma, beta) = (|| floats([1.0, 2.0]), || floats([0.0, 1.0]));
    close(
        module::layer_norm(x(), gamma(), Some(beta()), 0.0),
        [[-1.0, 3.0], [1.0, -1.0]],
    );
    let given = module::batch_norm(
        x(),
        gamma(),
        beta(),
        floats([1.0, 1.0]),
        floats([4.0, 1.0]),
        0.0,
    );
    close(given, [[0.0, 3.0], [1.0, 1.0]]);
    let own = module::batch_norm_train(x(), gamma(), beta(), 0.0);
    close(own.output, [[-1.0, 3.0], [1.0, -1.0]]);
    close(own.mean, [2.0, 1.5]);
    close(own.variance, [1.0, 0.25]);
}

#[test]
fn attention_hides_what_the_mask_says() {
    let q = || {
        Tensor::<1, Int>::arange(0..4, &dev())
            .float()
            .reshape([1, 1, 2, 2])
    };
    let causal = AttentionModuleOptions {
        is_causal: true,
        ..Default::default()
    };
    let output = module::attention(q(), q(), q(), None, None, causal);
    // The first query sees the first key only; the second has scores 3/√2 and 13/√2.
    let weight = 1.0 / (1.0 + (10.0 / 2f32.sqrt()).exp());
    let second = [2.0 - 2.0 * weight, 3.0 - 2.0 * weight];
    close(output, TensorData::from([[[[0.0, 1.0], second]]]));
    let mask = Tensor::<4, Bool>::from_data([[[[true, true], [false, true]]]], &dev());
    let output = module::attention(q(), q(), q(), Some(mask), None, Default::default());
    close(output, [[[[0.0, 0.0], [0.0, 1.0]]]]);
}
