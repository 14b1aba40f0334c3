//! Every activation.

use crate::harness::Case;
use burn_core::tensor::{Tensor, TensorData};
use burn_nn::activation::*;

const FIXTURE: &str = include_str!("../fixtures/sequence/activations.json");

/// Far out on both sides, between all bends, and on none of them.
const POINTS: [f32; 12] = [
    -30.0, -7.0, -3.1, -2.0, -0.9, -0.3, 0.2, 0.45, 0.7, 1.5, 3.3, 25.0,
];

#[track_caller]
fn agrees(name: &str, forward: impl Fn(Tensor<2>) -> Tensor<2>) {
    let mut case = Case::new(FIXTURE, name);
    let input = case.leaf("input", TensorData::new(POINTS.to_vec(), [2, 6]));
    case.output("output", forward(input));
    case.finish();
}

#[test]
fn activations_without_numbers_agree_with_pytorch() {
    agrees("gelu", |x| Gelu::new().forward(x));
    agrees("gelu approximate", |x| Gelu::new_approximate().forward(x));
    agrees("glu of the last dimension", |x| GLU::new(-1).forward(x));
    agrees("glu of the first dimension", |x| GLU::new(0).forward(x));
    agrees("hard swish", |x| HardSwish::new().forward(x));
    agrees("log sigmoid", |x| LogSigmoid::new().forward(x));
    agrees("mish", |x| Mish::new().forward(x));
    agrees("relu", |x| Relu::new().forward(x));
    agrees("relu6", |x| Relu6::new().forward(x));
    agrees("selu", |x| Selu::new().forward(x));
    agrees("sigmoid", |x| Sigmoid::new().forward(x));
    agrees("silu", |x| SiLU::new().forward(x));
    agrees("softsign", |x| Softsign::new().forward(x));
    agrees("tanh", |x| Tanh::new().forward(x));
    agrees("tanhshrink", |x| Tanhshrink::new().forward(x));
}

#[test]
fn activations_with_numbers_agree_with_pytorch() {
    let celu = CeluConfig::new().with_alpha(0.7).init();
    agrees("celu", |x| celu.forward(x));
    let elu = EluConfig::new().with_alpha(0.7).init();
    agrees("elu", |x| elu.forward(x));
    let hard_shrink = HardShrinkConfig::new().init();
    agrees("hard shrink", |x| hard_shrink.forward(x));
    let hard_sigmoid = HardSigmoidConfig::new();
    agrees("hard sigmoid", |x| hard_sigmoid.init().forward(x));
    let hard_sigmoid = hard_sigmoid.with_alpha(1.0 / 6.0).init();
    agrees("hard sigmoid of a sixth", |x| hard_sigmoid.forward(x));
    let hardtanh = HardtanhConfig::new().with_min_val(-2.5).with_max_val(1.25);
    agrees("hardtanh", |x| hardtanh.init().forward(x));
    let leaky_relu = LeakyReluConfig::new().init();
    agrees("leaky relu", |x| leaky_relu.forward(x));
    let rrelu = RReluConfig::new().init();
    // In validation, that is off the tape for the layer but not for the input.
    let rrelu = burn_core::module::Module::valid(&rrelu);
    agrees("rrelu", |x| rrelu.forward(x));
    let shrink = ShrinkConfig::new().with_bias(0.2).init();
    agrees("shrink", |x| shrink.forward(x));
    let soft_shrink = SoftShrinkConfig::new().init();
    agrees("soft shrink", |x| soft_shrink.forward(x));
    let softplus = SoftplusConfig::new();
    agrees("softplus", |x| softplus.init().forward(x));
    let softplus = softplus.with_beta(2.0).with_threshold(1.8).init();
    agrees("softplus with beta and threshold", |x| softplus.forward(x));
    let threshold = ThresholdConfig::new(0.3, 20.0).init();
    agrees("threshold", |x| threshold.forward(x));
    let thresholded = ThresholdedReluConfig::new().init();
    agrees("thresholded relu", |x| thresholded.forward(x));
}

#[test]
fn activations_with_parameters_agree_with_pytorch() {
    for count in [1, 6] {
        let mut case = Case::new(FIXTURE, &format!("prelu with {count} slopes"));
        let input = case.leaf::<2>("input", TensorData::new(POINTS.to_vec(), [2, 6]));
        let config = PReluConfig::new().with_num_parameters(count);
        let layer = config.init(case.device());
        let layer = case.layer(layer);
        case.output("output", layer.forward(input));
        case.finish();
    }
    for (name, bias) in [("swiglu without bias", false), ("swiglu with bias", true)] {
        let mut case = Case::new(FIXTURE, name);
        let input = case.input("input", [2, 3, 4]);
        let layer = SwiGluConfig::new(4, 3).with_bias(bias).init(case.device());
        let layer = case.layer(layer);
        case.output("output", layer.forward(input));
        case.finish();
    }
}

#[test]
fn a_chosen_activation_is_the_one_that_was_named() {
    for (name, config) in [
        ("gelu", ActivationConfig::Gelu),
        ("gelu approximate", ActivationConfig::GeluApproximate),
        ("hard swish", ActivationConfig::HardSwish),
        ("relu", ActivationConfig::Relu),
        ("selu", ActivationConfig::Selu),
        ("sigmoid", ActivationConfig::Sigmoid),
        ("softsign", ActivationConfig::Softsign),
        ("tanh", ActivationConfig::Tanh),
        ("celu", CeluConfig::new().with_alpha(0.7).into()),
        ("elu", EluConfig::new().with_alpha(0.7).into()),
        ("hard shrink", HardShrinkConfig::new().into()),
        ("hard sigmoid", HardSigmoidConfig::new().into()),
        ("leaky relu", LeakyReluConfig::new().into()),
        ("shrink", ShrinkConfig::new().with_bias(0.2).into()),
        ("soft shrink", SoftShrinkConfig::new().into()),
        ("softplus", SoftplusConfig::new().into()),
        ("thresholded relu", ThresholdedReluConfig::new().into()),
    ] {
        agrees(name, |x| config.init(&x.device()).forward(x));
    }
}

/// BC-055: neither the function nor its gradient overflows, and far to the left it is not 0 before it must be.
#[test]
fn softplus_is_right_far_out() {
    let device = burn_core::tensor::Device::flex().autodiff();
    let points = [20.0, 50.0, 100.0, -100.0, 0.0];
    for (beta, expected, slope) in [
        (
            1.0,
            [20.0, 50.0, 100.0, 3.7e-44, core::f32::consts::LN_2],
            0.5,
        ),
        (5.0, [20.0, 50.0, 100.0, 0.0, 0.138_629_44], 0.5),
    ] {
        let x = Tensor::<1>::from_data(points, &device).require_grad();
        let layer = SoftplusConfig::new().with_beta(beta).init();
        let output = layer.forward(x.clone());
        let grad = x
            .grad(&output.clone().sum().backward())
            .expect("it is a leaf");
        let found = crate::harness::values(output);
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                // The smallest numbers have few bits.
                (found - expected).abs() <= 1e-6 * expected + 3e-45,
                "{found} {expected}"
            );
        }
        let grad = crate::harness::values(grad);
        assert_eq!(grad[..3], [1.0; 3]);
        assert!((0.0..1e-40).contains(&grad[3]), "{}", grad[3]);
        assert!((grad[4] - slope).abs() < 1e-6, "{}", grad[4]);
    }
}
