//! What the matmul kernels do, on every layout. The shared sample table is in `burn-backend-tests`.

use super::*;
use crate::ops::testing::{NUMBERS, layouts, sample, tensor, values};
use burn_ir::{Described, Operation};

#[track_caller]
fn product(lhs: FlexTensor, rhs: FlexTensor) -> FlexTensor {
    let operation = Operation::Matmul {
        lhs: lhs.meta().clone(),
        rhs: rhs.meta().clone(),
    };
    let output = operation.infer().expect("a test multiplies legally").one();
    run(lhs, rhs, &output)
}

/// The definition, with batches that broadcast.
fn expected(lhs: &FlexTensor, rhs: &FlexTensor) -> Vec<f64> {
    let batch = lhs.shape().len() - 2;
    let (m, k, n) = (
        lhs.shape()[batch],
        lhs.shape()[batch + 1],
        rhs.shape()[batch + 1],
    );
    let sizes: Vec<usize> = (0..batch)
        .map(|dim| {
            if lhs.shape()[dim] == 1 {
                rhs.shape()[dim]
            } else {
                lhs.shape()[dim]
            }
        })
        .collect();
    let (left, right) = (values(lhs), values(rhs));
    let first = |shape: &Shape, mut index: usize| {
        let (mut at, mut step) = (0, 1);
        for dim in (0..batch).rev() {
            let place = index % sizes[dim];
            index /= sizes[dim];
            at += if shape[dim] == 1 { 0 } else { place * step };
            step *= shape[dim];
        }
        at
    };
    let mut result = Vec::new();
    for index in 0..sizes.iter().product() {
        let (left, right) = (
            &left[first(lhs.shape(), index) * m * k..],
            &right[first(rhs.shape(), index) * k * n..],
        );
        for row in 0..m {
            for col in 0..n {
                result.push((0..k).map(|i| left[row * k + i] * right[i * n + col]).sum());
            }
        }
    }
    result
}

/// Small whole numbers, whose sums of products are exact in every type but those of eight bits.
#[track_caller]
fn check(lhs: &FlexTensor, rhs: &FlexTensor, name: &str) {
    let found = values(&product(lhs.clone(), rhs.clone()));
    let dtype = lhs.dtype();
    let wrap = |x: &f64| match dtype {
        DType::I8 => f64::from(*x as i64 as i8),
        DType::U8 => f64::from(*x as i64 as u8),
        _ => *x,
    };
    let expected: Vec<f64> = expected(lhs, rhs).iter().map(wrap).collect();
    let shapes = (&lhs.shape()[..], &rhs.shape()[..]);
    assert_eq!(found, expected, "{name} {} {shapes:?}", dtype.name());
}

#[test]
fn products_of_any_layouts_and_types_are_right() {
    for dtype in NUMBERS {
        for (m, k, n) in [
            (3, 4, 5),
            (1, 7, 6),
            (6, 7, 1),
            (1, 5, 1),
            (19, 3, 18),
            (2, 9, 33),
        ] {
            for (left, lhs) in layouts(&[m, k], dtype) {
                for (right, rhs) in layouts(&[k, n], dtype) {
                    check(&lhs, &rhs, &alloc::format!("{left} · {right}"));
                }
            }
        }
    }
}

#[test]
fn batches_broadcast() {
    let shapes: [(&[usize], &[usize]); 9] = [
        (&[3, 2, 4], &[3, 4, 5]),
        (&[3, 2, 4], &[1, 4, 5]),
        (&[1, 2, 4], &[3, 4, 5]),
        (&[2, 1, 2, 4], &[1, 3, 4, 2]),
        (&[2, 3, 1, 4], &[1, 1, 4, 2]),
        (&[2, 3, 2, 4], &[2, 3, 4, 1]),
        (&[2, 3, 1, 4], &[2, 3, 4, 3]),
        (&[0, 2, 4], &[1, 4, 5]),
        (&[5, 1, 1], &[5, 1, 1]),
    ];
    for (left, right) in shapes {
        for dtype in [DType::F32, DType::BF16, DType::I32] {
            for (left, lhs) in layouts(left, dtype) {
                for (right, rhs) in layouts(right, dtype) {
                    check(&lhs, &rhs, &alloc::format!("{left} · {right}"));
                }
            }
        }
    }
}

#[test]
fn empty_sums_are_zero_and_empty_results_are_empty() {
    for dtype in NUMBERS {
        for (m, k, n) in [
            (2, 0, 3),
            (1, 0, 3),
            (2, 0, 1),
            (0, 3, 2),
            (2, 3, 0),
            (0, 0, 0),
        ] {
            check(&sample(&[m, k], dtype), &sample(&[k, n], dtype), "empty");
        }
    }
}

#[test]
fn integers_wrap() {
    let big = tensor(&[1, 2], DType::I16, &[20_000.0, 20_000.0]);
    let two = tensor(&[2, 1], DType::I16, &[2.0, 1.0]);
    // 60000 - 65536
    assert_eq!(values(&product(big, two)), [-5536.0]);
}

#[test]
fn nothing_is_skipped_where_the_other_side_is_zero() {
    for n in [1, 3] {
        let zeros = tensor(&[2, 2], DType::F32, &[0.0; 4]);
        let rhs = tensor(&[2, n], DType::F32, &alloc::vec![f64::INFINITY; 2 * n]);
        assert!(values(&product(zeros, rhs)).iter().all(|x| x.is_nan()));
    }
}

#[test]
fn sums_of_halves_are_rounded_once() {
    // In half precision 2048 + 1 is 2048 again: a sum that is rounded on the way stops there.
    let ones =
        |shape: [usize; 2]| tensor(&shape, DType::F16, &alloc::vec![1.0; shape[0] * shape[1]]);
    for n in [1, 2] {
        let result = values(&product(ones([2, 4096]), ones([4096, n])));
        assert!(result.iter().all(|x| *x == 4096.0), "{result:?}");
    }
}

#[test]
fn large_products_and_long_vectors_are_right() {
    for (m, k, n) in [
        (150, 160, 170),
        (1, 40_000, 3),
        (3, 40_000, 1),
        (300, 301, 1),
        (1, 301, 600),
    ] {
        for dtype in [DType::F32, DType::I32] {
            check(&sample(&[m, k], dtype), &sample(&[k, n], dtype), "large");
        }
    }
}

#[test]
fn several_tiles_of_columns_are_right_in_any_layout() {
    let lhs = sample(&[60, 90], DType::F32);
    for (layout, rhs) in layouts(&[90, 800], DType::F32) {
        check(&lhs, &rhs, layout);
    }
}

#[test]
#[cfg(feature = "rayon")]
fn results_do_not_depend_on_the_number_of_threads() {
    use crate::ops::testing::same_on_any_number_of_threads;
    let noise = |shape: &[usize]| {
        let count: usize = shape.iter().product();
        tensor(
            shape,
            DType::F32,
            &(0..count).map(|i| (i as f64).sin()).collect::<Vec<_>>(),
        )
    };
    for (left, right) in [
        (&[200, 700][..], &[700, 150][..]),
        (&[1, 70_000], &[70_000, 3]),
        (&[400, 900], &[900, 1]),
        (&[40, 30, 50], &[40, 50, 60]),
    ] {
        let (lhs, rhs) = (noise(left), noise(right));
        same_on_any_number_of_threads(|| product(lhs.clone(), rhs.clone()));
    }
}
