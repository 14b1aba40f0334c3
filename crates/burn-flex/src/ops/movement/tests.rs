//! What the movement kernels do, on every layout. The shared sample table is in `burn-backend-tests`.

use super::*;
use crate::ops::testing::{NUMBERS, TRUTHS, layouts, moved, sample, tensor, values};
use alloc::vec::Vec;
use burn_ir::Described;
use burn_std::Shape;

fn shape(sizes: &[usize]) -> Shape {
    sizes.iter().copied().collect()
}

#[test]
fn copies_of_every_layout_have_the_same_elements() {
    // Under Miri, which takes a thousand times as long, what is left still has whole tiles and rests.
    let large: [&[usize]; 2] = match cfg!(miri) {
        true => [&[19, 9], &[2, 3, 2, 5]],
        false => [&[70, 35], &[2, 33, 3, 17]],
    };
    for sizes in [&[][..], &[7], &[3, 5], &[3, 0, 2]]
        .into_iter()
        .chain(large)
    {
        // And one type of each size.
        let dtypes = match cfg!(miri) {
            true => [DType::U8, DType::F16, DType::I32, DType::F64].to_vec(),
            false => NUMBERS.into_iter().chain(TRUTHS).collect(),
        };
        for dtype in dtypes {
            for (name, input) in layouts(sizes, dtype) {
                let expected = values(&input);
                let size = dtype.size();
                let mut bytes = filled(Scalar::Bool(false), dtype, input.len());
                if input.len() > 0 {
                    // SAFETY: the buffer has room for all elements of the tensor.
                    unsafe {
                        copy_strided(
                            size,
                            input.shape(),
                            input.bytes().as_ptr().add(input.layout().offset * size),
                            &input.layout().strides,
                            bytes.as_mut_ptr(),
                            &Strides::contiguous(input.shape()),
                        );
                    }
                }
                let copy = FlexTensor::contiguous(input.meta().clone(), bytes);
                assert_eq!(values(&copy), expected, "{name} {sizes:?} {}", dtype.name());
            }
        }
    }
}

#[cfg_attr(miri, ignore = "350,000 elements and one thread")]
#[test]
fn large_copies_are_shared_among_threads() {
    let input = moved(
        MovementOp::Permute {
            axes: [1, 0].into_iter().collect(),
        },
        sample(&[700, 500], DType::I32),
    );
    let expected = values(&input);
    assert_eq!(
        values(&moved(
            MovementOp::Reshape {
                shape: shape(&[350_000])
            },
            input
        )),
        expected
    );
}

#[test]
fn reshapes_keep_the_order_of_elements() {
    let targets: [&[usize]; 6] = [
        &[24],
        &[4, 6],
        &[2, 2, 3, 2],
        &[1, 24, 1],
        &[3, 8],
        &[2, 3, 4],
    ];
    for (name, input) in layouts(&[2, 3, 4], DType::F32) {
        for target in targets {
            let expected = values(&input);
            let output = moved(
                MovementOp::Reshape {
                    shape: shape(target),
                },
                input.clone(),
            );
            assert_eq!(values(&output), expected, "{name} {target:?}");
        }
    }
}

#[test]
fn reshapes_of_evenly_spaced_elements_are_views() {
    type Case = (
        &'static [usize],
        &'static [isize],
        &'static [usize],
        Option<&'static [isize]>,
    );
    let cases: [Case; 8] = [
        (&[2, 3, 4], &[12, 4, 1], &[6, 4], Some(&[4, 1])),
        (&[6, 4], &[4, 1], &[2, 3, 2, 2], Some(&[12, 4, 2, 1])),
        // Rows with gaps split and merge inside themselves only.
        (&[2, 3, 4], &[100, 4, 1], &[2, 12], Some(&[100, 1])),
        (&[2, 3, 4], &[100, 4, 1], &[24], None),
        (&[4, 3], &[1, 4], &[12], None),
        (&[6], &[-2], &[2, 3], Some(&[-6, -2])),
        (&[1, 5, 1], &[9, 2, 9], &[5, 1], Some(&[2, 1])),
        (&[2, 3], &[0, 0], &[3, 2], Some(&[0, 0])),
    ];
    for (from, strides, to, expected) in cases {
        let found = reshaped(from, strides, to);
        assert_eq!(found.as_deref(), expected, "{from:?} {strides:?} as {to:?}");
    }
}

#[test]
fn permutations_expansions_and_slices_share_the_storage() {
    let input = sample(&[3, 1, 4], DType::I16);
    let first = input.bytes().as_ptr();
    let range = |start, step, len| SliceRange { start, step, len };
    for op in [
        MovementOp::Permute {
            axes: [2, 0, 1].into_iter().collect(),
        },
        MovementOp::Expand {
            shape: shape(&[3, 5, 4]),
        },
        MovementOp::Slice {
            ranges: [range(2, -2, 2), range(0, isize::MAX, 1), range(1, 1, 2)].into(),
        },
        MovementOp::Slice {
            ranges: [range(0, 1, 3), range(7, 1, 0), range(1, 1, 2)].into(),
        },
    ] {
        let output = moved(op.clone(), input.clone());
        assert_eq!(output.bytes().as_ptr(), first, "{op:?}");
    }
}

#[test]
fn a_slice_with_a_negative_step_walks_backwards() {
    let input = tensor(
        &[2, 4],
        DType::F32,
        &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
    );
    let ranges = [
        SliceRange::full(2),
        SliceRange {
            start: 3,
            step: -2,
            len: 2,
        },
    ];
    let output = moved(
        MovementOp::Slice {
            ranges: ranges.into(),
        },
        input,
    );
    assert_eq!(values(&output), [3.0, 1.0, 7.0, 5.0]);
}

#[test]
fn padding_goes_around_and_between() {
    let pad = |before, between, after| PadRange {
        before,
        between,
        after,
    };
    let padding = [pad(1, 0, 0), pad(0, 2, 1)];
    for dtype in NUMBERS {
        let value = Scalar::new(9.0, &dtype);
        for (name, input) in layouts(&[2, 2], dtype) {
            let x = values(&input);
            let output = moved(
                MovementOp::Pad {
                    padding: padding.into(),
                    value,
                },
                input,
            );
            #[rustfmt::skip]
            let expected = [
                9.0, 9.0, 9.0, 9.0, 9.0,
                x[0], 9.0, 9.0, x[1], 9.0,
                x[2], 9.0, 9.0, x[3], 9.0,
            ];
            assert_eq!(values(&output), expected, "{name} {}", dtype.name());
        }
    }
}

#[test]
fn padding_an_empty_tensor_yields_the_value_alone() {
    let padding = [PadRange {
        before: 1,
        between: 3,
        after: 1,
    }];
    let op = MovementOp::Pad {
        padding: padding.into(),
        value: Scalar::Bool(true),
    };
    let output = moved(op, sample(&[0], TRUTHS[0]));
    assert_eq!(values(&output), [1.0, 1.0]);
}

#[test]
fn views_of_nothing_are_legal() {
    let empty = sample(&[0, 3], DType::F32);
    for op in [
        MovementOp::Reshape {
            shape: shape(&[3, 0, 2]),
        },
        MovementOp::Permute {
            axes: [1, 0].into_iter().collect(),
        },
        MovementOp::Expand {
            shape: shape(&[0, 3]),
        },
    ] {
        assert_eq!(values(&moved(op, empty.clone())), Vec::<f64>::new());
    }
}
