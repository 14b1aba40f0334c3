//! Records: what is written is what is read, and what does not fit loads nothing.

use burn_core::module::{Module, Param, ParamGroup, ParamId, RunningState};
use burn_core::store::{ModuleRecord, RecordError};
use burn_core::tensor::{Bool, Bytes, DType, Device, FloatDType, Int, Tensor};

#[derive(Module, Debug)]
struct Layer {
    weight: Param<Tensor<2>>,
    bias: Option<Param<Tensor<1>>>,
}

#[derive(Module, Debug)]
struct Net {
    layers: Vec<Layer>,
    steps: Param<Tensor<1, Int>>,
    mask: Param<Tensor<1, Bool>>,
    mean: RunningState<Tensor<1>>,
}

fn layer(start: f32, device: &Device) -> Layer {
    let at = |offset: f32| start + offset;
    Layer {
        weight: Param::from_data(
            [[at(0.0), at(1.0), at(2.0)], [at(3.0), at(4.0), at(5.0)]],
            device,
        ),
        bias: Some(Param::from_data([at(6.0), at(7.0), at(8.0)], device)),
    }
}

/// Two nets with different starts have no value in common.
fn net(start: f32, device: &Device) -> Net {
    let steps = Tensor::from_data([start as i32, 1 + start as i32], device);
    Net {
        layers: vec![layer(start, device), layer(start + 10.0, device)],
        steps: Param::initialized(ParamId::new(), steps),
        mask: Param::initialized(ParamId::new(), Tensor::from_data([start > 50.0], device)),
        mean: RunningState::new(Tensor::from_data([start], device)),
    }
}

fn first_weight(net: &Net) -> Vec<f32> {
    let weight = net.layers[0].weight.val();
    weight.try_into_vec_as().expect("a CPU tensor can be read")
}

/// The record in the form it is compared in.
fn bytes<M: Module>(module: M) -> Vec<u8> {
    let bytes = module.into_record().into_bytes();
    bytes.expect("the module is small").to_vec()
}

#[track_caller]
fn problem(result: Result<Net, RecordError>) -> String {
    match result.expect_err("the record does not fit") {
        RecordError::Validation(problem) => problem,
        RecordError::Io(problem) => panic!("not a problem of the file system: {problem}"),
    }
}

#[test]
fn values_and_ids_survive_bytes_and_files() {
    let device = Device::flex();
    let saved = net(0.0, &device);
    let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes(saved.clone())));
    let loaded = net(100.0, &device).load_record(record.expect("the bytes are intact"));
    assert_eq!(bytes(loaded.clone()), bytes(saved.clone()));
    assert_eq!(loaded.layers[1].weight.id, saved.layers[1].weight.id);

    let folder = tempfile::tempdir().expect("the system has a place for temporary files");
    let file = folder.path().join("net");
    saved.clone().save_file(&file).expect("the folder is there");
    assert!(folder.path().join("net.bpk").exists());
    let loaded = net(100.0, &device).load_file(&file);
    assert_eq!(bytes(loaded), bytes(saved));
}

#[test]
fn a_loaded_module_stays_where_it_was_and_is_trained_as_before() {
    let record = net(0.0, &Device::flex()).into_record();
    let loaded = net(100.0, &Device::flex().autodiff()).load_record(record);
    let weight = loaded.layers[0].weight.val();
    assert!(weight.is_autodiff() && weight.is_require_grad());
    assert_eq!(first_weight(&loaded), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn a_value_still_to_be_computed_is_loaded_without_computing_it() {
    let init = |_: &Device, _: bool| panic!("the value is loaded");
    let (id, shape) = (ParamId::new(), [3].into());
    let lazy = Param::<Tensor<1>>::uninitialized(id, init, Device::flex(), true, shape);
    let record = Param::<Tensor<1>>::from_data([1.0, 2.0, 3.0], &Device::flex()).into_record();
    let loaded = lazy.load_record(record);
    let values: Vec<f32> = loaded.val().try_into_vec_as().expect("it can be read");
    assert_eq!(values, [1.0, 2.0, 3.0]);
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let device = Device::flex();
    let intact = bytes(net(0.0, &device));
    for len in (0..intact.len()).step_by(7) {
        let cut = Bytes::from_bytes_vec(intact[..len].to_vec());
        let module = net(100.0, &device);
        let loaded =
            ModuleRecord::from_bytes(cut).and_then(|record| module.try_load_record(record));
        // The end of the last tensor may be followed by nothing but padding.
        if let Ok(loaded) = loaded {
            assert_eq!(bytes(loaded), intact, "cut to {len} of {}", intact.len());
        }
    }
    let header = Bytes::from_bytes_vec(intact[..intact.len() / 2].to_vec());
    assert!(matches!(
        ModuleRecord::from_bytes(header),
        Err(RecordError::Validation(_))
    ));
}

#[test]
fn a_file_of_something_else_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("the system has a place for temporary files");
    let file = folder.path().join("text.bpk");
    std::fs::write(&file, "no tensors in here").expect("the folder is there");
    let problem = problem(net(0.0, &Device::flex()).try_load_file(&file));
    assert!(problem.contains("text.bpk"), "{problem}");
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let error = net(0.0, &Device::flex()).try_load_file("no/such/file");
    let error = error.expect_err("there is no such file");
    assert!(
        matches!(&error, RecordError::Io(problem) if problem.contains("no/such/file")),
        "{error}"
    );
}

#[test]
fn a_shape_that_does_not_fit_names_the_path_and_both_shapes() {
    let device = Device::flex();
    let mut other = net(0.0, &device);
    other.layers[1].weight = Param::from_data([[1.0, 2.0]], &device);
    other.layers[1].bias = Some(Param::from_data([1.0, 2.0], &device));
    let problem = problem(net(100.0, &device).try_load_record(other.into_record()));
    assert_eq!(
        problem,
        "`layers.1.weight`: the module has shape [2, 3], the record [1, 2]; \
         `layers.1.bias`: the module has shape [3], the record [2]"
    );
}

#[test]
fn a_kind_that_does_not_fit_names_the_path_and_the_dtype() {
    #[derive(Module, Debug)]
    struct Floats {
        values: Param<Tensor<1>>,
    }
    #[derive(Module, Debug)]
    struct Ints {
        values: Param<Tensor<1, Int>>,
    }
    let device = Device::flex();
    let ints = Tensor::from_data([1, 2], (&device, DType::I64));
    let ints = Ints {
        values: Param::initialized(ParamId::new(), ints),
    };
    let floats = Floats {
        values: Param::from_data([1.0, 2.0], &device),
    };
    let error = floats.try_load_record(ints.into_record());
    assert_eq!(
        error.expect_err("ints are no floats").to_string(),
        "invalid record: `values`: the record has dtype I64, which is of another kind"
    );
}

#[test]
fn missing_and_unused_paths_are_errors_unless_they_are_allowed() {
    let device = Device::flex();
    let record = || {
        let mut other = net(0.0, &device);
        other.layers[0].bias = None;
        other.layers.push(layer(50.0, &device));
        other.into_record()
    };
    let load = |record: ModuleRecord| net(100.0, &device).try_load_record(record);
    let (missing, unused) = (
        "missing from the record: `layers.0.bias`",
        "without a parameter in the module: `layers.2.bias`, `layers.2.weight`",
    );
    assert_eq!(problem(load(record())), format!("{missing}; {unused}"));
    assert_eq!(problem(load(record().allow_partial(true))), unused);
    assert_eq!(problem(load(record().allow_unused(true))), missing);
    let loaded = load(record().allow_partial(true).allow_unused(true)).expect("all is allowed");
    assert_eq!(first_weight(&loaded), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let bias = loaded.layers[0].bias.as_ref().expect("the module has one");
    let bias: Vec<f32> = bias.val().try_into_vec_as().expect("it can be read");
    assert_eq!(bias, [106.0, 107.0, 108.0]);
}

#[test]
fn without_validation_a_value_that_does_not_fit_is_left_out() {
    let device = Device::flex();
    let mut other = net(0.0, &device);
    other.layers[0].weight = Param::from_data([[1.0]], &device);
    let record = other.into_record().validate(false);
    let loaded = net(100.0, &device).load_record(record);
    assert_eq!(
        first_weight(&loaded),
        [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]
    );
    let mean = loaded.mean.value().into_scalar::<f32>();
    assert_eq!(mean, 0.0);
}

#[test]
fn the_dtype_is_that_of_the_record_unless_it_is_to_be_that_of_the_module() {
    let device = Device::flex();
    let half = Tensor::<1>::from_data([1.0, 2.5], &device).cast(FloatDType::F16);
    let half = Param::from_tensor(half);
    let full = Param::<Tensor<1>>::from_data([0.0, 0.0], &device);

    let loaded = full.clone().load_record(half.clone().into_record());
    assert_eq!(loaded.val().dtype(), DType::F16);
    let loaded = full.load_record(half.into_record().cast_to_module_dtype());
    assert_eq!(loaded.val().dtype(), DType::F32);
    let values: Vec<f32> = loaded.val().try_into_vec_as().expect("it can be read");
    assert_eq!(values, [1.0, 2.5]);
}

#[test]
fn a_record_of_a_group_holds_nothing_else() {
    let net = net(0.0, &Device::flex());
    let record = net
        .clone()
        .into_record_group(ParamGroup::from_predicate("bias"));
    assert_eq!((record.len(), record.is_empty()), (2, false));
    assert_eq!(net.into_record().len(), 7);
}

#[test]
fn a_parameter_is_compared_in_the_form_it_is_loaded_to() {
    let device = Device::flex();
    let stored = Param::<Tensor<2>>::from_data([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &device);
    let turned = || {
        Param::<Tensor<2>>::from_data([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], &device)
            .save_mapper(Tensor::transpose)
            .load_mapper(Tensor::transpose)
    };
    let loaded = turned().load_record(stored.clone().into_record());
    let values: Vec<f32> = loaded.val().try_into_vec_as().expect("it can be read");
    assert_eq!(values, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    // The ids are equal, too: the record is the same, byte by byte.
    assert_eq!(bytes(loaded), bytes(stored));

    let square = Param::<Tensor<2>>::from_data([[1.0, 2.0], [3.0, 4.0]], &device);
    let error = turned().try_load_record(square.into_record());
    let error = error.expect_err("the shapes differ").to_string();
    assert!(
        error.contains("the module has shape [3, 2], the record [2, 2]"),
        "{error}"
    );
}

#[test]
#[should_panic(expected = "`steps`")]
fn load_record_panics_with_what_does_not_fit() {
    let device = Device::flex();
    let mut other = net(0.0, &device);
    let steps = Tensor::from_data([1, 2, 3], &device);
    other.steps = Param::initialized(ParamId::new(), steps);
    let _ = net(100.0, &device).load_record(other.into_record());
}
