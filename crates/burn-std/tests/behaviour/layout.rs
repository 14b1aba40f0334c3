//! Orders of dims in memory.

use burn_std::layout::{dim_order, is_contiguous_order, nested_dim_order};
use burn_std::{
    MatmulTransformAction, MatmulTransformAnalysis, MatmulTransformPolicy, Metadata, ReshapeAction,
    ReshapeAnalysis, shape, strides,
};

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

#[test]
fn batches_merge_where_rows_follow_each_other_in_even_steps() {
    let policy = MatmulTransformPolicy::BetterTiling;
    let merged = MatmulTransformAction::MergeBatches { rows: 24 };
    let (lhs, rhs) = (shape![2, 3, 4, 5], shape![1, 1, 5, 6]);
    let analysis = MatmulTransformAnalysis::from_shapes(&lhs, &rhs);
    assert_eq!(policy.action(&analysis), merged);
    let never = MatmulTransformPolicy::Never.action(&analysis);
    assert_eq!(never, MatmulTransformAction::Keep);
    let batched = MatmulTransformAnalysis::from_shapes(&lhs, &shape![2, 1, 5, 6]);
    assert_eq!(policy.action(&batched), MatmulTransformAction::Keep);
    let rhs = Metadata::new(rhs, [30, 30, 6, 1]);
    let out = Metadata::new([2, 3, 4, 6], [72, 24, 6, 1]);
    for (strides, expected) in [
        ([60, 20, 5, 1], merged),
        // A part of wider rows.
        ([120, 40, 10, 1], merged),
        // Batches with gaps between them, and rows under columns.
        ([80, 20, 5, 1], MatmulTransformAction::Keep),
        ([60, 20, 1, 4], MatmulTransformAction::Keep),
    ] {
        let mut lhs = Metadata::new(lhs.clone(), strides);
        let analysis = MatmulTransformAnalysis::from_metadata(&lhs, &rhs, &out);
        let action = policy.action(&analysis);
        assert_eq!(action, expected, "{strides:?}");
        action.apply(&mut lhs);
        if action == merged {
            let step = strides[2];
            let whole = 24 * step;
            let expected = Metadata::new([1, 1, 24, 5], [whole, whole, step, 1]);
            assert_eq!(lhs, expected);
        }
    }
}

#[test]
fn a_reshape_copies_only_where_no_strides_do() {
    let update = |strides| ReshapeAction::UpdateStrides { strides };
    for (shape, strides, new, analysis, action) in [
        (
            &[2, 3][..],
            &[3, 1][..],
            &[2, 3][..],
            ReshapeAnalysis::NoChange,
            ReshapeAction::NoChange,
        ),
        (
            &[2, 3],
            &[3, 1],
            &[6],
            ReshapeAnalysis::IsContiguous,
            update(strides![1]),
        ),
        (
            &[4, 6],
            &[1, 4],
            &[2, 2, 6],
            ReshapeAnalysis::Split,
            update(strides![2, 1, 4]),
        ),
        (
            &[4, 6],
            &[1, 4],
            &[3, 8],
            ReshapeAnalysis::HighlyPermuted,
            ReshapeAction::Recompute,
        ),
        (
            &[4, 6],
            &[1, 4],
            &[24],
            ReshapeAnalysis::SmallerRank,
            ReshapeAction::Recompute,
        ),
        (
            &[4, 6],
            &[0, 1],
            &[4, 2, 3],
            ReshapeAnalysis::Broadcasted,
            update(strides![0, 3, 1]),
        ),
        (
            &[4, 6],
            &[0, 1],
            &[24],
            ReshapeAnalysis::Broadcasted,
            ReshapeAction::Recompute,
        ),
    ] {
        assert_eq!(
            ReshapeAnalysis::new(shape, strides, new),
            analysis,
            "{shape:?} to {new:?}"
        );
        assert_eq!(
            analysis.action(shape, strides, new),
            action,
            "{shape:?} to {new:?}"
        );
    }
}
