//! Elementwise instructions, alone and fused. Run with `cargo bench -p burn-flex`.

use burn_backend::{Backend, FuseBackend, Group, Slot};
use burn_flex::{Flex, FlexDevice, FlexTensor};
use burn_ir::{ActivationOp, BinaryOp, Described, Operand, Operation, TensorMeta, UnaryOp};
use burn_std::{DType, Scalar, TensorData};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const SIZES: [usize; 4] = [1, 1 << 10, 1 << 16, 1 << 22];

fn tensor(len: usize) -> FlexTensor {
    let elems: Vec<f32> = (0..len).map(|i| (i % 1000) as f32 / 500.0 - 1.0).collect();
    Flex::upload(&FlexDevice, TensorData::new(elems, [len]))
}

fn run(operation: Operation<FlexTensor>) -> FlexTensor {
    let checked = operation.check().expect("the benchmark is legal");
    Flex::execute(&FlexDevice, checked).one()
}

fn binary(op: BinaryOp, lhs: FlexTensor, rhs: Operand<FlexTensor>) -> FlexTensor {
    run(Operation::Binary { op, lhs, rhs })
}

fn scalar<T>(value: f64) -> Operand<T> {
    Operand::Scalar(Scalar::Float(value))
}

#[divan::bench(args = SIZES)]
fn add(bencher: Bencher, len: usize) {
    let (x, y) = (tensor(len), tensor(len));
    bencher
        .counter(ItemsCount::new(len))
        .bench_local(|| binary(BinaryOp::Add, x.clone(), Operand::Tensor(y.clone())));
}

#[divan::bench(args = SIZES)]
fn add_in_place(bencher: Bencher, len: usize) {
    let mut x = Some(tensor(len));
    let y = tensor(len);
    bencher.counter(ItemsCount::new(len)).bench_local(|| {
        let sum = binary(
            BinaryOp::Add,
            x.take().expect("put back below"),
            Operand::Tensor(y.clone()),
        );
        x = Some(sum);
    });
}

#[divan::bench(args = SIZES)]
fn add_scalar(bencher: Bencher, len: usize) {
    let x = tensor(len);
    bencher
        .counter(ItemsCount::new(len))
        .bench_local(|| binary(BinaryOp::Add, x.clone(), scalar(1.5)));
}

#[divan::bench(args = [(64, 16), (256, 1000), (2048, 2048)])]
fn add_row(bencher: Bencher, (rows, columns): (usize, usize)) {
    let x = Flex::upload(&FlexDevice, TensorData::ones::<f32, _>([rows, columns]));
    let y = Flex::upload(&FlexDevice, TensorData::ones::<f32, _>([1, columns]));
    bencher
        .counter(ItemsCount::new(rows * columns))
        .bench_local(|| binary(BinaryOp::Add, x.clone(), Operand::Tensor(y.clone())));
}

#[divan::bench(args = ["neg", "exp", "log", "log1p", "tanh", "erf", "sin", "sqrt", "round", "gelu", "sigmoid", "pow"])]
fn function_of_65536(bencher: Bencher, name: &str) {
    const LEN: usize = 1 << 16;
    let input = tensor(LEN);
    let unary = |op| Operation::Unary { op, input: () };
    let activation = |op| Operation::Activation { op, input: () };
    let operation = match name {
        "neg" => unary(UnaryOp::Neg),
        "exp" => unary(UnaryOp::Exp),
        "log" => unary(UnaryOp::Log),
        "log1p" => unary(UnaryOp::Log1p),
        "tanh" => unary(UnaryOp::Tanh),
        "erf" => unary(UnaryOp::Erf),
        "sin" => unary(UnaryOp::Sin),
        "sqrt" => unary(UnaryOp::Sqrt),
        "round" => unary(UnaryOp::Round),
        "gelu" => activation(ActivationOp::Gelu),
        "sigmoid" => activation(ActivationOp::Sigmoid),
        _ => Operation::Binary {
            op: BinaryOp::Pow,
            lhs: (),
            rhs: scalar(2.5),
        },
    };
    bencher
        .counter(ItemsCount::new(LEN))
        .bench_local(|| run(operation.clone().map(&mut |()| input.clone())));
}

#[divan::bench(args = ["f64", "f16", "bf16", "i32", "u8"])]
fn add_of_65536(bencher: Bencher, dtype: &str) {
    const LEN: usize = 1 << 16;
    let dtype = [DType::F64, DType::F16, DType::BF16, DType::I32, DType::U8]
        .into_iter()
        .find(|other| other.name() == dtype)
        .expect("the name is listed");
    let x = run(Operation::Cast {
        input: tensor(LEN),
        dtype,
    });
    bencher
        .counter(ItemsCount::new(LEN))
        .bench_local(|| binary(BinaryOp::Add, x.clone(), Operand::Tensor(x.clone())));
}

/// `((x · 2 + y).relu().exp() · 0.5)`, step by step.
#[divan::bench(args = [1 << 10, 1 << 16, 1 << 22])]
fn chain_eager(bencher: Bencher, len: usize) {
    let (x, y) = (tensor(len), tensor(len));
    bencher.counter(ItemsCount::new(len)).bench_local(|| {
        let x = binary(BinaryOp::Mul, x.clone(), scalar(2.0));
        let x = binary(BinaryOp::Add, x, Operand::Tensor(y.clone()));
        let x = run(Operation::Activation {
            op: ActivationOp::Relu,
            input: x,
        });
        let x = run(Operation::Unary {
            op: UnaryOp::Exp,
            input: x,
        });
        black_box(binary(BinaryOp::Mul, x, scalar(0.5)))
    });
}

/// The same as one group.
#[divan::bench(args = [1 << 10, 1 << 16, 1 << 22])]
fn chain_fused(bencher: Bencher, len: usize) {
    let (x, y) = (tensor(len), tensor(len));
    let meta: TensorMeta = x.meta().clone();
    let mut group = Group::new(vec![meta.clone(), meta.clone()]);
    let mut step = |operation| group.step(operation, meta.clone());
    let op = |op, lhs, rhs| Operation::Binary { op, lhs, rhs };
    let value = step(op(BinaryOp::Mul, Slot(0), scalar(2.0)));
    let value = step(op(BinaryOp::Add, value, Operand::Tensor(Slot(1))));
    let value = step(Operation::Activation {
        op: ActivationOp::Relu,
        input: value,
    });
    let value = step(Operation::Unary {
        op: UnaryOp::Exp,
        input: value,
    });
    let value = step(op(BinaryOp::Mul, value, scalar(0.5)));
    group.output(value);
    bencher.counter(ItemsCount::new(len)).bench_local(|| {
        black_box(Flex::execute_group(
            &FlexDevice,
            &group,
            vec![x.clone(), y.clone()],
        ))
    });
}
