//! Matrix products against sums in f64.

#![cfg(any(feature = "cpu", feature = "cuda", feature = "vulkan"))]

mod common;

use burn_backend::{Backend, FuseBackend, Group, Slot};
use burn_cubecl::{Cube, CubeDevice, CubeTensor};
use burn_ir::{BinaryOp, Described, MovementOp, Operation, SliceRange, TensorMeta, UnaryOp};
use burn_std::{DType, Scalar, TensorData, read_sync};
use common::device;

#[track_caller]
fn run(device: &CubeDevice, operation: Operation<CubeTensor>) -> CubeTensor {
    Cube::execute(device, operation.check().expect("legal")).one()
}

fn moved(device: &CubeDevice, op: MovementOp, input: CubeTensor) -> CubeTensor {
    run(device, Operation::Movement { op, input })
}

fn product(device: &CubeDevice, lhs: CubeTensor, rhs: CubeTensor) -> Vec<f64> {
    let output = run(device, Operation::Matmul { lhs, rhs });
    let data = read_sync(Cube::download(device, vec![output]))
        .expect("the device reads")
        .remove(0);
    data.convert::<f64>().to_vec().expect("just converted")
}

/// How an operand lies in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lies {
    Rows,
    Columns,
    /// A part of a larger matrix, at odd places.
    Inside,
    /// Every other column, from the last to the first.
    Backwards,
}

/// Matrices of the host, rounded to `dtype`, and the same on the device.
struct Operand {
    values: Vec<f64>,
    batch: usize,
    sizes: [usize; 2],
    tensor: CubeTensor,
}

impl Operand {
    fn new(device: &CubeDevice, dtype: DType, batch: usize, sizes: [usize; 2], lies: Lies) -> Self {
        let [rows, columns] = sizes;
        let seed = (rows * 31 + columns * 7 + batch) as u64;
        let values = random(batch * rows * columns, seed);
        Self::of(device, dtype, values, batch, sizes, lies)
    }

    fn of(
        device: &CubeDevice,
        dtype: DType,
        values: Vec<f32>,
        batch: usize,
        [rows, columns]: [usize; 2],
        lies: Lies,
    ) -> Self {
        let rounded = TensorData::new(values, [batch, rows, columns]).convert_dtype(dtype);
        let values: Vec<f64> = rounded
            .clone()
            .convert::<f64>()
            .to_vec()
            .expect("just converted");
        let at = |b: usize, row: usize, column: usize| values[(b * rows + row) * columns + column];
        // The sizes of the buffer, and what lies at a place in it.
        let (height, width) = match lies {
            Lies::Rows => (rows, columns),
            Lies::Columns => (columns, rows),
            Lies::Inside => (rows + 2, columns + 3),
            Lies::Backwards => (rows, 2 * columns),
        };
        let stored = (0..batch * height * width).map(|place| {
            let (b, y, x) = (
                place / width / height,
                place / width % height,
                place % width,
            );
            match lies {
                Lies::Rows => at(b, y, x),
                Lies::Columns => at(b, x, y),
                Lies::Inside if y < 1 || y > rows || x < 1 || x > columns => f64::NAN,
                Lies::Inside => at(b, y - 1, x - 1),
                Lies::Backwards if x % 2 == 0 => f64::NAN,
                Lies::Backwards => at(b, y, columns - 1 - x / 2),
            }
        });
        let data = TensorData::new(stored.collect::<Vec<f64>>(), [batch, height, width]);
        let whole = Cube::upload(device, data.convert_dtype(dtype));
        let select = |first: [usize; 3], step| {
            let [b, row, column] = first;
            let ranges = [(b, 1, batch), (row, 1, rows), (column, step, columns)]
                .map(|(start, step, len)| SliceRange { start, step, len });
            MovementOp::Slice {
                ranges: ranges.into(),
            }
        };
        let tensor = match lies {
            Lies::Rows => whole,
            Lies::Columns => {
                let axes = [0, 2, 1].into();
                moved(device, MovementOp::Permute { axes }, whole)
            }
            Lies::Inside => moved(device, select([0, 1, 1], 1), whole),
            Lies::Backwards => moved(device, select([0, 0, 2 * columns - 1], -2), whole),
        };
        Self {
            values,
            batch,
            sizes: [rows, columns],
            tensor,
        }
    }

    fn at(&self, batch: usize, row: usize, column: usize) -> f64 {
        let [rows, columns] = self.sizes;
        self.values[(batch % self.batch * rows + row) * columns + column]
    }
}

fn random(len: usize, mut seed: u64) -> Vec<f32> {
    let mut next = || {
        // Knuth's generator (The Art of Computer Programming 2, section 3.3.4, table 1, line 26).
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Compares elements all over the product, those of the last row and column among them.
///
/// The tolerance is for the sum, relative to the sum of the absolute values, and for its rounding to `dtype`. Sums in f32
/// stay below 2⁻²⁰; a product in tf32 would not.
#[track_caller]
fn check(device: &CubeDevice, dtype: DType, lhs: &Operand, rhs: &Operand, what: &str) {
    let ([m, k], [_, n]) = (lhs.sizes, rhs.sizes);
    let batch = lhs.batch.max(rhs.batch);
    let output = product(device, lhs.tensor.clone(), rhs.tensor.clone());
    assert_eq!(output.len(), batch * m * n);
    let rounding = match dtype {
        DType::BF16 => 2f64.powi(-8),
        DType::F16 => 2f64.powi(-11),
        _ => 0.0,
    };
    let picked = |len: usize| (0..len).filter(move |at| at % (len / 23 + 1) == 0 || at + 3 > len);
    for b in 0..batch {
        for row in picked(m) {
            for column in picked(n) {
                let terms = || (0..k).map(|at| lhs.at(b, row, at) * rhs.at(b, at, column));
                let (expected, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
                let actual = output[(b * m + row) * n + column];
                let limit = size * 2f64.powi(-20) + expected.abs() * rounding;
                assert!(
                    (actual - expected).abs() <= limit,
                    "{what} at {b}, {row}, {column}: {actual} is not {expected}"
                );
            }
        }
    }
}

/// The batches of both operands, then rows, inner dim and columns. Those marked with 0 work for more than a CPU should do
/// in a test.
fn shapes() -> Vec<[usize; 5]> {
    let mut shapes = vec![
        [1, 1, 64, 784, 10],
        [1, 1, 130, 70, 66],
        [1, 1, 1, 1000, 1024],
        [1, 1, 1, 777, 1001],
        [1, 1, 3, 1024, 96],
        [1, 1, 600, 1000, 1],
        [3, 1, 100, 64, 136],
        [1, 3, 70, 65, 72],
        [2, 2, 1, 300, 1024],
        [1, 1, 600, 1, 600],
        [1, 1, 65, 64, 63],
    ];
    if cfg!(feature = "cuda") {
        shapes.extend([
            [1, 1, 2048, 128, 2304],
            [1, 1, 2040, 136, 2312],
            [1, 1, 1500, 72, 1504],
            [1, 1, 1024, 512, 512],
            [7, 7, 200, 64, 136],
            [2, 2, 513, 257, 511],
            [1, 1, 1, 8192, 4096],
            [1, 1, 1, 8191, 1000],
            [1, 1, 4096, 1024, 1],
        ]);
    }
    shapes
}

fn check_all(dtype: DType) {
    let device = device();
    let layouts = [
        (Lies::Rows, Lies::Rows),
        (Lies::Rows, Lies::Columns),
        (Lies::Columns, Lies::Rows),
        (Lies::Columns, Lies::Columns),
        (Lies::Inside, Lies::Rows),
        (Lies::Rows, Lies::Inside),
        (Lies::Backwards, Lies::Backwards),
    ];
    // Each shape and layout is another kernel to compile, so a shape is for two layouts, and a layout for several shapes.
    for (place, [left, right, m, k, n]) in shapes().into_iter().enumerate() {
        for (lhs_lies, rhs_lies) in [0, 3].map(|at| layouts[(place + at) % layouts.len()]) {
            let lhs = Operand::new(&device, dtype, left, [m, k], lhs_lies);
            let rhs = Operand::new(&device, dtype, right, [k, n], rhs_lies);
            let what = format!("{dtype:?} {left},{right}: {m}x{k}x{n}, {lhs_lies:?}, {rhs_lies:?}");
            check(&device, dtype, &lhs, &rhs, &what);
        }
    }
}

#[test]
fn products_of_f32_are_those_of_f32_in_every_layout() {
    check_all(DType::F32);
}

#[test]
fn products_of_f16_are_summed_in_f32_in_every_layout() {
    check_all(DType::F16);
}

#[test]
fn products_of_bf16_are_summed_in_f32_in_every_layout() {
    if Cube::supports_dtype(&device(), DType::BF16) {
        check_all(DType::BF16);
    }
}

/// `tanh(lhs · rhs + bias)`, half of it in f32, and the product.
fn layer(inputs: &[CubeTensor; 3], batch: usize) -> Group {
    let metas: Vec<TensorMeta> = inputs.iter().map(|input| input.meta().clone()).collect();
    let [rows, columns] = [metas[0].shape[1], metas[1].shape[2]];
    let output = TensorMeta::new([batch, rows, columns], metas[0].dtype);
    let single = TensorMeta::new(output.shape.clone(), DType::F32);
    let mut group = Group::new(metas);
    let [lhs, rhs, bias] = [0, 1, 2].map(Slot);
    let product = group.step(Operation::Matmul { lhs, rhs }, output.clone());
    let add = Operation::Binary {
        op: BinaryOp::Add,
        lhs: product,
        rhs: burn_ir::Operand::Tensor(bias),
    };
    let input = group.step(add, output.clone());
    let op = UnaryOp::Tanh;
    let tanh = group.step(Operation::Unary { op, input }, output);
    let dtype = DType::F32;
    let wide = group.step(Operation::Cast { input: tanh, dtype }, single.clone());
    let half = Operation::Binary {
        op: BinaryOp::Mul,
        lhs: wide,
        rhs: Scalar::Float(0.5).into(),
    };
    let half = group.step(half, single);
    for slot in [tanh, half, product] {
        group.output(slot);
    }
    group
}

#[test]
fn a_product_in_a_group_gives_the_bits_of_the_steps() {
    let device = device();
    let dtypes = [DType::F32, DType::F16, DType::BF16];
    let layouts = [Lies::Rows, Lies::Columns, Lies::Inside];
    for (place, [left, right, m, k, n]) in shapes().into_iter().enumerate() {
        let dtype = dtypes[place % dtypes.len()];
        if !Cube::supports_dtype(&device, dtype) {
            continue;
        }
        let batch = left.max(right);
        let lies = layouts[place / 2 % layouts.len()];
        let operand = |batch, sizes, lies| Operand::new(&device, dtype, batch, sizes, lies).tensor;
        // A row, a column, and a matrix that may lie otherwise than the product.
        let bias = [[1, n], [m, 1], [m, n]][place % 4 % 3];
        let inputs = [
            operand(left, [m, k], Lies::Rows),
            operand(right, [k, n], Lies::Columns),
            operand(1, bias, lies),
        ];
        let group = layer(&inputs, batch);
        let mut values = inputs.to_vec();
        for step in group.steps() {
            let step = step.map_ref(&mut |slot| values[slot.0].clone());
            values.push(run(&device, step));
        }
        let steps = group.outputs().iter().map(|slot| values[slot.0].clone());
        let alone = read_sync(Cube::download(&device, steps.collect())).unwrap();
        let outputs = Cube::execute_group(&device, &group, inputs.to_vec());
        let outputs = read_sync(Cube::download(&device, outputs)).unwrap();
        let what = format!("{dtype:?} {left},{right}: {m}x{k}x{n}, {bias:?} {lies:?}");
        assert_eq!(outputs, alone, "{what}");
    }
}

#[test]
fn what_is_not_finite_comes_out_as_ieee_754_says() {
    let device = device();
    let [m, k, n] = [640, 80, 704];
    let mut left = vec![1.0f32; m * k];
    let mut right = vec![1.0f32; k * n];
    left[3 * k + 5] = f32::INFINITY;
    left[4 * k + 6] = f32::NEG_INFINITY;
    left[5 * k..6 * k].fill(f32::MAX);
    left[6 * k] = 1e38;
    right[7 * n + 9] = f32::NAN;
    right[5 * n + 10] = 0.0;
    right[n + 12] = f32::INFINITY;
    right[2 * n + 12] = f32::NEG_INFINITY;
    let lhs = Operand::of(&device, DType::F32, left, 1, [m, k], Lies::Rows);
    let rhs = Operand::of(&device, DType::F32, right, 1, [k, n], Lies::Rows);
    let output = product(&device, lhs.tensor, rhs.tensor);
    let at = |row: usize, column: usize| output[row * n + column];
    // 79 ones and an infinity.
    assert_eq!(at(3, 0), f64::INFINITY);
    assert_eq!(at(4, 0), f64::NEG_INFINITY);
    // ∞ · 0
    assert!(at(3, 10).is_nan());
    // 80 times the largest number is more than that.
    assert_eq!(at(5, 0), f64::INFINITY);
    // A large number is none too large.
    assert!((at(6, 0) / 1e38 - 1.0).abs() < 1e-6);
    // ∞ − ∞
    assert!(at(0, 12).is_nan());
    for row in 0..m {
        assert!(at(row, 9).is_nan());
        assert!(
            (3..7).contains(&row) || at(row, 11) == k as f64,
            "row {row}"
        );
    }
}

#[test]
fn transposed_copies_keep_their_elements() {
    let device = device();
    for dtype in [DType::F32, DType::F16, DType::I64, DType::U8] {
        for [batch, rows, columns] in [[1, 64, 64], [3, 65, 130], [2, 33, 16], [1, 200, 7]] {
            let len = batch * rows * columns;
            let values: Vec<i32> = (0..len as i32).map(|it| it % 127).collect();
            let data = TensorData::new(values, [batch, rows, columns]).convert_dtype(dtype);
            let input = Cube::upload(&device, data.clone());
            let axes = [0, 2, 1].into();
            let flipped = moved(&device, MovementOp::Permute { axes }, input);
            let flat = moved(
                &device,
                MovementOp::Reshape {
                    shape: [len].into(),
                },
                flipped,
            );
            let output = read_sync(Cube::download(&device, vec![flat]))
                .unwrap()
                .remove(0);
            let values: Vec<f64> = data.convert::<f64>().to_vec().unwrap();
            let output: Vec<f64> = output.convert::<f64>().to_vec().unwrap();
            for (place, value) in output.iter().enumerate() {
                let (b, x, y) = (place / rows / columns, place / rows % columns, place % rows);
                assert_eq!(
                    *value,
                    values[(b * rows + y) * columns + x],
                    "{dtype:?} at {place}"
                );
            }
        }
    }
}
