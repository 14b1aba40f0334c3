//! Elementwise comparisons: of two tensors, of a row and a column, with a scalar, and with each way to store the answer.

use super::binary::number;
use super::{ANY, INF, NAN, NUMERIC, WIDE};
use crate::{Input, Sample};
use burn_ir::{CompareOp, Operand, Operation};
use burn_std::BoolStore;

fn variants(op: CompareOp, describe: impl Fn(Sample) -> Sample) -> Vec<Sample> {
    let tensors = move |note, lhs: &[usize], rhs: &[usize], store| {
        let inputs = vec![Input::new(lhs), Input::new(rhs)];
        Sample::new(note, ANY, inputs, move |_| Operation::Compare {
            op,
            lhs: 0,
            rhs: Operand::Tensor(1),
            store,
        })
    };
    let scalar = Sample::new("by scalar", ANY, vec![Input::new(WIDE)], move |dtype| {
        Operation::Compare {
            op,
            lhs: 0,
            rhs: number(dtype).into(),
            store: BoolStore::Native,
        }
    });
    [
        tensors("of tensors", &WIDE, &WIDE, BoolStore::Native),
        tensors(
            "of row and column",
            &[2, 1, 19],
            &[1, 3, 1],
            BoolStore::Native,
        ),
        tensors("as u8", &WIDE, &WIDE, BoolStore::U8),
        tensors("as u32", &WIDE, &WIDE, BoolStore::U32),
        scalar,
    ]
    .map(|sample| {
        describe(sample)
            .edges([0.0, -0.0, 1.0, INF, -INF, NAN])
            .int_edges()
            .ints(0, 3)
    })
    .to_vec()
}

pub(super) fn samples() -> Vec<Sample> {
    macro_rules! ordered {
        ($op:ident, $relation:tt) => {
            variants(CompareOp::$op, |it| {
                it.on(NUMERIC).reference(|x: f64, y: f64| x $relation y).reference(|x: i128, y: i128| x $relation y)
            })
        };
    }
    macro_rules! equality {
        ($op:ident, $relation:tt) => {
            variants(CompareOp::$op, |it| {
                it.on(ANY)
                    .reference(|x: f64, y: f64| x $relation y)
                    .reference(|x: i128, y: i128| x $relation y)
                    .reference(|x: bool, y: bool| x $relation y)
            })
        };
    }
    [
        equality!(Equal, ==),
        equality!(NotEqual, !=),
        ordered!(Lower, <),
        ordered!(LowerEqual, <=),
        ordered!(Greater, >),
        ordered!(GreaterEqual, >=),
    ]
    .concat()
}
