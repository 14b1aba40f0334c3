//! Weights as codes of few bits, in modules and records.

use burn_core::module::{Lora, Module, Param, ParamGroup, QLora, Quantizer};
use burn_core::store::ModuleRecord;
use burn_core::tensor::quantization::*;
use burn_core::tensor::{DType, Device, FloatDType, Tensor, Tolerance, module::linear};

#[derive(Module, Debug)]
struct Net {
    weight: Param<Tensor<2>>,
    bias: Param<Tensor<1>>,
}

impl Net {
    fn new(device: &Device) -> Self {
        let values: Vec<f32> = (0..48)
            .map(|at| ((at * 29) % 48) as f32 / 24.0 - 1.0)
            .collect();
        let weight = Tensor::<1>::from_data(&values[..], device).reshape([8, 6]);
        Self {
            weight: Param::from_tensor(weight),
            bias: Param::from_data([0.5, -0.25, 0.0, 1.0, 0.125, -1.0], device),
        }
    }

    fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        linear(input, self.weight.val(), Some(self.bias.val()))
    }
}

fn scheme() -> QuantScheme {
    QuantScheme::default().with_value(QuantValue::Q8S)
}

fn quantizer(scheme: QuantScheme) -> Quantizer {
    Quantizer::new(Calibration::MinMax, scheme)
}

fn input(device: &Device) -> Tensor<2> {
    Tensor::from_data([[1.0, -0.5, 0.25, 0.0, 2.0, -1.0, 0.75, 0.5]], device)
}

#[test]
fn a_quantized_module_computes_as_before_within_half_a_scale() {
    let device = Device::flex();
    let net = Net::new(&device);
    let expected = net.forward(input(&device));
    let quantized = net.quantize_weights(&mut quantizer(scheme()));
    assert_eq!(quantized.weight.val().dtype(), DType::QFloat(scheme()));
    assert_eq!(quantized.bias.val().dtype(), DType::QFloat(scheme()));
    assert_eq!(quantized.num_params(), 54);
    let found = quantized.forward(input(&device));
    // The magnitudes of the input sum to 6; half a scale is 1/254.
    let tolerance = Tolerance::<f32>::absolute(7.0 / 254.0);
    found
        .into_data()
        .assert_approx_eq::<f32>(&expected.into_data(), tolerance);
}

#[test]
fn a_group_says_which_parameters_become_codes() {
    let device = Device::flex().autodiff();
    let mut quantizer = quantizer(scheme().per_block([3], ScaleDtype::F16));
    let group = ParamGroup::from_path("weight");
    let net = Net::new(&device).quantize_weights_group(&mut quantizer, group);
    assert!(net.weight.val().dtype().is_quantized());
    assert_eq!(net.bias.val().dtype(), DType::F32);
    // Codes are constants, whatever follows; floats beside them are trained.
    let net = net.train();
    assert!(!net.weight.is_require_grad() && net.bias.is_require_grad());
    let gradients = net.forward(input(&device)).sum().backward();
    assert!(net.bias.grad(&gradients).is_some());
    quantizer.set_param_group(ParamGroup::from_path("other"));
    let net = Net::new(&device).quantize_weights(&mut quantizer);
    assert_eq!(net.weight.val().dtype(), DType::F32);
}

#[test]
fn codes_survive_a_record() {
    let device = Device::flex();
    for value in [QuantValue::Q8F, QuantValue::Q4S, QuantValue::Q2F] {
        let mut quantizer = quantizer(scheme().with_value(value).per_block([2], ScaleDtype::F16));
        let net = Net::new(&device).quantize_weights(&mut quantizer);
        let expected = net.forward(input(&device)).into_data();
        let bytes = net.into_record().into_bytes().expect("the module is small");
        // Into a module of floats, which takes the type of the record.
        let record = ModuleRecord::from_bytes(bytes.clone()).expect("it was written");
        let loaded = Net::new(&device).load_record(record);
        assert_eq!(loaded.weight.val().dtype(), DType::QFloat(quantizer.scheme));
        assert_eq!(loaded.forward(input(&device)).into_data(), expected);
        // Or keeps its own.
        let record = ModuleRecord::from_bytes(bytes).expect("it was written");
        let floats = Net::new(&device).load_record(record.cast_to_module_dtype());
        assert_eq!(floats.weight.val().dtype(), DType::F32);
        let tolerance = Tolerance::<f32>::rel_abs(1e-6, 1e-6);
        let found = floats.forward(input(&device)).into_data();
        found.assert_approx_eq::<f32>(&expected, tolerance);
    }
}

#[test]
fn adapters_are_trained_beside_codes() {
    let device = Device::flex().autodiff();
    let four = scheme()
        .with_value(QuantValue::Q4S)
        .per_block([6], ScaleDtype::F16);
    let lora = Lora::new(2, 4.0).set_dtype(FloatDType::F32);
    let net = Net::new(&device).apply_qlora(QLora::new(lora, quantizer(four)));
    assert_eq!(net.weight.base().dtype(), DType::QFloat(four));
    assert_eq!(net.bias.val().dtype(), DType::F32);
    // The second factor starts at 0: nothing changed yet but the rounding.
    let base = net.weight.base().dequantize();
    assert_eq!(net.weight.val().into_data(), base.clone().into_data());
    let adapter = net.weight.adapter().expect("the matrix got one");
    assert_eq!((adapter.a.dims(), adapter.b.dims()), ([8, 2], [2, 6]));
    assert_eq!(adapter.b.val().dtype(), DType::F32);
    let gradients = net
        .forward(input(&device))
        .powf_scalar(2.0)
        .sum()
        .backward();
    let gradient = adapter.b.grad(&gradients).expect("the adapter is trained");
    assert!(gradient.abs().sum().into_scalar::<f32>() > 0.0);
    assert!(net.bias.grad(&gradients).is_none());
    // A record holds codes and adapters.
    let record = net.clone().into_record().into_bytes().expect("it is small");
    let record = ModuleRecord::from_bytes(record).expect("it was written");
    let lora = Lora::new(2, 4.0);
    let other = Net::new(&device).apply_qlora(QLora::new(lora, quantizer(four)));
    let other = other.load_record(record);
    assert_eq!(
        other.weight.base().into_data(),
        net.weight.base().into_data()
    );
    let factor = |net: &Net| {
        net.weight
            .adapter()
            .expect("it has one")
            .a
            .val()
            .into_data()
    };
    assert_eq!(factor(&other), factor(&net));
    // Merged, a matrix of floats is left.
    let merged = net.merge_reparameterizations();
    assert_eq!(merged.weight.val().into_data(), base.into_data());
    assert!(merged.weight.adapter().is_none());
}

#[test]
#[should_panic(expected = "do not divide the parameter `weight` of shape [8, 6]")]
fn blocks_that_do_not_divide_a_parameter_name_its_path() {
    let scheme = scheme().per_block([4], ScaleDtype::F32);
    Net::new(&Device::flex()).quantize_weights(&mut quantizer(scheme));
}
