//! Parameters: values that come late, ids, and forms in files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn_core::module::{Module, Param, ParamId};
use burn_core::tensor::{Device, Shape, Tensor};

/// A parameter of two ones, and how often it was computed.
fn lazy(device: &Device) -> (Param<Tensor<1>>, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let init = move |device: &Device, require_grad: bool| {
        counter.fetch_add(1, Ordering::Relaxed);
        let value = Tensor::ones([2], device);
        match device.is_autodiff() {
            true => value.set_require_grad(require_grad),
            false => value,
        }
    };
    let shape = Shape::from([2]);
    let param = Param::uninitialized(ParamId::new(), init, device.clone(), true, shape);
    (param, calls)
}

fn count(calls: &AtomicUsize) -> usize {
    calls.load(Ordering::Relaxed)
}

fn values(param: &Param<Tensor<1>>) -> Vec<f32> {
    param
        .val()
        .try_into_vec_as()
        .expect("a CPU tensor can be read")
}

#[test]
fn a_value_is_computed_once_when_it_is_read_first() {
    let (param, calls) = lazy(&Device::flex());
    assert_eq!(param.lazy_shape(), Shape::from([2]));
    assert_eq!(param.lazy_device(), Device::flex());
    assert_eq!(param.num_params(), 2);
    assert!(!param.is_initialized() && count(&calls) == 0);

    assert_eq!(values(&param), [1.0, 1.0]);
    assert_eq!(values(&param), [1.0, 1.0]);
    assert!(param.is_initialized() && count(&calls) == 1);
}

#[test]
fn a_value_that_is_moved_before_it_is_read_is_computed_there() {
    let (param, calls) = lazy(&Device::flex());
    let param = param.train();
    assert_eq!(count(&calls), 0);
    let value = param.val();
    assert!(value.is_autodiff() && value.is_require_grad());

    let (param, calls) = lazy(&Device::flex().autodiff());
    let param = param.freeze();
    assert_eq!(count(&calls), 0);
    assert!(!param.val().is_require_grad());
}

#[test]
fn both_copies_of_a_value_still_to_come_are_equal() {
    let init = |device: &Device, _: bool| {
        let distribution = burn_core::tensor::Distribution::Normal(0.0, 1.0);
        Tensor::random([2], distribution, device)
    };
    let shape = Shape::from([2]);
    let param =
        Param::<Tensor<1>>::uninitialized(ParamId::new(), init, Device::flex(), true, shape);
    let copy = param.clone();
    assert_eq!(copy.id, param.id);
    assert_eq!(values(&copy), values(&param));
}

#[test]
fn an_init_mapper_changes_a_value_before_or_after_it_is_there() {
    let (param, calls) = lazy(&Device::flex());
    let param = param.init_mapper(|value| value * 3.0);
    assert_eq!(count(&calls), 0);
    assert_eq!(values(&param), [3.0, 3.0]);
    let param = param.init_mapper(|value| value + 1.0);
    assert_eq!(values(&param), [4.0, 4.0]);
}

#[test]
fn a_value_is_stored_in_the_form_of_its_mappers() {
    let param = Param::<Tensor<1>>::from_data([1.0, 2.0], &Device::flex())
        .save_mapper(|value| value * 10.0)
        .load_mapper(|value| value / 10.0);
    let saved = param.transform_for_save();
    assert_eq!(values(&saved), [10.0, 20.0]);
    let loaded = param.transform_for_load(saved.val() + 10.0, ParamId::from(5));
    assert_eq!(values(&loaded), [2.0, 3.0]);
    assert_eq!(loaded.id, ParamId::from(5));
}

#[test]
fn a_loaded_value_is_trained_if_the_parameter_was() {
    let device = Device::flex().autodiff();
    let param = Param::<Tensor<1>>::from_data([1.0], &device);
    let value = Tensor::from_data([2.0], &Device::flex());
    let loaded = param.clone().transform_for_load(value.clone(), param.id);
    assert!(loaded.val().is_require_grad());
    let frozen = param.freeze();
    let loaded = frozen.transform_for_load(value, ParamId::new());
    assert!(loaded.val().is_autodiff() && !loaded.val().is_require_grad());
}

#[test]
fn a_mapped_parameter_keeps_its_id_and_whether_it_is_trained() {
    let param = Param::<Tensor<1>>::from_data([1.0], &Device::flex()).freeze();
    let id = param.id;
    let param = param.map(|value| value + 1.0);
    assert_eq!(param.id, id);
    assert!(!param.train().val().is_require_grad());
}

#[test]
fn new_parameters_have_different_ids() {
    let ids: Vec<ParamId> = (0..100).map(|_| ParamId::new()).collect();
    let distinct: std::collections::BTreeSet<&ParamId> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
}
