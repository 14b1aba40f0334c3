//! The layer: records an instruction if a tracked tensor takes part, and sends it on.

use crate::anomaly;
use crate::mode::Mode;
use crate::recipe::Recipe;
use crate::rules::{self, Keep, Rule, Wanted};
use crate::tape::{Entry, Node, Operand, Saved, Source, Step};
use crate::tensor::{AdTensor, Place};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::{Device, Engine, Handle};
use burn_ir::{Checked, Described, Outputs, TensorMeta};
use burn_std::sync::Once;
use burn_std::{DType, DeviceSettings, DynFut, ExecutionError, Kind, TensorData};

/// A tape over a device, in one of its modes. Tensors of all modes meet in one instruction.
#[derive(Debug)]
pub struct Autodiff {
    below: Device,
    level: u32,
    mode: Mode,
    name: String,
    /// Itself and the same in other modes, by [`Mode::index`].
    modes: Once<&'static [Self]>,
}

impl Autodiff {
    /// A tape over `below`, which lives as long as the program. Whoever registers it keeps it one of a kind.
    pub fn over(below: Device) -> &'static Self {
        let modes: Vec<Self> = Mode::ALL
            .into_iter()
            .map(|mode| Self::new(below, mode))
            .collect();
        let modes: &'static [Self] = Box::leak(modes.into_boxed_slice());
        for layer in modes {
            layer.modes.call_once(|| modes);
        }
        &modes[Mode::default().index()]
    }

    fn new(below: Device, mode: Mode) -> Self {
        let suffix = match (mode.recomputes(), mode.anomalies) {
            (false, false) => "",
            (true, false) => " (checkpointing)",
            (false, true) => " (watching)",
            (true, true) => " (checkpointing, watching)",
        };
        Self {
            below,
            level: below.level() + 1,
            mode,
            name: alloc::format!("{below}:autodiff{suffix}"),
            modes: Once::new(),
        }
    }

    /// How values are kept and watched.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The same tape in another mode.
    pub fn with_mode(&self, mode: Mode) -> &'static Self {
        let modes = self.modes.get().expect("a layer is made with its modes");
        &modes[mode.index()]
    }

    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    pub(crate) fn below(&self) -> Device {
        self.below
    }

    /// The layer of what is made of tensors of both.
    pub(crate) fn join(&'static self, other: &'static Self) -> &'static Self {
        match core::ptr::eq(self, other) {
            true => self,
            false => self.with_mode(self.mode.join(other.mode)),
        }
    }

    /// The tensor of this layer in a handle, in whatever mode; a tensor from below is a constant here.
    pub(crate) fn enter(&'static self, tensor: Handle) -> AdTensor {
        match tensor.get::<AdTensor>() {
            Some(tensor) if tensor.engine.level == self.level => {}
            Some(_) | None => return AdTensor::constant(tensor, self),
        }
        tensor.expect()
    }

    /// Sends an instruction below.
    fn send(&self, operation: Checked<AdTensor>) -> Outputs<Handle> {
        let operation = operation.map(&mut |tensor| tensor.inner);
        match self.mode.anomalies {
            false => self.below.run(operation),
            true => anomaly::run(self.below, operation),
        }
    }

    fn unrecorded(&'static self, operation: Checked<AdTensor>, place: Place) -> Outputs<Handle> {
        self.send(operation).map(|inner| {
            Handle::new(AdTensor {
                place: place.clone(),
                ..AdTensor::constant(inner, self)
            })
        })
    }

    fn record(&'static self, operation: Checked<AdTensor>, keep: Keep) -> Outputs<Handle> {
        let recipe = match self.mode.recomputes() {
            true => Recipe::of(&operation, keep),
            false => None,
        };
        let mut position = 0;
        let entry = operation.operation().map_ref(&mut |tensor| {
            position += 1;
            Operand {
                meta: tensor.meta().clone(),
                saved: keep
                    .operand(position - 1)
                    .then(|| saved(&tensor.inner, tensor.recipe.as_ref())),
                source: tensor.place.source().cloned(),
            }
        });
        let outputs = self.send(operation);
        let kept = outputs.map_ref(|output| keep.outputs().then(|| saved(output, recipe.as_ref())));
        let node = Node::new(Step::Open(Entry::Instruction {
            operation: entry,
            outputs: kept,
        }));
        let mut position = 0;
        outputs.map(|inner| {
            position += 1;
            let place = match differentiable(inner.meta()) {
                true => Place::On(Source {
                    node: node.clone(),
                    output: position - 1,
                }),
                false => Place::Constant,
            };
            Handle::new(AdTensor {
                inner,
                place,
                recipe: recipe.clone(),
                engine: self,
            })
        })
    }
}

fn saved(value: &Handle, recipe: Option<&Arc<Recipe>>) -> Saved {
    match recipe {
        Some(recipe) => Saved::Recipe(recipe.clone()),
        None => Saved::Value(value.clone()),
    }
}

/// Whether gradients exist for values of this type.
pub(crate) fn differentiable(meta: &TensorMeta) -> bool {
    meta.dtype.kind() == Kind::Float
}

/// Where the operands of an instruction are on the tape.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Placing {
    position: usize,
    tracked: Wanted,
    cut: Option<&'static str>,
}

impl Placing {
    pub(crate) fn of<'a>(operands: impl Iterator<Item = &'a AdTensor>) -> Self {
        let mut placing = Self::default();
        operands.for_each(|operand| placing.meet(operand));
        placing
    }

    fn meet(&mut self, operand: &AdTensor) {
        match operand.place {
            Place::Constant => {}
            Place::Cut(name) => self.cut = self.cut.or(Some(name)),
            Place::On(_) => self.tracked.set(self.position, true),
        }
        self.position += 1;
    }

    /// Whether gradients flow to an operand.
    pub(crate) fn flows(&self) -> bool {
        self.tracked.any()
    }

    /// The place of what no gradient flows to, made by an operation of this name.
    pub(crate) fn cut(&self, name: &'static str) -> Place {
        match (self.flows(), self.cut) {
            (true, _) => Place::Cut(name),
            (false, Some(before)) => Place::Cut(before),
            (false, None) => Place::Constant,
        }
    }
}

impl Engine for Autodiff {
    fn name(&self) -> &str {
        &self.name
    }

    fn below(&self) -> Option<Device> {
        Some(self.below)
    }

    fn settings(&self) -> DeviceSettings {
        self.below.settings()
    }

    fn supports_dtype(&self, dtype: DType) -> bool {
        self.below.supports_dtype(dtype)
    }

    fn run(&'static self, operation: Checked<Handle>) -> Outputs<Handle> {
        let (mut engine, mut placing) = (self, Placing::default());
        let operation = operation.map(&mut |tensor| {
            let tensor = self.enter(tensor);
            engine = engine.join(tensor.engine);
            placing.meet(&tensor);
            tensor
        });
        let flows = placing.flows() && operation.outputs().as_slice().iter().any(differentiable);
        match flows.then(|| rules::rule(operation.operation(), placing.tracked)) {
            None | Some(Rule::Zero) => {
                let place = placing.cut(operation.operation().name());
                engine.unrecorded(operation, place)
            }
            Some(Rule::Pullback(keep)) => engine.record(operation, keep),
            Some(Rule::Expand) => {
                let operation = operation
                    .into_parts()
                    .0
                    .map(&mut |tensor| Handle::new(tensor));
                rules::expand(&mut Device::new(engine), operation)
            }
        }
    }

    fn upload(&'static self, data: TensorData) -> Handle {
        Handle::new(AdTensor::constant(self.below.upload(data), self))
    }

    /// A tensor of this layer in another mode keeps its place on the tape.
    fn lift(&'static self, tensor: Handle) -> Handle {
        Handle::new(AdTensor {
            engine: self,
            ..self.enter(tensor)
        })
    }

    fn inner(&'static self, tensor: Handle) -> Handle {
        self.enter(tensor).inner
    }

    fn is_tracked(&self, tensor: &Handle) -> bool {
        tensor.get::<AdTensor>().is_some_and(|tensor| {
            tensor.is_tracked() || tensor.inner.device().is_tracked(&tensor.inner)
        })
    }

    fn download(
        &'static self,
        tensors: Vec<Handle>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
        let inner = |tensor| self.enter(tensor).inner;
        self.below
            .download(tensors.into_iter().map(inner).collect())
    }

    fn sync(&self) -> Result<(), ExecutionError> {
        self.below.sync()
    }

    fn seed(&self, seed: u64) {
        self.below.seed(seed);
    }
}
