//! Positions that come one after another give what the whole sequence gives, to 1e-5.

use crate::attention::{assert_same, padding};
use burn_core::tensor::{Bool, Device, Distribution, Tensor};
use burn_nn::attention::{
    CrossAttentionCache, CrossAttentionConfig, MhaCache, MhaInput, MultiHeadAttentionConfig,
    generate_autoregressive_mask,
};
use burn_nn::transformer::{
    TransformerDecoderConfig, TransformerDecoderInput, TransformerDecoderLayer,
    TransformerDecoderLayerAutoregressiveCache, TransformerEncoderConfig, TransformerEncoderInput,
    TransformerEncoderLayer, TransformerEncoderLayerAutoregressiveCache,
};

/// How long the sequence is at each call: one more position, two more, and none.
const LENGTHS: [usize; 4] = [1, 2, 4, 4];

fn sequence(length: usize) -> Tensor<3> {
    Tensor::random([2, length, 4], Distribution::Default, &Device::flex())
}

fn causal(length: usize) -> Tensor<3, Bool> {
    generate_autoregressive_mask(2, length, &Device::flex())
}

#[test]
fn attention_over_a_growing_sequence_is_that_of_the_whole() {
    let layer = MultiHeadAttentionConfig::new(4, 2).init(&Device::flex());
    let (x, mut cache) = (sequence(4), MhaCache::autoregressive());
    for length in LENGTHS {
        let part = x.clone().narrow(1, 0, length);
        let input = MhaInput::self_attn(part).mask_attn(causal(length));
        let whole = layer.forward(input.clone());
        let output = layer.forward_cache(input, &mut cache);
        assert_same(output.context, whole.context);
        assert_same(output.weights, whole.weights);
    }
}

#[test]
fn attention_of_a_growing_sequence_to_another_is_that_of_the_whole() {
    let layer = MultiHeadAttentionConfig::new(4, 2).init(&Device::flex());
    let (x, memory) = (sequence(4), sequence(3));
    let mut cache = MhaCache::autoregressive_cross_attention();
    for length in LENGTHS {
        let part = x.clone().narrow(1, 0, length);
        let input = MhaInput::new(part, memory.clone(), memory.clone());
        let input = input.mask_pad(padding(&Device::flex()));
        let whole = layer.forward(input.clone());
        let output = layer.forward_cache(input, &mut cache);
        assert_same(output.context, whole.context);
        assert_same(output.weights, whole.weights);
    }
}

#[test]
fn cross_attention_keeps_the_first_context() {
    let device = Device::flex();
    let layer = CrossAttentionConfig::new(4, 4, 2, 1, 3).init(&device);
    let (context, mut cache) = (sequence(3), CrossAttentionCache::default());
    let mask = || Some(padding(&device));
    for length in LENGTHS {
        let query = sequence(length);
        let whole = layer.forward(query.clone(), context.clone(), mask());
        // Only the first is looked at.
        let another = match length {
            1 => context.clone(),
            _ => sequence(3),
        };
        let output = layer.forward_cache(query, another, mask(), &mut cache);
        assert_same(output, whole);
    }
}

#[test]
fn an_encoder_over_a_growing_sequence_is_that_of_the_whole() {
    for first in [false, true] {
        let config = TransformerEncoderConfig::new(4, 6, 2, 2).with_norm_first(first);
        let encoder = config.init(&Device::flex());
        let layer = TransformerEncoderLayer::new(&config, &Device::flex());
        let mut cache = encoder.new_autoregressive_cache();
        let mut of_layer = TransformerEncoderLayerAutoregressiveCache::empty();
        let x = sequence(4);
        for length in LENGTHS {
            let part = x.clone().narrow(1, 0, length);
            let mask = causal(length);
            let input = TransformerEncoderInput::new(part.clone()).mask_attn(mask.clone());
            let whole = encoder.forward(input.clone());
            let output = encoder.forward_autoregressive_inference(input, &mut cache);
            assert_same(output, whole);

            let whole = layer.forward(part.clone(), None, Some(mask.clone()));
            let output =
                layer.forward_autoregressive_inference(part, None, Some(mask), &mut of_layer);
            assert_same(output, whole);
        }
    }
}

#[test]
fn a_decoder_over_a_growing_target_is_that_of_the_whole() {
    for first in [false, true] {
        let config = TransformerDecoderConfig::new(4, 6, 2, 2).with_norm_first(first);
        let decoder = config.init(&Device::flex());
        let layer = TransformerDecoderLayer::new(&config, &Device::flex());
        let mut cache = decoder.new_autoregressive_cache();
        let mut of_layer = TransformerDecoderLayerAutoregressiveCache::empty();
        let (x, memory) = (sequence(4), sequence(3));
        // Each position of the target sees the memory up to its own.
        let ahead = || causal(4).narrow(2, 0, 3);
        for length in LENGTHS {
            let part = x.clone().narrow(1, 0, length);
            let input = TransformerDecoderInput::new(part, memory.clone())
                .target_mask_attn(causal(length))
                .memory_mask_attn(ahead().narrow(1, 0, length));
            let whole = decoder.forward(input.clone());
            let output = decoder.forward_autoregressive_inference(input.clone(), &mut cache);
            assert_same(output, whole);

            let whole = layer.forward(input.clone());
            let output = layer.forward_autoregressive_inference(input, &mut of_layer);
            // What a layer hands on is an input again.
            let [output, whole] = [output, whole].map(|input| decoder.forward(input));
            assert_same(output, whole);
        }
    }
}

#[test]
#[should_panic(expected = "the sequence has 1 positions, the cache 2")]
fn a_sequence_does_not_shrink() {
    let layer = MultiHeadAttentionConfig::new(4, 2).init(&Device::flex());
    let mut cache = MhaCache::autoregressive();
    for length in [2, 1] {
        layer.forward_cache(MhaInput::self_attn(sequence(length)), &mut cache);
    }
}
