//! Matrix products.

use super::NUMERIC;
use crate::{Input, Sample};
use burn_ir::Operation;

fn matmul(note: &str, lhs: &[usize], rhs: &[usize]) -> Sample {
    let inputs = vec![Input::new(lhs), Input::new(rhs)];
    Sample::new(note, NUMERIC, inputs, |_| Operation::Matmul {
        lhs: 0,
        rhs: 1,
    })
    .by_family()
    .int_edges()
    .smooth()
}

pub(super) fn samples() -> Vec<Sample> {
    vec![
        matmul("of matrices", &[5, 7], &[7, 3]),
        matmul("beyond a tile", &[19, 33], &[33, 17]),
        matmul("of row and column", &[1, 9], &[9, 1]),
        matmul("of column and row", &[4, 1], &[1, 6]),
        matmul("of batches", &[2, 3, 4, 5], &[2, 3, 5, 2]),
        matmul("of stretched batches", &[2, 1, 3, 4], &[1, 3, 4, 2]),
        matmul("of a stretched matrix", &[3, 4, 5], &[1, 5, 2]),
        matmul("over nothing", &[3, 0], &[0, 4]),
        matmul("without rows", &[0, 3], &[3, 4]),
        matmul("of no batches", &[0, 2, 3], &[0, 3, 2]),
    ]
}
