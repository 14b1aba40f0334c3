//! Joining, positions that are data, running values and order. Run with `cargo bench -p burn-flex --bench index`.

use burn_backend::Backend;
use burn_flex::{Flex, FlexDevice, FlexTensor};
use burn_ir::{IndexOp, Operation, ScanOp, SortOp};
use burn_std::rand::{SeedableRng, StdRng};
use burn_std::{Distribution, IndexingUpdateOp, IntDType, TensorData};
use divan::Bencher;

fn main() {
    divan::main();
}

fn floats<const D: usize>(shape: [usize; D]) -> FlexTensor {
    let mut rng = StdRng::seed_from_u64(1);
    let data = TensorData::random::<f32, _, _>(shape, Distribution::Default, &mut rng);
    Flex::upload(&FlexDevice, data)
}

/// Positions of a dim of `size` elements, far from one another.
fn positions<const D: usize>(shape: [usize; D], size: usize) -> FlexTensor {
    let count: usize = shape.iter().product();
    // The multiplier is that of Knuth 1998, section 6.4, for 32 bits.
    let at = |i: usize| (i as u64 * 2_654_435_761 % size as u64) as i32;
    let indices: Vec<i32> = (0..count).map(at).collect();
    Flex::upload(&FlexDevice, TensorData::new(indices, shape))
}

fn run(operation: Operation<FlexTensor>) -> FlexTensor {
    let checked = operation.check().expect("the benchmark is legal");
    Flex::execute(&FlexDevice, checked).one()
}

#[divan::bench]
fn cat_8_of_256x1024(bencher: Bencher) {
    let parts: Vec<FlexTensor> = (0..8).map(|_| floats([256, 1024])).collect();
    bencher.bench_local(|| {
        let inputs = parts.clone();
        run(Operation::Cat { dim: 0, inputs })
    });
}

#[divan::bench(args = [0, 1])]
fn gather_1024x1024(bencher: Bencher, dim: usize) {
    let (input, indices) = (floats([1024, 1024]), positions([1024, 1024], 1024));
    let op = IndexOp::Elements { dim };
    bencher.bench_local(|| {
        let (input, indices) = (input.clone(), indices.clone());
        run(Operation::Gather { op, input, indices })
    });
}

#[divan::bench]
fn select_4096_rows_of_32000x256(bencher: Bencher) {
    let (input, indices) = (floats([32_000, 256]), positions([4096], 32_000));
    let op = IndexOp::Select { dim: 0 };
    bencher.bench_local(|| {
        let (input, indices) = (input.clone(), indices.clone());
        run(Operation::Gather { op, input, indices })
    });
}

#[divan::bench]
fn add_4096_rows_to_1000x128(bencher: Bencher) {
    let (input, indices) = (floats([1000, 128]), positions([4096], 1000));
    let values = floats([4096, 128]);
    bencher.bench_local(|| {
        run(Operation::Scatter {
            op: IndexOp::Select { dim: 0 },
            mode: IndexingUpdateOp::Add,
            input: input.clone(),
            indices: indices.clone(),
            values: values.clone(),
        })
    });
}

#[divan::bench(args = [0, 1])]
fn cumsum_1024x1024(bencher: Bencher, dim: usize) {
    let input = floats([1024, 1024]);
    bencher.bench_local(|| {
        let (op, input) = (ScanOp::Sum, input.clone());
        run(Operation::Scan { op, dim, input })
    });
}

#[divan::bench(args = [SortOp::Values, SortOp::Indices { dtype: IntDType::I32 }])]
fn sort_1m(bencher: Bencher, op: SortOp) {
    sort(bencher, op, [1 << 20], 0, 1 << 20);
}

#[divan::bench]
fn sort_1024_lines_of_1024(bencher: Bencher) {
    sort(bencher, SortOp::Values, [1024, 1024], 1, 1024);
}

#[divan::bench]
fn largest_10_of_1024x1024(bencher: Bencher) {
    let dtype = IntDType::I32;
    sort(bencher, SortOp::Indices { dtype }, [1024, 1024], 1, 10);
}

fn sort<const D: usize>(bencher: Bencher, op: SortOp, shape: [usize; D], dim: usize, len: usize) {
    let input = floats(shape);
    bencher.bench_local(|| {
        run(Operation::Sort {
            op,
            dim,
            descending: len < shape[dim],
            len,
            input: input.clone(),
        })
    });
}
