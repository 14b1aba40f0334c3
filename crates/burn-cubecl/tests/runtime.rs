//! What runtimes do beyond the sample table.

#![cfg(any(feature = "cpu", feature = "cuda", feature = "vulkan"))]

mod common;

use burn_backend::{Backend, FuseBackend, Group, Slot};
use burn_cubecl::{Cube, CubeDevice, CubeTensor};
use burn_ir::{
    BinaryOp, CreateOp, Described, Dims, MovementOp, Operand, Operation, ReduceOp, TensorMeta,
    UnaryOp,
};
use burn_std::{DType, IntDType, Scalar, TensorData, read_sync};
use common::device;

#[track_caller]
fn read(device: &CubeDevice, tensor: CubeTensor) -> TensorData {
    read_sync(Cube::download(device, vec![tensor]))
        .expect("the device reads")
        .remove(0)
}

#[track_caller]
fn run(device: &CubeDevice, operation: Operation<CubeTensor>) -> CubeTensor {
    Cube::execute(device, operation.check().expect("legal")).one()
}

#[test]
fn data_comes_back_as_it_went() {
    let device = device();
    let data = TensorData::from([[1.5f32, -2.0], [0.0, 7.0]]);
    let tensor = Cube::upload(&device, data.clone());
    assert_eq!(read(&device, tensor), data);
    Cube::sync(&device).unwrap();
}

#[test]
fn a_kernel_runs() {
    let device = device();
    let input = Cube::upload(&device, TensorData::from([0.0f32, 1.0]));
    let output = run(
        &device,
        Operation::Unary {
            op: UnaryOp::Exp,
            input,
        },
    );
    // e^0 and e^1
    assert_eq!(
        read(&device, output),
        TensorData::from([1.0f32, core::f32::consts::E])
    );
}

#[test]
fn a_group_takes_new_sizes_and_scalars() {
    let device = device();
    for (len, factor) in [(3, 2.0), (8, 2.0), (8, -1.0)] {
        let meta = TensorMeta::new([len], DType::F32);
        let mut group = Group::new(vec![meta.clone(), meta.clone()]);
        let sum = Operation::Binary {
            op: BinaryOp::Add,
            lhs: Slot(0),
            rhs: Operand::Tensor(Slot(1)),
        };
        let sum = group.step(sum, meta.clone());
        let scaled = Operation::Binary {
            op: BinaryOp::Mul,
            lhs: sum,
            rhs: Operand::Scalar(Scalar::Float(factor)),
        };
        let scaled = group.step(scaled, meta);
        group.output(sum);
        group.output(scaled);
        let ones = || Cube::upload(&device, TensorData::full([len], 1.0f32));
        let outputs = Cube::execute_group(&device, &group, vec![ones(), ones()]);
        let outputs: Vec<TensorData> = outputs.into_iter().map(|it| read(&device, it)).collect();
        assert_eq!(outputs[0], TensorData::full([len], 2.0f32));
        assert_eq!(outputs[1], TensorData::full([len], 2.0 * factor as f32));
    }
}

fn ramp(shape: &[usize], modulus: usize) -> TensorData {
    let len = shape.iter().product();
    let elems: Vec<f32> = (0..len).map(|at| (at % modulus) as f32 - 2.0).collect();
    TensorData::new(elems, shape.to_vec())
}

#[test]
fn long_groups_are_folded_in_parts() {
    let device = device();
    let data = ramp(&[2, 150_001], 5);
    // Any five neighbours sum to 0. That leaves the last element of the first row, -2, and of the second, -1.
    let expected = TensorData::from([[-2.0f32], [-1.0]]);
    let input = Cube::upload(&device, data);
    let (op, dims) = (ReduceOp::Sum, Dims::one(1));
    let sum = run(&device, Operation::Reduce { op, input, dims });
    assert_eq!(read(&device, sum), expected);
}

fn binary(op: BinaryOp, lhs: Slot, rhs: Slot) -> Operation<Slot> {
    let rhs = Operand::Tensor(rhs);
    Operation::Binary { op, lhs, rhs }
}

/// A group runs as its steps one by one.
#[track_caller]
fn agrees_with_its_steps(device: &CubeDevice, group: &Group, inputs: &[CubeTensor]) {
    let mut values = inputs.to_vec();
    for step in group.steps() {
        let step = step.map_ref(&mut |slot| values[slot.0].clone());
        values.push(run(device, step));
    }
    let outputs = Cube::execute_group(device, group, inputs.to_vec());
    for (slot, output) in group.outputs().iter().zip(outputs) {
        assert_eq!(read(device, output), read(device, values[slot.0].clone()));
    }
}

/// `sqrt(op((x - shift)²)) · scale` of tensors.
fn distance(op: ReduceOp, dims: Dims, inputs: &[CubeTensor]) -> Group {
    let metas = inputs.iter().map(|input| input.meta().clone());
    let mut group = Group::new(metas.collect());
    let whole = inputs[0].meta().clone();
    let scale = inputs[2].meta().clone();
    let difference = group.step(binary(BinaryOp::Sub, Slot(0), Slot(1)), whole.clone());
    let input = group.step(binary(BinaryOp::Mul, difference, difference), whole);
    let total = group.step(Operation::Reduce { op, input, dims }, scale.clone());
    let op = UnaryOp::Sqrt;
    let root = group.step(Operation::Unary { op, input: total }, scale.clone());
    let scaled = group.step(binary(BinaryOp::Mul, root, Slot(2)), scale);
    group.output(total);
    group.output(scaled);
    group
}

#[test]
fn a_reduction_gives_the_same_bits_alone_and_in_a_group() {
    let device = device();
    let upload = |shape: &[usize], modulus| Cube::upload(&device, ramp(shape, modulus));
    let flip = |input| {
        let axes = [1, 0].into();
        let op = MovementOp::Permute { axes };
        run(&device, Operation::Movement { op, input })
    };
    for (shape, dims) in [
        ([12, 40], Dims::one(1)),
        ([12, 40], Dims::one(0)),
        ([12, 40], Dims::all(2)),
        ([7, 13], Dims::one(1)),
        ([7, 13], Dims::one(0)),
        ([3, 20_000], Dims::one(1)),
        ([20_000, 3], Dims::one(0)),
    ] {
        let size = |dim: usize| if dims.contains(dim) { 1 } else { shape[dim] };
        let scale = upload(&[size(0), size(1)], 3);
        for op in [ReduceOp::Sum, ReduceOp::Mean, ReduceOp::Max] {
            for shift in [[1, shape[1]], [shape[0], 1]] {
                let shift = upload(&shift, 5);
                let row_major = upload(&shape, 11);
                let transposed = flip(upload(&[shape[1], shape[0]], 11));
                for x in [row_major, transposed] {
                    let inputs = [x, shift.clone(), scale.clone()];
                    let group = distance(op, dims, &inputs);
                    agrees_with_its_steps(&device, &group, &inputs);
                }
            }
        }
    }
}

#[test]
fn half_types_are_widened_on_the_way_to_a_sum() {
    let device = device();
    let x = TensorData::full([4, 4096], 0.1f32);
    let input = Cube::upload(&device, x);
    let mut group = Group::new(vec![input.meta().clone()]);
    let narrow = TensorMeta::new([4, 4096], DType::F16);
    let dtype = DType::F16;
    let input_slot = group.step(
        Operation::Cast {
            input: Slot(0),
            dtype,
        },
        narrow,
    );
    let (op, dims) = (ReduceOp::Sum, Dims::one(1));
    let sum = Operation::Reduce {
        op,
        input: input_slot,
        dims,
    };
    let sum = group.step(sum, TensorMeta::new([4, 1], DType::F16));
    group.output(sum);
    agrees_with_its_steps(&device, &group, std::slice::from_ref(&input));
    // 0.1 is 0.099976 as f16, and 4096 times that is 409.5 there.
    let found = Cube::execute_group(&device, &group, vec![input]);
    let found = read(&device, found[0].clone());
    let expected = TensorData::full([4, 1], burn_std::f16::from_f32(409.5));
    assert_eq!(found, expected);
}

#[test]
fn positions_are_found_in_long_groups() {
    let device = device();
    let mut elements = vec![0.0f32; 3 * 50_000];
    elements[40_000] = 2.0;
    elements[40_001] = 2.0;
    elements[50_000 + 3] = -1.0;
    elements[100_000 + 17] = f32::NAN;
    elements[100_000 + 49_999] = f32::NAN;
    let input = Cube::upload(&device, TensorData::new(elements, [3, 50_000]));
    let dtype = IntDType::I64;
    let dims = Dims::one(1);
    let op = ReduceOp::ArgMax { dtype };
    let found = run(
        &device,
        Operation::Reduce {
            op,
            input: input.clone(),
            dims,
        },
    );
    // The first of the largest, the first of zeros, the first NaN.
    let expected = TensorData::from([[40_000i64], [0], [17]]);
    assert_eq!(read(&device, found), expected);
    let op = ReduceOp::ArgMin { dtype };
    let found = run(&device, Operation::Reduce { op, input, dims });
    let expected = TensorData::from([[0i64], [3], [17]]);
    assert_eq!(read(&device, found), expected);
}

#[cfg(feature = "fusion")]
#[test]
fn a_softmax_gives_the_same_bits_as_a_kernel_and_as_a_lowering_fused_or_not() {
    use burn_backend::{Build, Emit, On};
    use burn_fusion::{Fusion, FusionDevice};
    use burn_ir::ActivationOp;

    fn lowered<E: Emit>(e: &mut E, x: E::Tensor, dim: usize) -> E::Tensor {
        let max = e.reduce(ReduceOp::Max, x.clone(), Dims::one(dim));
        let shifted = e.sub(x, max);
        let exp = e.unary(UnaryOp::Exp, shifted);
        let sum = e.reduce(ReduceOp::Sum, exp.clone(), Dims::one(dim));
        e.div(exp, sum)
    }

    let device = device();
    let fusing = FusionDevice::<Cube>::new(device.clone(), 0);
    for (shape, dim) in [([3, 40], 1), ([40, 3], 0), ([2, 9000], 1)] {
        let data = ramp(&shape, 7);
        let input = Cube::upload(&device, data.clone());
        let unfused = read(
            &device,
            lowered(&mut On::<Cube>(&device), input.clone(), dim),
        );
        let op = ActivationOp::Softmax { dim };
        let native = run(&device, Operation::Activation { op, input });
        assert_eq!(read(&device, native), unfused);
        let input = Fusion::<Cube>::upload(&fusing, data);
        let fused = lowered(&mut On::<Fusion<Cube>>(&fusing), input, dim);
        let fused = read_sync(Fusion::<Cube>::download(&fusing, vec![fused]));
        assert_eq!(fused.unwrap().remove(0), unfused);
    }
}

/// The product with exact elements, so that the order of sums does not matter.
fn product(lhs: &[f32], rhs: &[f32], [rows, inner, columns]: [usize; 3]) -> Vec<f32> {
    let element = |row: usize, column: usize| {
        (0..inner)
            .map(|k| lhs[row * inner + k] * rhs[k * columns + column])
            .sum()
    };
    (0..rows * columns)
        .map(|at| element(at / columns, at % columns))
        .collect()
}

#[test]
fn large_products_agree_with_the_definition() {
    let device = device();
    let [rows, inner, columns] = [72, 65, 96];
    let (left, right) = (ramp(&[rows, inner], 7), ramp(&[inner, columns], 3));
    let expected = product(
        left.as_slice().unwrap(),
        right.as_slice().unwrap(),
        [rows, inner, columns],
    );
    let lhs = Cube::upload(&device, left);
    let rhs = Cube::upload(&device, right);
    let op = MovementOp::Permute {
        axes: [1, 0].into(),
    };
    let output = run(
        &device,
        Operation::Matmul {
            lhs: lhs.clone(),
            rhs: rhs.clone(),
        },
    );
    assert_eq!(
        read(&device, output),
        TensorData::new(expected.clone(), [rows, columns])
    );
    // (l r)ᵀ = rᵀ lᵀ, of views.
    let flip = |input| {
        run(
            &device,
            Operation::Movement {
                op: op.clone(),
                input,
            },
        )
    };
    let flipped = run(
        &device,
        Operation::Matmul {
            lhs: flip(rhs),
            rhs: flip(lhs),
        },
    );
    let output = flip(flipped);
    assert_eq!(
        read(&device, output),
        TensorData::new(expected, [rows, columns])
    );
}

#[test]
fn too_much_memory_is_an_error_and_the_device_lives_on() {
    let device = device();
    let shape = [1usize << 45].into();
    let (dtype, value) = (DType::F32, Scalar::Float(1.0));
    let op = CreateOp::Full {
        shape,
        dtype,
        value,
    };
    let huge = run(&device, Operation::Create { op });
    assert!(read_sync(Cube::download(&device, vec![huge])).is_err());
    data_comes_back_as_it_went();
}

/// Drivers that compute on the CPU crash where the process ends under their threads.
#[test]
fn a_program_may_end_while_its_kernels_run() {
    const ENDS: &str = "BURN_CUBECL_ENDS_AT_ONCE";
    if std::env::var_os(ENDS).is_some() {
        let device = device();
        for op in UnaryOp::ALL {
            let input = Cube::upload(&device, TensorData::full([4096], 1.0f32));
            let operation = Operation::Unary { op: *op, input };
            if Cube::supports(&device, &operation) && operation.infer().is_ok() {
                run(&device, operation);
            }
        }
        return;
    }
    let test = std::thread::current();
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    let program = program
        .args(["--exact", test.name().unwrap()])
        .env(ENDS, "1");
    let output = program.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
