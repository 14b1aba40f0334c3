//! What the CPU runtime does beyond the sample table.

use burn_backend::{Backend, FuseBackend, Group, Slot};
use burn_cubecl::{Cube, CubeDevice, CubeTensor};
use burn_ir::{BinaryOp, Operand, Operation, TensorMeta, UnaryOp};
use burn_std::{DType, Scalar, TensorData, read_sync};

fn device() -> CubeDevice {
    CubeDevice::cpu().unwrap()
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
