//! Elementwise functions of two arguments.

use super::{Keep, Kept, Rule, Wanted, unary};
use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{Build, Emit};
use burn_ir::{BinaryOp, CompareOp, Operand, UnaryOp};

/// Positions of the operands.
const LHS: usize = 0;
const RHS: usize = 1;

pub(super) fn rule<T>(op: BinaryOp, rhs: &Operand<T>, wanted: Wanted) -> Rule {
    let (lhs_wanted, rhs_wanted) = (wanted.has(LHS), wanted.has(RHS));
    let scalar = rhs.tensor().is_none();
    let keep = match op {
        BinaryOp::Add | BinaryOp::Sub => Keep::NOTHING,
        BinaryOp::Mul => Keep::operands([(LHS, rhs_wanted), (RHS, lhs_wanted && !scalar)]),
        BinaryOp::Div => Keep::operands([(LHS, rhs_wanted), (RHS, !scalar)]),
        BinaryOp::Remainder => Keep::operands([(LHS, rhs_wanted), (RHS, rhs_wanted)]),
        BinaryOp::Pow | BinaryOp::Max | BinaryOp::Min => {
            Keep::operands([(LHS, true), (RHS, !scalar)])
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => return Rule::Zero,
    };
    Rule::Pullback(keep)
}

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    op: BinaryOp,
    lhs: Kept<E::Tensor>,
    rhs: Operand<Kept<E::Tensor>>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    match rhs {
        Operand::Scalar(scalar) => vec![by_scalar(e, op, lhs, scalar.elem(), grad)],
        Operand::Tensor(rhs) => by_tensor(e, op, lhs, rhs, grad, wanted),
    }
}

fn by_scalar<E: Emit>(
    e: &mut E,
    op: BinaryOp,
    lhs: Kept<E::Tensor>,
    rhs: f64,
    grad: E::Tensor,
) -> Option<E::Tensor> {
    let passes = |e: &mut E, relation| {
        let mask = e.compare_scalar(relation, lhs.clone().value(), rhs);
        e.keep_where(mask, grad.clone(), 0.0)
    };
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Remainder => Some(grad),
        BinaryOp::Mul => Some(e.mul_scalar(grad, rhs)),
        BinaryOp::Div => Some(e.binary_scalar(BinaryOp::Div, grad, rhs)),
        // c · x^(c-1); the power of a constant exponent 0 does not depend on x, not even at 0.
        BinaryOp::Pow if rhs == 0.0 => None,
        BinaryOp::Pow => {
            let power = unary::powf(e, lhs.value(), rhs - 1.0);
            let slope = e.mul_scalar(power, rhs);
            Some(e.mul(grad, slope))
        }
        // A bound that is met exactly lets the gradient through, as clamping does in PyTorch.
        BinaryOp::Max => Some(passes(e, CompareOp::GreaterEqual)),
        BinaryOp::Min => Some(passes(e, CompareOp::LowerEqual)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => None,
    }
}

fn by_tensor<E: Emit>(
    e: &mut E,
    op: BinaryOp,
    lhs: Kept<E::Tensor>,
    rhs: Kept<E::Tensor>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let (for_lhs, for_rhs) = (wanted.has(LHS), wanted.has(RHS));
    match op {
        BinaryOp::Add => vec![for_lhs.then(|| grad.clone()), for_rhs.then_some(grad)],
        BinaryOp::Sub => vec![for_lhs.then(|| grad.clone()), for_rhs.then(|| e.neg(grad))],
        BinaryOp::Mul => {
            let lhs_grad = for_lhs.then(|| e.mul(grad.clone(), rhs.value()));
            vec![lhs_grad, for_rhs.then(|| e.mul(grad, lhs.value()))]
        }
        // d(x/y) = dx/y - x/y² dy
        BinaryOp::Div => {
            let over_rhs = e.div(grad, rhs.clone().value());
            let rhs_grad = for_rhs.then(|| {
                let quotient = e.div(lhs.value(), rhs.value());
                let product = e.mul(over_rhs.clone(), quotient);
                e.neg(product)
            });
            vec![for_lhs.then_some(over_rhs), rhs_grad]
        }
        // x mod y = x - y·⌊x/y⌋
        BinaryOp::Remainder => {
            let rhs_grad = for_rhs.then(|| {
                let quotient = e.div(lhs.value(), rhs.value());
                let times = e.unary(UnaryOp::Floor, quotient);
                let product = e.mul(grad.clone(), times);
                e.neg(product)
            });
            vec![for_lhs.then_some(grad), rhs_grad]
        }
        BinaryOp::Pow => power(e, lhs.value(), rhs.value(), grad, (for_lhs, for_rhs)),
        BinaryOp::Max => extremum(
            e,
            CompareOp::Greater,
            lhs.value(),
            rhs.value(),
            grad,
            (for_lhs, for_rhs),
        ),
        BinaryOp::Min => extremum(
            e,
            CompareOp::Lower,
            lhs.value(),
            rhs.value(),
            grad,
            (for_lhs, for_rhs),
        ),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => vec![None, None],
    }
}

/// `d(x^y) = y·x^(y-1) dx + ln(x)·x^y dy`, where both limits at 0 are taken: an exponent of 0 has no slope in `x`, and
/// a base of 0 none in `y`.
fn power<E: Emit>(
    e: &mut E,
    x: E::Tensor,
    y: E::Tensor,
    grad: E::Tensor,
    (for_x, for_y): (bool, bool),
) -> Vec<Option<E::Tensor>> {
    let x_grad = for_x.then(|| {
        let less = e.add_scalar(y.clone(), -1.0);
        let power = e.binary(BinaryOp::Pow, x.clone(), less);
        let slope = e.mul(y.clone(), power);
        let flat = e.compare_scalar(CompareOp::Equal, y.clone(), 0.0);
        let slope = e.replace_where(flat, 0.0, slope);
        e.mul(grad.clone(), slope)
    });
    let y_grad = for_y.then(|| {
        let flat = e.compare_scalar(CompareOp::Equal, x.clone(), 0.0);
        // The logarithm of 1 instead of 0, so that no infinity meets a zero in gradients of higher order.
        let base = e.replace_where(flat, 1.0, x.clone());
        let log = e.unary(UnaryOp::Log, base);
        let power = e.binary(BinaryOp::Pow, x, y);
        let slope = e.mul(log, power);
        e.mul(grad, slope)
    });
    vec![x_grad, y_grad]
}

/// The gradient goes to the side that was chosen, half to each where they are equal.
fn extremum<E: Emit>(
    e: &mut E,
    chosen: CompareOp,
    x: E::Tensor,
    y: E::Tensor,
    grad: E::Tensor,
    (for_x, for_y): (bool, bool),
) -> Vec<Option<E::Tensor>> {
    let equal = e.compare(CompareOp::Equal, x.clone(), y.clone());
    let half = e.mul_scalar(grad.clone(), 0.5);
    let mut side = |wanted: bool, one: &E::Tensor, other: &E::Tensor| {
        wanted.then(|| {
            let mask = e.compare(chosen, one.clone(), other.clone());
            let whole = e.keep_where(mask, grad.clone(), 0.0);
            e.one(burn_ir::Operation::Where {
                mask: equal.clone(),
                on_true: Operand::Tensor(half.clone()),
                on_false: Operand::Tensor(whole),
            })
        })
    };
    vec![side(for_x, &x, &y), side(for_y, &y, &x)]
}
