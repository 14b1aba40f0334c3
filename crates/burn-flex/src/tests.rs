//! Behaviour of the elementwise families through the backend's contract. Values of every instruction on every element
//! type are checked against references by the sample table that all backends share.

use crate::tensor::Layout;
use crate::tensor::tests::ALLOCATIONS;
use crate::{Flex, FlexDevice, FlexTensor};
use alloc::vec::Vec;
use burn_backend::{Backend, FuseBackend, Group, Slot};
use burn_ir::{
    ActivationOp, BinaryOp, CompareOp, CreateOp, Described, Operand, Operation, TensorMeta, UnaryOp,
};
use burn_std::rand::{RngExt, SeedableRng, StdRng};
use burn_std::{BoolStore, DType, Distribution, Element, Scalar, Shape, bf16, f16};

fn run(operation: Operation<FlexTensor>) -> FlexTensor {
    let checked = operation.check().unwrap();
    assert!(Flex::supports(&FlexDevice, checked.operation()));
    let expected = checked.outputs().clone().one();
    let output = Flex::execute(&FlexDevice, checked).one();
    assert_eq!(output.meta(), &expected);
    output
}

fn unary(op: UnaryOp, input: FlexTensor) -> FlexTensor {
    run(Operation::Unary { op, input })
}

fn binary(op: BinaryOp, lhs: FlexTensor, rhs: impl Into<Operand<FlexTensor>>) -> FlexTensor {
    let rhs = rhs.into();
    run(Operation::Binary { op, lhs, rhs })
}

fn tensors(lhs: FlexTensor, rhs: FlexTensor, op: BinaryOp) -> FlexTensor {
    binary(op, lhs, Operand::Tensor(rhs))
}

fn elems<E: Element>(tensor: FlexTensor) -> Vec<E> {
    tensor.into_contiguous().as_slice::<E>().unwrap().to_vec()
}

fn vector<E: Element>(elems: &[E]) -> FlexTensor {
    FlexTensor::from_vec([elems.len()], elems.to_vec())
}

fn transposed(tensor: FlexTensor) -> FlexTensor {
    let [rows, columns] = tensor.shape().dims();
    let mut layout = tensor.layout().clone();
    layout.strides.reverse();
    tensor.view(Shape::new([columns, rows]), layout)
}

#[track_caller]
fn allocations(expected: usize, work: impl FnOnce() -> FlexTensor) -> FlexTensor {
    let before = ALLOCATIONS.with(|count| count.get());
    let result = work();
    assert_eq!(ALLOCATIONS.with(|count| count.get()) - before, expected);
    result
}

#[test]
fn chains_of_the_last_owner_allocate_nothing() {
    let chain = |x| {
        let x = binary(BinaryOp::Add, x, Scalar::Float(1.0));
        unary(UnaryOp::Exp, binary(BinaryOp::Mul, x, Scalar::Float(2.0)))
    };
    let x = vector(&[0.0f32, -1.0]);
    let shared = x.clone();
    let y = allocations(1, || chain(shared));
    assert_eq!(elems::<f32>(x.clone()), [0.0, -1.0]);
    let z = allocations(0, || chain(x));
    assert_eq!(elems::<f32>(y), elems::<f32>(z));
}

#[test]
fn either_operand_may_give_its_storage() {
    let (x, y) = (vector(&[1i32, 2, 3]), vector(&[10i32, 20, 30]));
    let kept = x.clone();
    let sum = allocations(0, || tensors(x, y, BinaryOp::Sub));
    assert_eq!(elems::<i32>(sum), [-9, -18, -27]);
    assert_eq!(elems::<i32>(kept), [1, 2, 3]);
    let same = vector(&[3.0f32, 4.0]);
    let square = allocations(1, || tensors(same.clone(), same, BinaryOp::Mul));
    assert_eq!(elems::<f32>(square), [9.0, 16.0]);
}

#[test]
fn a_row_and_a_column_stretch() {
    let row = FlexTensor::from_vec([1, 3], alloc::vec![1.0f32, 2.0, 3.0]);
    let column = FlexTensor::from_vec([2, 1], alloc::vec![10.0f32, 20.0]);
    let sum = tensors(row, column, BinaryOp::Add);
    assert_eq!(elems::<f32>(sum), [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
}

#[test]
fn broadcasts_are_right_for_short_and_long_rows() {
    for columns in [1, 7, 300, 1025, 3000] {
        let x: Vec<i64> = (0..4 * columns).collect();
        let lhs = FlexTensor::from_vec([4, columns as usize], x);
        let row = FlexTensor::from_vec([1, columns as usize], (0..columns).collect::<Vec<i64>>());
        let column = FlexTensor::from_vec([4, 1], alloc::vec![0i64, 1, 2, 3]);
        let by_row = elems::<i64>(tensors(lhs.clone(), row, BinaryOp::Sub));
        let by_column = elems::<i64>(tensors(column, lhs, BinaryOp::Mul));
        for i in 0..4 * columns {
            assert_eq!(by_row[i as usize], i - i % columns);
            assert_eq!(by_column[i as usize], i / columns * i);
        }
    }
}

#[test]
fn results_too_large_for_caches_are_written_in_full_and_nowhere_else() {
    // No multiple of a block, and 36 MB where 33 are large.
    const LEN: usize = 4_000_037;
    let bytes: Vec<i8> = (0..LEN).map(|at| at as i8).collect();
    let bytes = vector(&bytes);
    let (input, dtype) = (bytes.clone(), DType::F64);
    let wide = allocations(1, || run(Operation::Cast { input, dtype }));
    let sum = allocations(1, || tensors(wide.clone(), wide.clone(), BinaryOp::Add));
    let (wide, sum) = (elems::<f64>(wide), elems::<f64>(sum));
    for at in 0..LEN {
        let x = f64::from(at as i8);
        assert_eq!((wide[at], sum[at]), (x, 2.0 * x));
    }
}

#[test]
fn functions_of_transposed_tensors_follow_their_memory() {
    let x = transposed(FlexTensor::from_vec(
        [2, 3],
        alloc::vec![0i32, 1, 2, 3, 4, 5],
    ));
    let y = allocations(1, || unary(UnaryOp::Neg, x.clone()));
    assert_eq!(y.layout().strides[..], [1, 3]);
    assert_eq!(elems::<i32>(y), [0, -3, -1, -4, -2, -5]);
    let usual = FlexTensor::from_vec([3, 2], alloc::vec![10i32; 6]);
    let row = FlexTensor::from_vec([1, 2], alloc::vec![0i32, 100]);
    assert_eq!(
        elems::<i32>(tensors(x.clone(), usual, BinaryOp::Add)),
        [10, 13, 11, 14, 12, 15]
    );
    let sum = allocations(0, || tensors(x, row, BinaryOp::Add));
    assert_eq!(elems::<i32>(sum), [0, 103, 1, 104, 2, 105]);
}

#[test]
fn empty_tensors_give_empty_tensors() {
    let empty = FlexTensor::from_vec([0, 3], Vec::<f32>::new());
    let row = FlexTensor::from_vec([1, 3], alloc::vec![1.0f32; 3]);
    assert!(elems::<f32>(tensors(row, empty, BinaryOp::Add)).is_empty());
}

#[test]
fn a_result_does_not_depend_on_the_place_in_a_block() {
    for op in [
        UnaryOp::Exp,
        UnaryOp::Log1p,
        UnaryOp::Sin,
        UnaryOp::Tanh,
        UnaryOp::Erf,
    ] {
        let mut generator = StdRng::seed_from_u64(1);
        let x: Vec<f32> = (0..41)
            .map(|_| generator.random_range(-0.9f32..9.0))
            .collect();
        let together = elems::<f32>(unary(op, vector(&x)));
        for (x, y) in x.iter().zip(together) {
            let alone = elems::<f32>(unary(op, vector(&[*x])))[0];
            assert_eq!(alone.to_bits(), y.to_bits(), "{} of {x}", op.name());
        }
    }
}

#[test]
fn integer_edges_have_their_documented_results() {
    let x = vector(&[7i32, -7, i32::MIN, 5, -5, 5]);
    let y = vector(&[0i32, 0, -1, -3, 3, 3]);
    let div = tensors(x.clone(), y.clone(), BinaryOp::Div);
    assert_eq!(elems::<i32>(div), [0, 0, i32::MIN, -1, -1, 1]);
    let rest = tensors(x, y, BinaryOp::Remainder);
    assert_eq!(elems::<i32>(rest), [0, 0, 0, -1, 1, 2]);
    let base = vector(&[2i32, -1, -1, 1, 0, 3, 10, 0]);
    let exponent = vector(&[-1i32, -3, -2, -5, 0, 4, 10, -1]);
    let power = tensors(base, exponent, BinaryOp::Pow);
    assert_eq!(elems::<i32>(power), [0, -1, 1, 1, 1, 81, 1_410_065_408, 0]);
    assert_eq!(
        elems::<i8>(unary(UnaryOp::Abs, vector(&[i8::MIN, -3]))),
        [i8::MIN, 3]
    );
    assert_eq!(
        elems::<u8>(unary(UnaryOp::Neg, vector(&[1u8, 0]))),
        [255, 0]
    );
    assert_eq!(
        elems::<bool>(unary(UnaryOp::Not, vector(&[true, false]))),
        [false, true]
    );
}

#[test]
fn float_remainders_have_the_sign_of_the_divisor() {
    let x = vector(&[5.5f32, -5.5, 5.5, -5.5]);
    let y = vector(&[2.0f32, 2.0, -2.0, -2.0]);
    let rest = tensors(x, y, BinaryOp::Remainder);
    assert_eq!(elems::<f32>(rest), [1.5, 0.5, -0.5, -1.5]);
}

#[test]
fn nan_wins_over_numbers_in_extremes_and_loses_comparisons() {
    let (x, y) = (vector(&[f32::NAN, 1.0]), vector(&[1.0f32, f32::NAN]));
    for op in [BinaryOp::Max, BinaryOp::Min] {
        assert!(
            elems::<f32>(tensors(x.clone(), y.clone(), op))
                .iter()
                .all(|x| x.is_nan())
        );
    }
    let compare = |op| {
        let (lhs, rhs) = (x.clone(), Operand::Tensor(x.clone()));
        elems::<bool>(run(Operation::Compare {
            op,
            lhs,
            rhs,
            store: BoolStore::Native,
        }))
    };
    assert_eq!(compare(CompareOp::GreaterEqual), [false, true]);
    assert_eq!(compare(CompareOp::NotEqual), [true, false]);
    let relu = run(Operation::Activation {
        op: ActivationOp::Relu,
        input: x,
    });
    assert!(elems::<f32>(relu)[0].is_nan());
}

#[test]
fn half_precision_rounds_once_from_single() {
    let x = vector(&[f16::from_f32(1.0), f16::from_f32(2049.0), f16::MAX]);
    let sum = elems::<f16>(binary(BinaryOp::Add, x, Scalar::Float(1.0)));
    assert_eq!(sum, [f16::from_f32(2.0), f16::from_f32(2049.0), f16::MAX]);
    let x = vector(&[bf16::from_f32(3.0), bf16::NAN, bf16::from_f32(0.5)]);
    let exp = elems::<bf16>(unary(UnaryOp::Exp, x));
    assert_eq!(exp[0], bf16::from_f32(3.0f32.exp()));
    assert!(exp[1].is_nan());
}

#[test]
fn casts_cut_saturate_and_test_for_zero() {
    let x = vector(&[1.9f32, -1.9, 300.0, f32::NAN, -0.0]);
    let cast = |dtype| {
        run(Operation::Cast {
            input: x.clone(),
            dtype,
        })
    };
    assert_eq!(elems::<i8>(cast(DType::I8)), [1, -1, 127, 0, 0]);
    assert_eq!(elems::<u8>(cast(DType::U8)), [1, 0, 255, 0, 0]);
    let bools = cast(DType::Bool(BoolStore::Native));
    assert_eq!(
        elems::<bool>(bools.clone()),
        [true, true, true, true, false]
    );
    let floats = run(Operation::Cast {
        input: bools,
        dtype: DType::BF16,
    });
    assert_eq!(elems::<bf16>(floats)[0], bf16::ONE);
    assert!(!Flex::supports(
        &FlexDevice,
        &Operation::Cast {
            input: x,
            dtype: DType::Bool(BoolStore::U32)
        }
    ));
}

fn random(distribution: Distribution, dtype: DType, len: usize) -> FlexTensor {
    let shape = Shape::new([len]);
    run(Operation::Create {
        op: CreateOp::Random {
            shape,
            dtype,
            distribution,
        },
    })
}

// One test, since the generator belongs to the device and tests run side by side.
#[test]
fn random_tensors_repeat_after_a_seed_and_follow_their_distribution() {
    const LEN: usize = 200_000;
    let draw = |len| {
        Flex::seed(&FlexDevice, 7);
        let first = elems::<f32>(random(Distribution::Default, DType::F32, len));
        (
            first,
            elems::<f32>(random(Distribution::Default, DType::F32, 3)),
        )
    };
    let (long, after) = draw(LEN);
    // Long tensors are made by many threads, short ones by this.
    let (short, after_short) = draw(100);
    assert_eq!((&long[..100], &after), (&short[..], &after_short));
    assert_ne!(long[..3], after[..]);
    let moments = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        (
            mean,
            x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64,
        )
    };
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        for (distribution, mean, variance) in [
            (Distribution::Default, 0.5, 1.0f64 / 12.0),
            (Distribution::Uniform(-1.0, 3.0), 1.0, 16.0 / 12.0),
            (Distribution::Normal(1.0, 2.0), 1.0, 4.0),
            (Distribution::Bernoulli(0.3), 0.3, 0.21),
        ] {
            let x = random(distribution, dtype, LEN);
            let x = elems::<f64>(run(Operation::Cast {
                input: x,
                dtype: DType::F64,
            }));
            let found = moments(&x);
            // Five deviations of the mean are 0.011 of the deviation; bf16 rounds by up to 0.004.
            let close = (found.0 - mean).abs() < 0.02 * variance.sqrt()
                && (found.1 - variance).abs() < 0.03 * variance;
            assert!(close, "{distribution:?} of {dtype:?}: {found:?}");
            if let Distribution::Uniform(low, high) = distribution {
                assert!(x.iter().all(|x| (low..high).contains(x)));
            }
        }
    }
    let x = elems::<i32>(random(Distribution::Uniform(-2.0, 3.0), DType::I32, 1000));
    assert_eq!((x.iter().min(), x.iter().max()), (Some(&-2), Some(&2)));
    let coins = elems::<bool>(random(
        Distribution::Default,
        DType::Bool(BoolStore::Native),
        LEN,
    ));
    let heads = coins.iter().filter(|coin| **coin).count();
    assert!(heads.abs_diff(LEN / 2) < 1200); // five deviations
}

#[test]
fn arange_and_full_fill_all_types() {
    let op = CreateOp::Arange {
        start: 250,
        step: 3,
        len: 4,
        dtype: DType::U8,
    };
    assert_eq!(elems::<u8>(run(Operation::Create { op })), [250, 253, 0, 3]);
    let (shape, value) = (Shape::new([2]), Scalar::Float(0.1));
    let op = CreateOp::Full {
        shape,
        dtype: DType::F16,
        value,
    };
    assert_eq!(
        elems::<f16>(run(Operation::Create { op })),
        [f16::from_f32(0.1); 2]
    );
}

#[test]
fn data_comes_back_without_a_copy() {
    let data = burn_std::TensorData::from([1.0f32, 2.0]);
    let address = data.as_bytes().as_ptr();
    let tensor = Flex::upload(&FlexDevice, data);
    let back = burn_std::read_sync(Flex::download(&FlexDevice, alloc::vec![tensor])).unwrap();
    assert_eq!(back[0].as_bytes().as_ptr(), address);
}

/// A random group over `inputs` with the results of its steps one by one.
struct Twin {
    group: Group,
    values: Vec<FlexTensor>,
    generator: StdRng,
}

impl Twin {
    fn pick(&mut self, dtype: impl Fn(DType) -> bool) -> Slot {
        let fits: Vec<usize> = (0..self.values.len())
            .filter(|at| dtype(self.values[*at].dtype()))
            .collect();
        Slot(fits[self.generator.random_range(0..fits.len())])
    }

    fn step(&mut self) {
        let numeric = |dtype: DType| !dtype.is_bool();
        let operation = match self.generator.random_range(0..7) {
            0 => Operation::Unary {
                op: [
                    UnaryOp::Exp,
                    UnaryOp::Tanh,
                    UnaryOp::Abs,
                    UnaryOp::Sqrt,
                    UnaryOp::Cos,
                ][self.generator.random_range(0..5)],
                input: self.pick(|dtype| dtype.is_float()),
            },
            1 => Operation::Activation {
                op: [ActivationOp::Relu, ActivationOp::Gelu][self.generator.random_range(0..2)],
                input: self.pick(|dtype| dtype.is_float()),
            },
            2 => Operation::Cast {
                dtype: [DType::F32, DType::F16, DType::I32, DType::F64, DType::U8]
                    [self.generator.random_range(0..5)],
                input: self.pick(|_| true),
            },
            3 => {
                let lhs = self.pick(numeric);
                let dtype = self.values[lhs.0].dtype();
                let rhs = Operand::Scalar(match dtype.is_float() {
                    true => Scalar::Float(1.5),
                    false => Scalar::Int(3),
                });
                Operation::Compare {
                    op: CompareOp::Lower,
                    lhs,
                    rhs,
                    store: BoolStore::Native,
                }
            }
            4 => {
                let mask = self.pick(|dtype| dtype.is_bool());
                let on_true = self.pick(|_| true);
                let dtype = self.values[on_true.0].dtype();
                let on_false = Operand::Tensor(self.pick(|other| other == dtype));
                Operation::Where {
                    mask,
                    on_true: Operand::Tensor(on_true),
                    on_false,
                }
            }
            _ => {
                let lhs = self.pick(numeric);
                let dtype = self.values[lhs.0].dtype();
                let ops = [
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Mul,
                    BinaryOp::Div,
                    BinaryOp::Max,
                    BinaryOp::Pow,
                ];
                let op = ops[self.generator.random_range(0..6)];
                // Products and sums with numbers are part of the step that reads them.
                let rhs = match dtype.is_float() && self.generator.random_range(0..3) == 0 {
                    true => Operand::Scalar(Scalar::Float(0.3)),
                    false => Operand::Tensor(self.pick(|other| other == dtype)),
                };
                let op = match rhs {
                    Operand::Scalar(_) => ops[self.generator.random_range(0..2) * 2],
                    Operand::Tensor(_) => op,
                };
                Operation::Binary { op, lhs, rhs }
            }
        };
        let eager = run(operation.map_ref(&mut |slot| self.values[slot.0].clone()));
        // Steps have the shape of the group; those that do not stretch to it are left out.
        if eager.shape()[..] == [37, 53] {
            self.group.step(operation, eager.meta().clone());
            self.values.push(eager);
        }
    }
}

/// Bytes with all NaN alike: which operand a NaN comes from is the choice of the machine.
fn bits(tensor: FlexTensor) -> Vec<u64> {
    match tensor.dtype() {
        DType::F32 => elems::<f32>(tensor)
            .into_iter()
            .map(|x| {
                if x.is_nan() {
                    u64::MAX
                } else {
                    x.to_bits().into()
                }
            })
            .collect(),
        DType::F64 => elems::<f64>(tensor)
            .into_iter()
            .map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() })
            .collect(),
        DType::F16 => elems::<f16>(tensor)
            .into_iter()
            .map(|x| {
                if x.is_nan() {
                    u64::MAX
                } else {
                    x.to_bits().into()
                }
            })
            .collect(),
        _ => tensor
            .into_bytes()
            .iter()
            .map(|byte| (*byte).into())
            .collect(),
    }
}

/// Operands of a group in several layouts, held by nobody else.
fn operands(generator: &mut StdRng) -> Vec<FlexTensor> {
    let mut floats = |shape: [usize; 2]| {
        let len = shape[0] * shape[1];
        let elems = (0..len)
            .map(|_| generator.random_range(-3.0f32..3.0))
            .collect();
        FlexTensor::from_vec(shape, elems)
    };
    let mask = FlexTensor::from_vec([37, 53], (0..37 * 53).map(|i| i % 3 == 0).collect());
    alloc::vec![
        floats([37, 53]),
        floats([37, 53]),
        transposed(floats([53, 37])),
        floats([1, 53]),
        floats([37, 1]),
        mask,
    ]
}

#[test]
fn a_fused_group_has_the_bits_of_its_steps() {
    for seed in 0..120 {
        let mut generator = StdRng::seed_from_u64(seed);
        let inputs = operands(&mut generator);
        let group = Group::new(inputs.iter().map(|input| input.meta().clone()).collect());
        let values = inputs;
        let mut twin = Twin {
            group,
            values,
            generator,
        };
        for _ in 0..seed % 20 + 1 {
            twin.step();
        }
        let Twin {
            mut group,
            values,
            mut generator,
        } = twin;
        let slots: Vec<Slot> = (5..values.len())
            .filter(|_| generator.random_range(0..3) == 0)
            .chain([values.len() - 1])
            .map(Slot)
            .collect();
        slots.iter().for_each(|slot| group.output(*slot));
        // Others than those that the steps read one by one: these can be overwritten.
        let inputs = operands(&mut StdRng::seed_from_u64(seed));
        let outputs = Flex::execute_group(&FlexDevice, &group, inputs);
        for (slot, output) in slots.into_iter().zip(outputs) {
            assert_eq!(output.meta(), values[slot.0].meta());
            assert_eq!(
                bits(output),
                bits(values[slot.0].clone()),
                "seed {seed}, {slot:?} of {group:?}"
            );
        }
    }
}

#[test]
fn roots_squares_and_numbers_give_the_same_bits_in_the_step_that_reads_them() {
    let edges = [0.0, -0.0, 1.0, -2.5, f64::INFINITY, f64::NAN, 1e-40, -1e300];
    let count = edges.len() * edges.len();
    let all = |at: fn(usize) -> usize| (0..count).map(move |i| edges[at(i) % edges.len()]);
    let inputs = [all(|i| i), all(|i| i / 8)].map(|elems| vector(&elems.collect::<Vec<_>>()));
    let scalar = |op: BinaryOp, lhs: Slot, value: f64| Operation::Binary {
        op,
        lhs,
        rhs: Operand::Scalar(Scalar::Float(value)),
    };
    let (add, mul) = (BinaryOp::Add, BinaryOp::Mul);
    let square = |of: Slot| Operation::Binary {
        op: mul,
        lhs: of,
        rhs: Operand::Tensor(of),
    };
    let root = |input: Slot| Operation::Unary {
        op: UnaryOp::Sqrt,
        input,
    };
    for dtype in [DType::F32, DType::F64] {
        for op in [add, BinaryOp::Sub, mul, BinaryOp::Div] {
            let input = |at: usize| {
                let input = inputs[at].clone();
                run(Operation::Cast { input, dtype })
            };
            let meta = TensorMeta::new([count], dtype);
            let mut group = Group::new(alloc::vec![meta.clone(), meta.clone()]);
            let mut values = alloc::vec![input(0), input(1)];
            let mut step = |operation: Operation<Slot>| {
                let value = run(operation.map_ref(&mut |slot| values[slot.0].clone()));
                values.push(value);
                group.step(operation, meta.clone())
            };
            let left = step(square(Slot(0)));
            let left = step(scalar(mul, left, 0.1));
            let right = step(root(Slot(1)));
            let right = step(scalar(mul, right, -1.0));
            let right = step(scalar(add, right, 1e-5));
            let last = step(Operation::Binary {
                op,
                lhs: left,
                rhs: Operand::Tensor(right),
            });
            group.output(last);
            let found = Flex::execute_group(&FlexDevice, &group, alloc::vec![input(0), input(1)]);
            for found in found {
                assert_eq!(
                    bits(found),
                    bits(values[last.0].clone()),
                    "{dtype:?} {op:?}"
                );
            }
        }
    }
}

#[test]
fn a_group_writes_into_the_inputs_that_nobody_else_holds() {
    let meta = TensorMeta::new([2], DType::F32);
    let mut group = Group::new(alloc::vec![meta.clone(), meta.clone()]);
    let (lhs, rhs) = (Slot(0), Operand::Tensor(Slot(1)));
    let sum = group.step(
        Operation::Binary {
            op: BinaryOp::Add,
            lhs,
            rhs: rhs.clone(),
        },
        meta.clone(),
    );
    let product = group.step(
        Operation::Binary {
            op: BinaryOp::Mul,
            lhs,
            rhs,
        },
        meta,
    );
    group.output(sum);
    group.output(product);
    let inputs = alloc::vec![vector(&[2.0f32, 3.0]), vector(&[5.0f32, 7.0])];
    let before = ALLOCATIONS.with(|count| count.get());
    let outputs = Flex::execute_group(&FlexDevice, &group, inputs);
    assert_eq!(ALLOCATIONS.with(|count| count.get()), before);
    let outputs: Vec<Vec<f32>> = outputs.into_iter().map(elems).collect();
    assert_eq!(outputs, [[7.0, 10.0], [10.0, 21.0]]);
}

#[test]
fn layouts_describe_views() {
    let layout = Layout {
        strides: [-1].into(),
        offset: 2,
    };
    let flipped = vector(&[1.0f32, 2.0, 3.0]).view(Shape::new([3]), layout);
    assert_eq!(
        elems::<f32>(unary(UnaryOp::Neg, flipped)),
        [-3.0, -2.0, -1.0]
    );
}
