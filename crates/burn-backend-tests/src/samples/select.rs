//! Elementwise choice by a mask.

use super::binary::number;
use super::{ANY, INF, NAN, NATIVE, WIDE};
use crate::array::Num;
use crate::sample::Reference;
use crate::{Input, Sample};
use burn_ir::{Operand, Operation};
use burn_std::{BoolStore, DType};
use std::sync::Arc;

fn mask(shape: &[usize], dtype: DType) -> Input {
    Input {
        dtype: Some(dtype),
        ..Input::new(shape)
    }
}

pub(super) fn samples() -> Vec<Sample> {
    let tensors = |note, inputs| {
        Sample::new(note, ANY, inputs, |_| Operation::Where {
            mask: 0,
            on_true: Operand::Tensor(1),
            on_false: Operand::Tensor(2),
        })
    };
    let values = || Input::new(WIDE);
    let with_mask = |dtype| vec![mask(&WIDE, dtype), values(), values()];
    [
        tensors("of tensors", with_mask(NATIVE)),
        tensors("by u8 mask", with_mask(DType::Bool(BoolStore::U8))),
        tensors("by u32 mask", with_mask(DType::Bool(BoolStore::U32))),
        tensors(
            "stretched",
            vec![
                mask(&[2, 1, 19], NATIVE),
                Input::new([1, 3, 1]),
                Input::new([1, 1, 19]),
            ],
        ),
        Sample::new(
            "of scalar and tensor",
            ANY,
            vec![mask(&WIDE, NATIVE), values()],
            |dtype| Operation::Where {
                mask: 0,
                on_true: number(dtype).into(),
                on_false: Operand::Tensor(1),
            },
        ),
        Sample::new(
            "of tensor and scalar",
            ANY,
            vec![mask(&WIDE, NATIVE), values()],
            |dtype| Operation::Where {
                mask: 0,
                on_true: Operand::Tensor(1),
                on_false: number(dtype).into(),
            },
        ),
    ]
    .map(|sample| {
        let choice = |numbers: &[Num]| match numbers[0] {
            Num::Bool(true) => numbers[1],
            _ => numbers[2],
        };
        sample
            .meaning(None, Reference::Pointwise(Arc::new(choice)))
            .edges([INF, NAN])
            .int_edges()
            .smooth()
    })
    .to_vec()
}
