//! Inference against naive models, on random shapes and attributes.

use burn_ir::{
    ActivationOp, BinaryOp, CompareOp, CreateOp, Dims, Filter, IndexOp, ModuleOp, MovementOp,
    Operand, Operation, PadRange, ReduceOp, ScanOp, SliceRange, SortOp, TensorMeta, UnaryOp,
    Window,
};
use burn_std::{BoolStore, DType, Distribution, IndexingUpdateOp, IntDType, Kind, Scalar, Shape};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const DTYPES: [DType; 15] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
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

/// Small sizes, for which models can count.
fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0usize..4, 0..5)
}

/// Sizes up to where their product no longer fits.
fn wild_size() -> impl Strategy<Value = usize> {
    prop_oneof![
        0usize..4,
        Just(1 << 20),
        Just(1 << 40),
        Just(usize::MAX / 2),
        Just(usize::MAX)
    ]
}

fn shape(sizes: &[usize]) -> Shape {
    sizes.iter().copied().collect()
}

fn f32s(sizes: &[usize]) -> TensorMeta {
    TensorMeta::new(shape(sizes), DType::F32)
}

fn outcome(operation: Operation<TensorMeta>) -> Option<Vec<usize>> {
    operation
        .infer()
        .ok()
        .map(|outputs| outputs.one().shape.to_vec())
}

fn movement(op: MovementOp, input: &[usize]) -> Option<Vec<usize>> {
    outcome(Operation::Movement {
        op,
        input: f32s(input),
    })
}

/// Equal ranks, and in each dim equal sizes or one of them 1.
fn stretched(lhs: &[usize], rhs: &[usize]) -> Option<Vec<usize>> {
    let pair = |(lhs, rhs): (&usize, &usize)| match (*lhs, *rhs) {
        (lhs, rhs) if lhs == rhs => Some(lhs),
        (1, size) | (size, 1) => Some(size),
        _ => None,
    };
    (lhs.len() == rhs.len()).then(|| lhs.iter().zip(rhs).map(pair).collect())?
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(2022), ..ProptestConfig::default() })]

    #[test]
    fn binary_operands_stretch_by_the_model(lhs in sizes(), rhs in sizes()) {
        let operation = |lhs, rhs| Operation::Binary {
            op: BinaryOp::Add,
            lhs: f32s(lhs),
            rhs: Operand::Tensor(f32s(rhs)),
        };
        prop_assert_eq!(outcome(operation(&lhs, &rhs)), stretched(&lhs, &rhs));
        prop_assert_eq!(outcome(operation(&rhs, &lhs)), stretched(&lhs, &rhs));
    }

    #[test]
    fn comparisons_stretch_like_binaries_and_yield_the_store_they_name(lhs in sizes(), rhs in sizes()) {
        let operation = Operation::Compare {
            op: CompareOp::Lower,
            lhs: f32s(&lhs),
            rhs: Operand::Tensor(f32s(&rhs)),
            store: BoolStore::U32,
        };
        let output = operation.infer().ok().map(|outputs| outputs.one());
        let expected = stretched(&lhs, &rhs).map(|sizes| TensorMeta::new(shape(&sizes), DType::Bool(BoolStore::U32)));
        prop_assert_eq!(output, expected);
    }

    #[test]
    fn a_choice_stretches_all_three_operands(mask in sizes(), on_true in sizes(), on_false in sizes()) {
        let operation = Operation::Where {
            mask: TensorMeta::new(shape(&mask), DType::Bool(BoolStore::Native)),
            on_true: Operand::Tensor(f32s(&on_true)),
            on_false: Operand::Tensor(f32s(&on_false)),
        };
        let expected = stretched(&on_true, &on_false).and_then(|values| stretched(&mask, &values));
        prop_assert_eq!(outcome(operation), expected);
    }

    #[test]
    fn reshape_keeps_the_count(from in sizes(), to in sizes()) {
        let legal = from.iter().product::<usize>() == to.iter().product();
        let found = movement(MovementOp::Reshape { shape: shape(&to) }, &from);
        prop_assert_eq!(found, legal.then_some(to));
    }

    #[test]
    fn permute_takes_permutations_only(from in sizes(), axes in prop::collection::vec(0usize..4, 0..5)) {
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        let legal = sorted == (0..from.len()).collect::<Vec<_>>();
        let found = movement(MovementOp::Permute { axes: axes.iter().copied().collect() }, &from);
        prop_assert_eq!(found, legal.then(|| axes.iter().map(|axis| from[*axis]).collect()));
    }

    #[test]
    fn expand_changes_ones_only(from in sizes(), to in sizes()) {
        let legal = from.len() == to.len() && from.iter().zip(&to).all(|(from, to)| from == to || *from == 1);
        let found = movement(MovementOp::Expand { shape: shape(&to) }, &from);
        prop_assert_eq!(found, legal.then_some(to));
    }

    #[test]
    fn a_slice_is_legal_if_every_element_it_reaches_is_there(
        size in 0usize..6,
        start in 0usize..7,
        step in -4isize..5,
        len in 0usize..5,
    ) {
        let reached = (0..len as isize).map(|i| start as isize + i * step);
        let legal = step != 0 && reached.into_iter().all(|at| (0..size as isize).contains(&at));
        let found = movement(MovementOp::Slice { ranges: [SliceRange { start, step, len }].into() }, &[size]);
        prop_assert_eq!(found, legal.then(|| vec![len]));
    }

    #[test]
    fn padding_adds_what_it_says(size in 0usize..5, before in 0usize..4, between in 0usize..4, after in 0usize..4) {
        let padding = [PadRange { before, between, after }].into();
        let found = movement(MovementOp::Pad { padding, value: Scalar::Float(0.0) }, &[size]);
        let gaps = size.max(1) - 1;
        prop_assert_eq!(found, Some(vec![before + size + gaps * between + after]));
    }

    #[test]
    fn reductions_keep_reduced_dims_with_size_one(from in sizes(), dims in prop::collection::vec(0usize..4, 0..4)) {
        let set: Dims = dims.iter().copied().collect();
        let inside = dims.iter().all(|dim| *dim < from.len());
        let reduced: Vec<usize> =
            from.iter().enumerate().map(|(dim, size)| if dims.contains(&dim) { 1 } else { *size }).collect();
        let operation = |op| Operation::Reduce { op, input: f32s(&from), dims: set };
        prop_assert_eq!(outcome(operation(ReduceOp::Sum)), inside.then(|| reduced.clone()));
        let there = inside && dims.iter().all(|dim| from[*dim] > 0);
        prop_assert_eq!(outcome(operation(ReduceOp::Max)), there.then(|| reduced.clone()));
        let arg = operation(ReduceOp::ArgMax { dtype: IntDType::I32 });
        prop_assert_eq!(outcome(arg), (there && set.len() == 1).then_some(reduced));
    }

    #[test]
    fn matmul_contracts_the_inner_sizes(lhs in sizes(), rhs in sizes()) {
        let expected = || {
            let (batches, m, k) = (lhs.len().checked_sub(2)?, lhs.get(lhs.len() - 2)?, lhs.last()?);
            let (rhs_batches, rhs_k, n) = (rhs.len().checked_sub(2)?, rhs.get(rhs.len() - 2)?, rhs.last()?);
            let mut shape = stretched(&lhs[..batches], &rhs[..rhs_batches])?;
            shape.extend([*m, *n]);
            (k == rhs_k).then_some(shape)
        };
        prop_assert_eq!(outcome(Operation::Matmul { lhs: f32s(&lhs), rhs: f32s(&rhs) }), expected());
    }

    /// Whatever the attributes, inference answers; and an output it allows can be counted where the inputs can.
    #[test]
    fn inference_of_anything_answers(operation in any_operation()) {
        if let Ok(outputs) = operation.infer() {
            let meta = outputs.one();
            let mut inputs = Vec::new();
            operation.each(&mut |input| inputs.push(input.clone()));
            if matches!(operation, Operation::Movement { .. }) && inputs.iter().all(counts) {
                prop_assert!(counts(&meta), "{meta} of {operation:?}");
            }
        } else if let Err(error) = operation.infer() {
            prop_assert!(error.to_string().contains("legal: "), "{error}");
        }
    }

    /// The kinds that leaves document.
    #[test]
    fn elementwise_leaves_take_the_kinds_they_document(at in 0..DTYPES.len()) {
        let dtype = DTYPES[at];
        let input = || TensorMeta::new([2], dtype);
        let takes = |operation: Operation<TensorMeta>| operation.infer().is_ok();
        let (float, int, boolean) =
            (dtype.kind() == Kind::Float, dtype.kind() == Kind::Int, dtype.kind() == Kind::Bool);
        for op in UnaryOp::ALL {
            let expected = match op {
                UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sign => float || int,
                UnaryOp::Not => int || boolean,
                _ => float,
            };
            prop_assert_eq!(takes(Operation::Unary { op: *op, input: input() }), expected, "{:?}", op);
        }
        for op in BinaryOp::ALL {
            let expected = match op {
                BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => int || boolean,
                _ => float || int,
            };
            let rhs = Operand::Tensor(input());
            prop_assert_eq!(takes(Operation::Binary { op: *op, lhs: input(), rhs }), expected, "{:?}", op);
        }
        prop_assert_eq!(takes(Operation::Activation { op: ActivationOp::Gelu, input: input() }), float);
        for to in DTYPES {
            let legal = takes(Operation::Cast { input: input(), dtype: to });
            prop_assert!(legal);
        }
    }
}

fn counts(meta: &TensorMeta) -> bool {
    meta.shape
        .iter()
        .try_fold(1usize, |count, size| count.checked_mul(*size))
        .is_some()
}

fn any_meta() -> impl Strategy<Value = TensorMeta> {
    (prop::collection::vec(wild_size(), 0..4), 0..DTYPES.len())
        .prop_map(|(sizes, dtype)| TensorMeta::new(shape(&sizes), DTYPES[dtype]))
}

fn any_scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        Just(Scalar::Float(f64::NAN)),
        Just(Scalar::Int(-1)),
        Just(Scalar::UInt(u64::MAX)),
        Just(Scalar::Bool(true)),
    ]
}

fn any_movement() -> impl Strategy<Value = MovementOp> {
    let range = (
        wild_size(),
        prop_oneof![Just(isize::MIN), -2isize..3, Just(isize::MAX)],
        wild_size(),
    )
        .prop_map(|(start, step, len)| SliceRange { start, step, len });
    let pad =
        (wild_size(), wild_size(), wild_size()).prop_map(|(before, between, after)| PadRange {
            before,
            between,
            after,
        });
    let sizes = || prop::collection::vec(wild_size(), 0..4);
    prop_oneof![
        sizes().prop_map(|sizes| MovementOp::Reshape {
            shape: shape(&sizes)
        }),
        sizes().prop_map(|axes| MovementOp::Permute {
            axes: axes.into_iter().collect()
        }),
        sizes().prop_map(|sizes| MovementOp::Expand {
            shape: shape(&sizes)
        }),
        prop::collection::vec(range, 0..4).prop_map(|ranges| MovementOp::Slice {
            ranges: ranges.into()
        }),
        (prop::collection::vec(pad, 0..4), any_scalar()).prop_map(|(padding, value)| {
            MovementOp::Pad {
                padding: padding.into(),
                value,
            }
        }),
    ]
}

fn any_operation() -> impl Strategy<Value = Operation<TensorMeta>> {
    let distribution = prop_oneof![
        Just(Distribution::Default),
        Just(Distribution::Bernoulli(1.5)),
        Just(Distribution::Uniform(f64::MIN, f64::MAX)),
        Just(Distribution::Normal(0.0, -1.0)),
    ];
    prop_oneof![
        (any_movement(), any_meta()).prop_map(|(op, input)| Operation::Movement { op, input }),
        (any_meta(), any_meta()).prop_map(|(lhs, rhs)| Operation::Matmul { lhs, rhs }),
        (any_meta(), any_meta(), any_scalar()).prop_map(|(mask, value, scalar)| Operation::Where {
            mask,
            on_true: Operand::Tensor(value),
            on_false: scalar.into(),
        }),
        (any_meta(), 0usize..6).prop_map(|(input, dim)| Operation::Activation {
            op: ActivationOp::Softmax { dim },
            input,
        }),
        (any_meta(), distribution).prop_map(|(meta, distribution)| Operation::Create {
            op: CreateOp::Random {
                shape: meta.shape,
                dtype: meta.dtype,
                distribution
            },
        }),
        (any_meta(), any_scalar()).prop_map(|(meta, value)| Operation::Create {
            op: CreateOp::Full {
                shape: meta.shape,
                dtype: meta.dtype,
                value
            },
        }),
        any_lookup(),
        any_layer(),
    ]
}

/// Layers over images of any size with windows of any size.
fn any_layer() -> impl Strategy<Value = Operation<TensorMeta>> {
    let image = || {
        prop::collection::vec(wild_size(), 0..6)
            .prop_map(|sizes| TensorMeta::new(shape(&sizes), DType::F32))
    };
    let window = (
        wild_size(),
        wild_size(),
        wild_size(),
        wild_size(),
        wild_size(),
    );
    let window = window.prop_map(|(size, stride, before, after, dilation)| Window {
        size,
        stride,
        before,
        after,
        dilation,
    });
    let windows = prop::collection::vec(window, 0..5);
    let sizes = prop::collection::vec(wild_size(), 0..5);
    (image(), image(), windows, sizes, wild_size(), 0..8).prop_map(
        |(input, weight, windows, sizes, groups, leaf)| {
            let (sizes, bias) = (shape(&sizes), None);
            let filter = |window: &Window| match leaf {
                6 => Filter::Lanczos {
                    align_corners: true,
                },
                _ => Filter::Mean {
                    window: *window,
                    count_padding: true,
                },
            };
            let filters = windows.iter().map(filter).collect();
            let windows: Box<[Window]> = windows.into();
            let op = match leaf {
                0 => ModuleOp::Conv {
                    input,
                    weight,
                    bias,
                    windows,
                    groups,
                },
                1 => ModuleOp::ConvTranspose {
                    input,
                    weight,
                    bias,
                    windows,
                    sizes,
                    groups,
                },
                2 => ModuleOp::ConvWeight {
                    input,
                    grad: weight,
                    windows,
                    groups,
                },
                3 => ModuleOp::Unfold { input, windows },
                4 => ModuleOp::Fold {
                    input,
                    windows,
                    sizes,
                },
                5 => ModuleOp::MaxPool {
                    input,
                    windows,
                    ceil: groups % 2 == 0,
                },
                _ => ModuleOp::Resample {
                    input,
                    filters,
                    sizes,
                    adjoint: groups % 2 == 0,
                },
            };
            Operation::Module(Box::new(op))
        },
    )
}

/// Joins, positions that are data, and order.
fn any_lookup() -> impl Strategy<Value = Operation<TensorMeta>> {
    let index = || {
        prop_oneof![
            (0usize..5).prop_map(|dim| IndexOp::Elements { dim }),
            (0usize..5).prop_map(|dim| IndexOp::Select { dim }),
            Just(IndexOp::Nd),
        ]
    };
    let any_sort =
        (any_meta(), 0usize..5, wild_size()).prop_map(|(input, dim, len)| Operation::Sort {
            op: SortOp::Values,
            dim,
            descending: true,
            len,
            input,
        });
    prop_oneof![
        (prop::collection::vec(any_meta(), 0..4), 0usize..5)
            .prop_map(|(inputs, dim)| Operation::Cat { dim, inputs }),
        (index(), any_meta(), any_meta()).prop_map(|(op, input, indices)| Operation::Gather {
            op,
            input,
            indices
        }),
        (index(), any_meta(), any_meta(), any_meta()).prop_map(|(op, input, indices, values)| {
            Operation::Scatter {
                op,
                mode: IndexingUpdateOp::Add,
                input,
                indices,
                values,
            }
        }),
        (any_movement(), any_meta(), any_scalar()).prop_map(|(op, input, value)| {
            let ranges = match op {
                MovementOp::Slice { ranges } => ranges,
                _ => [].into(),
            };
            Operation::SliceAssign {
                ranges,
                input,
                values: value.into(),
            }
        }),
        any_sort,
        (any_meta(), 0usize..5).prop_map(|(input, dim)| Operation::Scan {
            op: ScanOp::Sum,
            dim,
            input,
        }),
        (any_meta(), wild_size()).prop_map(|(mask, count)| Operation::Argwhere {
            count,
            dtype: IntDType::I64,
            mask,
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(2023), ..ProptestConfig::default() })]

    #[test]
    fn tensors_that_differ_along_one_dim_only_join(first in sizes(), second in sizes(), dim in 0usize..5) {
        let inputs = vec![f32s(&first), f32s(&second)];
        let fits = first.len() == second.len()
            && dim < first.len()
            && (0..first.len()).all(|other| other == dim || first[other] == second[other]);
        let expected = fits.then(|| {
            let mut sizes = first.clone();
            sizes[dim] += second[dim];
            sizes
        });
        prop_assert_eq!(outcome(Operation::Cat { dim, inputs }), expected);
    }

    #[test]
    fn what_is_selected_has_the_shape_of_indices_and_of_what_they_do_not_name(input in sizes(), indices in sizes(), dim in 0usize..5) {
        let gather = |op| outcome(Operation::Gather {
            op,
            input: f32s(&input),
            indices: TensorMeta::new(shape(&indices), DType::I32),
        });
        let fits = input.len() == indices.len()
            && dim < input.len()
            && (0..input.len()).all(|other| other == dim || indices[other] <= input[other]);
        prop_assert_eq!(gather(IndexOp::Elements { dim }), fits.then(|| indices.clone()));
        let list = (indices.len() == 1 && dim < input.len()).then(|| {
            let mut sizes = input.clone();
            sizes[dim] = indices[0];
            sizes
        });
        prop_assert_eq!(gather(IndexOp::Select { dim }), list);
        let tuples = indices.split_last().and_then(|(named, outer)| {
            let inner = input.get(*named..)?;
            Some([outer, inner].concat())
        });
        prop_assert_eq!(gather(IndexOp::Nd), tuples);
    }
}
