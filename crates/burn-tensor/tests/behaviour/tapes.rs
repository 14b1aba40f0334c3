//! What tapes keep, watch and refuse; operations with their own gradient; passes on several threads.

use super::{ad, close, dev, message};
use burn_tensor::module::*;
use burn_tensor::ops::*;
use burn_tensor::{
    Device, Distribution, DynTensor, Float, GradientCheckpointingStrategy as Strategy, Int, Tensor,
    TensorData, activation, autodiff,
};
use insta::assert_snapshot;
use std::sync::mpsc::channel;
use std::thread;

/// Numbers from -1 to 1 that look random and are the same in each run.
fn numbers<const D: usize>(shape: [usize; D], seed: usize, device: &Device) -> Tensor<D> {
    let place = |at: usize| ((at + 991 * seed + 1) as f64 * 0.618_033_988_749_894_9).fract();
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|at| 2.0 * place(at) as f32 - 1.0).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn bits<const D: usize>(tensor: Tensor<D>) -> Vec<u32> {
    let values: Vec<f32> = tensor.into_data().to_vec().expect("the tensor is f32");
    values.into_iter().map(f32::to_bits).collect()
}

type Net = fn(&Device) -> (Vec<Tensor<2>>, Tensor<1>);

/// Networks whose values are large enough to be computed again.
const NETS: [(&str, Net); 4] = [
    ("perceptron", |device| {
        let weights: Vec<Tensor<2>> = (0..7)
            .map(|at| numbers([32, 32], at, device).require_grad())
            .collect();
        let mut x = numbers([64, 32], 10, device);
        for weight in &weights {
            x = activation::gelu(x.matmul(weight.clone()) * 0.5 + 0.1);
        }
        (weights, x.sum())
    }),
    ("branches", |device| {
        let x = numbers([64, 32], 1, device).require_grad();
        let w = numbers([32, 96], 2, device).require_grad();
        let all = x.clone().matmul(w.clone()).tanh();
        let [q, k, v] = [0, 32, 64].map(|at| all.clone().slice([0..64, at..at + 32]));
        let scores = activation::softmax(q.matmul(k.transpose()), 1);
        let y = Tensor::cat(vec![scores.matmul(v.clone()).sin() * v, x.clone().exp()], 1);
        (vec![x, w], (y.clone() / (y.square() + 1.0)).sum())
    }),
    ("images", |device| {
        let x = numbers([2, 4, 16, 16], 1, device);
        let w = numbers([4 * 4, 9], 2, device).require_grad();
        let gamma = numbers([16, 1], 3, device).require_grad();
        let mut x = x;
        for _ in 0..4 {
            let weight = w.clone().reshape([4, 4, 3, 3]);
            let options = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
            x = activation::relu(conv2d(x, weight, None, options));
            x = layer_norm(x, gamma.clone().reshape([16]), None, 1e-5);
        }
        (vec![w, gamma], x.square().sum())
    }),
    ("attention", |device| {
        let w = numbers([16, 48], 1, device).require_grad();
        let mut x = numbers([64, 16], 2, device);
        for _ in 0..2 {
            let all = x.clone().matmul(w.clone()).reshape([1, 64, 3, 2, 8]);
            let part = |at: usize| -> Tensor<4> {
                let part = all.clone().slice([0..1, 0..64, at..at + 1]);
                part.reshape([1, 64, 2, 8]).swap_dims(1, 2)
            };
            let seen = attention(part(0), part(1), part(2), None, None, Default::default());
            x = x + seen.swap_dims(1, 2).reshape([64, 16]);
        }
        (vec![w], x.sin().sum())
    }),
];

#[test]
fn checkpointing_changes_no_bit_of_a_gradient() {
    for (name, net) in NETS {
        let gradients = |device: &Device| -> Vec<Vec<u32>> {
            let (leaves, loss) = net(device);
            let grads = loss.backward();
            let grad = |leaf: &Tensor<2>| bits(leaf.grad(&grads).expect("the leaf is used"));
            leaves.iter().map(grad).collect()
        };
        let kept = gradients(&ad());
        let again = gradients(&ad().gradient_checkpointing());
        assert!(kept == again, "{name}");
    }
}

#[test]
fn checkpointing_changes_no_second_gradient() {
    let slopes = |device: &Device| {
        let (leaves, loss) = NETS[0].1(device);
        let first = loss.backward_create_graph();
        let first = leaves[0].grad(&first).expect("the leaf is used");
        bits(
            leaves[1]
                .grad(&first.square().sum().backward())
                .expect("the leaf is used"),
        )
    };
    assert!(slopes(&ad()) == slopes(&ad().gradient_checkpointing()));
}

#[test]
fn random_numbers_are_never_drawn_again() {
    let device = ad().gradient_checkpointing();
    let x = Tensor::<2>::ones([64, 64], &device).require_grad();
    let noise = Tensor::<2>::random([64, 64], Distribution::Default, &device);
    let y = (x.clone() * noise).exp();
    let value = y.clone().inner();
    // d/dx e^(x·n) at 1 is n·e^n = y·ln y.
    let gradient = x.grad(&y.sum().backward()).expect("the leaf is used");
    close(gradient, (value.clone() * value.log()).into_data());
}

#[test]
fn devices_and_tensors_say_what_their_tape_keeps() {
    let balanced = ad().gradient_checkpointing();
    assert_eq!(dev().gradient_checkpointing_strategy(), None);
    assert_eq!(
        ad().gradient_checkpointing_strategy(),
        Some(Strategy::Disabled)
    );
    assert_eq!(
        balanced.gradient_checkpointing_strategy(),
        Some(Strategy::Balanced)
    );
    assert_eq!(balanced.clone().autodiff(), balanced);
    assert_eq!(
        balanced.clone().inner().gradient_checkpointing_strategy(),
        None
    );
    let ints = Tensor::<1, Int>::from_data([1], &balanced);
    assert_eq!(
        ints.gradient_checkpointing_strategy(),
        Some(Strategy::Balanced)
    );
    assert!(ints.is_autodiff());

    let x = Tensor::<1>::from_data([2.0], &ad()).require_grad();
    let same = x
        .clone()
        .with_gradient_checkpointing_strategy(Strategy::Balanced);
    assert!(same.is_require_grad());
    let product = x.clone() * same;
    assert_eq!(
        product.gradient_checkpointing_strategy(),
        Some(Strategy::Balanced)
    );
    close(x.grad(&product.backward()).expect("one leaf"), [4.0]);
}

#[test]
fn a_device_without_a_tape_keeps_nothing() {
    assert_snapshot!(message(|| dev().gradient_checkpointing()), @"
    `gradient_checkpointing`: flex records no tape
      legal: an autodiff device; make it with `device.autodiff()`
    ");
}

#[test]
fn the_first_operation_that_makes_a_value_that_is_not_finite_is_named() {
    let device = ad().anomaly_detection();
    let x = Tensor::<1>::from_data([1.0, -1.0], &device).require_grad();
    assert_snapshot!(message(|| (x.clone() * 2.0).log() + 1.0), @"
    `log` made the first value that is not finite: NaN at element 1 of its output f32 [2]
      operand 0: f32 [2]
    ");
    // What is there on purpose is nobody's fault.
    let hidden = Tensor::<1>::from_data([f32::NEG_INFINITY, 0.0], &device) + x.clone();
    close(activation::softmax(hidden, 0), [0.0, 1.0]);
}

#[test]
fn the_first_gradient_that_is_not_finite_is_named() {
    let x = Tensor::<1>::from_data([1.0, 0.0], &ad().anomaly_detection()).require_grad();
    let y = (x.clone().sqrt() * 2.0).sum();
    assert_snapshot!(message(|| y.backward()), @"`backward`: the gradient of `sqrt` has the first value that is not finite: inf at element 1 for operand 0, f32 [2]");
    let y = x.clone().sqrt().sum();
    let recorded = message(|| y.backward_create_graph());
    assert!(recorded.contains("the gradient of `sqrt`"), "{recorded}");
    let finite = x.clone().square().sum().backward();
    close(x.grad(&finite).expect("one leaf"), [2.0, 0.0]);
}

/// `x³`, with a gradient of the caller's making.
fn cube(x: Tensor<1>, pullback: fn(autodiff::Pullback<1>) -> Vec<Option<DynTensor>>) -> Tensor<1> {
    let forward = |mut inputs: Vec<DynTensor>| {
        let x = inputs.remove(0).into_rank::<1, Float>().expect("a line");
        x.clone() * x.clone() * x
    };
    autodiff::custom("cube", vec![x.into()], forward, pullback)
}

fn slope(mut it: autodiff::Pullback<1>) -> Vec<Option<DynTensor>> {
    let x = it.inputs.remove(0).into_rank::<1, Float>().expect("a line");
    vec![Some((it.grad * x.square() * 3.0).into())]
}

#[test]
fn an_operation_brings_its_own_gradient() {
    let x = Tensor::<1>::from_data([2.0, -1.0], &ad()).require_grad();
    let y = cube(x.clone() * 2.0, slope);
    close(y.clone(), [64.0, -8.0]);
    close(x.grad(&y.backward()).expect("one leaf"), [96.0, 24.0]);
    // Whatever it is.
    let odd = cube(x.clone(), |it| {
        vec![Some((it.grad * 7.0 + it.output * 0.0).into())]
    });
    close(x.grad(&odd.backward()).expect("one leaf"), [7.0, 7.0]);
}

#[test]
fn a_gradient_of_ones_own_has_gradients() {
    let x = Tensor::<1>::from_data([2.0, -1.0], &ad()).require_grad();
    let first = cube(x.clone(), slope).backward_create_graph();
    let first = x.grad(&first).expect("one leaf");
    let second = x.grad(&first.backward()).expect("one leaf");
    // (x³)'' = 6x
    close(second, [12.0, -6.0]);
}

#[test]
fn an_operation_of_ones_own_runs_on_any_device() {
    let plain = Tensor::<1>::from_data([2.0], &dev());
    let output = cube(plain, slope);
    assert!(!output.is_autodiff());
    close(output, [8.0]);
    let constant = cube(Tensor::from_data([2.0], &ad()), slope);
    assert!(constant.is_autodiff() && !constant.is_tracked());
    let device = ad().gradient_checkpointing();
    let x = Tensor::<1>::from_data([2.0], &device).require_grad();
    let y = cube(x.clone(), slope).exp() * 0.0;
    close(x.grad(&y.backward()).expect("one leaf"), [0.0]);
}

#[test]
fn a_gradient_of_ones_own_must_fit() {
    let x = Tensor::<1>::from_data([2.0, 1.0], &ad()).require_grad();
    let long = cube(x.clone(), |it| vec![Some(it.grad.repeat_dim(0, 2).into())]);
    assert_snapshot!(message(|| long.backward()), @"
    `cube`: the gradient for operand 0 is f32 [4]
      legal: f32 [2], as the operand is
    ");
    let many = cube(x, |_| vec![None, None]);
    assert_snapshot!(message(|| many.backward()), @"
    `cube`: the gradient has 2 entries
      legal: one for each of 1 operands
    ");
}

#[test]
fn a_backward_pass_waits_for_no_other() {
    let (arrived, arrives) = channel();
    let (go_on, goes_on) = channel();
    let goes_on = std::sync::Mutex::new(goes_on);
    let x = Tensor::<1>::from_data([2.0], &ad()).require_grad();
    let shared = x.clone();
    let stopped = thread::spawn(move || {
        let y: Tensor<1> = autodiff::custom(
            "stop",
            vec![shared.clone().into()],
            |mut inputs| inputs.remove(0).into_rank::<1, Float>().expect("a line"),
            move |it| {
                arrived.send(()).expect("the test waits");
                goes_on
                    .lock()
                    .expect("one thread")
                    .recv()
                    .expect("the test goes on");
                vec![Some(it.grad.into())]
            },
        );
        shared.grad(&y.backward()).expect("one leaf")
    });
    arrives.recv().expect("the pass begins");
    // In the middle of the other pass, over the same leaf.
    let y = x.clone() * 3.0;
    close(x.grad(&y.backward()).expect("one leaf"), [3.0]);
    go_on.send(()).expect("the pass waits");
    close(stopped.join().expect("the pass ends"), [1.0]);
}

#[test]
fn a_graph_is_built_on_several_threads() {
    let x = Tensor::<1>::from_data([2.0], &ad()).require_grad();
    let parts = (0..4).map(|at| {
        let x = x.clone();
        thread::spawn(move || (0..50).fold(x * at as f32, |x, _| x + 1.0))
    });
    let parts: Vec<_> = parts.collect();
    let parts = parts.into_iter().map(|part| part.join().expect("sums end"));
    let sum = parts.reduce(|sum, part| sum + part).expect("four parts");
    close(x.grad(&sum.backward()).expect("one leaf"), [6.0]);
}

#[test]
fn attention_in_parts_has_the_gradients_of_attention_as_a_whole() {
    // 2·700 queries of 400 keys are more than one part.
    let device = ad();
    let leaf = |shape, seed| numbers::<4>(shape, seed, &device).require_grad();
    for is_causal in [false, true] {
        let gradients = |whole: bool| {
            let [q, k, v] = [
                leaf([1, 2, 700, 4], 1),
                leaf([1, 1, 400, 4], 2),
                leaf([1, 1, 400, 3], 3),
            ];
            let bias = leaf([1, 2, 700, 1], 4);
            let options = AttentionModuleOptions {
                is_causal,
                softcap: Some(2.0),
                ..Default::default()
            };
            let run = if whole { attention_fallback } else { attention };
            let args = (q.clone(), k.clone(), v.clone(), bias.clone());
            let y = run(args.0, args.1, args.2, None, Some(args.3), options);
            let weights = numbers([1, 2, 700, 3], 5, &device);
            let grads = (y * weights).sum().backward();
            [q, k, v, bias].map(|leaf| leaf.grad(&grads).expect("the leaf is used"))
        };
        for (part, whole) in gradients(false).into_iter().zip(gradients(true)) {
            let distance = (part - whole.clone()).abs().max();
            let size = whole.abs().max().into_scalar::<f32>();
            let distance = distance.into_scalar::<f32>();
            assert!(distance <= 1e-4 * (1.0 + size), "{distance} of {size}");
        }
    }
}
