//! Tensor data: creation, strict and converting access, serialization.

use burn_std::{BoolStore, Bytes, DType, DataError, Element, Scalar, Shape, TensorData, bf16, f16};
use proptest::prelude::*;

const DTYPES: [DType; 16] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::Flex32,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
    DType::Bool(BoolStore::Native),
    DType::Bool(BoolStore::U8),
    DType::Bool(BoolStore::U32),
];

fn dtypes() -> impl Strategy<Value = DType> {
    proptest::sample::select(&DTYPES[..])
}

/// A number as an element of `dtype` and back, by the casts of the language.
fn model(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => value,
        DType::F32 | DType::Flex32 => f64::from(value as f32),
        DType::F16 => f16::from_f64(value).to_f64(),
        DType::BF16 => bf16::from_f64(value).to_f64(),
        DType::I64 => value as i64 as f64,
        DType::I32 => f64::from(value as i32),
        DType::I16 => f64::from(value as i16),
        DType::I8 => f64::from(value as i8),
        DType::U64 => value as u64 as f64,
        DType::U32 => f64::from(value as u32),
        DType::U16 => f64::from(value as u16),
        DType::U8 => f64::from(value as u8),
        DType::Bool(_) => f64::from(u8::from(value != 0.0)),
        DType::QFloat(_) => unreachable!("nothing is converted to codes"),
    }
}

proptest! {
    #[test]
    fn conversion_is_that_of_each_element(values: Vec<f64>, dtype in dtypes()) {
        let data = TensorData::new(values.clone(), [values.len()]).convert_dtype(dtype);
        prop_assert_eq!(data.dtype(), dtype);
        prop_assert_eq!(data.as_bytes().len(), values.len() * dtype.size());
        let bits = |value: f64| value.to_bits();
        let expected: Vec<_> = values.iter().map(|value| bits(model(*value, dtype))).collect();
        prop_assert_eq!(data.iter::<f64>().map(bits).collect::<Vec<_>>(), expected.clone());
        let read = data.try_to_vec_as::<f64>().unwrap();
        prop_assert_eq!(read.into_iter().map(bits).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn small_numbers_survive_any_two_conversions(
        values in proptest::collection::vec(0u8..100, 0..9), first in dtypes(), second in dtypes(),
    ) {
        let data = TensorData::from(&values[..]).convert_dtype(first).convert_dtype(second);
        let truth = first.is_bool() || second.is_bool();
        let expected: Vec<_> = values.iter().map(|v| if truth { (*v).min(1) } else { *v }).collect();
        prop_assert_eq!(data.try_into_vec_as::<u8>().unwrap(), expected);
    }

    #[test]
    fn serialized_data_reads_back_bit_by_bit(values: Vec<f32>, dtype in dtypes()) {
        let data = TensorData::from(&values[..]).convert_dtype(dtype);
        let text = serde_json::to_string(&data).unwrap();
        prop_assert_eq!(serde_json::from_str::<TensorData>(&text).unwrap(), data);
    }

    #[test]
    fn whatever_arrives_is_valid_or_refused(
        bytes in proptest::collection::vec(0u8..3, 0..17),
        shape in proptest::collection::vec(
            prop_oneof![0usize..5, Just(usize::MAX), Just(1 << 62)], 0..4),
        dtype in dtypes(),
    ) {
        let text = format!(
            r#"{{"bytes":{bytes:?},"shape":{shape:?},"dtype":{}}}"#,
            serde_json::to_string(&dtype).unwrap()
        );
        // Saturates where the true product fits even less, and a zero wins at any place.
        let count = shape.iter().fold(1u128, |count, size| count.saturating_mul(*size as u128));
        let fits = count.saturating_mul(dtype.size() as u128) == bytes.len() as u128;
        let clean = match dtype {
            DType::Bool(BoolStore::U32) => bytes
                .chunks(4)
                .all(|word| word.try_into().is_ok_and(|word| u32::from_ne_bytes(word) <= 1)),
            DType::Bool(_) => bytes.iter().all(|byte| *byte <= 1),
            _ => true,
        };
        match serde_json::from_str::<TensorData>(&text) {
            Ok(data) => {
                prop_assert!(fits && clean);
                prop_assert_eq!(data.iter::<f64>().count(), data.num_elements());
            }
            Err(_) => prop_assert!(!fits || !clean),
        }
    }
}

#[test]
fn nested_arrays_keep_row_major_order() {
    let data = TensorData::from([[1i32, 2, 3], [4, 5, 6]]);
    assert_eq!(*data.shape(), [2, 3]);
    assert_eq!(data.to_vec::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
    let deep = TensorData::from([[[[[1u8], [2]]]]]);
    assert_eq!(
        (deep.rank(), deep.shape().as_slice()),
        (5, &[1, 1, 1, 2, 1][..])
    );
}

#[test]
fn addresses_become_i64() {
    let data = TensorData::from([3usize, 4]);
    assert_eq!(data.to_vec::<i64>().unwrap(), [3, 4]);
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
fn truth_values_of_other_bytes_are_refused() {
    for (store, bytes) in [
        (BoolStore::Native, vec![2]),
        (BoolStore::U8, vec![2]),
        (BoolStore::U32, 256u32.to_ne_bytes().to_vec()),
    ] {
        let error = TensorData::try_from_bytes_vec(bytes, [1], store.into()).unwrap_err();
        assert!(
            matches!(error, DataError::InvalidRepresentation(_)),
            "{error}"
        );
    }
}

#[test]
fn strict_access_names_both_dtypes() {
    let data = TensorData::from([1f32]);
    let expected = DataError::DTypeMismatch {
        expected: DType::I32,
        actual: DType::F32,
    };
    assert_eq!(data.as_slice::<i32>().unwrap_err(), expected);
    assert_eq!(data.to_vec::<i32>().unwrap_err(), expected);
    assert_eq!(
        expected.to_string(),
        "the data holds f32 elements, not i32; convert it first"
    );
    assert_eq!(data.into_vec::<i32>().unwrap_err(), expected);
}

#[test]
fn stored_truth_values_are_read_but_not_written_as_integers() {
    let mut data = TensorData::full_dtype([2], true, DType::Bool(BoolStore::U8));
    assert_eq!(data.as_slice::<u8>().unwrap(), [1, 1]);
    assert!(data.as_slice::<bool>().is_err());
    assert!(data.as_mut_slice::<u8>().is_err());
}

#[test]
fn bytes_of_the_wrong_length_are_refused() {
    let error = TensorData::try_from_bytes_vec(vec![0; 3], [2, 2], DType::F32).unwrap_err();
    assert_eq!(
        error.to_string(),
        "3 bytes do not make f32 elements of shape [2, 2]"
    );
    let huge = TensorData::try_from_bytes_vec(vec![], [usize::MAX, 2], DType::U8).unwrap_err();
    assert!(matches!(huge, DataError::InvalidByteLength { len: 0, .. }));
}

#[test]
#[should_panic(expected = "3 bytes do not make u8 elements of shape [2]")]
fn from_bytes_panics_where_try_from_bytes_fails() {
    let _ = TensorData::from_bytes_vec(vec![0; 3], [2], DType::U8);
}

#[test]
#[should_panic(expected = "shape [2, 2] does not fit 3 elements")]
fn elements_that_do_not_fill_the_shape_panic() {
    let _ = TensorData::new(vec![1f32; 3], [2, 2]);
}

#[test]
fn unaligned_bytes_are_realigned() {
    // The vector may happen to be aligned: what counts is that the elements can be read.
    let bytes: Vec<u8> = [1.5f64, -2.0]
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect();
    let data = TensorData::from_bytes_vec(bytes, [2], DType::F64);
    assert_eq!(data.as_slice::<f64>().unwrap(), [1.5, -2.0]);
    let empty = TensorData::from_bytes_vec(vec![], [0], DType::F64);
    assert!(empty.as_slice::<f64>().unwrap().is_empty());
}

#[test]
fn elements_go_in_and_out_without_a_copy() {
    let elems = vec![1u16, 2, 3];
    let address = elems.as_ptr();
    let elems = TensorData::new(elems, [3]).into_vec::<u16>().unwrap();
    assert_eq!((elems.as_ptr(), &elems[..]), (address, &[1, 2, 3][..]));
}

#[test]
fn views_index_by_position_and_from_the_end() {
    let mut data = TensorData::from([[1i32, 2], [3, 4]]);
    data.mut_view::<i32>()[&[0, -1][..]] = 9;
    let view = data.view::<i32>();
    assert_eq!((view[&[0, 1][..]], view[&[-1isize, 0][..]]), (9, 3));
    assert_eq!(view.ravel_index(&[1, 0]), 2);
    assert!(data.try_view::<f32>().is_err());
}

#[test]
#[should_panic(expected = "position [1, 2] is outside shape [2, 2]")]
fn a_position_outside_the_shape_panics() {
    let data = TensorData::from([[1i32, 2], [3, 4]]);
    let _ = data.view::<i32>()[&[1, 2][..]];
}

#[test]
#[should_panic(expected = "position [1] has 1 dimensions, shape [2, 2] has 2")]
fn a_position_of_another_rank_panics() {
    let data = TensorData::from([[1i32, 2], [3, 4]]);
    let _ = data.view::<i32>()[&[1][..]];
}

#[test]
fn buffers_can_be_replaced_by_others_of_their_size() {
    let mut all = [TensorData::from([1u8, 2]), TensorData::from([3u8])];
    let count = TensorData::with_bytes_mut(&mut all, |mut buffers| {
        *buffers[0] = Bytes::from_bytes_vec(vec![7, 8]);
        buffers.len()
    });
    assert_eq!(
        (count, all[0].as_bytes(), all[1].as_bytes()),
        (2, &[7, 8][..], &[3][..])
    );
}

#[test]
#[should_panic(expected = "5 bytes do not make u8 elements of shape [1]")]
fn a_replaced_buffer_of_another_size_panics() {
    let mut data = TensorData::from([1u8]);
    TensorData::with_bytes_mut([&mut data], |buffers| {
        for bytes in buffers {
            *bytes = Bytes::zeroed(5);
        }
    });
}

#[test]
fn display_is_short() {
    assert_eq!(TensorData::from([[1.0f32, 2.5]]).to_string(), "[1.0, 2.5]");
    assert_eq!(TensorData::from([true]).to_string(), "[true]");
    let text = TensorData::zeros::<i32, _>([100]).to_string();
    assert_eq!(text, format!("[{}, …]", ["0"; 16].join(", ")));
}

#[test]
fn constant_data_holds_its_constant() {
    fn check<E: Element + PartialEq>(one: E) {
        assert_eq!(
            TensorData::ones::<E, _>([2]).to_vec::<E>().unwrap(),
            [one; 2]
        );
        assert_eq!(
            TensorData::zeros::<E, _>([1]).to_vec::<E>().unwrap(),
            [E::default()]
        );
    }
    check(1f32);
    check(bf16::ONE);
    check(true);
    check(1u64);
    let scalar = TensorData::full_dtype(Shape::new([]), Scalar::Float(2.5), DType::F16);
    assert_eq!(scalar.to_vec::<f16>().unwrap(), [f16::from_f32(2.5)]);
}
