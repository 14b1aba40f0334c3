//! Floats as codes and back, and products that read codes.

use super::FLOATS;
use crate::{Input, Sample};
use burn_ir::{ModuleOp, Operation};
use burn_std::quantization::{QuantScheme, QuantStore, QuantValue, ScaleDtype, params_shape};
use burn_std::{DType, FloatDType};

fn scheme(value: QuantValue, store: QuantStore) -> QuantScheme {
    QuantScheme::default().with_value(value).with_store(store)
}

/// One of each width, and of each way to store it.
fn schemes() -> [QuantScheme; 3] {
    [
        scheme(QuantValue::Q8S, QuantStore::Native),
        scheme(QuantValue::Q4F, QuantStore::PackedU32(0)),
        scheme(QuantValue::Q2S, QuantStore::PackedNative(0)),
    ]
}

fn codes(shape: &[usize], scheme: QuantScheme) -> Input {
    Input {
        dtype: Some(DType::QFloat(scheme)),
        ..Input::new(shape)
    }
}

fn quantize(note: &str, shape: &[usize], scheme: QuantScheme) -> Sample {
    let factors = |shape: &[usize], within| Input {
        dtype: Some(DType::F32),
        within,
        ..Input::new(shape)
    };
    let count = params_shape(&shape.into(), &scheme).num_elements();
    let mut inputs = vec![Input::new(shape), factors(&[count], (0.01, 0.05))];
    let two = scheme.num_levels() == 2;
    if two {
        inputs.push(factors(&[1], (0.5, 2.0)));
    }
    let note = format!("{note} to {:?}", scheme.value);
    Sample::new(note, FLOATS, inputs, move |_| {
        Operation::Module(Box::new(ModuleOp::Quantize {
            input: 0,
            scales: 1,
            global: two.then_some(2),
            scheme,
        }))
    })
    .by_family()
    .ulps(2.0)
}

fn dequantize(scheme: QuantScheme) -> Sample {
    let inputs = vec![codes(&[3, 7], scheme)];
    let note = format!("of {:?}", scheme.value);
    Sample::new(note, FLOATS, inputs, |dtype| {
        Operation::Module(Box::new(ModuleOp::Dequantize {
            input: 0,
            dtype: FloatDType::from(dtype),
        }))
    })
    .by_family()
}

fn product(note: &str, inputs: Vec<Input>) -> Sample {
    Sample::new(note, FLOATS, inputs, |dtype| {
        Operation::Module(Box::new(ModuleOp::QuantizedMatmul {
            lhs: 0,
            rhs: 1,
            dtype: FloatDType::from(dtype),
        }))
    })
    .by_family()
    .smooth()
}

pub(super) fn samples() -> Vec<Sample> {
    let [eight, four, two] = schemes();
    let mut samples = vec![
        quantize(
            "by blocks of a row",
            &[4, 6],
            eight.per_block([3], ScaleDtype::F32),
        ),
        quantize(
            "by blocks of a matrix",
            &[2, 4, 6],
            four.per_block([2, 3], ScaleDtype::F32),
        ),
        quantize(
            "on two levels",
            &[4, 6],
            eight
                .per_block([4, 1], ScaleDtype::F32)
                .per_tensor(ScaleDtype::F32),
        ),
    ];
    for scheme in schemes() {
        samples.push(quantize("by one scale", &[3, 5], scheme));
        samples.push(dequantize(scheme));
    }
    samples.extend([
        product(
            "of floats and codes",
            vec![Input::new([5, 7]), codes(&[7, 3], eight)],
        ),
        product(
            "of many rows and codes",
            vec![Input::new([19, 9]), codes(&[9, 17], four)],
        ),
        product(
            "of codes and floats",
            vec![codes(&[5, 7], two), Input::new([7, 3])],
        ),
        product(
            "of batches",
            vec![Input::new([2, 3, 4]), codes(&[1, 4, 5], four)],
        ),
    ]);
    samples
}
