//! Quantized tensors: what becomes which code, what operations do with codes, and where gradients flow.

use super::{ad, dev};
use burn_tensor::quantization::*;
use burn_tensor::{DType, Device, Int, Tensor, TensorData, Tolerance};

const ALL: [QuantValue; 6] = [
    QuantValue::Q8F,
    QuantValue::Q8S,
    QuantValue::Q4F,
    QuantValue::Q4S,
    QuantValue::Q2F,
    QuantValue::Q2S,
];
const STORES: [QuantStore; 3] = [
    QuantStore::Native,
    QuantStore::PackedNative(0),
    QuantStore::PackedU32(0),
];

fn q8() -> QuantScheme {
    QuantScheme::default()
        .with_value(QuantValue::Q8S)
        .with_store(QuantStore::Native)
}

fn matrix(device: &Device) -> Tensor<2> {
    Tensor::from_data([[1.27, -0.5, 0.0], [0.01, 0.64, -1.27]], device)
}

fn params(scheme: &QuantScheme, tensor: &Tensor<2>) -> QuantizationParameters {
    compute_q_params(scheme, compute_range(scheme, tensor, &Calibration::MinMax))
}

#[track_caller]
fn close<const D: usize>(found: Tensor<D>, expected: impl Into<TensorData>) {
    let tolerance = Tolerance::<f32>::rel_abs(1e-6, 1e-6);
    let found = found.dequantize().into_data();
    found.assert_approx_eq::<f32>(&expected.into(), tolerance);
}

/// The integers of BC-095.
#[test]
fn a_scale_covers_the_largest_magnitude() {
    let (device, scheme) = (dev(), q8());
    let x = matrix(&device);
    let quantized = x.clone().quantize(&scheme, params(&scheme, &x));
    assert_eq!(quantized.dtype(), DType::QFloat(scheme));
    let data = quantized.into_data();
    let (bytes, shape, _) = data.into_parts();
    let stored = QuantizedBytes {
        bytes,
        shape,
        scheme,
    };
    let (codes, scales) = stored.into_vec_i8();
    assert_eq!(codes, [127, -50, 0, 1, 64, -127]);
    assert_eq!(scales.block, [0.01]);
    // Half of the distance between the ends of the codes: 255 / 2, where there is one more below 0.
    let scheme = scheme.with_value(QuantValue::Q8F);
    let scale = params(&scheme, &x).scales;
    close(scale, [1.27 * 2.0 / 255.0]);
}

/// BC-095, on the device that fuses as well.
#[test]
fn a_transposed_tensor_keeps_its_codes() {
    for device in [dev(), dev().fused()] {
        let x = matrix(&device).quantize_dynamic(&q8());
        let transposed = x.clone().transpose();
        assert_eq!(transposed.dtype(), DType::QFloat(q8()));
        let expected = [[1.27, 0.01], [-0.5, 0.64], [0.0, -1.27]];
        close(transposed.clone(), expected);
        close(x.dequantize().transpose(), expected);
        close(transposed.transpose().slice([0..1, 1..3]), [[-0.5, 0.0]]);
    }
}

#[test]
fn every_scheme_covers_its_range_within_half_a_scale() {
    let device = dev();
    let values: Vec<f32> = (0..96)
        .map(|at| ((at * 37) % 96) as f32 / 96.0 - 0.4)
        .collect();
    let x = Tensor::<2>::from_data(TensorData::new(values, [4, 24]), &device);
    let one = QuantScheme::default();
    let scales = [
        one,
        one.per_tensor(ScaleDtype::F16),
        one.per_block([8], ScaleDtype::F32),
        one.per_block([2, 6], ScaleDtype::BF16),
        one.per_block([4, 1], ScaleDtype::UE8M0),
        one.per_block([12], ScaleDtype::UE4M3)
            .per_tensor(ScaleDtype::F32),
    ];
    for (value, store) in ALL
        .into_iter()
        .flat_map(|value| STORES.map(|store| (value, store)))
    {
        for scheme in scales {
            let scheme = scheme.with_value(value).with_store(store);
            let quantized = x.clone().quantize_dynamic(&scheme);
            assert_eq!(quantized.dtype(), DType::QFloat(scheme));
            // Scales are rounded up to their type: by less than a power of two.
            let widest = match scheme.scale_dtype() {
                ScaleDtype::UE8M0 => 2.0,
                ScaleDtype::UE4M3 => 1.125,
                _ => 1.01,
            };
            let (low, high) = value.range();
            let half = 0.6 / (high - low) * widest;
            let error = (quantized.dequantize() - x.clone())
                .abs()
                .max()
                .into_scalar::<f32>();
            // The end of the codes that is nearer to 0 is a whole half scale short of the range.
            let bound = if value.is_symmetric() {
                half
            } else {
                1.01 * half
            };
            assert!(error <= bound, "{scheme:?}: {error} beyond {bound}");
        }
    }
}

#[test]
fn ranges_and_scales_are_those_of_blocks() {
    let (device, x) = (dev(), matrix(&dev()));
    let scheme = q8().per_block([3], ScaleDtype::F32);
    let range = compute_range(&scheme, &x, &Calibration::MinMax);
    close(range.min.clone(), [-0.5, -1.27]);
    close(range.max.clone(), [1.27, 0.64]);
    close(compute_q_params(&scheme, range).scales, [0.01, 0.01]);
    let mean = compute_range(&q8(), &x, &Calibration::AbsMean);
    close(mean.min, [-0.615]);
    close(mean.max, [0.615]);
    // With two levels, the scales of blocks fill their type, and another scale leads there.
    let two = scheme
        .per_block([3], ScaleDtype::UE4M3)
        .per_tensor(ScaleDtype::F32);
    let params = params(&two, &x);
    close(params.scales, [448.0, 448.0]);
    close(params.global.expect("there are two levels"), [0.01 / 448.0]);
    // Nothing but zeros needs no scale, and has one that divides.
    let zeros = Tensor::<2>::zeros([2, 3], &device).quantize_dynamic(&two);
    close(zeros, [[0.0; 3]; 2]);
    let empty = Tensor::<2>::zeros([0, 3], &device).quantize_dynamic(&q8());
    assert_eq!(empty.dequantize().dims(), [0, 3]);
}

#[test]
fn every_operation_takes_quantized_tensors() {
    let device = dev();
    let x = matrix(&device);
    let q = || x.clone().quantize_dynamic(&q8());
    close(q() + x.clone(), [[2.54, -1.0, 0.0], [0.02, 1.28, -2.54]]);
    close(x.clone() * q(), (x.clone() * x.clone()).into_data());
    close(q().exp(), x.clone().exp().into_data());
    close(q().sum_dim(1), x.clone().sum_dim(1).into_data());
    close(
        Tensor::cat(vec![q(), q()], 0),
        x.clone().repeat_dim(0, 2).into_data(),
    );
    close(
        Tensor::cat(vec![q(), x.clone()], 0),
        x.clone().repeat_dim(0, 2).into_data(),
    );
    let rows = Tensor::<1, Int>::from_data([1, 1, 0], &device);
    close(
        q().select(0, rows.clone()),
        x.clone().select(0, rows).into_data(),
    );
    close(
        q().pad((1, 0, 0, 1), 2.0),
        x.clone().pad((1, 0, 0, 1), 2.0).into_data(),
    );
    close(
        q().slice_fill([0..1], 3.0),
        x.clone().slice_fill([0..1], 3.0).into_data(),
    );
    close(
        q().slice_assign([0..1], x.clone().slice([1..2])),
        [[0.01, 0.64, -1.27]; 2],
    );
    close(q().acosh().zeros_like(), [[0.0; 3]; 2]);
    close(
        q().mask_fill(q().lower_elem(0.0), 9.0),
        [[1.27, 9.0, 0.0], [0.01, 0.64, 9.0]],
    );
    close(
        q().unsqueeze::<3>().expand([2, 2, 3]),
        x.clone().unsqueeze::<3>().repeat_dim(0, 2).into_data(),
    );
    close(
        burn_tensor::activation::softmax(q(), 1),
        burn_tensor::activation::softmax(x.clone(), 1).into_data(),
    );
    assert_eq!(
        q().argmax(1).into_data().iter::<i64>().collect::<Vec<_>>(),
        [0, 1]
    );
    assert!(q().equal(q()).all().into_scalar::<bool>());
    assert_eq!(
        q().int().into_data().iter::<i64>().collect::<Vec<_>>(),
        [1, 0, 0, 0, 0, -1]
    );
    let half = q().cast(burn_tensor::FloatDType::F16);
    assert_eq!(half.dtype(), DType::F16);
    assert_eq!((half * q()).dtype(), DType::F16);
    let mut taken = q();
    assert_eq!(taken.extract().dtype(), DType::QFloat(q8()));
    assert_eq!(q().slice([0..1, 0..1]).into_scalar::<f32>(), 1.27);
    // A scheme is replaced by another through the floats.
    let other = q8().with_value(QuantValue::Q4S);
    assert_eq!(q().quantize_dynamic(&other).dtype(), DType::QFloat(other));
    close(x.clone().dequantize(), x.into_data());
}

#[test]
fn products_of_quantized_tensors_are_those_of_their_floats() {
    let device = dev();
    let values = |count: usize, prime: usize| -> Vec<f32> {
        (0..count)
            .map(|at| ((at * prime) % 97) as f32 / 97.0 - 0.5)
            .collect()
    };
    let x = Tensor::<2>::from_data(TensorData::new(values(24 * 32, 31), [24, 32]), &device);
    let w = Tensor::<2>::from_data(TensorData::new(values(32 * 16, 53), [32, 16]), &device);
    let four = QuantScheme::default().with_value(QuantValue::Q4S);
    for scheme in [
        q8(),
        four,
        q8().per_block([16], ScaleDtype::F32),
        four.per_block([8, 1], ScaleDtype::F16),
    ] {
        let (xq, wq) = (
            x.clone().quantize_dynamic(&q8()),
            w.clone().quantize_dynamic(&scheme),
        );
        let (xf, wf) = (xq.clone().dequantize(), wq.clone().dequantize());
        let tolerance = Tolerance::<f32>::rel_abs(1e-5, 1e-5);
        for (lhs, plain) in [(x.clone(), x.clone()), (xq, xf)] {
            for rows in [1, 24] {
                let (lhs, plain) = (lhs.clone().slice([0..rows]), plain.clone().slice([0..rows]));
                let product = lhs.clone().matmul(wq.clone());
                assert_eq!(product.dtype(), DType::F32);
                let expected = plain.matmul(wf.clone()).into_data();
                product
                    .into_data()
                    .assert_approx_eq::<f32>(&expected, tolerance);
                let linear = burn_tensor::module::linear(lhs, wq.clone(), None);
                linear
                    .into_data()
                    .assert_approx_eq::<f32>(&expected, tolerance);
            }
        }
        // Codes on the left, in batches on the right.
        let batches = x.clone().transpose().reshape([2, 16, 24]);
        let left = wq.transpose().unsqueeze::<3>().slice([0..1, 0..16, 0..16]);
        let product = left.clone().matmul(batches.clone());
        let expected = left.dequantize().matmul(batches).into_data();
        product
            .into_data()
            .assert_approx_eq::<f32>(&expected, tolerance);
    }
}

#[test]
fn codes_and_scales_survive_the_host() {
    let device = dev();
    for store in STORES {
        let scheme = QuantScheme::default()
            .with_value(QuantValue::Q4S)
            .with_store(store)
            .per_block([3], ScaleDtype::F16);
        let quantized = matrix(&device).quantize_dynamic(&scheme);
        let data = quantized.to_data();
        let back = Tensor::<2>::from_data(data.clone(), &device);
        assert_eq!(back.dtype(), DType::QFloat(scheme));
        assert_eq!(back.to_data(), data);
        // Floats where floats are asked for.
        let floats = Tensor::<2>::from_data(data.clone(), (&device, DType::F32));
        assert_eq!(floats.dtype(), DType::F32);
        floats
            .into_data()
            .assert_eq(&quantized.dequantize().into_data(), true);
        let text = serde_json::to_string(&data).expect("data encodes");
        assert_eq!(
            serde_json::from_str::<TensorData>(&text).expect("it decodes"),
            data
        );
    }
    let data = TensorData::quantized(vec![127i8, -50, 0, 1], [2, 2], q8(), &[0.01], None);
    close(
        Tensor::<2>::from_data(data, &device),
        [[1.27, -0.5], [0.0, 0.01]],
    );
}

#[test]
fn a_quantized_tensor_shows_its_values_and_its_scheme() {
    let text = matrix(&dev()).quantize_dynamic(&q8()).to_string();
    assert!(text.contains("[1.27, -0.5, 0.0]"), "{text}");
    assert!(text.contains("dtype:  \"qfloat\""), "{text}");
    assert!(text.contains("scheme:  QuantScheme { value: Q8S"), "{text}");
}

#[test]
fn gradients_flow_around_codes_and_not_through_them() {
    let device = ad();
    let x = matrix(&device).require_grad();
    let weight = matrix(&device).quantize_dynamic(&q8());
    let floats = weight.clone().dequantize();
    // To the floats beside a base of codes.
    let loss = (x.clone().matmul(weight.clone().transpose()) * 2.0).sum();
    let gradient = x.grad(&loss.backward()).expect("x is a leaf");
    let ones = Tensor::<2>::ones([2, 2], &floats.device()) * 2.0;
    close(gradient, ones.matmul(floats.clone()).inner().into_data());
    let loss = weight.clone().matmul(x.clone().transpose()).sum();
    let gradient = x.grad(&loss.backward()).expect("x is a leaf");
    let ones = Tensor::<2>::ones([2, 2], &floats.device());
    close(gradient, ones.matmul(floats).inner().into_data());
    let gradient = x.grad(&(x.clone() * weight).sum().backward());
    close(
        gradient.expect("x is a leaf"),
        matrix(&device).inner().into_data(),
    );
    // None through rounding: codes are constants.
    let rounded = x.clone().quantize_dynamic(&q8());
    assert!(!rounded.is_tracked() && !rounded.clone().dequantize().is_tracked());
    assert!(!rounded.require_grad().is_require_grad());
}

#[test]
fn programs_with_codes_are_captured_and_replayed() {
    let device = Device::capture();
    let mut alive = None;
    let program = device
        .capture_scope(|scope| {
            let x = matrix(&device);
            let weight = x.clone().transpose().quantize_dynamic(&q8());
            let output = x.clone().matmul(weight.clone()) + weight.slice([0..2, 0..2]).exp();
            let ids = [&x, &output].map(|it| it.capture_id().expect("it is captured"));
            alive = Some((x, output));
            scope.complete([ids[0]], [ids[1]])
        })
        .expect("the boundary is alive");
    let device = dev();
    let x = matrix(&device);
    let outputs = device
        .replay(&program, vec![x.clone().into()])
        .expect("it runs");
    let output: Tensor<2> = outputs[0].clone().into_rank().expect("it has rank 2");
    let weight = x.clone().transpose().quantize_dynamic(&q8());
    let expected = x.matmul(weight.clone()) + weight.slice([0..2, 0..2]).exp();
    assert_eq!(output.into_data(), expected.into_data());
}

#[test]
#[should_panic(expected = "blocks of [2] do not fill")]
fn blocks_that_do_not_divide_a_dim_are_refused() {
    matrix(&dev()).quantize_dynamic(&q8().per_block([2], ScaleDtype::F32));
}

#[test]
#[should_panic(expected = "legal: a `scales` of shape [1]")]
fn a_wrong_number_of_scales_is_refused() {
    let scales = Tensor::from_data([1.0, 2.0], &dev());
    matrix(&dev()).quantize(
        &q8(),
        QParams {
            scales,
            global: None,
        },
    );
}

#[test]
#[should_panic(expected = "legal: integer codes, Q8, Q4 and Q2")]
fn codes_of_small_floats_are_refused() {
    matrix(&dev()).quantize_dynamic(&q8().with_value(QuantValue::E4M3));
}

#[test]
#[should_panic(expected = "`quantized_matmul`: 3 columns meet 2 rows")]
fn a_product_with_wrong_sizes_names_them() {
    let q = matrix(&dev()).quantize_dynamic(&q8());
    q.clone().matmul(q);
}
