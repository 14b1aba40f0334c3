//! `cargo bench -p benchmarks`: overhead of an operation, fusion on the CPU, and matrix products beside `gemm` called
//! directly.

use benchmarks::uniform;
use burn::prelude::*;
use burn::tensor::activation::relu;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Dependent adds of one-element tensors; the time is for one add, its result dropped.
mod one_element_add {
    use super::*;

    const ADDS: usize = 10_000;

    fn chain(bencher: Bencher, start: Tensor<1>, one: Tensor<1>) {
        bencher
            .counter(divan::counter::ItemsCount::new(ADDS))
            .bench_local(|| {
                let mut x = start.clone();
                for _ in 0..ADDS {
                    x = x + one.clone();
                }
                x
            });
    }

    #[divan::bench]
    fn plain(bencher: Bencher) {
        let device = Device::flex();
        chain(
            bencher,
            Tensor::zeros([1], &device),
            Tensor::ones([1], &device),
        );
    }

    #[divan::bench]
    fn untracked_under_autodiff(bencher: Bencher) {
        let device = Device::flex().autodiff();
        chain(
            bencher,
            Tensor::zeros([1], &device),
            Tensor::ones([1], &device),
        );
    }

    #[divan::bench]
    fn tracked(bencher: Bencher) {
        let device = Device::flex().autodiff();
        chain(
            bencher,
            Tensor::zeros([1], &device).require_grad(),
            Tensor::ones([1], &device),
        );
    }

    #[divan::bench]
    fn unfused(bencher: Bencher) {
        let device = Device::flex().unfused();
        chain(
            bencher,
            Tensor::zeros([1], &device),
            Tensor::ones([1], &device),
        );
    }
}

/// `relu(x · 2 + y).exp() · 0.5` over 4M elements.
mod chain_4m {
    use super::*;

    fn run(bencher: Bencher, device: Device) {
        let (x, y) = (
            uniform([2048, 2048], &device),
            uniform([2048, 2048], &device),
        );
        bencher.bench_local(|| {
            let z = relu(x.clone() * 2.0 + y.clone()).exp() * 0.5;
            device.sync().expect("the CPU does not fail");
            z
        });
    }

    #[divan::bench]
    fn unfused(bencher: Bencher) {
        run(bencher, Device::flex().unfused());
    }

    #[divan::bench]
    fn fused(bencher: Bencher) {
        run(bencher, Device::flex());
    }
}

/// f32 matrix products of square matrices.
#[divan::bench_group(sample_count = 30)]
mod matmul {
    use super::*;

    #[divan::bench(args = [256, 1024])]
    fn tensor(bencher: Bencher, n: usize) {
        let device = Device::flex();
        let (a, b) = (uniform([n, n], &device), uniform([n, n], &device));
        bencher.bench_local(|| a.clone().matmul(b.clone()));
    }

    #[divan::bench(args = [256, 1024])]
    fn gemm_directly(bencher: Bencher, n: usize) {
        let device = Device::flex();
        let values = |tensor: Tensor<2>| {
            tensor
                .into_data()
                .into_vec::<f32>()
                .expect("the tensor is f32")
        };
        let (a, b) = (
            values(uniform([n, n], &device)),
            values(uniform([n, n], &device)),
        );
        bencher.bench_local(|| {
            let mut c = vec![0.0f32; n * n];
            let stride = n as isize;
            // SAFETY: the three matrices are row-major, n × n, and c overlaps neither a nor b.
            unsafe {
                gemm::gemm(
                    n,
                    n,
                    n,
                    c.as_mut_ptr(),
                    1,
                    stride,
                    false,
                    black_box(a.as_ptr()),
                    1,
                    stride,
                    black_box(b.as_ptr()),
                    1,
                    stride,
                    0.0,
                    1.0,
                    false,
                    false,
                    false,
                    gemm::Parallelism::Rayon(0),
                );
            }
            c
        });
    }
}

/// Rows of 4,096 that sum to 1.
#[divan::bench]
fn softmax_1024x4096(bencher: Bencher) {
    let x = uniform([1024, 4096], &Device::flex());
    bencher.bench_local(|| burn::tensor::activation::softmax(x.clone(), 1));
}

/// One add of one-element tensors whose result is dropped, tape and all.
mod one_element_add_and_drop {
    use super::*;

    const ADDS: usize = 10_000;

    fn adds(bencher: Bencher, x: Tensor<1>, one: Tensor<1>) {
        bencher
            .counter(divan::counter::ItemsCount::new(ADDS))
            .bench_local(|| {
                for _ in 0..ADDS {
                    black_box(x.clone() + one.clone());
                }
            });
    }

    #[divan::bench]
    fn plain(bencher: Bencher) {
        let device = Device::flex();
        adds(
            bencher,
            Tensor::zeros([1], &device),
            Tensor::ones([1], &device),
        );
    }

    #[divan::bench(args = [false, true])]
    fn under_autodiff(bencher: Bencher, tracked: bool) {
        let device = Device::flex().autodiff();
        let x = Tensor::zeros([1], &device).set_require_grad(tracked);
        adds(bencher, x, Tensor::ones([1], &device));
    }
}
