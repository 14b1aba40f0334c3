//! What the reduce kernels do, on every layout. The shared sample table is in `burn-backend-tests`.

use super::*;
use crate::ops::testing::{NUMBERS, TRUTHS, layouts, sample, tensor, values};
use burn_ir::{Described, Operation};

#[track_caller]
fn reduced(op: ReduceOp, input: FlexTensor, dims: Dims) -> FlexTensor {
    let operation = Operation::Reduce {
        op,
        input: input.meta().clone(),
        dims,
    };
    let output = operation.infer().expect("a test reduces legally").one();
    run(op, input, dims, &output)
}

/// The elements of each group, in row-major order.
fn groups(input: &FlexTensor, dims: Dims) -> Vec<Vec<f64>> {
    let shape = input.shape();
    let kept = |dim: &usize| !dims.contains(*dim);
    let count = (0..shape.len())
        .filter(kept)
        .map(|dim| shape[dim])
        .product();
    let mut groups = alloc::vec![Vec::new(); count];
    for (index, value) in values(input).into_iter().enumerate() {
        let (mut rest, mut group, mut step) = (index, 0, 1);
        for dim in (0..shape.len()).rev() {
            if kept(&dim) {
                group += rest % shape[dim] * step;
                step *= shape[dim];
            }
            rest /= shape[dim];
        }
        groups[group].push(value);
    }
    groups
}

fn expected(op: ReduceOp, dtype: DType, group: &[f64]) -> f64 {
    let position = |best: f64| group.iter().position(|x| *x == best).unwrap() as f64;
    let max = group.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let min = group.iter().copied().fold(f64::INFINITY, f64::min);
    let sum: f64 = group.iter().sum();
    match op {
        ReduceOp::Sum => sum,
        ReduceOp::Mean if dtype.is_float() => sum / group.len() as f64,
        ReduceOp::Mean if group.is_empty() => 0.0,
        ReduceOp::Mean => (sum / group.len() as f64).trunc(),
        ReduceOp::Prod => group.iter().product(),
        ReduceOp::Max => max,
        ReduceOp::Min => min,
        ReduceOp::ArgMax { .. } => position(max),
        ReduceOp::ArgMin { .. } => position(min),
        ReduceOp::Any => f64::from(group.contains(&1.0)),
        ReduceOp::All => f64::from(!group.contains(&0.0)),
    }
}

/// Compares one reduction with its definition, with the rounding of `dtype` and of the accumulation.
fn check(op: ReduceOp, name: &str, input: &FlexTensor, dims: Dims) {
    let output = reduced(op, input.clone(), dims);
    let dtype = input.dtype();
    for (found, group) in values(&output).into_iter().zip(groups(input, dims)) {
        let expected = expected(op, dtype, &group);
        let epsilon = dtype.finfo().map_or(0.0, |info| info.epsilon);
        let scale: f64 = expected.abs() + 1e-6;
        assert!(
            found == expected
                || (found - expected).abs() <= 2.0 * epsilon * scale
                || (found.is_nan() && expected.is_nan()),
            "{} of {} {:?} {name} over {dims:?}: {found}, not {expected}",
            op.name(),
            dtype.name(),
            &input.shape()[..],
        );
    }
}

/// Every set of dims of a rank.
fn subsets(rank: usize) -> impl Iterator<Item = Dims> {
    (0..1usize << rank).map(move |bits| (0..rank).filter(|dim| bits >> dim & 1 == 1).collect())
}

const SHAPES: [&[usize]; 9] = [
    &[],
    &[9],
    &[3, 5],
    &[4, 1, 5],
    &[2, 3, 4, 5],
    &[20, 70],
    &[0, 3],
    &[3, 0],
    &[3, 1100],
];

#[test]
fn sums_and_means_are_right_over_any_dims_of_any_layout() {
    for shape in SHAPES {
        for dtype in [
            DType::F64,
            DType::F32,
            DType::F16,
            DType::BF16,
            DType::I64,
            DType::I32,
        ] {
            for (name, input) in layouts(shape, dtype) {
                for dims in subsets(shape.len()) {
                    check(ReduceOp::Sum, name, &input, dims);
                    check(ReduceOp::Mean, name, &input, dims);
                }
            }
        }
    }
}

#[test]
fn products_and_extrema_are_right_for_any_type() {
    for shape in [&[7][..], &[3, 4], &[2, 3, 4], &[2, 40]] {
        for dtype in NUMBERS {
            for (name, input) in layouts(shape, dtype) {
                for dims in subsets(shape.len()) {
                    check(ReduceOp::Max, name, &input, dims);
                    check(ReduceOp::Min, name, &input, dims);
                    // Products of at most four numbers below 7 wrap in no type but the smallest.
                    let count: usize = dims.iter().map(|dim| shape[dim]).product();
                    if count <= 4 && dtype.size() > 1 {
                        check(ReduceOp::Prod, name, &input, dims);
                    }
                }
            }
        }
    }
}

#[test]
fn positions_are_right_along_any_dim_of_any_layout() {
    for shape in [
        &[9][..],
        &[3, 5],
        &[2, 3, 4],
        &[20, 70],
        &[3, 1100],
        &[1100, 3],
    ] {
        for dtype in [DType::F32, DType::F16, DType::I32, DType::U8, DType::I64] {
            for (name, input) in layouts(shape, dtype) {
                for dim in 0..shape.len() {
                    let dims = Dims::one(dim);
                    check(
                        ReduceOp::ArgMax {
                            dtype: IntDType::I64,
                        },
                        name,
                        &input,
                        dims,
                    );
                    check(
                        ReduceOp::ArgMin {
                            dtype: IntDType::U16,
                        },
                        name,
                        &input,
                        dims,
                    );
                }
            }
        }
    }
}

#[test]
fn truth_values_reduce_over_any_dims() {
    for shape in SHAPES {
        for dtype in TRUTHS {
            for (name, input) in layouts(shape, dtype) {
                for dims in subsets(shape.len()) {
                    check(ReduceOp::Any, name, &input, dims);
                    check(ReduceOp::All, name, &input, dims);
                }
            }
        }
    }
}

#[test]
fn one_true_value_among_many_decides() {
    for at in [0, 1023, 1024, 70_000, 99_999] {
        let mut elems = alloc::vec![0.0; 100_000];
        elems[at] = 1.0;
        let input = tensor(&[100_000], TRUTHS[0], &elems);
        assert_eq!(
            values(&reduced(ReduceOp::Any, input.clone(), Dims::one(0))),
            [1.0]
        );
        assert_eq!(values(&reduced(ReduceOp::All, input, Dims::one(0))), [0.0]);
    }
}

#[test]
fn integers_wrap_in_sums_and_products_but_not_in_means() {
    let input = tensor(&[2], DType::I8, &[100.0, 100.0]);
    assert_eq!(
        values(&reduced(ReduceOp::Sum, input.clone(), Dims::one(0))),
        [-56.0]
    );
    assert_eq!(
        values(&reduced(ReduceOp::Mean, input, Dims::one(0))),
        [100.0]
    );
    // 7^3 = 343 = 256 + 87
    let input = tensor(&[3], DType::U8, &[7.0; 3]);
    assert_eq!(
        values(&reduced(ReduceOp::Prod, input, Dims::one(0))),
        [87.0]
    );
    let input = tensor(&[2], DType::I64, &[i64::MIN as f64; 2]);
    assert_eq!(values(&reduced(ReduceOp::Sum, input, Dims::one(0))), [0.0]);
}

#[test]
fn means_of_halves_divide_before_they_narrow() {
    let input = tensor(&[4], DType::F16, &[60000.0; 4]);
    assert_eq!(
        values(&reduced(ReduceOp::Mean, input.clone(), Dims::one(0))),
        [60000.0]
    );
    // 240000 is beyond the largest half, 65504.
    assert_eq!(
        values(&reduced(ReduceOp::Sum, input, Dims::one(0))),
        [f64::INFINITY]
    );
}

#[test]
fn a_nan_is_contagious_and_the_first_one_is_found_at_any_length() {
    for len in [3, 511, 512, 513, 1024, 1025, 70_000] {
        let rows = [
            [1.0, f64::NAN, 3.0],
            [f64::NAN, 2.0, f64::NAN],
            [4.0, 7.0, 7.0],
        ];
        let mut elems = alloc::vec![0.0; 3 * len];
        for (row, start) in rows.iter().zip(elems.chunks_exact_mut(len)) {
            start[..3].copy_from_slice(row);
        }
        let by_row = tensor(&[3, len], DType::F32, &elems);
        let axes = [1, 0].into_iter().collect();
        let by_column =
            crate::ops::testing::moved(burn_ir::MovementOp::Permute { axes }, by_row.clone());
        // The same rows again, as columns of a contiguous tensor.
        let columns = tensor(&[len, 3], DType::F32, &values(&by_column));
        for (input, dim) in [(by_row, 1), (by_column, 0), (columns, 0)] {
            let of = |op| values(&reduced(op, input.clone(), Dims::one(dim)));
            let (max, min) = (of(ReduceOp::Max), of(ReduceOp::Min));
            assert!(
                max[0].is_nan() && max[1].is_nan() && max[2] == 7.0,
                "{len} {max:?}"
            );
            let least = if len == 3 { 4.0 } else { 0.0 };
            assert!(
                min[0].is_nan() && min[1].is_nan() && min[2] == least,
                "{len} {min:?}"
            );
            let dtype = IntDType::I32;
            assert_eq!(of(ReduceOp::ArgMax { dtype }), [1.0, 0.0, 1.0], "{len}");
            let least = if len == 3 { 0.0 } else { 3.0 };
            assert_eq!(of(ReduceOp::ArgMin { dtype }), [1.0, 0.0, least], "{len}");
        }
    }
}

#[test]
fn a_late_extremum_of_a_long_group_is_found_across_chunks() {
    let mut elems = alloc::vec![0.0; 200_000];
    elems[150_000] = 5.0;
    elems[190_000] = 5.0;
    let input = tensor(&[200_000], DType::F32, &elems);
    let op = ReduceOp::ArgMax {
        dtype: IntDType::I64,
    };
    assert_eq!(
        values(&reduced(op, input.clone(), Dims::one(0))),
        [150_000.0]
    );
    let columns = tensor(&[100_000, 2], DType::F32, &elems);
    assert_eq!(values(&reduced(op, columns, Dims::one(0))), [75_000.0, 0.0]);
}

#[test]
fn long_sums_keep_the_precision_of_their_type() {
    // Added up one by one in single precision, a million tenths are off by one percent. No number goes through more
    // than 64 additions in a row and 14 in pairs, each off by half an epsilon.
    for (shape, dims) in [([1 << 20, 1], 0), ([1, 1 << 20], 1), ([1 << 19, 2], 0)] {
        let input = tensor(&shape, DType::F32, &alloc::vec![0.1; 1 << 20]);
        let exact = f64::from(0.1f32) * shape[dims] as f64;
        for sum in values(&reduced(ReduceOp::Sum, input, Dims::one(dims))) {
            assert!(
                (sum / exact - 1.0).abs() < 39.0 * f64::from(f32::EPSILON),
                "{sum} {exact}"
            );
        }
    }
}

#[test]
#[cfg(feature = "rayon")]
fn results_do_not_depend_on_the_number_of_threads() {
    use crate::ops::testing::same_on_any_number_of_threads;
    let elems: Vec<f64> = (0..1 << 18).map(|i| f64::from(i).sin()).collect();
    for shape in [
        &[1 << 18][..],
        &[1 << 9, 1 << 9],
        &[1 << 16, 4],
        &[4, 1 << 16],
    ] {
        let input = tensor(shape, DType::F32, &elems);
        for dims in subsets(shape.len()) {
            same_on_any_number_of_threads(|| reduced(ReduceOp::Sum, input.clone(), dims));
        }
    }
    let input = sample(&[1 << 18], DType::BF16);
    same_on_any_number_of_threads(|| reduced(ReduceOp::Mean, input.clone(), Dims::one(0)));
}
