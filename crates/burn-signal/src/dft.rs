//! The transform of rows, by matrix products.
//!
//! A length with factors is split (Cooley and Tukey 1965) until each part is a product with a small constant matrix; a
//! length without is turned into a convolution (Bluestein 1970). Constants are made in f64, from angles below one turn.

use alloc::vec::Vec;
use burn_tensor::{Device, Shape, Tensor, TensorData};
use core::f64::consts::PI;
use num_traits::Float;

/// A part up to this length is one matrix product.
const LARGEST_PART: usize = 64;

/// A length without factors up to this one is a matrix product too.
const LARGEST_PRIME: usize = 256;

/// Complex numbers; the imaginary part may be known to be 0.
#[derive(Clone)]
pub(crate) struct Complex {
    pub re: Tensor<3>,
    pub im: Option<Tensor<3>>,
}

impl Complex {
    fn map(self, f: impl Fn(Tensor<3>) -> Tensor<3>) -> Self {
        Self {
            re: f(self.re),
            im: self.im.map(f),
        }
    }

    fn conj(self) -> Self {
        Self {
            re: self.re,
            im: self.im.map(Tensor::neg),
        }
    }

    /// Products of a bilinear function of real tensors, extended to complex ones.
    fn product(self, other: Self, times: impl Fn(Tensor<3>, Tensor<3>) -> Tensor<3>) -> Self {
        let re = times(self.re.clone(), other.re.clone());
        match (self.im, other.im) {
            (None, None) => Self { re, im: None },
            (None, Some(im)) => Self {
                re,
                im: Some(times(self.re, im)),
            },
            (Some(im), None) => Self {
                re,
                im: Some(times(im, other.re)),
            },
            (Some(a), Some(b)) => Self {
                re: re.sub(times(a.clone(), b.clone())),
                im: Some(times(self.re, b).add(times(a, other.re))),
            },
        }
    }

    /// The imaginary part, as zeros if it is known to be 0.
    pub(crate) fn im(&self) -> Tensor<3> {
        match &self.im {
            Some(im) => im.clone(),
            None => self.re.zeros_like(),
        }
    }
}

/// Constants on the device and in the element type of `like`: `e^(2πi·turns)` for each of `turns`.
fn circle(like: &Tensor<3>, shape: [usize; 3], turns: impl Iterator<Item = f64>) -> Complex {
    let (mut re, mut im) = (Vec::new(), Vec::new());
    for turn in turns {
        let angle = 2.0 * PI * turn;
        re.push(Float::cos(angle));
        im.push(Float::sin(angle));
    }
    let device: Device = like.device().without_autodiff();
    let upload = |values| {
        Tensor::from_data(
            TensorData::new(values, Shape::new(shape)),
            (&device, like.dtype()),
        )
    };
    Complex {
        re: upload(re),
        im: Some(upload(im)),
    }
}

/// `i·k / n`, less whole turns, so that the angle is exact.
fn fraction(i: usize, k: usize, n: usize) -> f64 {
    ((i as u128 * k as u128) % n as u128) as f64 / n as f64
}

/// The transform of each row, `X_k = Σ_j x_j·e^(∓2πi·jk/n)`: minus for the forward direction. Not divided by `n`.
///
/// # Shapes
/// - `x`, output: `[1, rows, n]`
pub(crate) fn transform(x: Complex, forward: bool) -> Complex {
    match forward {
        true => backward(x.conj()).conj(),
        false => backward(x),
    }
}

fn backward(x: Complex) -> Complex {
    let [_, rows, n] = x.re.dims();
    if n < 2 {
        return x;
    }
    let split = (2..=LARGEST_PART)
        .rev()
        .find(|part| n % part == 0 && *part < n);
    if n <= LARGEST_PART || (split.is_none() && n <= LARGEST_PRIME) {
        let pairs = (0..n * n).map(|at| fraction(at / n, at % n, n));
        let matrix = circle(&x.re, [1, n, n], pairs);
        return x.product(matrix, Tensor::matmul);
    }
    let Some(part) = split else {
        return chirp(x);
    };
    // j = rest·j1 + j2 and k = k1 + part·k2: first over j1, for each row and j2.
    let rest = n / part;
    let folded = x.map(|x| x.reshape(Shape::new([rows, part, rest])));
    let pairs = (0..part * part).map(|at| fraction(at / part, at % part, part));
    let matrix = circle(&folded.re, [1, part, part], pairs);
    let inner = folded.product(matrix, |x, matrix| matrix.matmul(x));
    let twists = (0..n).map(|at| fraction(at / rest, at % rest, n));
    let twists = circle(&inner.re, [1, part, rest], twists);
    let twisted = inner.product(twists, Tensor::mul);
    // Then over j2, for each row and k1.
    let outer = backward(twisted.map(|x| x.reshape(Shape::new([1, rows * part, rest]))));
    outer.map(|x| {
        let places: Tensor<3> = x.reshape(Shape::new([rows, part, rest]));
        places.swap_dims(1, 2).reshape(Shape::new([1, rows, n]))
    })
}

/// By `jk = (j² + k² - (k - j)²) / 2`, a convolution with `e^(-πi·j²/n)` between two multiplications.
fn chirp(x: Complex) -> Complex {
    let [_, rows, n] = x.re.dims();
    let size = (2 * n - 1).next_power_of_two();
    // Half turns of j²/n: squares count modulo 2n.
    let half = |j: usize| fraction(j, j, 2 * n);
    let chirp = circle(&x.re, [1, 1, n], (0..n).map(half));
    let kernel = (0..size).map(|at| half(at.min(size - at)));
    let kernel = circle(&x.re, [1, 1, size], kernel).conj();
    // Zeros between the two ends: no product reaches them.
    let gap = (0..size).map(|at| f64::from(u8::from(at < n || at > size - n)));
    let gap = TensorData::new(gap.collect::<Vec<f64>>(), Shape::new([1, 1, size]));
    let device = x.re.device().without_autodiff();
    let gap = Tensor::<3>::from_data(gap, (&device, x.re.dtype()));
    let kernel = kernel.map(|part| part.mul(gap.clone()));
    let turned = x.product(chirp.clone(), Tensor::mul);
    let padded = turned.map(|x| x.pad([(0, size - n)], 0.0));
    let spectrum = backward(padded).product(backward(kernel), Tensor::mul);
    // The inverse of the transform that was used is the other direction over the size.
    let folded = transform(spectrum, true).map(|x| x.div_scalar(size as f64));
    let folded = folded.map(|x| x.slice([0..1, 0..rows, 0..n]));
    folded.product(chirp, Tensor::mul)
}
