//! The layer: records an instruction if a tracked tensor takes part, and sends it on.

use crate::rules::{self, Kept, Rule};
use crate::tape::{Entry, Node, Operand, Source, Step};
use crate::tensor::AdTensor;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::{Device, Engine, Handle};
use burn_ir::{Checked, Described, Outputs, TensorMeta};
use burn_std::{DType, DeviceSettings, DynFut, ExecutionError, Kind, TensorData};

/// A tape over a device.
#[derive(Debug)]
pub struct Autodiff {
    below: Device,
    name: String,
}

impl Autodiff {
    /// A tape over `below`. Whoever registers it keeps it one of a kind.
    pub fn new(below: Device) -> Self {
        Self {
            below,
            name: alloc::format!("{below}:autodiff"),
        }
    }

    /// The tensor of this layer in a handle; a tensor from below is a constant here.
    fn enter(&'static self, tensor: Handle) -> AdTensor {
        match tensor.device() == Device::new(self) {
            true => tensor.expect(),
            false => AdTensor {
                inner: tensor,
                source: None,
                engine: self,
            },
        }
    }

    fn untracked(&'static self, inner: Handle) -> Handle {
        Handle::new(AdTensor {
            inner,
            source: None,
            engine: self,
        })
    }

    fn record(&'static self, operation: Checked<AdTensor>, keep: rules::Keep) -> Outputs<Handle> {
        let mut position = 0;
        let entry = operation.operation().map_ref(&mut |tensor| {
            position += 1;
            let value = keep.operand(position - 1).then(|| tensor.inner.clone());
            Operand {
                kept: Kept {
                    meta: tensor.meta().clone(),
                    value,
                },
                source: tensor.source.clone(),
            }
        });
        let outputs = self.below.run(operation.map(&mut |tensor| tensor.inner));
        let kept = outputs.map_ref(|output| Kept {
            meta: output.meta().clone(),
            value: keep.outputs().then(|| output.clone()),
        });
        let node = Node::new(Step::Open(Arc::new(Entry {
            operation: entry,
            outputs: kept,
        })));
        let mut position = 0;
        outputs.map(|inner| {
            position += 1;
            let source = differentiable(inner.meta()).then(|| Source {
                node: node.clone(),
                output: position - 1,
            });
            Handle::new(AdTensor {
                inner,
                source,
                engine: self,
            })
        })
    }
}

/// Whether gradients exist for values of this type.
fn differentiable(meta: &TensorMeta) -> bool {
    meta.dtype.kind() == Kind::Float
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
        let operation = operation.map(&mut |tensor| self.enter(tensor));
        let mut tracked = rules::Wanted::default();
        let mut position = 0;
        operation.operation().each(&mut |tensor| {
            tracked.set(position, tensor.source.is_some());
            position += 1;
        });
        let flows = tracked.any() && operation.outputs().as_slice().iter().any(differentiable);
        match flows.then(|| rules::rule(operation.operation(), tracked)) {
            None | Some(Rule::Zero) => self
                .below
                .run(operation.map(&mut |tensor| tensor.inner))
                .map(|inner| self.untracked(inner)),
            Some(Rule::Pullback(keep)) => self.record(operation, keep),
            Some(Rule::Expand) => {
                let operation = operation
                    .into_parts()
                    .0
                    .map(&mut |tensor| Handle::new(tensor));
                rules::expand(&mut Device::new(self), operation)
            }
        }
    }

    fn upload(&'static self, data: TensorData) -> Handle {
        self.untracked(self.below.upload(data))
    }

    fn lift(&'static self, tensor: Handle) -> Handle {
        self.untracked(tensor)
    }

    fn inner(&'static self, tensor: Handle) -> Handle {
        self.enter(tensor).inner
    }

    fn is_tracked(&self, tensor: &Handle) -> bool {
        tensor.get::<AdTensor>().is_some_and(|tensor| {
            tensor.source.is_some() || tensor.inner.device().is_tracked(&tensor.inner)
        })
    }

    fn download(
        &'static self,
        tensors: Vec<Handle>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
        self.below.download(
            tensors
                .into_iter()
                .map(|tensor| self.enter(tensor).inner)
                .collect(),
        )
    }

    fn sync(&self) -> Result<(), ExecutionError> {
        self.below.sync()
    }

    fn seed(&self, seed: u64) {
        self.below.seed(seed);
    }
}
