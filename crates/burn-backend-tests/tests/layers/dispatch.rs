//! Routing: devices of operands, layers, transfers.

use crate::{elements, floats};
use burn_backend::{Build, Handle};
use burn_dispatch::autodiff::{backward, is_tracked, require_grad};
use burn_dispatch::{registry, run, transfer, try_run};
use burn_flex::device as flex;
use burn_ir::{BinaryOp, Operand, Operation};
use burn_std::{BoolStore, DType};

fn add(lhs: Handle, rhs: Handle) -> Operation<Handle> {
    Operation::Binary {
        op: BinaryOp::Add,
        lhs,
        rhs: Operand::Tensor(rhs),
    }
}

#[test]
fn operands_of_different_devices_are_refused_with_a_report() {
    let (plain, fused) = (flex(), registry::fused(flex()));
    let operation = add(
        floats(plain, [2], &[1.0, 2.0]),
        floats(fused, [2], &[1.0, 2.0]),
    );
    insta::assert_snapshot!(try_run(plain, operation).unwrap_err(), @r"
    `add`: the operands live on different devices
      operand 0: f64 [2] on flex:unfused
      operand 1: f64 [2] on flex
      legal: operands on one device; move them with `to_device`, here to flex:unfused
    ");
}

#[test]
fn an_illegal_instruction_is_refused_before_devices_are_compared() {
    let (plain, fused) = (flex(), registry::fused(flex()));
    let operation = add(
        floats(plain, [2], &[1.0, 2.0]),
        floats(fused, [3], &[1.0, 2.0, 3.0]),
    );
    insta::assert_snapshot!(try_run(plain, operation).unwrap_err(), @r"
    `add`: sizes 2 and 3 differ in dim 0
      lhs: f64 [2]
      rhs: f64 [3]
      legal: equal sizes, or size 1 on either side
    ");
}

#[test]
fn the_highest_layer_runs_whichever_operand_it_is_of() {
    let flex = flex();
    let tape = registry::autodiff(flex);
    let tracked = || require_grad(floats(tape, [1], &[1.0])).unwrap();
    for operation in [
        add(tracked(), floats(flex, [1], &[2.0])),
        add(floats(flex, [1], &[2.0]), tracked()),
    ] {
        let output = run(flex, operation).one();
        assert!(output.device() == tape && is_tracked(&output));
        assert_eq!(elements(&output), [3.0]);
    }
}

#[test]
fn a_constant_for_a_layer_costs_nothing_and_is_not_tracked() {
    let flex = flex();
    let tape = registry::autodiff(flex);
    let output = run(
        tape,
        add(floats(flex, [1], &[1.0]), floats(flex, [1], &[2.0])),
    )
    .one();
    assert!(output.device() == tape && !is_tracked(&output));
}

#[test]
fn transfers_between_layers_and_devices_keep_the_elements() {
    let (flex, fused) = (flex(), registry::fused(flex()));
    let tape = registry::autodiff(flex);
    let x = floats(flex, [2], &[1.0, 2.0]);
    for device in [
        tape,
        registry::autodiff(tape),
        registry::autodiff(fused),
        fused,
        flex,
    ] {
        let moved = transfer(x.clone(), device).unwrap();
        assert!(moved.device() == device);
        assert_eq!(elements(&moved), [1.0, 2.0]);
        let back = transfer(moved, flex).unwrap();
        assert!(back.device() == flex);
        assert_eq!(elements(&back), [1.0, 2.0]);
    }
}

#[test]
fn a_tracked_tensor_does_not_change_its_device_silently() {
    let tape = registry::autodiff(flex());
    let x = require_grad(floats(tape, [1], &[1.0])).unwrap();
    insta::assert_snapshot!(transfer(x, registry::fused(flex())).unwrap_err(), @r"
    `to_device`: gradients do not flow from flex:unfused:autodiff to flex
      legal: a target with a tape, as `device.autodiff()` is; `detach` or `inner` first; or a move before `require_grad`
    ");
}

#[test]
fn gradients_go_back_to_the_device_that_a_tensor_came_from() {
    let (mut here, mut there) = (
        registry::autodiff(flex()),
        registry::autodiff(registry::fused(flex())),
    );
    let x = require_grad(floats(here, [2], &[3.0, -1.0])).unwrap();
    let square = here.mul(x.clone(), x.clone());
    let moved = transfer(square, there).unwrap();
    assert!(moved.device() == there && is_tracked(&moved));
    // x⁴ + x, in part there and in part here.
    let power = there.mul(moved.clone(), moved);
    let power = transfer(power, here).unwrap();
    let sum = here.add(power, x.clone());
    // 4x³ + 1 and 12x²
    let first = backward(&sum, true).unwrap().remove(&x).unwrap();
    assert!(first.device() == here);
    assert_eq!(elements(&first), [109.0, -3.0]);
    let second = backward(&first, false).unwrap().remove(&x).unwrap();
    assert!(second.device() == flex());
    assert_eq!(elements(&second), [108.0, 12.0]);
}

#[test]
fn a_layer_is_one_device_however_often_it_is_named() {
    let flex = flex();
    assert!(registry::autodiff(flex) == registry::autodiff(flex));
    assert!(registry::autodiff(flex) != registry::autodiff(registry::fused(flex)));
    assert_eq!(registry::autodiff(registry::autodiff(flex)).level(), 2);
    assert_eq!(
        registry::autodiff(flex).to_string(),
        "flex:unfused:autodiff"
    );
}

#[test]
fn an_element_type_that_the_device_lacks_is_refused() {
    let flex = flex();
    let input = floats(flex, [2], &[1.0, 2.0]);
    let dtype = DType::Bool(BoolStore::U32);
    let cast = Operation::Cast { input, dtype };
    insta::assert_snapshot!(try_run(flex, cast).unwrap_err(), @r"
    `cast`: flex:unfused has no elements of type bool(u32)
      output: bool(u32) [2]
      legal: an element type that the device supports
    ");
}
