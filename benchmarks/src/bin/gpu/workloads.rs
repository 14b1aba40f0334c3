//! The workloads of the speed table, over the user's API.

use crate::timing::Timing;
use benchmarks::uniform;
use burn::prelude::*;
use burn::tensor::{DType, activation};

const BIG: [usize; 2] = [8192, 8192];

/// Times all workloads that are wanted.
pub(crate) fn run(timing: &mut Timing, device: &Device) {
    device.seed(42);
    timing.run("op_overhead_1k", device, || {
        let one = Tensor::<1>::ones([1], device);
        let start = Tensor::<1>::zeros([1], device);
        move || (0..1_000).fold(start.clone(), |x, _| x + one.clone())
    });
    timing.run("fused_chain_64m", device, || {
        let (x, y) = (uniform(BIG, device), uniform(BIG, device));
        move || activation::relu(x.clone() * 2.0 + y.clone()).exp() * 0.5
    });
    one_input(timing, device, "sum_all_64m", Tensor::sum);
    one_input(timing, device, "sum_rows_8192", |x| x.sum_dim(1));
    one_input(timing, device, "sum_columns_8192", |x| x.sum_dim(0));
    one_input(timing, device, "argmax_rows_8192", |x| x.argmax(1));
    one_input(timing, device, "softmax_8192", |x| {
        activation::softmax(x, 1)
    });
    one_input(timing, device, "transpose_copy_8192", |x| {
        x.transpose().reshape([8192 * 8192])
    });
    products(timing, device);
}

fn one_input<T>(timing: &mut Timing, device: &Device, name: &str, work: impl Fn(Tensor<2>) -> T) {
    timing.run(name, device, || {
        let x = uniform(BIG, device);
        move || work(x.clone())
    });
}

fn products(timing: &mut Timing, device: &Device) {
    let square = [
        ("matmul_4096_f32", 4096, DType::F32),
        ("matmul_4096_f16", 4096, DType::F16),
        ("matmul_8192_bf16", 8192, DType::BF16),
    ];
    for (name, size, dtype) in square {
        timing.run(name, device, || {
            let make = || uniform([size, size], device).cast(dtype);
            let (a, b) = (make(), make());
            move || a.clone().matmul(b.clone())
        });
    }
    timing.run("matmul_4096_f32_transposed", device, || {
        let (a, b) = (uniform([4096, 4096], device), uniform([4096, 4096], device));
        move || a.clone().matmul(b.clone().transpose())
    });
    timing.run("matvec_8192_bf16", device, || {
        let a = uniform([1, 8192], device).cast(DType::BF16);
        let b = uniform(BIG, device).cast(DType::BF16);
        move || a.clone().matmul(b.clone())
    });
    timing.run("linear_relu_4096_bf16", device, || {
        let make = || uniform([4096, 4096], device).cast(DType::BF16);
        let (x, weight) = (make(), make());
        let bias = uniform([1, 4096], device).cast(DType::BF16);
        move || activation::relu(x.clone().matmul(weight.clone()) + bias.clone())
    });
}
