//! Selections and views of views against the naive model.

use burn_backend_tests::{Array, Num, assert_same_bits, read, reference, upload};
use burn_dispatch::run;
use burn_flex::device as flex;
use burn_ir::{MovementOp, Operation, SliceRange};
use burn_std::DType;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A legal selection in a dim of `size` from four free numbers.
fn range(size: usize, (start, step, len): (usize, isize, usize)) -> SliceRange {
    if size == 0 {
        return SliceRange {
            start: 0,
            step,
            len: 0,
        };
    }
    let start = start % size;
    let room = if step > 0 { size - 1 - start } else { start };
    SliceRange {
        start,
        step,
        len: len % (room / step.unsigned_abs() + 2),
    }
}

fn free() -> impl Strategy<Value = (usize, isize, usize)> {
    (0usize..64, prop_oneof![-4isize..0, 1isize..5], 0usize..64)
}

fn counted(sizes: &[usize]) -> Array {
    let mut next = 0;
    Array::from_fn(sizes.to_vec(), DType::I32, |_| {
        next += 1;
        Num::Int(next)
    })
}

/// Runs a movement on the device and in the model.
fn both(input: (burn_backend::Handle, Array), op: MovementOp) -> (burn_backend::Handle, Array) {
    let expected = reference::movement(&op, &input.1);
    let output = run(flex(), Operation::Movement { op, input: input.0 }).one();
    (output, expected)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(10_000),
        ..ProptestConfig::default()
    })]

    #[test]
    fn slices_of_permuted_slices_agree_with_the_model(
        sizes in prop::collection::vec(0usize..7, 0..4),
        first in prop::collection::vec(free(), 4),
        second in prop::collection::vec(free(), 4),
        turn in 0usize..4,
    ) {
        let device = flex();
        let input = counted(&sizes);
        let slice = |sizes: &[usize], numbers: &[(usize, isize, usize)]| MovementOp::Slice {
            ranges: sizes.iter().zip(numbers).map(|(size, numbers)| range(*size, *numbers)).collect(),
        };
        let sliced = both((upload(device, &input), input), slice(&sizes, &first));
        let rank = sizes.len();
        let axes = (0..rank).map(|dim| (dim + turn) % rank).collect();
        let permuted = both(sliced, MovementOp::Permute { axes });
        let op = slice(&permuted.1.shape, &second);
        let again = both(permuted, op);
        assert_same_bits(&read(again.0), &again.1.to_data());
    }
}
