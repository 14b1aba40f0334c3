//! Parameters that are computed: adapters, weight norm, and what keeps and ends them.

use burn_core::module::{
    Lora, LoraAdapter, Module, ModuleMapper, ModuleVisitor, Param, ParamGroup, WeightNorm,
    WeightNormScale,
};
use burn_core::store::ModuleRecord;
use burn_core::tensor::{DType, Device, FloatDType, Tensor};

#[derive(Module, Debug)]
struct Layer {
    weight: Param<Tensor<2>>,
    bias: Option<Param<Tensor<1>>>,
}

#[derive(Module, Debug)]
struct Net {
    first: Layer,
    second: Layer,
}

fn layer(start: f32, device: &Device) -> Layer {
    let rows = [0.0, 1.0].map(|row| [0.0, 1.0, 2.0].map(|column| start + row - column));
    Layer {
        weight: Param::from_data(rows, device),
        bias: Some(Param::from_data([0.5, -0.5, 0.25], device)),
    }
}

fn net(device: &Device) -> Net {
    Net {
        first: layer(1.0, device),
        second: layer(-2.0, device),
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor
        .into_data()
        .try_into_vec()
        .expect("the elements are f32")
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (one, other) in found.iter().zip(expected) {
        // f32: sums of a few products of values up to 10.
        assert!((one - other).abs() < 1e-5, "{found:?} for {expected:?}");
    }
}

/// An adapter whose second factor is not 0, as after training.
fn trained(net: Net) -> Net {
    struct Train;

    impl ModuleMapper for Train {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            match param.base().is_require_grad() {
                true => param.map(|tensor| {
                    let device = tensor.device();
                    let moved = tensor.without_autodiff() + 0.5;
                    moved.to_device(&device).require_grad()
                }),
                false => param,
            }
        }
    }

    net.map(&mut Train)
}

struct Paths {
    path: Vec<String>,
    found: Vec<(String, bool)>,
}

impl ModuleVisitor for Paths {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let trained = param.base().is_require_grad();
        self.found.push((self.path.join("."), trained));
    }

    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }
}

fn paths<M: Module>(module: &M) -> Vec<(String, bool)> {
    let mut paths = Paths {
        path: Vec::new(),
        found: Vec::new(),
    };
    module.visit(&mut paths);
    paths.found
}

#[test]
fn an_adapter_changes_nothing_at_first_and_is_all_that_is_trained() {
    let device = Device::flex().autodiff();
    let before = net(&device);
    let group = ParamGroup::from_predicate("second");
    let lora = Lora::new(2, 4.0).set_param_group(group);
    let after = before.clone().apply_lora(lora);

    assert_eq!(
        values(after.second.weight.val()),
        values(before.second.weight.val())
    );
    let found = paths(&after);
    let found: Vec<(&str, bool)> = found.iter().map(|(path, it)| (&**path, *it)).collect();
    let expected = [
        ("first.weight", false),
        ("first.bias", false),
        ("second.weight", false),
        ("second.weight.lora.a", true),
        ("second.weight.lora.b", true),
        ("second.bias", false),
    ];
    assert_eq!(found, expected);
    // 2 · 3 + 3 in each layer, 2 · 2 + 2 · 3 in the adapter.
    assert_eq!(after.num_params(), 28);
    assert!(after.first.weight.adapter().is_none());

    let adapter = after.second.weight.adapter().expect("it was chosen");
    assert_eq!(adapter.scale, 2.0);
    assert_eq!((adapter.a.dims(), adapter.b.dims()), ([2, 2], [2, 3]));
    let grads = after.second.weight.val().sum().backward();
    assert!(adapter.b.val().grad(&grads).is_some());
    assert!(after.second.weight.base().grad(&grads).is_none());
}

#[test]
fn a_value_is_the_base_and_the_product_of_the_factors() {
    let device = Device::flex();
    let adapter = LoraAdapter {
        a: Param::from_data([[1.0], [2.0]], &device),
        b: Param::from_data([[1.0, 0.0, -1.0]], &device),
        scale: 0.5,
    };
    assert_eq!(values(adapter.delta()), [0.5, 0.0, -0.5, 1.0, 0.0, -1.0]);

    let net = trained(net(&device.autodiff()).apply_lora(Lora::new(1, 3.0)));
    let weight = &net.first.weight;
    let adapter = weight.adapter().expect("each matrix has one");
    let expected = weight.base() + adapter.a.val().matmul(adapter.b.val()) * 3.0;
    assert_close(&values(weight.val()), &values(expected));
    // Whoever borrows the value sees it, too.
    assert_close(&values((**weight).clone()), &values(weight.val()));
}

#[test]
fn a_merged_module_gives_what_the_adapters_gave() {
    let net = trained(net(&Device::flex().autodiff()).apply_lora(Lora::new(2, 1.0)));
    let x = Tensor::<2>::from_data([[1.0, -2.0]], &Device::flex().autodiff());
    let output = |net: &Net| values(x.clone().matmul(net.first.weight.val()));
    let merged = net.clone().merge_reparameterizations();
    assert_close(&output(&merged), &output(&net));
    assert!(merged.first.weight.adapter().is_none());
    assert_eq!(merged.num_params(), 18);
    assert_close(
        &values(merged.first.weight.base()),
        &values(net.first.weight.val()),
    );
    // The merged weight can be trained: it starts a tape.
    let merged = merged.unfreeze();
    let grads = merged.first.weight.val().sum().backward();
    assert!(merged.first.weight.val().grad(&grads).is_some());
}

#[test]
fn adapters_are_computed_anew_for_each_tape() {
    let net = trained(net(&Device::flex().autodiff()).apply_lora(Lora::new(1, 1.0)));
    let adapter = net.first.weight.adapter().expect("each matrix has one");
    for _ in 0..2 {
        let grads = net.first.weight.val().sum().backward();
        assert!(adapter.a.val().grad(&grads).is_some());
    }
}

#[test]
fn adapters_are_saved_loaded_moved_and_validated_with_the_module() {
    let device = Device::flex().autodiff();
    let with_lora = || net(&device).apply_lora(Lora::new(2, 1.0));
    let net = trained(with_lora());
    let expected = values(net.second.weight.val());
    let bytes = net.clone().into_record().into_bytes().expect("it is small");
    let record = ModuleRecord::from_bytes(bytes).expect("it was just written");
    assert_eq!(record.len(), 8);
    let loaded = with_lora().load_record(record);
    assert_eq!(values(loaded.second.weight.val()), expected);
    assert!(paths(&loaded).contains(&("second.weight.lora.a".into(), true)));

    let moved = loaded.fork(&Device::flex().unfused());
    assert_eq!(moved.devices(), [Device::flex().unfused().autodiff()]);
    assert_eq!(values(moved.second.weight.val()), expected);

    let validated = net.valid();
    assert_eq!(values(validated.second.weight.val()), expected);
    assert!(!validated.second.weight.val().is_autodiff());
    let again = validated.train();
    assert_eq!(paths(&again), paths(&net));
}

#[test]
fn the_record_of_the_base_loads_beneath_an_adapter() {
    let device = Device::flex().autodiff();
    let base = net(&device);
    let expected = values(base.first.weight.val());
    let record = base.into_record().allow_partial(true);
    let other = Net {
        first: layer(7.0, &device),
        second: layer(9.0, &device),
    };
    let loaded = other.apply_lora(Lora::new(2, 1.0)).load_record(record);
    assert!(loaded.first.weight.adapter().is_some());
    assert_eq!(values(loaded.first.weight.val()), expected);
}

#[test]
fn an_adapter_has_the_dtype_it_was_given() {
    let device = Device::flex().autodiff();
    let lora = Lora::new(1, 1.0).set_dtype(FloatDType::F64);
    let net = trained(net(&device).apply_lora(lora));
    let adapter = net.first.weight.adapter().expect("each matrix has one");
    assert_eq!(adapter.a.val().dtype(), DType::F64);
    assert_eq!(net.first.weight.val().dtype(), DType::F32);
    let record = net.into_record();
    assert_eq!(record.len(), 8);
}

#[test]
fn mapping_a_parameter_by_itself_ends_the_computation() {
    let net = trained(net(&Device::flex().autodiff()).apply_lora(Lora::new(1, 1.0)));
    let expected = values(net.first.weight.val() * 2.0);
    let weight = net.first.weight.map(|value| value * 2.0);
    assert!(weight.adapter().is_none());
    assert_eq!(values(weight.val()), expected);
}

#[test]
#[should_panic(expected = "`first.weight` has `lora` already, and cannot have `weight_norm`")]
fn a_second_reparameterization_is_refused_with_the_path() {
    let net = net(&Device::flex()).apply_lora(Lora::new(1, 1.0));
    net.apply_reparameterization(WeightNorm::new(1));
}

#[test]
#[should_panic(expected = "`apply_lora`: the module has no float parameter of 2 dimensions in")]
fn adapters_for_nothing_are_refused() {
    let group = ParamGroup::from_path("first.gain");
    net(&Device::flex()).apply_lora(Lora::new(1, 1.0).set_param_group(group));
}

#[test]
#[should_panic(expected = "`Lora`: `rank` is 0")]
fn an_adapter_of_no_rank_is_refused() {
    let _ = Lora::new(0, 1.0);
}

#[test]
fn normalized_weights_are_lengths_times_directions() {
    let device = Device::flex().autodiff();
    let before = net(&device);
    let after = before.clone().apply_reparameterization(WeightNorm::new(1));
    let weight = &after.first.weight;
    assert_close(&values(weight.val()), &values(before.first.weight.val()));
    // Columns (1, 2), (0, 1) and (-1, 0).
    let scale = weight
        .reparameterization::<WeightNormScale>()
        .expect("it has one");
    assert_close(&values(scale.scale.val()), &[5f32.sqrt(), 1.0, 1.0]);

    // d(sum w)/dg is the sum of the direction; the gradient of the base is orthogonal to the base.
    let grads = weight.val().sum().backward();
    let grad = scale.scale.val().grad(&grads).expect("it is trained");
    assert_close(&values(grad), &[3.0 / 5f32.sqrt(), 1.0, -1.0]);
    let grad = weight.base().grad(&grads).expect("it is trained");
    let product = values((grad * weight.base().without_autodiff()).sum_dim(0));
    assert_close(&product, &[0.0, 0.0, 0.0]);

    // The length of the base does not matter.
    struct Longer;

    impl ModuleMapper for Longer {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            match D {
                2 => param.map(|base| base * 3.0),
                _ => param,
            }
        }
    }

    let longer = after.clone().map(&mut Longer);
    assert_close(&values(longer.first.weight.val()), &values(weight.val()));
}
