//! What the CPU runtime does beyond the sample table.

use burn_backend::{Backend, FuseBackend, Group, Slot};
use burn_cubecl::{Cube, CubeDevice, CubeTensor};
use burn_ir::{
    BinaryOp, CreateOp, Dims, MovementOp, Operand, Operation, ReduceOp, TensorMeta, UnaryOp,
};
use burn_std::{DType, Scalar, TensorData, read_sync};

fn device() -> CubeDevice {
    CubeDevice::of(burn_cubecl::cpu().unwrap()).unwrap().clone()
}

#[track_caller]
fn read(device: &CubeDevice, tensor: CubeTensor) -> TensorData {
    read_sync(Cube::download(device, vec![tensor]))
        .unwrap()
        .remove(0)
}

#[track_caller]
fn run(device: &CubeDevice, operation: Operation<CubeTensor>) -> CubeTensor {
    Cube::execute(device, operation.check().unwrap()).one()
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
