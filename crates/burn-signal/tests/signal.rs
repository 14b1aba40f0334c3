//! Transforms against their definition in f64, and against their inverses.

use burn_signal::*;
use burn_tensor::{
    DType, Device, Distribution, Tensor, TensorCreationOptions, TensorData, Tolerance,
};
use std::f64::consts::PI;

fn dev() -> Device {
    Device::flex()
}

fn normal<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), (&dev(), DType::F64))
}

fn tensor<const D: usize>(data: impl Into<TensorData>) -> Tensor<D> {
    Tensor::from_data(data, (&dev(), DType::F64))
}

#[track_caller]
fn close<const D: usize>(found: Tensor<D>, expected: Tensor<D>, tolerance: f64) {
    let expected = expected.into_data().convert::<f64>();
    let found = found.into_data().convert::<f64>();
    found.assert_approx_eq::<f64>(&expected, Tolerance::rel_abs(tolerance, tolerance));
}

/// The definition, term by term.
fn defined(re: &[f64], im: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = re.len();
    let bin = |k: usize| {
        let (mut x, mut y) = (0.0, 0.0);
        for j in 0..n {
            let (sin, cos) = (-2.0 * PI * ((j * k) % n) as f64 / n as f64).sin_cos();
            x += re[j] * cos - im[j] * sin;
            y += re[j] * sin + im[j] * cos;
        }
        (x, y)
    };
    (0..n).map(bin).unzip()
}

/// Lengths that are one matrix, that split once and twice, with large factors, and a prime that is folded.
const LENGTHS: [usize; 16] = [
    1, 2, 3, 7, 8, 16, 60, 64, 65, 96, 100, 128, 131, 262, 293, 586,
];

#[test]
fn a_transform_is_that_of_its_definition() {
    for n in LENGTHS {
        let (re, im) = (normal([n]), normal([n]));
        let values = |x: &Tensor<1>| x.to_data().to_vec::<f64>().expect("f64");
        let (x, y) = defined(&values(&re), &values(&im));
        let (found_re, found_im) = cfft(re.clone(), im.clone(), 0, None);
        close(found_re.clone(), tensor(x.as_slice()), 1e-10);
        close(found_im.clone(), tensor(y.as_slice()), 1e-10);
        let (back_re, back_im) = icfft(found_re, found_im, 0, None);
        close(back_re, re.clone(), 1e-11);
        close(back_im, im, 1e-11);

        let (x, y) = defined(&values(&re), &vec![0.0; n]);
        let bins = n / 2 + 1;
        let (found_re, found_im) = rfft(re.clone(), 0, None);
        close(found_re.clone(), tensor(&x[..bins]), 1e-10);
        close(found_im.clone(), tensor(&y[..bins]), 1e-10);
        close(irfft(found_re, found_im, 0, Some(n)), re, 1e-11);
    }
}

#[test]
fn a_transform_runs_along_any_dim_and_is_cut_or_continued() {
    let x = normal([3, 10, 2]);
    let (re, im) = rfft(x.clone(), 1, Some(8));
    assert_eq!(re.dims(), [3, 5, 2]);
    let (lone_re, lone_im) = rfft(x.clone().narrow(1, 0, 8).swap_dims(1, 2), -1, None);
    close(re, lone_re.swap_dims(1, 2), 1e-12);
    close(im, lone_im.swap_dims(1, 2), 1e-12);
    let (re, im) = rfft(x.clone(), 1, Some(16));
    assert_eq!(re.dims(), [3, 9, 2]);
    let back = irfft(re.clone(), im.clone(), 1, None);
    close(back.clone().narrow(1, 0, 10), x, 1e-12);
    close(
        back.narrow(1, 10, 6),
        tensor(TensorData::zeros::<f64, _>([3, 6, 2])),
        1e-12,
    );
    assert_eq!(irfft(re, im, 1, Some(15)).dims(), [3, 15, 2]);
}

#[test]
fn the_imaginary_parts_of_the_ends_of_half_a_spectrum_do_not_count() {
    // x_j = (X_0 + (-1)^j X_2 + 2 Re(X_1 i^j)) / 4
    let x = irfft(
        tensor::<1>([4.0, 0.0, 8.0]),
        tensor([7.0, 2.0, 9.0]),
        0,
        None,
    );
    close(x, tensor([3.0, -2.0, 3.0, 0.0]), 1e-15);
}

#[test]
fn single_precision_keeps_its_digits_in_a_long_transform() {
    let x = normal([2, 4096]);
    let (re, im) = rfft(x.clone(), 1, None);
    let (found_re, found_im) = rfft(x.cast(DType::F32), 1, None);
    // Frequencies are about 64 = √4096 in size: 1e-6 of that.
    close(found_re, re, 6.4e-5);
    close(found_im, im, 6.4e-5);
}

#[test]
fn energy_flows_back_through_a_transform() {
    // Parseval: d(Σ|X|²)/dx = 2n·x
    let x = normal([9]).to_device(&dev().autodiff()).require_grad();
    let (re, im) = cfft(x.clone(), x.zeros_like(), 0, None);
    let grads = (re.square() + im.square()).sum().backward();
    let grad = x.grad(&grads).expect("tracked").without_autodiff();
    close(grad, x.detach().without_autodiff() * 18.0, 1e-12);
}

#[test]
fn windows_are_those_of_their_formulas() {
    let options = || TensorCreationOptions::from((&dev(), DType::F64));
    let window = |found: Tensor<1>, expected: &[f64]| close(found, tensor(expected), 1e-15);
    window(hann_window(4, true, options()), &[0.0, 0.5, 1.0, 0.5]);
    window(hann_window(5, false, options()), &[0.0, 0.5, 1.0, 0.5, 0.0]);
    window(hamming_window(4, true, options()), &[0.08, 0.54, 1.0, 0.54]);
    window(blackman_window(4, true, options()), &[0.0, 0.34, 1.0, 0.34]);
    window(hann_window(1, false, options()), &[1.0]);
    assert_eq!(hann_window(0, true, options()).dims(), [0]);
}

#[test]
fn a_spectrogram_goes_back_to_its_signal() {
    let signal = normal([2, 50]);
    let device = dev();
    for (onesided, center, win_length) in [
        (true, true, None),
        (false, true, Some(12)),
        (true, true, Some(13)),
    ] {
        let mut options = StftOptions::new(16);
        options.onesided = onesided;
        options.center = center;
        options.win_length = win_length;
        let window = hann_window(win_length.unwrap_or(16), true, (&device, DType::F64));
        let spectrogram = stft(signal.clone(), Some(window.clone()), options.clone());
        let bins = if onesided { 9 } else { 16 };
        assert_eq!(spectrogram.dims(), [2, 13, bins, 2]);
        let back = istft(spectrogram, Some(window), Some(48), options);
        close(back, signal.clone().narrow(1, 0, 48), 1e-12);
    }
}

#[test]
fn frames_are_where_the_options_say() {
    let signal = tensor::<2>([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]);
    let mut options = StftOptions::new(4);
    options.hop_length = 2;
    options.center = false;
    let sums = |options: StftOptions| {
        let spectrogram = stft(signal.clone(), None, options);
        let [_, frames, ..] = spectrogram.dims();
        // Frequency 0 is the sum of each frame.
        spectrogram
            .slice([0..1, 0..frames, 0..1, 0..1])
            .reshape([frames])
    };
    close(sums(options.clone()), tensor([10.0, 18.0]), 1e-14);
    options.center = true;
    // Mirrored at the ends: 3 2 | 1 2 3 4 5 6 | 5 4
    close(sums(options), tensor([8.0, 10.0, 18.0, 20.0]), 1e-14);
}

#[test]
fn the_last_dim_of_a_spectrogram_is_the_real_and_the_imaginary_part() {
    let mut options = StftOptions::new(4);
    options.center = false;
    // One frame: x = (0, 1, 0, 0), X_k = (-i)^k.
    let found = stft(tensor([[0.0, 1.0, 0.0, 0.0]]), None, options);
    close(
        found,
        tensor([[[[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]]]),
        1e-15,
    );
}

#[test]
#[should_panic(expected = "4 frequencies of 2 parts where frames of 8 have 5 of 2")]
fn frequencies_of_other_frames_are_refused() {
    istft(normal([1, 2, 4, 2]), None, None, StftOptions::new(8));
}
