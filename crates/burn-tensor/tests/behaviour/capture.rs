//! Programs from running code.

use super::{close, dev};
use burn_tensor::{
    Bool, BoolStore, CaptureError, CapturedGraph, DType, Device, DynTensor, Int, Tensor, TensorId,
};
use insta::assert_snapshot;

/// `x · w + 1` with `w` as part of the program.
fn captured() -> CapturedGraph {
    let device = Device::capture();
    let captured = device.capture_scope(|scope| {
        let x = Tensor::<2>::zeros([1, 2], &device);
        let w = Tensor::<2>::from_data([[2.0], [3.0]], &device);
        let y = x.clone().matmul(w) + 1.0;
        let ids = |tensor: &Tensor<2>| tensor.capture_id().expect("it lives on the recorder");
        scope.complete([ids(&x)], [ids(&y)])
    });
    captured.expect("the boundary is alive")
}

/// The program as text, with its tensors numbered from 0.
fn text(program: &CapturedGraph) -> String {
    let text = program.graph.to_string();
    let mut names: Vec<&str> = Vec::new();
    let is_name = |word: &&str| word.starts_with('%');
    for word in text
        .split(|c: char| c != '%' && !c.is_ascii_alphanumeric())
        .filter(is_name)
    {
        if !names.contains(&word) {
            names.push(word);
        }
    }
    let mut numbered = text.clone();
    for (at, name) in names.iter().enumerate() {
        for end in [":", ",", ")", "\n", " "] {
            numbered = numbered.replace(&format!("{name}{end}"), &format!("#{at}{end}"));
        }
    }
    let last = names
        .iter()
        .position(|name| numbered.ends_with(name))
        .expect("the text ends in a name");
    numbered.replace(names[last], &format!("#{last}"))
}

#[test]
fn a_program_says_what_was_run() {
    assert_snapshot!(text(&captured()), @"
    #0: f32 [1, 2] = input
    #1: f32 [2, 1] = input
    #2: f32 [1, 1] = matmul(#0, #1)
    #3: f32 [1, 1] = add(#2, Float(1.0))
    yield #3
    ");
}

#[test]
fn a_program_runs_on_another_device() {
    let program = captured();
    let x = Tensor::<2>::from_data([[10.0, 100.0]], &dev());
    let outputs = dev().replay(&program, vec![x.into()]).unwrap();
    let [output] = <[DynTensor; 1]>::try_from(outputs).unwrap();
    // 2 · 10 + 3 · 100 + 1
    close(output.into_rank::<2, _>().unwrap(), [[321.0]]);
}

#[test]
fn inputs_are_checked_before_a_program_runs() {
    let program = captured();
    let error = dev().replay(&program, vec![]).unwrap_err().to_string();
    assert_eq!(error, "the program takes 1 inputs, not 0");
    let x = Tensor::<1, Int>::from_data([1], &dev());
    let error = dev()
        .replay(&program, vec![x.into()])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("takes f32 [1, 2]") && error.contains("not i32 [1]"),
        "{error}"
    );
}

#[test]
fn only_the_capture_device_captures() {
    let error = dev().capture_scope(|scope| scope.complete([], []));
    assert_eq!(error.unwrap_err(), CaptureError::InvalidDevice);
    assert_eq!(Tensor::<1>::zeros([1], &dev()).capture_id(), None);
    let unknown = TensorId::new(u64::MAX);
    let error = Device::capture().capture_scope(|scope| scope.complete([unknown], []));
    let expected = CaptureError::UnknownBoundary {
        boundary: "input",
        tensor: unknown,
    };
    assert_eq!(error.unwrap_err(), expected);
}

#[test]
fn a_captured_result_has_no_value() {
    let x = Tensor::<1>::zeros([1], &Device::capture()) + 1.0;
    assert!(x.try_to_data().is_err());
    assert!(x.to_string().contains("a captured tensor has no value"));
}

#[test]
fn a_program_over_elements_that_the_device_lacks_is_an_error() {
    let device = Device::capture();
    let store = DType::Bool(BoolStore::U32);
    let captured = device.capture_scope(|scope| {
        let truth = Tensor::<1, Bool>::from_data([true, false], (&device, store));
        scope.complete(
            [],
            [truth
                .float()
                .capture_id()
                .expect("it lives on the recorder")],
        )
    });
    let captured = captured.expect("the boundary is alive");
    let error = Device::flex().replay(&captured, Vec::new()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`input`: flex has no elements of type"),
        "{error}"
    );
}
