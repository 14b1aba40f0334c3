//! Transforms along a dim of any tensor.

use crate::dft::{Complex, transform};
use alloc::vec::Vec;
use burn_tensor::{AsIndex, DType, FloatDType, Shape, Tensor};

/// A dim as the rows of a matrix, and what brings the result back.
struct Rows {
    shape: Vec<usize>,
    dim: usize,
    dtype: DType,
}

impl Rows {
    #[track_caller]
    fn of<const D: usize>(operation: &str, input: &Tensor<D>, dim: impl AsIndex) -> Self {
        let given = dim.index();
        let Ok(dim) = burn_tensor::wrap_dim(given, D) else {
            panic!("`{operation}`: there is no dim {given}\n  legal: a dim in -{D}..{D}")
        };
        let mut shape = input.shape().to_vec();
        shape.swap(dim, D - 1);
        Self {
            shape,
            dim,
            dtype: input.dtype(),
        }
    }

    /// The dim as rows of `n` elements, cut or continued by zeros, in f32 at least.
    fn take<const D: usize>(&self, input: Tensor<D>, n: usize) -> Tensor<3> {
        let input = match self.dtype {
            DType::F16 | DType::BF16 => input.cast(FloatDType::F32),
            _ => input,
        };
        let input = input.swap_dims(self.dim, D - 1);
        let found = self.shape[D - 1];
        let fitted = match found >= n {
            true => input.slice_dim(D - 1, 0..n as i64),
            false => input.pad([(0, n - found)], 0.0),
        };
        fitted.reshape(Shape::new([1, self.count(), n]))
    }

    fn count(&self) -> usize {
        self.shape[..self.shape.len() - 1].iter().product()
    }

    /// Rows of `n` elements as the dim again.
    fn back<const D: usize>(&self, rows: Tensor<3>, n: usize) -> Tensor<D> {
        let mut shape = self.shape.clone();
        shape[D - 1] = n;
        let output: Tensor<D> = rows.reshape(Shape::from(shape));
        output.swap_dims(self.dim, D - 1).cast(self.dtype)
    }
}

/// The length of a transform: `n`, or else what the input has.
#[track_caller]
fn length(operation: &str, n: Option<usize>, found: usize) -> usize {
    let n = n.unwrap_or(found);
    assert!(
        n > 0,
        "`{operation}`: a transform of 0 elements\n  legal: at least 1 element"
    );
    n
}

/// The first `n / 2 + 1` frequencies of a real signal along `dim`; the others are their conjugates.
///
/// `n` is the length of the signal, which is cut or continued by zeros; by default the size of the dim.
///
/// # Shapes
/// - `signal`: `[…, size, …]`
/// - output: the real and the imaginary part, `[…, n / 2 + 1, …]`
#[track_caller]
pub fn rfft<const D: usize>(
    signal: Tensor<D>,
    dim: impl AsIndex,
    n: Option<usize>,
) -> (Tensor<D>, Tensor<D>) {
    let rows = Rows::of("rfft", &signal, dim);
    let n = length("rfft", n, rows.shape[D - 1]);
    let signal = Complex {
        re: rows.take(signal, n),
        im: None,
    };
    let output = transform(signal, true);
    let bins = n / 2 + 1;
    let half = |x: Tensor<3>| rows.back(x.slice_dim(2, 0..bins as i64), bins);
    (half(output.re.clone()), half(output.im()))
}

/// The real signal of the first `n / 2 + 1` frequencies along `dim`: the inverse of [`rfft`].
///
/// `n` is the length of the signal, by default `2·(size - 1)`. Frequencies beyond it are left out, missing ones are 0,
/// and the imaginary parts of the first and, for even `n`, the last one count as 0.
///
/// # Shapes
/// - `real`, `imaginary`: `[…, size, …]`
/// - output: `[…, n, …]`
///
/// # Panics
/// If the two parts have different shapes, or `n` is 0.
#[track_caller]
pub fn irfft<const D: usize>(
    real: Tensor<D>,
    imaginary: Tensor<D>,
    dim: impl AsIndex,
    n: Option<usize>,
) -> Tensor<D> {
    same_shape("irfft", &real, &imaginary);
    let rows = Rows::of("irfft", &real, dim);
    let n = length("irfft", n, 2 * rows.shape[D - 1].saturating_sub(1));
    let bins = n / 2 + 1;
    // The frequencies from the last to n / 2 + 1 are the conjugates of 1 to (n - 1) / 2.
    let mirrored = (n - 1) / 2;
    let whole = |part: Tensor<3>, conjugate: bool| {
        let mirror = part.clone().slice_dim(2, 1..1 + mirrored as i64).flip([2]);
        let mirror = if conjugate { mirror.neg() } else { mirror };
        Tensor::cat(alloc::vec![part, mirror], 2)
    };
    let spectrum = Complex {
        re: whole(rows.take(real, bins), false),
        im: Some(whole(rows.take(imaginary, bins), true)),
    };
    let signal = transform(spectrum, false).re.div_scalar(n as f64);
    rows.back(signal, n)
}

/// The frequencies of a complex signal along `dim`: `X_k = Σ_j x_j·e^(-2πi·jk/n)`.
///
/// `n` is the length of the signal, which is cut or continued by zeros; by default the size of the dim.
///
/// # Shapes
/// - `real`, `imaginary`: `[…, size, …]`
/// - output: the real and the imaginary part, `[…, n, …]`
///
/// # Panics
/// If the two parts have different shapes, or `n` is 0.
#[track_caller]
pub fn cfft<const D: usize>(
    real: Tensor<D>,
    imaginary: Tensor<D>,
    dim: impl AsIndex,
    n: Option<usize>,
) -> (Tensor<D>, Tensor<D>) {
    same_shape("cfft", &real, &imaginary);
    let rows = Rows::of("cfft", &real, dim);
    let n = length("cfft", n, rows.shape[D - 1]);
    complex(&rows, real, imaginary, n, true)
}

/// The complex signal of frequencies along `dim`: the inverse of [`cfft`].
///
/// `n` is the length of the signal; frequencies beyond it are left out, missing ones are 0. By default it is the size of
/// the dim.
///
/// # Shapes
/// - `real`, `imaginary`: `[…, size, …]`
/// - output: the real and the imaginary part, `[…, n, …]`
///
/// # Panics
/// If the two parts have different shapes, or `n` is 0.
#[track_caller]
pub fn icfft<const D: usize>(
    real: Tensor<D>,
    imaginary: Tensor<D>,
    dim: impl AsIndex,
    n: Option<usize>,
) -> (Tensor<D>, Tensor<D>) {
    same_shape("icfft", &real, &imaginary);
    let rows = Rows::of("icfft", &real, dim);
    let n = length("icfft", n, rows.shape[D - 1]);
    let (re, im) = complex(&rows, real, imaginary, n, false);
    (re.div_scalar(n as f64), im.div_scalar(n as f64))
}

fn complex<const D: usize>(
    rows: &Rows,
    real: Tensor<D>,
    imaginary: Tensor<D>,
    n: usize,
    forward: bool,
) -> (Tensor<D>, Tensor<D>) {
    let signal = Complex {
        re: rows.take(real, n),
        im: Some(rows.take(imaginary, n)),
    };
    let output = transform(signal, forward);
    (rows.back(output.re.clone(), n), rows.back(output.im(), n))
}

#[track_caller]
fn same_shape<const D: usize>(operation: &str, real: &Tensor<D>, imaginary: &Tensor<D>) {
    assert!(
        real.shape() == imaginary.shape(),
        "`{operation}`: real parts of shape {} and imaginary parts of shape {}\n  legal: one shape",
        real.shape(),
        imaginary.shape()
    );
}
