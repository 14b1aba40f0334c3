//! Codes and scales in bytes.

use burn_std::quantization::*;
use burn_std::{DType, DataError, Shape, TensorData, flex32, shape};

#[test]
fn codes_and_scales_come_back_from_their_bytes() {
    let values = [
        QuantValue::Q8S,
        QuantValue::Q8F,
        QuantValue::Q4F,
        QuantValue::Q4S,
        QuantValue::Q2F,
        QuantValue::Q2S,
    ];
    for value in values {
        for store in [
            QuantStore::Native,
            QuantStore::PackedNative(0),
            QuantStore::PackedU32(0),
        ] {
            let scheme = QuantScheme::default().with_value(value).with_store(store);
            let (low, high) = value.range();
            let codes: Vec<i8> = (0..21)
                .map(|at| (low as i32 + at % (high - low + 1.0) as i32) as i8)
                .collect();
            let bytes = QuantizedBytes::new(codes.clone(), [3, 7], scheme, &[0.25], None);
            assert_eq!(bytes.num_elements(), 21);
            assert_eq!(
                bytes.bytes.len(),
                quantized_data_len(&scheme, &shape![3, 7])
            );
            let (back, scales) = bytes.into_vec_i8();
            assert_eq!(back, codes, "{scheme:?}");
            assert_eq!((scales.of(0), scales.global), (0.25, None));
        }
    }
}

#[test]
fn the_first_code_is_in_the_lowest_bits() {
    assert_eq!(pack_i8s_to_u32s(vec![1, -1, 2, 3, 4]), [0x0302_FF01, 4]);
    let scheme = QuantScheme::default().with_value(QuantValue::Q4F);
    let bytes = QuantizedBytes::new(vec![1i8, -2, 3], [3], scheme, &[1.0], None);
    assert_eq!(bytes.bytes[..4], [0xE1, 0x03, 0, 0]);
    let same = QuantizedBytes::new(vec![0x3E1u32], [3], scheme, &[1.0], None);
    assert_eq!(same.into_vec_i8().0, [1, -2, 3]);
}

#[test]
fn elements_of_a_block_share_its_scale() {
    let layout = BlockLayout::new(&shape![4, 6], &BlockSize::new([2, 3]));
    assert!(layout.divides());
    assert_eq!(layout.num_blocks(), 4);
    let blocks: Vec<usize> = (0..24).map(|at| layout.block_of(at)).collect();
    let expected = [
        [0, 0, 0, 1, 1, 1],
        [0, 0, 0, 1, 1, 1],
        [2, 2, 2, 3, 3, 3],
        [2, 2, 2, 3, 3, 3],
    ];
    assert_eq!(blocks, expected.concat());
    let ragged = BlockLayout::new(&shape![2, 5], &BlockSize::new([2]));
    assert!(!ragged.divides());
    assert_eq!((ragged.num_blocks(), ragged.block_of(9)), (6, 5));
}

#[test]
fn two_levels_have_a_scale_of_scales() {
    let scheme = QuantScheme::default()
        .with_value(QuantValue::Q8S)
        .per_block([2], ScaleDtype::UE4M3)
        .per_tensor(ScaleDtype::F32);
    assert_eq!((scheme.num_levels(), global_scale_size(&scheme)), (2, 4));
    assert_eq!(params_shape(&shape![2, 4], &scheme), shape![2, 2]);
    let scales = [1.5, 0.5, 448.0, 2.0];
    let bytes = QuantizedBytes::new(vec![1i8; 8], [2, 4], scheme, &scales, Some(0.125));
    let (_, decoded) = bytes.into_vec_i8();
    assert_eq!(decoded.block, scales);
    assert_eq!(decoded.of(2), 56.0);
    let one = QuantScheme::default().per_block([2], ScaleDtype::F16);
    assert_eq!((one.num_levels(), global_scale_size(&one)), (1, 0));
    assert_eq!(
        params_shape(&Shape::new([3]), &QuantScheme::default()),
        shape![1]
    );
}

#[test]
fn a_narrow_scale_is_never_below_what_it_stands_for() {
    for dtype in [
        ScaleDtype::F16,
        ScaleDtype::BF16,
        ScaleDtype::UE8M0,
        ScaleDtype::UE4M3,
    ] {
        for scale in [1e-3f32, 0.3, 1.0, 1.01, 7.77, 300.0] {
            let stored = scale_to_dtype(scale, dtype);
            assert!(
                stored >= scale && stored <= 2.0 * scale,
                "{dtype:?} {scale} {stored}"
            );
        }
        assert!(scale_to_dtype(f32::NAN, dtype).is_nan());
        assert!(scale_to_dtype(f32::MAX, dtype).is_finite());
    }
    assert_eq!(scale_to_dtype(0.3, ScaleDtype::F32), 0.3);
    assert_eq!(scale_to_dtype(1.0, ScaleDtype::UE8M0), 1.0);
    assert_eq!(scale_to_dtype(1.01, ScaleDtype::UE8M0), 2.0);
    assert_eq!(scale_to_dtype(1e9, ScaleDtype::UE4M3), 448.0);
}

#[test]
#[should_panic(expected = "legal: 1 scales")]
fn a_missing_scale_is_named() {
    QuantizedBytes::new(vec![1i8], [1], QuantScheme::default(), &[], None);
}

#[test]
fn small_floats_are_described_and_not_encoded() {
    let scheme = QuantScheme::default().with_value(QuantValue::E4M3);
    assert!(!quantizable(&scheme) && quantizable(&QuantScheme::default()));
}

#[test]
fn quantized_data_reads_as_the_numbers_that_codes_stand_for() {
    let scheme = QuantScheme::default()
        .with_value(QuantValue::Q4S)
        .per_block([2], ScaleDtype::F16);
    let data = TensorData::quantized(vec![1i8, -2, 3, 7], [2, 2], scheme, &[0.5, 2.0], None);
    assert_eq!(data.dtype(), DType::QFloat(scheme));
    assert_eq!(
        data.iter::<f64>().collect::<Vec<_>>(),
        [0.5, -1.0, 6.0, 14.0]
    );
    assert_eq!(data.to_string(), "[0.5, -1.0, 6.0, 14.0]");
    let floats = data.clone().convert::<f32>();
    floats.assert_eq(&TensorData::from([[0.5f32, -1.0], [6.0, 14.0]]), true);
    data.assert_eq(&floats, false);
    assert!(data.try_to_vec::<f32>().is_err());
    // One scheme is not converted to another: the scale would be a guess.
    let other = DType::QFloat(QuantScheme::default());
    assert!(matches!(
        data.try_cast(other),
        Err(DataError::UnsupportedConversion { .. })
    ));
}

#[test]
fn bytes_that_do_not_fit_a_scheme_are_refused() {
    let scheme = QuantScheme::default().with_store(QuantStore::Native);
    let of = |scheme, shape: [usize; 2], len| {
        TensorData::try_from_bytes_vec(vec![0; len], shape, DType::QFloat(scheme))
    };
    assert!(of(scheme, [2, 3], 10).is_ok());
    for len in [6, 9, 11] {
        assert!(of(scheme, [2, 3], len).is_err());
    }
    // More sizes than dims, codes that are not encoded, and more elements than can be counted.
    assert!(of(scheme.per_block([1, 1, 1], ScaleDtype::F32), [2, 3], 30).is_err());
    assert!(of(scheme.with_value(QuantValue::E4M3), [2, 3], 10).is_err());
    assert!(of(scheme, [usize::MAX, 3], 10).is_err());
    assert!(serde_json::from_str::<BlockSize>("[0]").is_err());
    assert!(serde_json::from_str::<BlockSize>("[1,1,1,1,1,1]").is_err());
    let size: BlockSize = serde_json::from_str("[2,3]").unwrap();
    assert_eq!(size, BlockSize::new([2, 3]));
}

#[test]
fn a_flexible_float_is_an_f32_on_the_host() {
    let data = TensorData::new(vec![flex32::from_f32(1.5)], [1]);
    assert_eq!((data.dtype(), data.as_bytes().len()), (DType::Flex32, 4));
    assert_eq!(data.iter::<f32>().collect::<Vec<_>>(), [1.5]);
    let back = TensorData::from([1.5f64]).convert::<flex32>();
    assert_eq!(back, data);
}
