//! Random programs of elementwise instructions and reductions, fused and unfused.

use burn_backend::{Device, Handle};
use burn_backend_tests::{Array, Layout, Num, assert_same_bits, read};
use burn_dispatch::run;
use burn_flex::device as flex;
use burn_ir::{
    ActivationOp, BinaryOp, CompareOp, Described, Dims, MovementOp, Operand, Operation, ReduceOp,
    UnaryOp,
};
use burn_std::{BoolStore, DType, Kind, Scalar};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// One instruction, by numbers that choose among what is legal where it stands.
#[derive(Clone, Copy, Debug)]
struct Step {
    family: usize,
    leaf: usize,
    lhs: usize,
    rhs: usize,
    /// Whether the value is read at the end; the others may never be written.
    kept: bool,
}

const SHAPES: [[usize; 3]; 4] = [[2, 3, 17], [2, 1, 17], [1, 3, 1], [1, 1, 1]];
const CASTS: [DType; 6] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I32,
    DType::Bool(BoolStore::Native),
];

/// The inputs of each program: every shape, of a float and an int type, in different layouts.
fn inputs(device: Device, float: DType) -> Vec<Handle> {
    let mut inputs = Vec::new();
    for (at, shape) in SHAPES.iter().enumerate() {
        for (dtype, shift) in [(float, 0), (DType::I32, 2)] {
            let mut next = 0;
            let array = Array::from_fn(shape.to_vec(), dtype, |_| {
                next = (next + 7) % 23;
                match dtype.kind() {
                    Kind::Float => Num::Float(f64::from(next) / 8.0 - 1.0).stored_as(dtype),
                    Kind::Int | Kind::Bool => Num::Int(next.into()),
                }
            });
            let layout = Layout::ALL[(at + shift) % Layout::ALL.len()];
            inputs.push(layout.place(device, &layout.logical(&array)));
        }
    }
    inputs
}

/// The instruction that a step chooses over the values so far.
fn instruction(step: Step, values: &[Handle]) -> Operation<Handle> {
    // Later values more often: chains rather than bushes.
    let lhs = values[values.len() - 1 - step.lhs % values.len().min(6)].clone();
    let alike: Vec<&Handle> = values
        .iter()
        .filter(|value| value.meta().dtype == lhs.meta().dtype)
        .collect();
    let rhs = alike[step.rhs % alike.len()].clone();
    let kind = lhs.meta().dtype.kind();
    let unary: &[UnaryOp] = match kind {
        Kind::Float => &[
            UnaryOp::Exp,
            UnaryOp::Sin,
            UnaryOp::Tanh,
            UnaryOp::Abs,
            UnaryOp::Sqrt,
            UnaryOp::Neg,
            UnaryOp::Floor,
            UnaryOp::Erf,
        ],
        Kind::Int => &[UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Sign, UnaryOp::Not],
        Kind::Bool => &[UnaryOp::Not],
    };
    let binary: &[BinaryOp] = match kind {
        Kind::Float | Kind::Int => &[
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Remainder,
            BinaryOp::Max,
            BinaryOp::Min,
            BinaryOp::Pow,
        ],
        Kind::Bool => &[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor],
    };
    let scalar = match kind {
        Kind::Float => Scalar::Float(0.75),
        Kind::Int => Scalar::Int(3),
        Kind::Bool => Scalar::Bool(true),
    };
    let compare = match kind {
        Kind::Bool => CompareOp::Equal,
        _ => CompareOp::ALL[step.leaf % CompareOp::ALL.len()],
    };
    let mask = values
        .iter()
        .rev()
        .find(|value| value.meta().dtype.kind() == Kind::Bool)
        .cloned();
    let binary = binary[step.leaf % binary.len()];
    match (step.family, mask) {
        (0, _) => Operation::Unary {
            op: unary[step.leaf % unary.len()],
            input: lhs,
        },
        (1 | 2, _) => Operation::Binary {
            op: binary,
            lhs,
            rhs: Operand::Tensor(rhs),
        },
        (3, _) => Operation::Binary {
            op: binary,
            lhs,
            rhs: scalar.into(),
        },
        (4, _) => Operation::Compare {
            op: compare,
            lhs,
            rhs: Operand::Tensor(rhs),
            store: BoolStore::Native,
        },
        (5, Some(mask)) => Operation::Where {
            mask,
            on_true: Operand::Tensor(lhs),
            on_false: Operand::Tensor(rhs),
        },
        (6, Some(mask)) => Operation::Where {
            mask,
            on_true: scalar.into(),
            on_false: Operand::Tensor(lhs),
        },
        (7, _) if kind == Kind::Float => Operation::Activation {
            op: [
                ActivationOp::Relu,
                ActivationOp::Gelu,
                ActivationOp::Sigmoid,
            ][step.leaf % 3],
            input: lhs,
        },
        (8, _) => Operation::Movement {
            // A movement between ends a group and begins another.
            op: MovementOp::Permute {
                axes: (0..lhs.meta().rank()).collect(),
            },
            input: lhs,
        },
        (9 | 10, _) => Operation::Reduce {
            op: match kind {
                Kind::Float | Kind::Int => [ReduceOp::Sum, ReduceOp::Max][step.leaf % 2],
                Kind::Bool => ReduceOp::Any,
            },
            input: lhs,
            dims: Dims::one(step.leaf % 3),
        },
        _ => Operation::Cast {
            input: lhs,
            dtype: CASTS[step.leaf % CASTS.len()],
        },
    }
}

/// The values that a program keeps, and its last.
fn outputs(device: Device, float: DType, steps: &[Step]) -> Vec<Handle> {
    let mut values = inputs(device, float);
    let mut kept = Vec::new();
    for step in steps {
        let value = run(device, instruction(*step, &values)).one();
        values.push(value.clone());
        if step.kept {
            kept.push(value);
        }
    }
    kept.extend(values.pop());
    kept
}

fn step() -> impl Strategy<Value = Step> {
    (
        0usize..12,
        0usize..24,
        0usize..24,
        0usize..24,
        any::<bool>(),
    )
        .prop_map(|(family, leaf, lhs, rhs, kept)| Step {
            family,
            leaf,
            lhs,
            rhs,
            kept,
        })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(8),
        ..ProptestConfig::default()
    })]

    #[test]
    fn chains_give_the_same_bits_fused_and_unfused(
        float in 0usize..4,
        steps in prop::collection::vec(step(), 2..9),
        backwards in any::<bool>(),
    ) {
        let float = CASTS[float];
        // A backend that fuses elementwise instructions, and one that fuses all it can.
        for device in [crate::fusing(), crate::groups::device()] {
            let mut found = outputs(device, float, &steps);
            let mut expected = outputs(flex(), float, &steps);
            // Which value is read first decides what forms a group.
            if backwards {
                found.reverse();
                expected.reverse();
            }
            for (found, expected) in found.into_iter().zip(expected) {
                assert_same_bits(&read(found), &read(expected));
            }
        }
    }
}

#[test]
fn what_waits_runs_when_the_device_is_waited_for() {
    let fused = crate::fusing();
    let x = crate::floats(fused, [2], &[1.0, 2.0]);
    let y = run(
        fused,
        Operation::Unary {
            op: UnaryOp::Exp,
            input: x,
        },
    )
    .one();
    fused.sync().unwrap();
    assert_eq!(crate::elements(&y).len(), 2);
}

#[test]
fn chains_beyond_what_may_wait_agree_and_go_without_recursion() {
    let step = |device: Device, count: usize| {
        let mut x = crate::floats(device, [3], &[0.1, 0.2, 0.3]);
        for _ in 0..count {
            x = run(
                device,
                Operation::Unary {
                    op: UnaryOp::Sin,
                    input: x,
                },
            )
            .one();
        }
        x
    };
    assert_same_bits(
        &read(step(crate::fusing(), 1000)),
        &read(step(flex(), 1000)),
    );
    drop(step(crate::fusing(), 100_000));
}

#[test]
fn a_value_used_twice_by_a_group_and_held_outside_is_one_value() {
    let fused = crate::fusing();
    let x = crate::floats(fused, [2], &[1.0, 2.0]);
    let exp = run(
        fused,
        Operation::Unary {
            op: UnaryOp::Exp,
            input: x,
        },
    )
    .one();
    let square = run(
        fused,
        Operation::Binary {
            op: BinaryOp::Mul,
            lhs: exp.clone(),
            rhs: Operand::Tensor(exp.clone()),
        },
    )
    .one();
    let squares = crate::elements(&square);
    let exps = crate::elements(&exp);
    assert_eq!(squares, exps.iter().map(|x| x * x).collect::<Vec<_>>());
}

/// Growing sums, by instructions that all wait, each value held: what one thread asks for is part of what
/// another asks for.
fn sums(device: Device, count: usize) -> Vec<Handle> {
    let ones = vec![1.0f64; 10_000];
    let mut sum = crate::floats(device, [10_000], &ones);
    let mut sums = Vec::new();
    for k in 0..count {
        sum = run(
            device,
            Operation::Binary {
                op: BinaryOp::Add,
                lhs: sum,
                rhs: Operand::Scalar(Scalar::from(2.0 * k as f64)),
            },
        )
        .one();
        sums.push(sum.clone());
    }
    sums
}

fn assert_sum(k: usize, sum: &Handle) {
    let expected = 1.0 + (k * (k + 1)) as f64;
    let found = crate::elements(sum);
    assert!(found.iter().all(|x| *x == expected), "{k}: {}", found[0]);
}

#[test]
fn threads_that_ask_for_parts_of_one_chain_get_its_values() {
    for _ in 0..20 {
        let sums = sums(crate::fusing(), 40);
        std::thread::scope(|scope| {
            for first in 0..4 {
                let sums = &sums;
                scope.spawn(move || {
                    for k in (first..40).step_by(4).rev() {
                        assert_sum(k, &sums[k]);
                    }
                });
            }
        });
    }
}

#[test]
fn workers_of_the_pool_may_ask_for_parts_of_one_chain_too() {
    use rayon::prelude::*;
    for _ in 0..20 {
        let sums = sums(crate::fusing(), 40);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_sum(39, &sums[39]));
            scope.spawn(|| assert_sum(20, &sums[20]));
            (0..40)
                .into_par_iter()
                .for_each(|k| assert_sum(k, &sums[k]));
        });
    }
}
