//! `cargo bench -p benchmarks --bench training`: training steps (forward, loss, backward, optimizer) and what they
//! allocate at most, which is the row `max alloc`.

use benchmarks::uniform;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{
    Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig, PaddingConfig2d,
};
use burn::optim::{AdamConfig, AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::prelude::*;
use burn::tensor::activation::{gelu, relu};
use burn::tensor::module::attention;
use divan::{AllocProfiler, Bencher};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

fn classes<const D: usize>(shape: [usize; D], count: usize, device: &Device) -> Tensor<D, Int> {
    let numbers: usize = shape.iter().product();
    let values: Vec<i64> = (0..numbers).map(|at| (at * 7919 % count) as i64).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn steps<M: Module + Clone + 'static>(
    bencher: Bencher,
    model: M,
    mut optimizer: ModuleOptimizer,
    loss: impl Fn(&M) -> Tensor<1>,
) {
    let mut slot = Some(model);
    bencher.bench_local(move || {
        let model = slot.take().expect("each step gives it back");
        let value = loss(&model);
        let grads = GradientsParams::from_grads(value.backward(), &model);
        slot = Some(optimizer.step(1e-3, model, grads));
        value.detach()
    });
}

fn entropy(logits: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
    let loss = CrossEntropyLossConfig::new().init(&logits.device());
    loss.forward(logits, targets)
}

/// The device with or without checkpointing.
fn device(checkpointing: bool) -> Device {
    let device = Device::flex().autodiff();
    match checkpointing {
        true => device.gradient_checkpointing(),
        false => device,
    }
}

#[derive(Module, Debug)]
struct Mlp {
    layers: Vec<Linear>,
}

impl Mlp {
    fn new(sizes: &[usize], device: &Device) -> Self {
        let layer = |pair: &[usize]| LinearConfig::new(pair[0], pair[1]).init(device);
        Self {
            layers: sizes.windows(2).map(layer).collect(),
        }
    }

    fn forward(&self, mut x: Tensor<2>) -> Tensor<2> {
        for (at, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x);
            if at + 1 < self.layers.len() {
                x = relu(x);
            }
        }
        x
    }
}

/// 784-512-256-10 on 128 rows.
#[divan::bench(args = [false, true])]
fn mlp(bencher: Bencher, checkpointing: bool) {
    let device = device(checkpointing);
    let (x, y) = (uniform([128, 784], &device), classes([128], 10, &device));
    let model = Mlp::new(&[784, 512, 256, 10], &device);
    steps(bencher, model, AdamConfig::new().init(), |model: &Mlp| {
        entropy(model.forward(x.clone()), y.clone())
    });
}

/// 32 layers of 256 on 2,048 rows.
#[divan::bench(args = [false, true], sample_count = 20)]
fn deep_mlp(bencher: Bencher, checkpointing: bool) {
    let device = device(checkpointing);
    let x = uniform([2048, 256], &device);
    let model = Mlp::new(&[256; 33], &device);
    steps(bencher, model, AdamConfig::new().init(), |model: &Mlp| {
        model.forward(x.clone()).square().mean()
    });
}

#[derive(Module, Debug)]
struct Cnn {
    conv1: Conv2d,
    conv2: Conv2d,
    pool: MaxPool2d,
    fc1: Linear,
    fc2: Linear,
}

/// Two convolutions of 3×3 with 32 and 64 channels, each with relu and a pool of 2×2, and two linear layers, on 64 images
/// of 28×28.
#[divan::bench(args = [false, true], sample_count = 20)]
fn cnn(bencher: Bencher, checkpointing: bool) {
    let device = device(checkpointing);
    let conv = |input, output| {
        Conv2dConfig::new([input, output], [3, 3])
            .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
            .init(&device)
    };
    let model = Cnn {
        conv1: conv(1, 32),
        conv2: conv(32, 64),
        pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init(),
        fc1: LinearConfig::new(64 * 7 * 7, 128).init(&device),
        fc2: LinearConfig::new(128, 10).init(&device),
    };
    let (x, y) = (
        uniform([64, 1, 28, 28], &device),
        classes([64], 10, &device),
    );
    steps(bencher, model, AdamConfig::new().init(), |model: &Cnn| {
        let x = model.pool.forward(relu(model.conv1.forward(x.clone())));
        let x = model.pool.forward(relu(model.conv2.forward(x)));
        let x = relu(model.fc1.forward(x.flatten::<2>(1, 3)));
        entropy(model.fc2.forward(x), y.clone())
    });
}

#[derive(Module, Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    inner: Linear,
    outer: Linear,
    norms: Vec<LayerNorm>,
}

impl Layer {
    fn new(device: &Device) -> Self {
        let linear = |input, output| LinearConfig::new(input, output).init(device);
        Self {
            query: linear(128, 128),
            key: linear(128, 128),
            value: linear(128, 128),
            output: linear(128, 128),
            inner: linear(128, 512),
            outer: linear(512, 128),
            norms: (0..2)
                .map(|_| LayerNormConfig::new(128).init(device))
                .collect(),
        }
    }

    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let [batch, len, width] = x.dims();
        let heads = |layer: &Linear| -> Tensor<4> {
            let parts = layer.forward(x.clone()).reshape([batch, len, 4, width / 4]);
            parts.swap_dims(1, 2)
        };
        let (query, key, value) = (heads(&self.query), heads(&self.key), heads(&self.value));
        let seen = attention(query, key, value, None, None, Default::default());
        let seen = seen.swap_dims(1, 2).reshape([batch, len, width]);
        let x = self.norms[0].forward(x.clone() + self.output.forward(seen));
        let wide = self.outer.forward(gelu(self.inner.forward(x.clone())));
        self.norms[1].forward(x + wide)
    }
}

#[derive(Module, Debug)]
struct Transformer {
    embed: Embedding,
    layers: Vec<Layer>,
    head: Linear,
}

fn transformer_of(bencher: Bencher, [batch, len]: [usize; 2], checkpointing: bool) {
    let device = device(checkpointing);
    let model = Transformer {
        embed: EmbeddingConfig::new(1000, 128).init(&device),
        layers: (0..2).map(|_| Layer::new(&device)).collect(),
        head: LinearConfig::new(128, 10).init(&device),
    };
    let (x, y) = (
        classes([batch, len], 1000, &device),
        classes([batch], 10, &device),
    );
    steps(
        bencher,
        model,
        AdamWConfig::new().init(),
        |model: &Transformer| {
            let mut x = model.embed.forward(x.clone());
            for layer in &model.layers {
                x = layer.forward(x);
            }
            let logits = model.head.forward(x.mean_dim(1).squeeze_dim::<2>(1));
            entropy(logits, y.clone())
        },
    );
}

/// Two layers of 128 with 4 heads on 16 texts of 64 tokens.
#[divan::bench(args = [false, true], sample_count = 20)]
fn transformer(bencher: Bencher, checkpointing: bool) {
    transformer_of(bencher, [16, 64], checkpointing);
}

/// The same on one text of 2,048 tokens, whose scores would take 64 MB a layer.
#[divan::bench(args = [false, true], sample_count = 5)]
fn long_transformer(bencher: Bencher, checkpointing: bool) {
    transformer_of(bencher, [1, 2048], checkpointing);
}
