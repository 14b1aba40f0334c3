//! Orders of dims in memory.

use burn_std::layout::{dim_order, is_contiguous_order, nested_dim_order};
use burn_std::shape;

#[test]
fn a_dense_tensor_has_its_dims_in_some_order() {
    assert_eq!(dim_order(&[2, 3, 4], &[12, 4, 1]), Some(shape![0, 1, 2]));
    assert_eq!(dim_order(&[4, 2, 3], &[1, 12, 4]), Some(shape![1, 2, 0]));
    assert_eq!(dim_order(&[4, 1, 3], &[1, 99, 4]), Some(shape![2, 1, 0]));
    assert_eq!(dim_order(&[2, 3], &[4, 1]), None);
    assert_eq!(dim_order(&[2, 3], &[0, 1]), None);
    assert_eq!(dim_order(&[], &[]), Some(shape![]));
    assert!(is_contiguous_order(&[0, 1, 2]) && !is_contiguous_order(&[1, 0]));
}

#[test]
fn nested_dims_may_have_gaps_and_never_overlap() {
    assert_eq!(nested_dim_order(&[2, 3], &[4, 1]), Some(shape![0, 1]));
    assert_eq!(nested_dim_order(&[3, 2], &[2, 8]), Some(shape![1, 0]));
    assert_eq!(nested_dim_order(&[2, 3], &[2, 1]), None);
    assert_eq!(nested_dim_order(&[2, 3], &[0, 1]), None);
}
