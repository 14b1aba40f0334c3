//! What a derived module does: walks, counts, moves, trains, freezes. Records are in `record.rs`.

use burn_core::module::{
    Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamGroup, ParamId, RunningState,
    list_param_ids,
};
use burn_core::tensor::{Bool, Device, Int, Tensor};

#[derive(Module, Debug)]
struct Layer {
    weight: Param<Tensor<2>>,
    bias: Option<Param<Tensor<1>>>,
}

#[derive(Module, Debug)]
enum Head {
    One(Layer),
    Two { first: Layer, second: Box<Layer> },
    Nothing,
}

#[derive(Module, Debug)]
struct Net<M: Module> {
    layers: Vec<M>,
    pair: (Layer, Box<Layer>),
    array: [Param<Tensor<1>>; 2],
    head: Head,
    steps: Param<Tensor<1, Int>>,
    mask: Param<Tensor<1, Bool>>,
    mean: RunningState<Tensor<1>>,
    dropout: Param<Flag>,
    width: usize,
    #[module(skip)]
    note: Result<u8, ()>,
}

fn layer(device: &Device, bias: bool) -> Layer {
    Layer {
        weight: Param::from_data([[1.0, 2.0], [3.0, 4.0]], device),
        bias: bias.then(|| Param::from_data([5.0, 6.0], device)),
    }
}

fn net(device: &Device) -> Net<Layer> {
    Net {
        layers: vec![layer(device, true), layer(device, false)],
        pair: (layer(device, false), Box::new(layer(device, false))),
        array: [0, 1].map(|_| Param::from_data([1.0, 2.0, 3.0], device)),
        head: Head::Two {
            first: layer(device, false),
            second: Box::new(layer(device, false)),
        },
        steps: Param::initialized(ParamId::new(), Tensor::from_data([1, 2], device)),
        mask: Param::initialized(ParamId::new(), Tensor::from_data([true], device)),
        mean: RunningState::new(Tensor::from_data([0.5], device)),
        dropout: Param::from_bool(true),
        width: 3,
        note: Ok(1),
    }
}

/// The paths of float parameters with their container, and those of all others.
#[derive(Default)]
struct Paths {
    names: Vec<String>,
    containers: Vec<String>,
    found: Vec<String>,
}

impl Paths {
    fn add(&mut self, kind: &str) {
        let container = self.containers.last().expect("a field is in a container");
        self.found
            .push(format!("{} ({container}, {kind})", self.names.join(".")));
    }
}

impl ModuleVisitor for Paths {
    fn visit_float<const D: usize>(&mut self, _param: &Param<Tensor<D>>) {
        self.add("float");
    }

    fn visit_int<const D: usize>(&mut self, _param: &Param<Tensor<D, Int>>) {
        self.add("int");
    }

    fn visit_bool<const D: usize>(&mut self, _param: &Param<Tensor<D, Bool>>) {
        self.add("bool");
    }

    fn visit_flag(&mut self, _param: &Param<Flag>) {
        self.add("flag");
    }

    fn enter_module(&mut self, name: &str, container: &str) {
        self.names.push(name.to_string());
        self.containers.push(container.to_string());
    }

    fn exit_module(&mut self, name: &str, container: &str) {
        assert_eq!(self.names.pop().as_deref(), Some(name));
        assert_eq!(self.containers.pop().as_deref(), Some(container));
    }
}

#[track_caller]
fn paths<M: Module>(module: &M) -> Vec<String> {
    let mut paths = Paths::default();
    module.visit(&mut paths);
    assert!(
        paths.names.is_empty(),
        "every level that is entered is left"
    );
    paths.found
}

#[test]
fn the_parameters_that_are_tensors_are_listed_and_a_group_of_all_has_the_switches_too() {
    let net = net(&Device::default());
    let ids = list_param_ids(&net);
    assert_eq!(ids.len(), paths(&net).len() - 1);
    assert_eq!(ids[0], net.layers[0].weight.id);
    assert!(!ids.contains(&net.dropout.id));
    let group = ParamGroup::ids_from_module(net.clone());
    let listed = ids.iter().chain([&net.dropout.id]);
    assert!(listed.into_iter().all(|id| group.matches(id, None)));
}

#[test]
fn a_visitor_is_shown_each_parameter_in_the_order_of_the_fields() {
    let expected = [
        "layers.0.weight (Struct:Layer, float)",
        "layers.0.bias (Struct:Layer, float)",
        "layers.1.weight (Struct:Layer, float)",
        "pair.0.weight (Struct:Layer, float)",
        "pair.1.weight (Struct:Layer, float)",
        "array.0 (Array, float)",
        "array.1 (Array, float)",
        "head.Two.first.weight (Struct:Layer, float)",
        "head.Two.second.weight (Struct:Layer, float)",
        "steps (Struct:Net, int)",
        "mask (Struct:Net, bool)",
        "mean (Struct:Net, float)",
        "dropout (Struct:Net, flag)",
    ];
    assert_eq!(paths(&net(&Device::default())), expected);
}

#[test]
fn a_variant_with_one_field_is_one_level_and_one_without_is_none() {
    let head = Head::One(layer(&Device::default(), false));
    assert_eq!(paths(&head), ["One.weight (Struct:Layer, float)"]);
    assert!(paths(&Head::Nothing).is_empty());
}

#[test]
fn a_mapper_walks_the_same_paths_and_its_values_are_kept() {
    #[derive(Default)]
    struct Double(Paths);

    impl ModuleMapper for Double {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            self.0.add("float");
            param.map(|tensor| tensor * 2.0)
        }

        fn map_int<const D: usize>(
            &mut self,
            param: Param<Tensor<D, Int>>,
        ) -> Param<Tensor<D, Int>> {
            self.0.add("int");
            param
        }

        fn map_bool<const D: usize>(
            &mut self,
            param: Param<Tensor<D, Bool>>,
        ) -> Param<Tensor<D, Bool>> {
            self.0.add("bool");
            param
        }

        fn map_flag(&mut self, param: Param<Flag>) -> Param<Flag> {
            self.0.add("flag");
            param
        }

        fn enter_module(&mut self, name: &str, container: &str) {
            self.0.enter_module(name, container);
        }

        fn exit_module(&mut self, name: &str, container: &str) {
            self.0.exit_module(name, container);
        }
    }

    let net = net(&Device::default());
    let id = net.layers[0].weight.id;
    let mut double = Double::default();
    let net = net.map(&mut double);
    assert_eq!(double.0.found, paths(&net));
    let weight = &net.layers[0].weight;
    assert_eq!(weight.id, id);
    assert_eq!(values(weight), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!((net.width, net.note), (3, Ok(1)));
}

fn values<const D: usize>(param: &Param<Tensor<D>>) -> Vec<f32> {
    param
        .val()
        .try_into_vec_as()
        .expect("a CPU tensor can be read")
}

#[test]
fn the_number_of_parameters_counts_the_elements_of_float_parameters() {
    // layers 4 + 2 + 4, pair 4 + 4, array 3 + 3, head 4 + 4, mean 1; no ints, bools, switches.
    assert_eq!(net(&Device::default()).num_params(), 33);
    assert_eq!(Head::Nothing.num_params(), 0);
}

#[test]
fn a_clone_shares_ids_and_not_running_statistics() {
    let net = net(&Device::default());
    let copy = net.clone();
    assert_eq!(copy.layers[0].weight.id, net.layers[0].weight.id);
    copy.mean
        .update(Tensor::from_data([7.0], &Device::default()));
    let mean = |net: &Net<Layer>| net.mean.value().into_scalar::<f32>();
    assert_eq!((mean(&net), mean(&copy)), (0.5, 7.0));
}

#[test]
fn each_device_is_listed_once() {
    assert_eq!(net(&Device::flex()).devices(), [Device::flex()]);
    let both = vec![
        layer(&Device::flex(), true),
        layer(&Device::flex().unfused(), true),
    ];
    assert_eq!(both.devices(), [Device::flex(), Device::flex().unfused()]);
}

#[track_caller]
fn assert_state(param: &Param<Tensor<2>>, device: &Device, tape: bool, grad: bool) {
    let tensor = param.val();
    let found = (
        tensor.device(),
        tensor.device().is_autodiff(),
        tensor.is_require_grad(),
    );
    assert_eq!(found, (device.clone(), tape, grad));
}

#[test]
fn a_move_changes_the_place_and_not_whether_there_is_a_tape() {
    let (flex, unfused) = (Device::flex(), Device::flex().unfused());
    for target in [unfused.clone(), unfused.clone().autodiff()] {
        let plain = layer(&flex, false);
        assert_state(
            &plain.clone().to_device(&target).weight,
            &unfused,
            false,
            false,
        );
        assert_state(&plain.fork(&target).weight, &unfused, false, false);

        let tracked = layer(&flex.clone().autodiff(), false);
        assert_state(
            &tracked.clone().to_device(&target).weight,
            &unfused,
            true,
            true,
        );
        assert_state(&tracked.fork(&target).weight, &unfused, true, true);
    }
}

#[test]
fn a_moved_module_keeps_values_and_ids() {
    let net = net(&Device::flex().autodiff());
    let moved = net.clone().to_device(&Device::flex().unfused());
    assert_eq!(moved.layers[0].weight.id, net.layers[0].weight.id);
    assert_eq!(values(&moved.layers[0].weight), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(moved.devices(), [Device::flex().unfused()]);
}

#[test]
fn a_fork_starts_a_tape_of_its_own() {
    let device = Device::flex().autodiff();
    let original = layer(&device, false);
    let fork = original.clone().fork(&device);
    let loss = (fork.weight.val() * original.weight.val()).sum();
    let grads = loss.backward();
    // d(w · v)/dw = v, for each of the two by itself.
    let grad = |layer: &Layer| layer.weight.grad(&grads).map(|grad| grad.into_data());
    let expected = original.weight.val().into_data();
    assert_eq!(grad(&fork), Some(expected.clone()));
    assert_eq!(grad(&original), Some(expected));
}

#[test]
fn validation_leaves_the_tape_and_training_comes_back_to_it() {
    let flex = Device::flex();
    let trained = net(&flex.clone().autodiff());
    let validated = trained.valid();
    assert_state(&validated.layers[0].weight, &flex, false, false);
    assert!(!validated.dropout.is_enabled());
    assert!(!validated.mean.value().is_autodiff());

    let again = validated.train();
    assert_state(&again.layers[0].weight, &flex, true, true);
    assert!(again.dropout.is_enabled());
    // Statistics are never trained.
    assert!(again.mean.value().is_autodiff() && !again.mean.value().is_require_grad());
}

#[test]
fn training_also_starts_from_a_module_made_without_a_tape() {
    let trained = layer(&Device::flex(), true).train();
    assert_state(&trained.weight, &Device::flex(), true, true);
}

#[test]
fn what_is_frozen_stays_frozen_in_training() {
    let flex = Device::flex();
    let frozen = net(&flex.clone().autodiff()).freeze();
    assert_state(&frozen.layers[0].weight, &flex, true, false);
    assert!(!frozen.dropout.is_enabled());

    let again = frozen.valid().train().to_device(&flex.clone().unfused());
    assert_state(
        &again.layers[0].weight,
        &flex.clone().unfused(),
        true,
        false,
    );
    assert!(!again.dropout.is_enabled());

    let thawed = again.unfreeze();
    assert_state(&thawed.layers[0].weight, &flex.unfused(), true, true);
    assert!(thawed.dropout.is_enabled());
}

#[test]
fn a_group_is_frozen_by_path_and_the_rest_is_trained() {
    let net = net(&Device::flex().autodiff());
    let net = net.freeze_group(ParamGroup::from_predicate("layers.0"));
    let grads = |layer: &Layer| layer.weight.val().is_require_grad();
    assert!(!grads(&net.layers[0]) && grads(&net.layers[1]) && grads(&net.pair.0));
    assert!(net.dropout.is_enabled());
    let net = net.unfreeze_group(ParamGroup::from_path("layers.0.weight"));
    assert!(grads(&net.layers[0]));
    let bias = net.layers[0].bias.as_ref().expect("the layer has a bias");
    assert!(!bias.val().is_require_grad());
}

#[test]
fn without_gradients_layers_such_as_dropout_stay_active() {
    let net = net(&Device::flex().autodiff()).no_grad();
    assert!(!net.layers[0].weight.val().is_require_grad());
    assert!(net.dropout.is_enabled());
}

macro_rules! choice {
    ($($variant:ident),+) => {
        #[derive(Module, Debug)]
        enum Choice {
            $($variant($variant),)+
        }
    };
}

choice!(Layer);

#[test]
fn a_macro_may_write_a_module() {
    let choice = Choice::Layer(layer(&Device::default(), true));
    assert_eq!(choice.num_params(), 6);
}
