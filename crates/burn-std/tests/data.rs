//! Behaviour of tensor data: creation, strict and converting access, serialization.

use burn_std::{BoolStore, DType, Scalar, TensorData, bf16, f16, s};

#[test]
fn nested_arrays_keep_row_major_order() {
    let data = TensorData::from([[1i32, 2, 3], [4, 5, 6]]);
    assert_eq!(*data.shape(), [2, 3]);
    assert_eq!(data.to_vec::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn floats_become_integers_by_saturating_and_nan_becomes_zero() {
    let data = TensorData::from([f32::NAN, 1e20, -1e20, -5.7, 3.9]);
    let ints = data.clone().convert::<i32>();
    assert_eq!(
        ints.to_vec::<i32>().unwrap(),
        [0, i32::MAX, i32::MIN, -5, 3]
    );
    assert_eq!(
        data.convert::<u8>().to_vec::<u8>().unwrap(),
        [0, 255, 0, 0, 3]
    );
}

#[test]
fn truth_values_are_stored_as_zero_and_one_in_every_width() {
    for store in [BoolStore::Native, BoolStore::U8, BoolStore::U32] {
        let data = TensorData::full_dtype([2], 3, DType::Bool(store));
        assert_eq!(data.iter::<i64>().collect::<Vec<_>>(), [1, 1]);
        assert_eq!(data.as_bytes().len(), 2 * DType::Bool(store).size());
    }
}

#[test]
fn a_value_survives_every_dtype_that_can_hold_it() {
    let dtypes = [
        DType::F64,
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::I8,
        DType::U64,
    ];
    for dtype in dtypes {
        let data = TensorData::full_dtype([3], Scalar::Int(42), dtype);
        assert_eq!(data.dtype(), dtype);
        assert_eq!(
            data.iter::<f16>().collect::<Vec<_>>(),
            [f16::from_f32(42.0); 3]
        );
        assert_eq!(
            data.iter::<bf16>().collect::<Vec<_>>(),
            [bf16::from_f32(42.0); 3]
        );
    }
}

#[test]
fn a_negative_step_walks_the_range_backwards() {
    assert_eq!(s![0..5;-2].into_vec(), [4, 2, 0]);
    assert_eq!(s![0..0;-1].into_vec(), []);
    assert_eq!(s![0..5;-2].output_size(5), 3);
}
