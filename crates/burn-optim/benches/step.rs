//! A step over one parameter of 25 M elements, which is bound by memory: Adam reads four buffers and writes three.

use burn_core::module::{Module, Param};
use burn_core::tensor::{Device, Distribution, Tensor};
use burn_optim::momentum::MomentumConfig;
use burn_optim::{
    AdamConfig, AdamWConfig, GradientsParams, LionConfig, ModuleOptimizer, SgdConfig,
};
use divan::Bencher;
use divan::counter::BytesCount;

const ROWS: usize = 5_000;
const BYTES: usize = ROWS * ROWS * size_of::<f32>();

fn main() {
    divan::main();
}

#[derive(Module, Debug)]
struct Weights {
    values: Param<Tensor<2>>,
}

/// Steps that read and write `buffers` buffers at least.
fn steps(
    bencher: Bencher<'_, '_>,
    device: &Device,
    mut optimizer: ModuleOptimizer,
    buffers: usize,
) {
    let shape = [ROWS, ROWS];
    let values = Tensor::<2>::random(shape, Distribution::Normal(0.0, 1.0), device);
    let mut weights = Some(Weights {
        values: Param::from_tensor(values),
    });
    // A gradient that nobody else holds, as a backward pass leaves it.
    let grad = || {
        let grad = Tensor::<2>::full(shape, 0.25, device);
        device.sync().expect("the device is sound");
        grad
    };
    let mut step = |grad: Tensor<2>| {
        let module = weights.take().expect("each step gives it back");
        let mut grads = GradientsParams::new();
        grads.register(module.values.id, grad);
        weights = Some(optimizer.step(1e-3, module, grads));
        device.sync().expect("the device is sound");
    };
    step(grad());
    bencher
        .counter(BytesCount::new(buffers * BYTES))
        .with_inputs(grad)
        .bench_local_values(step);
}

macro_rules! rules {
    ($($name:ident: $optimizer:expr, $buffers:literal;)+) => {
        $(#[divan::bench_group(max_time = 4, sample_size = 1)]
        mod $name {
            use super::*;

            #[divan::bench]
            fn flex(bencher: Bencher) {
                steps(bencher, &Device::flex(), $optimizer, $buffers);
            }

            #[divan::bench]
            fn unfused(bencher: Bencher) {
                steps(bencher, &Device::flex().unfused(), $optimizer, $buffers);
            }
        })+
    };
}

rules! {
    adam: AdamConfig::new().init(), 7;
    adamw: AdamWConfig::new().init(), 7;
    sgd_momentum: SgdConfig::new().with_momentum(Some(MomentumConfig::new())).init(), 5;
    lion: LionConfig::new().init(), 5;
}
