//! Spectrograms: the frequencies of windows that slide over a signal, and the signal of such frequencies.

use crate::{cfft, icfft, irfft, rfft};
use alloc::vec;
use burn_tensor::ops::PadMode;
use burn_tensor::{Shape, Tensor};

/// How a signal is cut into frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StftOptions {
    /// Elements of a frame, and of its transform.
    pub n_fft: usize,
    /// Elements from the start of a frame to that of the next.
    pub hop_length: usize,
    /// Elements of the window, which lies in the middle of the frame; by default all.
    pub win_length: Option<usize>,
    /// Whether frames are centred on multiples of `hop_length`; the signal is mirrored at its ends then.
    pub center: bool,
    /// Whether only the first `n_fft / 2 + 1` frequencies are meant; the others are their conjugates.
    pub onesided: bool,
}

impl StftOptions {
    /// Centred frames that overlap by three quarters, and one side of their frequencies.
    pub fn new(n_fft: usize) -> Self {
        Self {
            n_fft,
            hop_length: (n_fft / 4).max(1),
            win_length: None,
            center: true,
            onesided: true,
        }
    }

    fn bins(&self) -> usize {
        match self.onesided {
            true => self.n_fft / 2 + 1,
            false => self.n_fft,
        }
    }

    /// The weights of a frame: the window in the middle, zeros around it.
    #[track_caller]
    fn weights(&self, operation: &str, window: Option<Tensor<1>>, like: &Tensor<2>) -> Tensor<1> {
        let (n, hop) = (self.n_fft, self.hop_length);
        assert!(
            n > 0 && hop > 0,
            "`{operation}`: frames of {n} elements every {hop}\n  legal: at least 1 of both"
        );
        let size = self.win_length.unwrap_or(n);
        let window = window.unwrap_or_else(|| {
            Tensor::ones([size], (&like.device().without_autodiff(), like.dtype()))
        });
        let found = window.dims()[0];
        assert!(
            found == size && size <= n,
            "`{operation}`: a window of {found} elements, {size} asked for, in frames of {n}\n  legal: the window of the options, at most a frame"
        );
        let before = (n - size) / 2;
        window.pad([(before, n - size - before)], 0.0)
    }
}

impl Default for StftOptions {
    /// Frames of 400 elements: 25 ms at 16 kHz.
    fn default() -> Self {
        Self::new(400)
    }
}

/// The short-time Fourier transform: the frequencies of windows that slide over a signal.
///
/// # Shapes
/// - `signal`: `[batch, samples]`
/// - `window`: `[win_length]`, ones by default
/// - output: `[batch, frames, frequencies, 2]`, with the real and the imaginary part in the last dim
///
/// # Panics
/// If the signal is shorter than a frame, or too short to be mirrored at its ends.
#[track_caller]
pub fn stft(signal: Tensor<2>, window: Option<Tensor<1>>, options: StftOptions) -> Tensor<4> {
    let weights = options.weights("stft", window, &signal);
    let (n, half) = (options.n_fft, options.n_fft / 2);
    let signal = match options.center {
        true => signal.pad([(half, half)], PadMode::Reflect),
        false => signal,
    };
    let samples = signal.dims()[1];
    assert!(
        samples >= n,
        "`stft`: a signal of {samples} samples has no frame of {n}\n  legal: at least a frame"
    );
    let frames: Tensor<3> = signal.unfold(1, n, options.hop_length);
    let frames = frames.mul(weights.reshape(Shape::new([1, 1, n])));
    let (re, im) = match options.onesided {
        true => rfft(frames, 2, None),
        false => cfft(frames.clone(), frames.zeros_like(), 2, None),
    };
    Tensor::stack(vec![re, im], 3)
}

/// The signal of short-time frequencies: the inverse of [`stft`], by overlapping frames weighted by the window and
/// divided by the sum of its squares (Griffin and Lim 1984, equation 6). Samples that no window sees are 0.
///
/// `length` is the number of samples, by default those that the frames cover.
///
/// # Shapes
/// - `stft_matrix`: `[batch, frames, frequencies, 2]`
/// - `window`: `[win_length]`, ones by default
/// - output: `[batch, samples]`
///
/// # Panics
/// If the number of frequencies is not that of the options, or the last dim is not 2.
#[track_caller]
pub fn istft(
    stft_matrix: Tensor<4>,
    window: Option<Tensor<1>>,
    length: Option<usize>,
    options: StftOptions,
) -> Tensor<2> {
    let [batch, count, found, parts] = stft_matrix.dims();
    let (n, bins) = (options.n_fft, options.bins());
    assert!(
        found == bins && parts == 2,
        "`istft`: {found} frequencies of {parts} parts where frames of {n} have {bins} of 2\n  legal: [batch, frames, {bins}, 2]"
    );
    let part = |at| {
        let part = stft_matrix.clone().narrow(3, at, 1);
        part.reshape(Shape::new([batch, count, bins]))
    };
    let (re, im): (Tensor<3>, Tensor<3>) = (part(0), part(1));
    let like: Tensor<2> = re.clone().reshape(Shape::new([batch * count, bins]));
    let weights = options.weights("istft", window, &like);
    let frames = match options.onesided {
        true => irfft(re, im, 2, Some(n)),
        false => icfft(re, im, 2, None).0,
    };
    let row = weights.reshape(Shape::new([1, 1, n]));
    let total = overlap(frames.mul(row.clone()), options.hop_length);
    let squares = row.square().expand([1, count, n]);
    let squares = overlap(squares, options.hop_length);
    let unseen = squares.clone().lower_scalar(1e-11);
    let samples = total
        .div(squares.mask_fill(unseen.clone(), 1))
        .mask_fill(unseen, 0);
    let start = if options.center { n / 2 } else { 0 };
    let covered = samples.dims()[1];
    let length = length.unwrap_or(covered.saturating_sub(2 * start));
    let end = covered.min(start + length);
    let samples = samples.slice_dim(1, start as i64..end as i64);
    samples.pad([(0, length - (end - start))], 0.0)
}

/// The sum of frames `[batch, frames, n]` that start every `hop` samples.
fn overlap(frames: Tensor<3>, hop: usize) -> Tensor<2> {
    let [batch, count, n] = frames.dims();
    // Pieces of `hop` samples: piece `j` of frame `i` lies at `i + j`.
    let pieces = n.div_ceil(hop);
    let padded = frames.pad([(0, pieces * hop - n)], 0.0);
    let piece = |j: usize| {
        let piece = padded
            .clone()
            .slice_dim(2, (j * hop) as i64..((j + 1) * hop) as i64);
        piece.pad([(j, pieces - 1 - j), (0, 0)], 0.0)
    };
    let total = (1..pieces).fold(piece(0), |total, j| total.add(piece(j)));
    let samples: Tensor<2> = total.reshape(Shape::new([batch, (count + pieces - 1) * hop]));
    samples.slice_dim(1, 0..((count - 1) * hop + n) as i64)
}
