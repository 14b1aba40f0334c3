//! Fourier transforms, windows and spectrograms.
//!
//! Everything here is a composition of tensor operations: a transform is a few matrix products with constant matrices,
//! so that it runs on every device, is captured, and has gradients of any order. A complex number is a pair of tensors,
//! its real and its imaginary part; in a spectrogram it is a last dim of 2. No instruction is added, and no backend is known here.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod dft;
mod fft;
mod stft;
mod window;

pub use fft::{cfft, icfft, irfft, rfft};
pub use stft::{StftOptions, istft, stft};
pub use window::{blackman_window, hamming_window, hann_window};
