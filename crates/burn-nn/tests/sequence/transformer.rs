//! Encoders and decoders.

use crate::attention::{assert_same, padding};
use crate::harness::Case;
use burn_core::module::Module;
use burn_core::tensor::{Bool, Device, Tensor};
use burn_nn::activation::{ActivationConfig, SwiGluConfig};
use burn_nn::attention::generate_autoregressive_mask;
use burn_nn::transformer::{
    PositionWiseFeedForwardConfig, TransformerDecoderConfig, TransformerDecoderInput,
    TransformerEncoderConfig, TransformerEncoderInput,
};

const FIXTURE: &str = include_str!("../fixtures/sequence/transformer.json");

fn causal(device: &Device) -> Tensor<3, Bool> {
    generate_autoregressive_mask(2, 3, device)
}

#[track_caller]
fn encoder(
    name: &str,
    config: TransformerEncoderConfig,
    masks: impl Fn(TransformerEncoderInput, &Device) -> TransformerEncoderInput,
) {
    let mut case = Case::new(FIXTURE, name);
    let layer = config.with_dropout(0.0).init(case.device());
    let layer = case.layer(layer);
    let input = case.input("input", [2, 3, 4]);
    let given = |input: Tensor<3>| {
        let device = input.device();
        masks(TransformerEncoderInput::new(input), &device)
    };
    let output = layer.forward(given(input.clone()));
    // Off the tape, the instruction for attention runs.
    let inner = layer.valid().forward(given(input.inner()));
    assert_same(inner, output.clone().inner());
    case.output("output", output);
    case.finish();
}

#[test]
fn an_encoder_agrees_with_pytorch() {
    let config = || TransformerEncoderConfig::new(4, 6, 2, 2);
    encoder("encoder with gelu", config(), |input, _| input);
    let first = config()
        .with_norm_first(true)
        .with_activation(ActivationConfig::Relu);
    let name = "encoder with relu and norms first, causal";
    encoder(name, first, |input, device| input.mask_attn(causal(device)));
    encoder("encoder with padding", config(), |input, device| {
        input.mask_pad(padding(device))
    });
}

#[track_caller]
fn decoder(
    name: &str,
    config: TransformerDecoderConfig,
    masks: impl Fn(TransformerDecoderInput, &Device) -> TransformerDecoderInput,
) {
    let mut case = Case::new(FIXTURE, name);
    let layer = config.with_dropout(0.0).init(case.device());
    let layer = case.layer(layer);
    let target = case.input("target", [2, 3, 4]);
    let memory = case.input("memory", [2, 2, 4]);
    let given = |target: Tensor<3>, memory: Tensor<3>| {
        let device = target.device();
        let input = TransformerDecoderInput::new(target, memory);
        masks(input.target_mask_attn(causal(&device)), &device)
    };
    let output = layer.forward(given(target.clone(), memory.clone()));
    let inner = layer.valid().forward(given(target.inner(), memory.inner()));
    assert_same(inner, output.clone().inner());
    case.output("output", output);
    case.finish();
}

#[test]
fn a_decoder_agrees_with_pytorch() {
    let config = || TransformerDecoderConfig::new(4, 6, 2, 2);
    decoder("decoder causal", config(), |input, _| input);
    let name = "decoder with norms first and all masks";
    decoder(name, config().with_norm_first(true), |input, device| {
        let memory = Tensor::from_data([[false, false], [false, true]], device);
        input
            .target_mask_pad(padding(device))
            .memory_mask_pad(memory)
    });
}

#[test]
fn layers_show_their_sizes() {
    let device = Device::flex();
    let shown = [
        TransformerEncoderConfig::new(4, 8, 2, 1)
            .init(&device)
            .to_string(),
        TransformerDecoderConfig::new(4, 8, 2, 1)
            .init(&device)
            .to_string(),
        PositionWiseFeedForwardConfig::new(4, 8)
            .init(&device)
            .to_string(),
    ];
    assert_eq!(
        shown,
        [
            "TransformerEncoder {d_model: 4, d_ff: 8, n_heads: 2, n_layers: 1, dropout: 0.1, norm_first: false, quiet_softmax: false, params: 172}",
            "TransformerDecoder {d_model: 4, d_ff: 8, n_heads: 2, n_layers: 1, dropout: 0.1, norm_first: false, quiet_softmax: false, params: 260}",
            "PositionWiseFeedForward {d_model: 4, d_ff: 8, prob: 0.1, params: 76}",
        ]
    );
}

#[test]
fn an_activation_between_the_maps_may_have_parameters() {
    let device = Device::flex();
    let config = PositionWiseFeedForwardConfig::new(4, 8);
    let layer = config
        .with_activation(SwiGluConfig::new(8, 8).into())
        .init(&device);
    // Two maps with biases, and two without between them.
    assert_eq!(layer.num_params(), 76 + 128);
    assert_eq!(
        layer.forward(Tensor::<2>::ones([3, 4], &device)).dims(),
        [3, 4]
    );
}
