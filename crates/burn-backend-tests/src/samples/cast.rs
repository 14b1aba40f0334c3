//! Element type conversion, from every type to every type.

use super::{ANY, INF, NAN, WIDE};
use crate::{Input, Sample};
use burn_ir::Operation;
use burn_std::DType;

pub(super) fn samples() -> Vec<Sample> {
    ANY.iter().map(|to| cast(*to)).collect()
}

fn cast(to: DType) -> Sample {
    let sample = Sample::new(
        format!("to {}", to.name()),
        ANY,
        vec![Input::new(WIDE)],
        move |_| Operation::Cast {
            input: 0,
            dtype: to,
        },
    )
    .by_family()
    .within(-300.0, 300.0)
    .ints(-300, 300)
    .edges([0.0, -0.0, 0.5, -0.5, 1e-9, 1e30, -1e30, INF, -INF, NAN])
    .int_edges();
    // Finite differences do not survive a narrower type.
    match to {
        DType::F64 => sample.smooth(),
        _ => sample,
    }
}
