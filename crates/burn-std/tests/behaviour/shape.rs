//! Shapes, strides and dimensions.

use burn_std::{
    DType, MetadataError, Shape, SliceOps, Strides, calculate_matmul_output, s, shape, strides,
    wrap_dim,
};

#[test]
fn a_scalar_has_one_element_and_no_dimension() {
    let scalar = Shape::new([]);
    assert_eq!((scalar.num_elements(), scalar.rank()), (1, 0));
    assert_eq!(scalar.to_string(), "[]");
}

#[test]
fn shapes_come_from_every_integer_type() {
    assert_eq!(Shape::from([2, 3]), [2, 3]);
    assert_eq!(Shape::from([2i64, 3]), [2, 3]);
    assert_eq!(Shape::from(vec![2usize, 3]), [2, 3]);
    assert_eq!(Shape::from(&[2usize, 3][..]), shape![2, 3]);
    assert_eq!(shape![7; 3], [7, 7, 7]);
}

#[test]
#[should_panic(expected = "a shape cannot hold the negative size -3")]
fn a_negative_size_panics() {
    let _ = Shape::from([2i32, -3]);
}

#[test]
fn dims_gives_the_sizes_as_an_array() {
    assert_eq!(Shape::new([2, 3]).dims(), [2, 3]);
}

#[test]
#[should_panic(expected = "shape [2, 3] has rank 2, not 3")]
fn dims_of_another_rank_panics() {
    let _ = Shape::new([2, 3]).dims::<3>();
}

#[test]
fn a_shape_too_large_for_memory_saturates_and_zero_wins() {
    assert_eq!(Shape::new([usize::MAX, 2]).num_elements(), usize::MAX);
    assert_eq!(Shape::new([usize::MAX, 2, 0]).num_elements(), 0);
}

#[test]
fn contiguous_strides_have_the_last_dimension_innermost() {
    assert_eq!(Strides::contiguous(&shape![2, 3, 4]), [12, 4, 1]);
    assert_eq!(Strides::contiguous(&shape![]), strides![]);
    assert_eq!(
        Strides::contiguous(&shape![usize::MAX, usize::MAX, 0]).rank(),
        3
    );
}

#[test]
fn shapes_serialize_as_a_plain_sequence() {
    let text = serde_json::to_string(&shape![2, 3]).unwrap();
    assert_eq!(text, "[2,3]");
    assert_eq!(serde_json::from_str::<Shape>(&text).unwrap(), [2, 3]);
    assert_eq!(serde_json::to_string(&strides![-1]).unwrap(), "[-1]");
}

#[test]
fn matmul_broadcasts_batches() {
    let output = calculate_matmul_output(&shape![5, 1, 3, 4], &shape![1, 2, 4, 6]);
    assert_eq!(output.unwrap(), [5, 2, 3, 6]);
}

#[test]
fn matmul_names_what_does_not_fit() {
    let inner = calculate_matmul_output(&shape![3, 4], &shape![3, 4]).unwrap_err();
    assert_eq!(inner.to_string(), "shapes [3, 4] and [3, 4] do not fit");
    let batch = calculate_matmul_output(&shape![2, 3, 4], &shape![3, 4, 5]).unwrap_err();
    assert_eq!(
        batch,
        MetadataError::IncompatibleDims {
            left: 2,
            right: 3,
            dim: 0
        }
    );
    let rank = calculate_matmul_output(&shape![4], &shape![4]).unwrap_err();
    assert_eq!(rank, MetadataError::RankMismatch { left: 1, right: 1 });
}

#[test]
fn negative_dimensions_count_from_the_end() {
    assert_eq!(wrap_dim(-1, 3), Ok(2));
    assert_eq!(wrap_dim(-3, 3), Ok(0));
    assert_eq!(wrap_dim(2, 3), Ok(2));
}

#[test]
fn a_dimension_out_of_range_is_named() {
    let error = |dim, rank| wrap_dim(dim, rank).unwrap_err().to_string();
    assert_eq!(error(3, 3), "dimension 3 is outside -3..3");
    assert_eq!(error(-4, 3), "dimension -4 is outside -3..3");
    assert_eq!(error(0, 0), "dimension 0 does not exist in a scalar");
    assert!(wrap_dim(isize::MIN, 3).is_err());
}

#[test]
fn slicing_a_shape_gives_the_selected_sizes() {
    assert_eq!(shape![4, 5, 6].slice(&s![1, ..2]).unwrap(), [1, 2, 6]);
    assert_eq!(shape![4].slice(&[s![1..9]]).unwrap(), [3]);
    let too_many = shape![4].slice(&s![1, ..2]).unwrap_err();
    assert_eq!(too_many, MetadataError::RankMismatch { left: 1, right: 2 });
    assert_eq!(shape![4, 5].into_ranges(), [0..4, 0..5]);
}

#[test]
fn a_dtype_knows_its_size_name_and_kind() {
    assert_eq!((DType::BF16.size(), DType::BF16.name()), (2, "bf16"));
    assert_eq!(DType::U8.kind().as_str(), "int");
    assert!(DType::U8.is_uint() && !DType::U8.is_int());
    assert_eq!(DType::F16.finfo().unwrap().max, 65504.0);
    assert!(DType::I8.finfo().is_none());
}

#[test]
#[should_panic(expected = "expected a float dtype, got i32")]
fn narrowing_a_dtype_to_another_kind_panics() {
    let _ = burn_std::FloatDType::from(DType::I32);
}
