//! Layers on one image size each. Run with `cargo bench -p burn-flex --bench layers`.

use burn_backend::Backend;
use burn_flex::{Flex, FlexDevice, FlexTensor};
use burn_ir::{Filter, ModuleOp, Operation, Scores, Window};
use burn_std::{Scalar, TensorData};
use divan::Bencher;

fn main() {
    divan::main();
}

fn tensor(shape: &[usize]) -> FlexTensor {
    let len: usize = shape.iter().product();
    let elems: Vec<f32> = (0..len)
        .map(|i| (i * 37 % 1000) as f32 / 500.0 - 1.0)
        .collect();
    Flex::upload(&FlexDevice, TensorData::new(elems, shape.to_vec()))
}

fn run(op: ModuleOp<FlexTensor>) -> FlexTensor {
    let operation = Operation::Module(Box::new(op));
    let checked = operation.check().expect("the benchmark is legal");
    Flex::execute(&FlexDevice, checked).one()
}

fn window(size: usize, stride: usize, padding: usize) -> Window {
    Window {
        stride,
        before: padding,
        after: padding,
        ..Window::new(size)
    }
}

/// Batch, channels in, channels out, size of the image and of the window, groups.
type Case = [usize; 6];

const CASES: [Case; 5] = [
    [8, 64, 64, 56, 3, 1],
    [8, 256, 64, 28, 1, 1],
    [8, 128, 128, 28, 3, 128],
    [8, 256, 256, 14, 3, 1],
    [8, 512, 512, 7, 3, 1],
];

fn parts(
    [batch, channels, out, size, kernel, groups]: Case,
) -> (FlexTensor, FlexTensor, FlexTensor, Box<[Window]>) {
    (
        tensor(&[batch, channels, size, size]),
        tensor(&[out, channels / groups, kernel, kernel]),
        tensor(&[batch, out, size, size]),
        [window(kernel, 1, kernel / 2); 2].into(),
    )
}

#[divan::bench(args = CASES)]
fn conv(bencher: Bencher, case: Case) {
    let (input, weight, _, windows) = parts(case);
    bencher.bench_local(|| {
        run(ModuleOp::Conv {
            input: input.clone(),
            weight: weight.clone(),
            bias: None,
            windows: windows.clone(),
            groups: case[5],
        })
    });
}

#[divan::bench(args = CASES)]
fn conv_transpose(bencher: Bencher, case: Case) {
    let (_, weight, grad, windows) = parts(case);
    bencher.bench_local(|| {
        run(ModuleOp::ConvTranspose {
            input: grad.clone(),
            weight: weight.clone(),
            bias: None,
            windows: windows.clone(),
            sizes: [case[3]; 2].into(),
            groups: case[5],
        })
    });
}

#[divan::bench(args = CASES)]
fn conv_weight(bencher: Bencher, case: Case) {
    let (input, _, grad, windows) = parts(case);
    bencher.bench_local(|| {
        run(ModuleOp::ConvWeight {
            input: input.clone(),
            grad: grad.clone(),
            windows: windows.clone(),
            groups: case[5],
        })
    });
}

#[divan::bench]
fn matmul_1024(bencher: Bencher) {
    let x = tensor(&[1024, 1024]);
    bencher.bench_local(|| {
        let product = Operation::Matmul {
            lhs: x.clone(),
            rhs: x.clone(),
        };
        Flex::execute(
            &FlexDevice,
            product.check().expect("the benchmark is legal"),
        )
        .one()
    });
}

#[divan::bench]
fn max_pool(bencher: Bencher) {
    let input = tensor(&[8, 64, 56, 56]);
    bencher.bench_local(|| {
        run(ModuleOp::MaxPool {
            input: input.clone(),
            windows: [window(2, 2, 0); 2].into(),
            ceil: false,
        })
    });
}

#[divan::bench]
fn max_pool_indices(bencher: Bencher) {
    let input = tensor(&[8, 64, 56, 56]);
    bencher.bench_local(|| {
        run(ModuleOp::MaxPoolIndices {
            input: input.clone(),
            windows: [window(2, 2, 0); 2].into(),
            ceil: false,
            dtype: burn_std::IntDType::I32,
        })
    });
}

fn resample(bencher: Bencher, filter: Filter, from: usize, to: usize) {
    let input = tensor(&[8, 64, from, from]);
    bencher.bench_local(|| {
        run(ModuleOp::Resample {
            input: input.clone(),
            filters: [filter; 2].into(),
            sizes: [to; 2].into(),
            adjoint: false,
        })
    });
}

#[divan::bench]
fn avg_pool(bencher: Bencher) {
    let filter = Filter::Mean {
        window: window(2, 2, 0),
        count_padding: true,
    };
    resample(bencher, filter, 112, 56);
}

#[divan::bench]
fn bilinear(bencher: Bencher) {
    let align_corners = false;
    resample(bencher, Filter::Linear { align_corners }, 56, 112);
}

#[divan::bench]
fn attention_causal(bencher: Bencher) {
    let x = tensor(&[4, 8, 256, 64]);
    bencher.bench_local(|| {
        run(ModuleOp::Attention {
            query: x.clone(),
            key: x.clone(),
            value: x.clone(),
            mask: None,
            bias: None,
            scores: Scores {
                scale: Scalar::Float(0.125),
                softcap: None,
                causal: true,
            },
        })
    });
}

#[divan::bench]
fn layer_norm(bencher: Bencher) {
    let (input, line) = (tensor(&[1024, 1024]), tensor(&[1024]));
    bencher.bench_local(|| {
        run(ModuleOp::LayerNorm {
            input: input.clone(),
            gamma: line.clone(),
            beta: Some(line.clone()),
            epsilon: Scalar::Float(1e-5),
        })
    });
}
