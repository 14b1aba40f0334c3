//! Indices that are wrong, and updates that meet.

use super::*;
use crate::ops::testing::values;
use alloc::string::String;
use burn_ir::Operation;
use burn_std::IndexingUpdateOp;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn floats(shape: &[usize]) -> FlexTensor {
    let len: usize = shape.iter().product();
    let elems: Vec<f32> = (0..len).map(|at| at as f32).collect();
    FlexTensor::from_vec(Shape::from(shape.to_vec()), elems)
}

fn gathered(op: IndexOp, input: FlexTensor, indices: FlexTensor) -> FlexTensor {
    let operation = Operation::Gather {
        op,
        input: input.meta().clone(),
        indices: indices.meta().clone(),
    };
    let output = operation.infer().expect("it is legal").one();
    super::gather(op, input, indices, &output)
}

#[track_caller]
fn report(work: impl FnOnce() -> FlexTensor) -> String {
    let stopped = catch_unwind(AssertUnwindSafe(work)).expect_err("an index is out of range");
    *stopped.downcast().expect("a report is text")
}

#[test]
fn the_first_index_out_of_range_is_reported_with_its_dim() {
    let mut indices: Vec<i64> = (0..3 * BLOCK as i64).map(|at| at % 4).collect();
    indices[2 * BLOCK + 5] = 9;
    indices[BLOCK + 1] = -1;
    let indices = FlexTensor::from_vec([1, 3 * BLOCK], indices);
    let text = report(|| gathered(IndexOp::Elements { dim: 1 }, floats(&[2, 4]), indices));
    assert!(
        text.starts_with("`gather`: index -1 is out of range in dim 1 of size 4"),
        "{text}"
    );
    assert!(text.ends_with("legal: indices in 0..4"), "{text}");

    let indices = FlexTensor::from_vec([2, 2], alloc::vec![1u64, 0, 1, u64::MAX]);
    let text = report(|| gathered(IndexOp::Nd, floats(&[2, 4]), indices));
    let expected = "`gather_nd`: index 18446744073709551615 is out of range in dim 1 of size 4";
    assert!(text.starts_with(expected), "{text}");

    let (indices, values) = (
        FlexTensor::from_vec([1], alloc::vec![2i32]),
        floats(&[1, 4]),
    );
    let op = IndexOp::Select { dim: 0 };
    let text = report(|| scatter(op, IndexingUpdateOp::Add, floats(&[2, 4]), indices, values));
    assert!(
        text.starts_with("`select_assign`: index 2 is out of range in dim 0"),
        "{text}"
    );
}

#[test]
fn updates_of_many_columns_give_the_same_bits_on_any_number_of_threads() {
    // Miri takes a thousand times as long, on one thread.
    const ROWS: i32 = if cfg!(miri) { 16 } else { 4096 };
    let work = || {
        let indices =
            FlexTensor::from_vec([ROWS as usize], (0..ROWS).map(|at| at * 7 % 5).collect());
        let values: Vec<f32> = (0..ROWS * 300)
            .map(|at| 1.0 / (1 + at % 97) as f32)
            .collect();
        let values = FlexTensor::from_vec([ROWS as usize, 300], values);
        scatter(
            IndexOp::Select { dim: 0 },
            IndexingUpdateOp::Add,
            floats(&[5, 300]),
            indices,
            values,
        )
    };
    #[cfg(feature = "rayon")]
    crate::ops::testing::same_on_any_number_of_threads(work);
    let sums = values(&work());
    let naive: f64 = (0..ROWS)
        .filter(|at| at * 7 % 5 == 3)
        .fold(900.0, |sum: f64, at| {
            f64::from(sum as f32 + 1.0 / (1 + at * 300 % 97) as f32)
        });
    assert_eq!(sums[900], naive);
}
