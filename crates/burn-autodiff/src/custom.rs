//! Operations that bring their own gradient.

use crate::engine::{Autodiff, Placing, differentiable};
use crate::tape::{Entry, Node, Operand, Saved, Source, Step};
use crate::tensor::{AdTensor, Place};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::Handle;
use burn_ir::Described;
use core::fmt;

/// What runs forwards: the output for operands without a tape.
pub type Forward<'f> = Box<dyn FnOnce(Vec<Handle>) -> Handle + 'f>;

/// What runs backwards: a gradient for each operand, or `None` where none flows.
pub type Pullback = Arc<dyn Fn(Pulled) -> Vec<Option<Handle>> + Send + Sync>;

/// What a gradient of one's own is made of. The tensors are on the device below the tape, or on the tape if the backward
/// pass is recorded.
#[derive(Debug)]
pub struct Pulled {
    /// The operands of the operation.
    pub operands: Vec<Handle>,
    /// What it made of them.
    pub output: Handle,
    /// The gradient for the output.
    pub grad: Handle,
}

/// An operation with its own gradient, on the tape.
#[derive(Clone)]
pub(crate) struct Custom {
    pub(crate) name: &'static str,
    pub(crate) operands: Vec<Operand>,
    output: Handle,
    pullback: Pullback,
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({}, {:?})", self.name, self.operands)
    }
}

impl Custom {
    /// Gradients for the operands, which `place` puts on the tape if that is wanted.
    pub(crate) fn pull(
        &self,
        place: &dyn Fn(Handle, Option<&Source>) -> Handle,
        node: &Arc<Node>,
        grad: Handle,
    ) -> Vec<Option<Handle>> {
        let operand = |operand: &Operand| {
            let Some(Saved::Value(value)) = &operand.saved else {
                unreachable!("custom operations keep their operands")
            };
            place(value.clone(), operand.source.as_ref())
        };
        let source = Source {
            node: node.clone(),
            output: 0,
        };
        let grads = (self.pullback)(Pulled {
            operands: self.operands.iter().map(operand).collect(),
            output: place(self.output.clone(), Some(&source)),
            grad,
        });
        assert!(
            grads.len() == self.operands.len(),
            "`{}`: the gradient has {} entries\n  legal: one for each of {} operands",
            self.name,
            grads.len(),
            self.operands.len()
        );
        for (at, (grad, operand)) in grads.iter().zip(&self.operands).enumerate() {
            let fits = grad.as_ref().is_none_or(|it| *it.meta() == operand.meta);
            assert!(
                fits,
                "`{}`: the gradient for operand {at} is {}\n  legal: {}, as the operand is",
                self.name,
                grad.as_ref().expect("nothing fits").meta(),
                operand.meta
            );
        }
        grads
    }
}

/// The output of an operation that the layer does not look into: `forward` runs below the tape, and `pullback` is its
/// gradient. On operands without gradients, it is `forward` alone.
///
/// # Panics
/// If operands are on different devices.
#[track_caller]
pub fn custom(
    name: &'static str,
    operands: Vec<Handle>,
    forward: Forward<'_>,
    pullback: Pullback,
) -> Handle {
    let Some(engine) = layer(name, &operands) else {
        return forward(operands);
    };
    let operands: Vec<AdTensor> = operands.into_iter().map(|it| engine.enter(it)).collect();
    let place = Placing::of(operands.iter());
    let inner = operands.iter().map(|operand| operand.inner.clone());
    // A tape below takes the same gradient.
    let output = custom(name, inner.collect(), forward, pullback.clone());
    let place = match place.flows() && differentiable(output.meta()) {
        false => place.cut(name),
        true => {
            let kept = operands.into_iter().map(|operand| Operand {
                meta: operand.meta().clone(),
                source: operand.place.source().cloned(),
                saved: Some(Saved::Value(operand.inner)),
            });
            let custom = Custom {
                name,
                operands: kept.collect(),
                output: output.clone(),
                pullback,
            };
            let node = Node::new(Step::Open(Entry::Custom(Box::new(custom))));
            Place::On(Source { node, output: 0 })
        }
    };
    Handle::new(AdTensor {
        place,
        ..AdTensor::constant(output, engine)
    })
}

/// The highest layer among the operands, which must be of one device.
#[track_caller]
fn layer(name: &str, operands: &[Handle]) -> Option<&'static Autodiff> {
    let mut highest: Option<&'static Autodiff> = None;
    for operand in operands {
        let (device, first) = (operand.device(), operands[0].device());
        assert!(
            device.base() == first.base(),
            "`{name}`: the operands live on different devices, {first} and {device}\n  legal: operands on one device; move them with `to_device`"
        );
        if let Some(tensor) = operand.get::<AdTensor>() {
            highest = Some(match highest {
                Some(other) if other.level() > tensor.engine.level() => other,
                Some(other) if other.level() == tensor.engine.level() => other.join(tensor.engine),
                Some(_) | None => tensor.engine,
            });
        }
    }
    highest
}
