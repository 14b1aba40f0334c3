//! Codes by hand.

use super::*;
use burn_ir::{ModuleOp, Operation};
use burn_std::quantization::{QuantValue, ScaleDtype};
use burn_std::{FloatDType, TensorData};

const ALL: [QuantValue; 6] = [
    QuantValue::Q8S,
    QuantValue::Q8F,
    QuantValue::Q4S,
    QuantValue::Q4F,
    QuantValue::Q2S,
    QuantValue::Q2F,
];

fn run(op: ModuleOp<FlexTensor>) -> FlexTensor {
    let operation = Operation::Module(alloc::boxed::Box::new(op));
    let output = operation.infer().unwrap().one();
    match operation {
        Operation::Module(op) => super::super::module::run(*op, &output),
        _ => unreachable!(),
    }
}

fn quantized(
    shape: [usize; 2],
    values: Vec<f32>,
    scheme: QuantScheme,
    scales: Vec<f32>,
) -> FlexTensor {
    run(ModuleOp::Quantize {
        input: FlexTensor::from_vec(shape, values),
        scales: FlexTensor::from_vec([scales.len()], scales),
        global: None,
        scheme,
    })
}

fn values(tensor: FlexTensor) -> Vec<f32> {
    let output = run(ModuleOp::Dequantize {
        input: tensor,
        dtype: FloatDType::F32,
    });
    slice(&output).to_vec()
}

#[test]
fn codes_are_the_nearest_integers_with_halves_to_even() {
    let scheme = QuantScheme::default()
        .with_value(QuantValue::Q4S)
        .with_store(QuantStore::Native);
    let input = vec![0.5, 1.5, -2.5, 9.0, f32::NAN, f32::NEG_INFINITY];
    let tensor = quantized([2, 3], input, scheme, vec![1.0]);
    assert_eq!(codes(&tensor), [0, 2, -2, 7, 0, -7]);
    assert_eq!(values(tensor), [0.0, 2.0, -2.0, 7.0, 0.0, -7.0]);
}

#[test]
fn every_store_of_every_value_gives_the_same_floats() {
    for value in ALL {
        let (low, high) = value.range();
        let input: Vec<f32> = (0..35)
            .map(|at| low + at as f32 % (high - low + 1.0))
            .collect();
        for store in [
            QuantStore::Native,
            QuantStore::PackedNative(0),
            QuantStore::PackedU32(0),
        ] {
            let scheme = QuantScheme::default().with_value(value).with_store(store);
            let halved = input.iter().map(|x| x * 0.5).collect();
            let tensor = quantized([5, 7], halved, scheme, vec![0.5]);
            let floats: Vec<f32> = input.iter().map(|x| x * 0.5).collect();
            assert_eq!(values(tensor.clone()), floats, "{scheme:?}");
            // The host reads the same.
            let data = TensorData::from_bytes(tensor.clone().into_bytes(), [5, 7], tensor.dtype());
            assert_eq!(data.iter::<f32>().collect::<Vec<_>>(), floats);
        }
    }
}

#[test]
fn blocks_along_any_dim_have_their_scales() {
    let scheme = QuantScheme::default().with_value(QuantValue::Q8S);
    let input: Vec<f32> = (0..24).map(|at| at as f32).collect();
    for size in [[2, 3], [4, 1], [1, 6], [1, 2]] {
        let scheme = scheme.per_block(size, ScaleDtype::F32);
        let count = params_shape(&[4, 6].into(), &scheme).num_elements();
        let scales: Vec<f32> = (0..count).map(|at| 1.0 / (1 << at.min(3)) as f32).collect();
        let tensor = quantized([4, 6], input.clone(), scheme, scales.clone());
        let layout = BlockLayout::new(&[4, 6].into(), &scheme.block_size().unwrap());
        let expected: Vec<f32> = input
            .iter()
            .enumerate()
            .map(|(at, x)| x.min(127.0 * scales[layout.block_of(at)]))
            .collect();
        assert_eq!(values(tensor.clone()), expected, "{size:?}");
        // Transposed blocks keep their scales.
        let op = MovementOp::Permute {
            axes: [1, 0].into(),
        };
        let operation = Operation::Movement {
            op: op.clone(),
            input: tensor.clone(),
        };
        let output = operation.infer().unwrap().one();
        let transposed = values(movement(op, tensor, &output));
        let at = |row: usize, col: usize| expected[col * 6 + row];
        let all: Vec<f32> = (0..24).map(|i| at(i / 4, i % 4)).collect();
        assert_eq!(transposed, all, "{size:?}");
    }
}

#[test]
fn products_read_codes_as_the_floats_they_stand_for() {
    let scheme = QuantScheme::default().with_value(QuantValue::Q8S);
    let filled = |count: usize, prime: usize| -> Vec<f32> {
        (0..count)
            .map(|at| ((at * prime) % 201) as f32 * 0.25 - 25.0)
            .collect()
    };
    let packed = scheme.with_value(QuantValue::Q4F);
    for (m, k, n) in [(1, 5, 3), (3, 40, 300), (20, 33, 17), (9, 4, 1)] {
        let (x, w) = (filled(m * k, 7919), filled(k * n, 104_729));
        for right in [scheme, packed, scheme.per_block([1, 1], ScaleDtype::F32)] {
            let count = params_shape(&[k, n].into(), &right).num_elements();
            let weight = quantized([k, n], w.clone(), right, alloc::vec![0.25; count]);
            let left = quantized([m, k], x.clone(), scheme, vec![0.25]);
            let w = values(weight.clone());
            for lhs in [left, FlexTensor::from_vec([m, k], x.clone())] {
                let plain = match lhs.dtype().is_quantized() {
                    true => values(lhs.clone()),
                    false => x.clone(),
                };
                let output = run(ModuleOp::QuantizedMatmul {
                    lhs,
                    rhs: weight.clone(),
                    dtype: FloatDType::F32,
                });
                for (at, found) in slice(&output).iter().enumerate() {
                    let (row, col) = (at / n, at % n);
                    // Multiples of 1/16 below 2^20: exact in any order.
                    let sum: f32 = (0..k).map(|i| plain[row * k + i] * w[i * n + col]).sum();
                    assert_eq!(*found, sum, "{m} {k} {n} at {at}");
                }
            }
        }
    }
}
