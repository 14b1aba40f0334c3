//! Programs from running code.

use crate::{elements, floats};
use burn_backend::{Build, Device, Handle, Local};
use burn_backend_tests::assert_same_bits;
use burn_dispatch::capture::{Capture, CaptureError, CapturedGraph};
use burn_dispatch::{InterpretError, interpret, registry};
use burn_flex::device as flex;
use burn_ir::{Described, TensorId, UnaryOp};
use burn_std::{TensorData, read_sync};
use std::time::{Duration, Instant};

fn id(tensor: &Handle) -> TensorId {
    Local::<Capture>::tensor(tensor)
        .expect("it is captured")
        .id()
}

/// The program from `inputs` to the output of `record`.
fn program(
    inputs: &[&Handle],
    record: impl FnOnce(&mut Device) -> Handle,
) -> Result<CapturedGraph, CaptureError> {
    let mut device = registry::capture();
    let mut alive = None;
    let recorder = registry::as_capture(device).expect("it captures");
    let result = recorder.scope(|scope| {
        let output = record(&mut device);
        let completed = scope.complete(inputs.iter().map(|input| id(input)), [id(&output)]);
        alive = Some(output);
        completed
    });
    drop(alive);
    result
}

#[test]
fn a_program_holds_what_its_output_needs_and_nothing_else() {
    let x = floats(registry::capture(), [2], &[1.0, 2.0]);
    let captured = program(&[&x], |device| {
        let _unused = device.unary(UnaryOp::Sin, x.clone());
        let exp = device.unary(UnaryOp::Exp, x.clone());
        device.add_scalar(exp, 1.0)
    })
    .unwrap();
    let names: Vec<_> = captured
        .graph
        .nodes()
        .iter()
        .map(|node| node.operation.name())
        .collect();
    assert_eq!(names, ["exp", "add"]);
    assert_eq!(captured.graph.inputs(), [id(&x)]);
    assert!(captured.values.is_empty());
}

#[test]
fn data_that_is_no_input_travels_with_the_program() {
    let x = floats(registry::capture(), [2], &[1.0, 2.0]);
    let weight = TensorData::from([3.0f64, 4.0]);
    let captured = program(&[&x], |device| {
        let weight = device.upload(weight.clone());
        device.mul(x.clone(), weight)
    })
    .unwrap();
    let values: Vec<_> = captured.values.values().collect();
    assert_same_bits(values[0], &weight);

    let flex = flex();
    let mut inputs = vec![floats(flex, [2], &[5.0, 6.0])];
    inputs.extend(captured.values.into_values().map(|data| flex.upload(data)));
    let outputs = interpret(&captured.graph, flex, inputs).unwrap();
    assert_eq!(elements(&outputs[0]), [15.0, 24.0]);
}

#[test]
fn replay_refuses_inputs_of_another_shape() {
    let x = floats(registry::capture(), [2], &[1.0, 2.0]);
    let captured = program(&[&x], |device| device.neg(x.clone())).unwrap();
    let flex = flex();
    let none = interpret(&captured.graph, flex, vec![]).unwrap_err();
    assert_eq!(none.to_string(), "the program takes 1 inputs, not 0");
    let other = interpret(&captured.graph, flex, vec![floats(flex, [3], &[0.0; 3])]).unwrap_err();
    assert!(matches!(other, InterpretError::Input { .. }));
    assert!(other.to_string().contains("not f64 [3]"), "{other}");
}

#[test]
fn boundaries_must_be_alive_and_distinct() {
    let device = registry::capture();
    let x = floats(device, [1], &[1.0]);
    let gone = id(&floats(device, [1], &[1.0]));
    let recorder = registry::as_capture(device).unwrap();
    let scope = |inputs: Vec<TensorId>, outputs: Vec<TensorId>| {
        recorder
            .scope(|scope| scope.complete(inputs, outputs))
            .unwrap_err()
    };
    let unknown = CaptureError::UnknownBoundary {
        boundary: "output",
        tensor: gone,
    };
    assert_eq!(scope(vec![], vec![gone]), unknown);
    let duplicate = CaptureError::DuplicateBoundary {
        boundary: "input",
        tensor: id(&x),
    };
    assert_eq!(scope(vec![id(&x), id(&x)], vec![id(&x)]), duplicate);
    assert!(registry::as_capture(flex()).is_none());
}

#[test]
fn captured_tensors_have_values_only_if_they_came_from_the_user() {
    let mut device = registry::capture();
    let x = floats(device, [1], &[1.5]);
    assert_eq!(elements(&x), [1.5]);
    let y = device.neg(x);
    let error = read_sync(device.download(vec![y])).unwrap_err();
    assert!(error.to_string().contains("replay"), "{error}");
}

#[test]
fn gradients_can_be_captured() {
    use burn_dispatch::autodiff::{backward, require_grad};
    let below = registry::capture();
    let x = floats(below, [2], &[3.0, 4.0]);
    let captured = program(&[&x], |_| {
        let mut tape = registry::autodiff(below);
        let leaf = require_grad(burn_dispatch::transfer(x.clone(), tape).unwrap()).unwrap();
        let square = tape.mul(leaf.clone(), leaf.clone());
        backward(&square, false).unwrap().remove(&leaf).unwrap()
    })
    .unwrap();
    let flex = flex();
    let outputs = interpret(&captured.graph, flex, vec![floats(flex, [2], &[5.0, 6.0])]).unwrap();
    assert_eq!(elements(&outputs[0]), [10.0, 12.0]);
    assert_eq!(outputs[0].meta().shape[..], [2]);
}

#[test]
fn a_million_captured_nodes_go_without_recursion() {
    let mut device = registry::capture();
    let mut x = floats(device, [1], &[1.0]);
    for _ in 0..1_000_000 {
        x = device.neg(x);
    }
    let start = Instant::now();
    drop(x);
    // A linear walk takes some tenths of a second without optimization; quadratic work would take hours.
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}
