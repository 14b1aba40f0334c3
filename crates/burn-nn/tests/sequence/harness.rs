//! What the script beside the fixtures does, on this side: the same inputs and parameters, the same loss.

use burn_core::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn_core::tensor::{Device, Gradients, Tensor, TensorData};
use serde_json::{Map, Value};

/// Inputs and parameters: `scale · sin(step · i + start)`.
fn wave(len: usize, scale: f64, step: f64, start: f64) -> Vec<f32> {
    (0..len)
        .map(|i| (scale * (step * i as f64 + start).sin()) as f32)
        .collect()
}

/// Finds the gradient of a leaf.
type Grad = Box<dyn Fn(&Gradients) -> Vec<f32>>;

/// A case of a fixture under comparison.
pub struct Case {
    name: String,
    outputs: Map<String, Value>,
    grads: Map<String, Value>,
    device: Device,
    loss: Option<Tensor<1>>,
    weighed: usize,
    leaves: Vec<(String, Grad)>,
    inputs: usize,
}

impl Case {
    /// The case `name` of a fixture.
    pub fn new(fixture: &str, name: &str) -> Self {
        let fixture: Value = serde_json::from_str(fixture).expect("the fixture is JSON");
        let part = |part: &str| -> Map<String, Value> {
            let part = fixture[name][part].as_object();
            part.unwrap_or_else(|| panic!("the fixture has a case `{name}`"))
                .clone()
        };
        Self {
            name: name.into(),
            outputs: part("outputs"),
            grads: part("grads"),
            device: Device::flex().autodiff(),
            loss: None,
            weighed: 0,
            leaves: Vec::new(),
            inputs: 0,
        }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The next input.
    pub fn input<const D: usize>(&mut self, name: &str, shape: [usize; D]) -> Tensor<D> {
        let step = 0.9 + 0.17 * self.inputs as f64;
        self.inputs += 1;
        let values = wave(shape.iter().product(), 1.0, step, 0.3);
        self.leaf(name, TensorData::new(values, shape))
    }

    /// An input with values of its own.
    pub fn leaf<const D: usize>(&mut self, name: &str, data: TensorData) -> Tensor<D> {
        let leaf = Tensor::from_data(data, &self.device).require_grad();
        self.watch(name.into(), leaf.clone());
        leaf
    }

    fn watch<const D: usize>(&mut self, name: String, leaf: Tensor<D>) {
        let grad = move |grads: &Gradients| match leaf.grad(grads) {
            Some(grad) => values(grad),
            None => vec![0.0; leaf.shape().num_elements()],
        };
        self.leaves.push((name, Box::new(grad)));
    }

    /// A layer with the parameters of the fixture.
    pub fn layer<M: Module>(&mut self, module: M) -> M {
        let module = module.map(&mut Fill { filled: 0 });
        let mut watch = Watch {
            case: self,
            path: Vec::new(),
        };
        module.visit(&mut watch);
        module
    }

    /// Compares an output.
    #[track_caller]
    pub fn output<const D: usize>(&mut self, name: &str, output: Tensor<D>) {
        let expected = self.outputs.remove(name);
        let expected = expected.unwrap_or_else(|| panic!("{}: no output `{name}`", self.name));
        let shape: Vec<f64> = numbers(&expected["shape"]);
        let dims: Vec<f64> = output.dims().iter().map(|size| *size as f64).collect();
        assert_eq!(dims, shape, "{}: shape of `{name}`", self.name);
        assert_close(&self.name, name, &values(output.clone()), &expected);
        let len = output.shape().num_elements();
        let weights = (self.weighed..self.weighed + len).map(|at| (at * 5 % 11) as f32 / 4.0 - 1.0);
        self.weighed += len;
        let weights = TensorData::new(weights.collect::<Vec<_>>(), output.dims());
        let weighted = output.mul(Tensor::from_data(weights, &self.device)).sum();
        self.loss = Some(match self.loss.take() {
            Some(loss) => loss.add(weighted),
            None => weighted,
        });
    }

    /// Compares the gradients; nothing of the fixture may be left over.
    #[track_caller]
    pub fn finish(mut self) {
        let left: Vec<_> = self.outputs.keys().collect();
        assert!(left.is_empty(), "{}: not compared: {left:?}", self.name);
        let grads = self.loss.expect("the case has an output").backward();
        for (leaf, grad) in self.leaves {
            let expected = self.grads.remove(&leaf);
            let expected = expected.unwrap_or_else(|| panic!("{}: no leaf `{leaf}`", self.name));
            assert_close(
                &self.name,
                &format!("gradient of {leaf}"),
                &grad(&grads),
                &expected,
            );
        }
        let left: Vec<_> = self.grads.keys().collect();
        assert!(left.is_empty(), "{}: not compared: {left:?}", self.name);
    }
}

struct Fill {
    filled: usize,
}

impl ModuleMapper for Fill {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (shape, device) = (param.lazy_shape(), param.val().device());
        let len = shape.num_elements();
        let values = wave(len, 0.5, 0.7, 0.7 * (self.filled + 1) as f64);
        self.filled += len;
        Param::from_data(TensorData::new(values, shape), &device)
    }
}

struct Watch<'a> {
    case: &'a mut Case,
    path: Vec<String>,
}

impl ModuleVisitor for Watch<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.case.watch(self.path.join("."), param.val());
    }

    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }
}

pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as().expect("a CPU tensor can be read")
}

fn numbers(value: &Value) -> Vec<f64> {
    let numbers = value.as_array().expect("the fixture has a list here");
    let number = |number: &Value| number.as_f64().expect("of numbers");
    numbers.iter().map(number).collect()
}

/// 1e-5 of the value, or 1e-6: some roundings of f32 against a reference in f64.
#[track_caller]
fn assert_close(case: &str, what: &str, found: &[f32], expected: &Value) {
    let expected = numbers(&expected["values"]);
    assert_eq!(found.len(), expected.len(), "{case}: elements of {what}");
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let error = (f64::from(*found) - expected).abs();
        assert!(
            error <= 1e-6 + 1e-5 * expected.abs(),
            "{case}: {what} at {at} is {found}, not {expected}"
        );
    }
}
