//! How gradients flow back through each instruction.
//!
//! Rules are instructions against [`Emit`], so the same rule serves every backend and every order of gradient. A rule
//! says first what it needs kept, then pulls the gradient back. Summing over broadcast dims happens once, in the walk.

mod activation;
mod attention;
mod binary;
mod index;
mod join;
mod module;
mod movement;
mod quant;
mod reduce;
mod scan;
mod unary;

use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{Build, Emit, lower};
use burn_ir::{Operand, Operation, Outputs, ReduceOp, SortOp, TensorMeta};
use burn_std::{Kind, Shape};

/// An operand or output as a rule sees it: always described, present only if it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Kept<T> {
    pub(crate) meta: TensorMeta,
    pub(crate) value: Option<T>,
}

impl<T> Kept<T> {
    /// The value that the rule asked for.
    fn value(self) -> T {
        self.value.expect("the rule asked to keep this value")
    }
}

/// An output as a rule sees it: present only if it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Output<T>(pub(crate) Option<T>);

impl<T> Output<T> {
    /// The value that the rule asked for.
    fn value(self) -> T {
        self.0.expect("the rule asked to keep this value")
    }
}

/// What an instruction does to gradients.
pub(crate) enum Rule {
    /// None flow.
    Zero,
    /// They are pulled back from what is kept.
    Pullback(Keep),
    /// The instruction runs as smaller ones, which have rules.
    Expand,
}

/// The operands that gradients are wanted for, by position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted(u32);

impl Wanted {
    pub(crate) fn set(&mut self, position: usize, wanted: bool) {
        self.0 |= u32::from(wanted) << position.min(31);
    }

    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    fn has(self, position: usize) -> bool {
        self.0 >> position.min(31) & 1 == 1
    }
}

impl FromIterator<bool> for Wanted {
    fn from_iter<I: IntoIterator<Item = bool>>(wanted: I) -> Self {
        let mut all = Self::default();
        wanted
            .into_iter()
            .enumerate()
            .for_each(|(position, wanted)| all.set(position, wanted));
        all
    }
}

/// What stays alive for a rule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keep {
    operands: u32,
    outputs: bool,
}

impl Keep {
    const NOTHING: Self = Self {
        operands: 0,
        outputs: false,
    };
    const OUTPUT: Self = Self {
        operands: 0,
        outputs: true,
    };

    /// The operands at these positions, where the condition holds.
    fn operands<const N: usize>(operands: [(usize, bool); N]) -> Self {
        let bits = operands.iter().fold(0, |bits, (position, keep)| {
            bits | u32::from(*keep) << position
        });
        Self {
            operands: bits,
            outputs: false,
        }
    }

    pub(crate) fn operand(self, position: usize) -> bool {
        position < 32 && self.operands >> position & 1 == 1
    }

    pub(crate) fn outputs(self) -> bool {
        self.outputs
    }
}

/// What an instruction with differentiable outputs does to gradients.
pub(crate) fn rule<T>(operation: &Operation<T>, wanted: Wanted) -> Rule {
    match operation {
        Operation::Create { .. } | Operation::Compare { .. } | Operation::Argwhere { .. } => {
            Rule::Zero
        }
        Operation::Cast { .. }
        | Operation::Movement { .. }
        | Operation::Cat { .. }
        | Operation::SliceAssign { .. } => Rule::Pullback(Keep::NOTHING),
        Operation::Unary { op, .. } => unary::rule(*op),
        Operation::Binary { op, rhs, .. } => binary::rule(*op, rhs, wanted),
        Operation::Where { .. } => Rule::Pullback(Keep::operands([(0, true)])),
        Operation::Reduce {
            op: ReduceOp::Prod, ..
        } => Rule::Expand,
        Operation::Reduce { op, .. } => reduce::rule(*op),
        Operation::Matmul { .. } => {
            Rule::Pullback(Keep::operands([(0, wanted.has(1)), (1, wanted.has(0))]))
        }
        Operation::Activation { op, .. } => activation::rule(*op),
        Operation::Gather { .. } => Rule::Pullback(Keep::operands([(1, true)])),
        Operation::Scatter { mode, .. } => index::rule(*mode, wanted),
        Operation::Scan { op, .. } => scan::rule(*op),
        Operation::Sort { op, .. } => match op {
            SortOp::Values => Rule::Expand,
            SortOp::Indices { .. } => Rule::Zero,
        },
        Operation::Module(op) => module::rule(op, wanted),
    }
}

/// Runs an instruction as smaller ones.
pub(crate) fn expand<E: Emit>(e: &mut E, operation: Operation<E::Tensor>) -> Outputs<E::Tensor> {
    match operation {
        Operation::Reduce {
            op: ReduceOp::Prod,
            input,
            dims,
        } => Outputs::One(reduce::product(e, input, dims)),
        Operation::Scan { dim, input, .. } => Outputs::One(scan::product(e, dim, input)),
        Operation::Sort {
            dim,
            descending,
            len,
            input,
            ..
        } => Outputs::One(index::sort(e, dim, descending, len, input)),
        operation => lower(e, operation),
    }
}

/// The gradient for an operand, not yet summed to its shape.
type Pulled<T> = (Option<T>, Shape);

/// Gradients for the operands, in operand order, each with the shape to sum it to.
///
/// `grads` has an entry for each output; `None` where no gradient arrived.
pub(crate) fn pullback<E: Emit>(
    e: &mut E,
    operation: Operation<Kept<E::Tensor>>,
    outputs: Outputs<Output<E::Tensor>>,
    grads: Vec<Option<E::Tensor>>,
    wanted: Wanted,
) -> Vec<Pulled<E::Tensor>> {
    let mut shapes = Vec::new();
    operation.each(&mut |operand| shapes.push(operand.meta.shape.clone()));
    // Every differentiable instruction so far has one output.
    let grad = grads
        .into_iter()
        .next()
        .flatten()
        .expect("the walk meets nodes that a gradient arrived at");
    let pulled = single(e, operation, outputs.one(), grad, wanted);
    debug_assert_eq!(
        pulled.len(),
        shapes.len(),
        "a rule gives one entry for each operand"
    );
    pulled.into_iter().zip(shapes).collect()
}

fn single<E: Emit>(
    e: &mut E,
    operation: Operation<Kept<E::Tensor>>,
    output: Output<E::Tensor>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    match operation {
        Operation::Create { .. }
        | Operation::Compare { .. }
        | Operation::Sort { .. }
        | Operation::Argwhere { .. } => unreachable!("no gradient is pulled back"),
        Operation::Cast { input, .. } => match input.meta.dtype.kind() {
            Kind::Float => vec![Some(e.cast(grad, input.meta.dtype))],
            Kind::Int | Kind::Bool => vec![None],
        },
        Operation::Unary { op, input } => vec![unary::pullback(e, op, input, output, grad)],
        Operation::Binary { op, lhs, rhs } => binary::pullback(e, op, lhs, rhs, grad, wanted),
        Operation::Where {
            mask,
            on_true,
            on_false,
        } => select(e, mask, &on_true, &on_false, grad, wanted),
        Operation::Reduce { op, input, dims } => {
            vec![Some(reduce::pullback(e, op, input, output, grad, dims))]
        }
        Operation::Movement { op, input } => {
            vec![Some(movement::pullback(e, op, &input.meta, grad))]
        }
        Operation::Matmul { lhs, rhs } => matmul(e, lhs, rhs, grad, wanted),
        Operation::Activation { op, input } => {
            vec![Some(activation::pullback(e, op, input, output, grad))]
        }
        Operation::Cat { dim, inputs } => join::cat(e, dim, &inputs, grad, wanted),
        Operation::SliceAssign { ranges, values, .. } => {
            join::slice_assign(e, ranges, &values, grad, wanted)
        }
        Operation::Gather { op, input, indices } => {
            vec![
                Some(index::gather(e, op, &input.meta, indices.value(), grad)),
                None,
            ]
        }
        Operation::Scatter {
            op,
            mode,
            input,
            indices,
            values,
        } => {
            let operands = index::Operands {
                op,
                input,
                indices,
                values,
            };
            index::pullback(e, mode, operands, output, grad, wanted)
        }
        Operation::Scan { op, dim, input } => {
            vec![Some(scan::pullback(e, op, dim, input, output, grad))]
        }
        Operation::Module(op) => module::pullback(e, *op, output, grad, wanted),
    }
}

/// The gradient goes to the side that was chosen.
fn select<E: Emit>(
    e: &mut E,
    mask: Kept<E::Tensor>,
    on_true: &Operand<Kept<E::Tensor>>,
    on_false: &Operand<Kept<E::Tensor>>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let mask = mask.value();
    let mut grads = vec![None];
    if on_true.tensor().is_some() {
        grads.push(
            wanted
                .has(1)
                .then(|| e.keep_where(mask.clone(), grad.clone(), 0.0)),
        );
    }
    if on_false.tensor().is_some() {
        grads.push(
            wanted
                .has(grads.len())
                .then(|| e.replace_where(mask, 0.0, grad)),
        );
    }
    grads
}

/// With `C = A·B`: `dA = dC·Bᵀ`, `dB = Aᵀ·dC`.
fn matmul<E: Emit>(
    e: &mut E,
    lhs: Kept<E::Tensor>,
    rhs: Kept<E::Tensor>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let rank = lhs.meta.rank();
    let for_lhs = wanted.has(0).then(|| {
        let transposed = e.swap_dims(rhs.value(), rank - 2, rank - 1);
        e.matmul(grad.clone(), transposed)
    });
    let for_rhs = wanted.has(1).then(|| {
        let transposed = e.swap_dims(lhs.value(), rank - 2, rank - 1);
        e.matmul(transposed, grad)
    });
    vec![for_lhs, for_rhs]
}
