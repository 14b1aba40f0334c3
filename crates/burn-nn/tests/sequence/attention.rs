//! Attention and rotary encodings.

use crate::harness::{Case, values};
use burn_core::tensor::{Bool, Device, Tensor};
use burn_nn::RotaryEncodingConfig;
use burn_nn::attention::{
    CrossAttentionConfig, MhaInput, MultiHeadAttention, MultiHeadAttentionConfig,
    generate_autoregressive_mask,
};

const FIXTURE: &str = include_str!("../fixtures/sequence/attention.json");

/// True where the script has padding.
pub fn padding(device: &Device) -> Tensor<2, Bool> {
    Tensor::from_data([[false, false, true], [false, true, false]], device)
}

fn multi_head(device: &Device) -> MultiHeadAttention {
    let config = MultiHeadAttentionConfig::new(4, 2).with_dropout(0.0);
    config.init(device)
}

#[track_caller]
fn over_itself(name: &str, layer: MultiHeadAttention, masks: impl Fn(MhaInput) -> MhaInput) {
    let mut case = Case::new(FIXTURE, name);
    let layer = case.layer(layer);
    let input = case.input("query", [2, 3, 4]);
    let output = layer.forward(masks(MhaInput::self_attn(input)));
    case.output("context", output.context);
    case.output("weights", output.weights);
    case.finish();
}

#[test]
fn attention_of_several_heads_agrees_with_pytorch() {
    let device = Device::flex().autodiff();
    let causal = || generate_autoregressive_mask(2, 3, &device);
    let layer = || multi_head(&device);
    over_itself("multi head over itself", layer(), |input| input);
    over_itself("multi head with padding", layer(), |input| {
        input.mask_pad(padding(&device))
    });
    over_itself("multi head causal", layer(), |input| {
        input.mask_attn(causal())
    });
    over_itself("multi head causal with padding", layer(), |input| {
        input.mask_pad(padding(&device)).mask_attn(causal())
    });
    // One mask serves the whole batch.
    over_itself("multi head causal", layer(), |input| {
        input.mask_attn(causal().narrow(0, 0, 1))
    });
    let quiet = MultiHeadAttentionConfig::new(4, 2)
        .with_quiet_softmax(true)
        .with_query_bias(false)
        .with_key_bias(false)
        .with_value_bias(false)
        .with_output_bias(false)
        .with_dropout(0.0)
        .init(&device);
    over_itself("multi head, quiet, without bias", quiet, |input| {
        input.mask_pad(padding(&device))
    });

    let mut case = Case::new(FIXTURE, "multi head over another");
    let layer = case.layer(layer());
    let query = case.input("query", [2, 2, 4]);
    let (key, value) = (case.input("key", [2, 3, 4]), case.input("value", [2, 3, 4]));
    let input = MhaInput::new(query, key, value).mask_pad(padding(&device));
    let output = layer.forward(input);
    case.output("context", output.context);
    case.output("weights", output.weights);
    case.finish();
}

#[test]
fn cross_attention_agrees_with_pytorch() {
    for (name, heads, shared, masked) in [
        ("cross", 2, 2, false),
        ("cross with shared heads and padding", 4, 2, true),
        ("cross with one head of keys", 2, 1, false),
    ] {
        let mut case = Case::new(FIXTURE, name);
        let config = CrossAttentionConfig::new(4, 5, heads, shared, 3).with_dropout(0.0);
        let layer = config.init(case.device());
        let layer = case.layer(layer);
        let query = case.input("query", [2, 2, 4]);
        let context = case.input("context", [2, 3, 5]);
        let mask = masked.then(|| padding(case.device()));
        let output = layer.forward(query.clone(), context.clone(), mask);
        // Off the tape, the instruction for attention runs.
        let plain = burn_core::module::Module::valid(&layer);
        let mask = masked.then(|| padding(&Device::flex()));
        let inner = plain.forward(query.inner(), context.inner(), mask);
        assert_same(inner, output.clone().inner());
        case.output("output", output);
        case.finish();
    }
}

#[test]
fn a_rotary_encoding_agrees_with_pytorch() {
    let mut case = Case::new(FIXTURE, "rotary");
    let layer = RotaryEncodingConfig::new(8, 6).init(case.device());
    let input = case.input("input", [2, 3, 4, 6]);
    case.output("output", layer.apply(input, 1));
    case.finish();
}

/// Equal to some roundings of f32 around 1.
#[track_caller]
pub fn assert_same<const D: usize>(found: Tensor<D>, expected: Tensor<D>) {
    assert_eq!(found.dims(), expected.dims());
    for (found, expected) in values(found).iter().zip(values(expected)) {
        assert!((found - expected).abs() <= 1e-5, "{found} {expected}");
    }
}

#[test]
fn a_query_that_may_see_nothing_sees_all_alike() {
    let device = Device::flex();
    let layer = multi_head(&device);
    let x = Tensor::random([2, 3, 4], burn_core::tensor::Distribution::Default, &device);
    let mask = Tensor::<2, Bool>::from_data([[false; 3], [true; 3]], &device);
    let output = layer.forward(MhaInput::self_attn(x).mask_pad(mask));
    let blind = output.weights.narrow(0, 1, 1);
    assert_same(blind.clone(), blind.ones_like().div_scalar(3.0));
}

#[test]
fn weights_are_dropped_in_training() {
    let device = Device::flex().autodiff();
    let layer = MultiHeadAttentionConfig::new(4, 2).with_dropout(0.5);
    let layer = layer.init(&device);
    let x = || Tensor::<3>::ones([8, 16, 4], &device);
    let zeros = |layer: &MultiHeadAttention| {
        let weights = layer.forward(MhaInput::self_attn(x())).weights;
        values(weights).iter().filter(|x| **x == 0.0).count()
    };
    // 4096 weights, seven standard deviations of 32.
    assert!((1824..2272).contains(&zeros(&layer)));
    assert_eq!(zeros(&burn_core::module::Module::valid(&layer)), 0);
}

#[test]
fn layers_show_their_sizes() {
    let device = Device::flex();
    let layer = MultiHeadAttentionConfig::new(4, 2).init(&device);
    assert_eq!(
        layer.to_string(),
        "MultiHeadAttention {d_model: 4, n_heads: 2, d_k: 2, dropout: 0.1, min_float: -10000, quiet_softmax: false, params: 80}"
    );
    let layer = CrossAttentionConfig::new(4, 6, 2, 1, 2).init(&device);
    let shown = layer.to_string();
    assert!(shown.contains("key: Linear {d_input: 6, d_output: 2, bias: true, params: 14}"));
    assert!(shown.contains("n_heads_kv: 1\n"), "{shown}");
}

#[test]
#[should_panic(expected = "`d_model` is 6, `n_heads` is 4\n  legal: `n_heads` divides `d_model`")]
fn heads_divide_the_features() {
    MultiHeadAttentionConfig::new(6, 4).init(&Device::flex());
}

#[test]
#[should_panic(expected = "`CrossAttention`: `n_heads` is 4, `n_heads_kv` is 3")]
fn heads_share_keys_evenly() {
    CrossAttentionConfig::new(4, 4, 4, 3, 2).init(&Device::flex());
}

#[test]
#[should_panic(expected = "the mask of padding has the shape [2, 2]\n  legal: [2, 3]")]
fn a_mask_of_another_length_is_refused() {
    let device = Device::flex();
    let mask = Tensor::<2, Bool>::from_data([[false; 2]; 2], &device);
    let input = MhaInput::self_attn(Tensor::ones([2, 3, 4], &device)).mask_pad(mask);
    multi_head(&device).forward(input);
}
