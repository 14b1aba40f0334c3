//! Values computed again instead of kept (Chen and others 2016): a recipe is the instruction that made a value, over
//! values that are kept and over other recipes.
//!
//! Reference counts do the bookkeeping. A recipe that is computed lets go of what it was made of, so that a value on the
//! way stays exactly as long as somebody else will read it.

use crate::rules::Keep;
use crate::tensor::AdTensor;
use alloc::boxed::Box;
use alloc::sync::Arc;
use burn_backend::{Device, Handle};
use burn_ir::{Checked, Class, Described, Outputs, TensorMeta};
use burn_std::sync::Mutex;
use core::cmp::max;

/// The instructions in a row that are computed again: recipes are read and freed recursively.
const STEPS: u32 = 64;

/// The matrix products and convolutions in a row that are computed again. A backward pass costs twice a forward pass, so
/// that two of three make a step 2/9 longer and leave a third of the memory; a third one would save 1/12 more for 1/36.
const ANCHORS: u32 = 2;

/// Values below this are kept: a recipe with its operands takes some hundred bytes itself.
const BYTES: usize = 4096;

/// A product this many times smaller than the parameters it is made with is kept: they take four times their size with
/// gradient and moments, beside which it saves nothing.
const PARAMETERS: usize = 4;

/// How to compute one value.
#[derive(Debug)]
pub(crate) struct Recipe {
    state: Mutex<State>,
    cost: Cost,
}

#[derive(Clone, Debug)]
enum State {
    Known(Handle),
    Open(Box<Checked<Ingredient>>),
}

#[derive(Clone, Debug)]
enum Ingredient {
    Value(Handle),
    Recipe(Arc<Recipe>),
}

/// What lies between a value and those that are kept.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    steps: u32,
    anchors: u32,
    /// What is kept for nothing but this recipe, in bytes.
    bytes: usize,
}

impl Recipe {
    /// A recipe for the output of an instruction whose rule keeps `keep`; `None` where it is better kept.
    pub(crate) fn of(operation: &Checked<AdTensor>, keep: Keep) -> Option<Arc<Self>> {
        let cost = cost(operation, keep)?;
        let ingredients = operation.map_ref(&mut |tensor| match &tensor.recipe {
            Some(recipe) => Ingredient::Recipe(recipe.clone()),
            None => Ingredient::Value(tensor.inner.clone()),
        });
        let state = Mutex::new(State::Open(Box::new(ingredients)));
        Some(Arc::new(Self { state, cost }))
    }

    /// The value, computed on the device below the tape if it is not known.
    pub(crate) fn value(this: Arc<Self>, below: Device) -> Handle {
        let this = match Arc::try_unwrap(this) {
            // Nobody else will read it, so that the next instruction may overwrite it.
            Ok(recipe) => {
                return match recipe.state.into_inner() {
                    State::Known(value) => value,
                    State::Open(operation) => compute(*operation, below),
                };
            }
            Err(this) => this,
        };
        // Not under the lock: a kernel may let this thread do other work, which may read the same recipe.
        let state = this.state.lock().clone();
        match state {
            State::Known(value) => value,
            State::Open(operation) => {
                let value = compute(*operation, below);
                *this.state.lock() = State::Known(value.clone());
                value
            }
        }
    }
}

fn compute(operation: Checked<Ingredient>, below: Device) -> Handle {
    let operation = operation.map(&mut |ingredient| match ingredient {
        Ingredient::Value(value) => value,
        Ingredient::Recipe(recipe) => Recipe::value(recipe, below),
    });
    below.run(operation).one()
}

fn bytes(meta: &TensorMeta) -> usize {
    meta.shape.num_elements().saturating_mul(meta.dtype.size())
}

/// The cost of a recipe, if it is worth it.
fn cost(operation: &Checked<AdTensor>, keep: Keep) -> Option<Cost> {
    let Outputs::One(output) = operation.outputs() else {
        return None;
    };
    let class = operation.operation().class();
    let (mut cost, mut position) = (Cost::default(), 0);
    let (mut largest, mut parameters, mut recipes) = (0, 0, false);
    operation.operation().each(&mut |tensor| {
        let kept = keep.operand(position);
        position += 1;
        if tensor.is_leaf() {
            parameters += bytes(tensor.meta());
            return;
        }
        largest = max(largest, bytes(tensor.meta()));
        cost.bytes += match &tensor.recipe {
            Some(recipe) => {
                recipes = true;
                cost.steps = max(cost.steps, recipe.cost.steps);
                cost.anchors = max(cost.anchors, recipe.cost.anchors);
                if kept { 0 } else { recipe.cost.bytes }
            }
            None => {
                if kept {
                    0
                } else {
                    bytes(tensor.meta())
                }
            }
        };
    });
    cost.steps += 1;
    cost.anchors += u32::from(class == Class::Anchor);
    let saved = bytes(output);
    // A small value of a large one saves nothing, and neither does a view of what is kept.
    let worth = saved >= BYTES && saved >= cost.bytes && saved >= largest / 2;
    let pure = class != Class::Barrier && (class != Class::Movement || recipes);
    let worth = worth && (class != Class::Anchor || saved >= parameters / PARAMETERS);
    let near = cost.steps <= STEPS && cost.anchors <= ANCHORS;
    (worth && pure && near).then_some(cost)
}
