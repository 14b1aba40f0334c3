//! Layers at their edges. What each computes is compared with a reference elsewhere.

use super::{ad, close, dev, equal, message};
use burn_tensor::module::*;
use burn_tensor::ops::*;
use burn_tensor::{Bool, DType, Int, Tensor, TensorData};

fn line(elems: &[f32]) -> Tensor<3> {
    Tensor::from_data(TensorData::new(elems.to_vec(), [1, 1, elems.len()]), &dev())
}

#[test]
fn a_transposed_convolution_fills_up_to_its_size() {
    let x = Tensor::<3>::from_data([[[1.0, 2.0, 3.0, 4.0]]], &ad()).require_grad();
    let w = Tensor::<3>::from_data([[[1.0, 2.0, 3.0]]], &ad()).require_grad();
    let options = ConvTransposeOptions::new([2], [1], [1], [1], 1);
    let y = conv_transpose1d(x.clone(), w.clone(), None, options);
    close(y.clone(), [[[2.0, 5.0, 4.0, 9.0, 6.0, 13.0, 8.0, 12.0]]]);
    let gradients = y.sum().backward();
    close(x.grad(&gradients).unwrap(), [[[5.0, 6.0, 6.0, 6.0]]]);
    close(w.grad(&gradients).unwrap(), [[[9.0, 10.0, 10.0]]]);
}

#[test]
fn padding_meets_infinite_weights_as_zeros_do() {
    for (channels, groups) in [(1, 1), (4, 1), (5, 1), (3, 3)] {
        let image = Tensor::<1, Int>::arange(1..10, &dev()).float();
        let x = image.reshape([1, 1, 3, 3]).repeat_dim(1, channels);
        let mut weight = vec![1.0f32; 9 * channels];
        weight
            .iter_mut()
            .step_by(9)
            .for_each(|x| *x = f32::NEG_INFINITY);
        let shape = [groups, channels / groups, 3, 3];
        let w = Tensor::<4>::from_data(TensorData::new(weight, shape), &dev());
        let y = conv2d(x, w, None, ConvOptions::new([1, 1], [1, 1], [1, 1], groups));
        for row in y
            .into_data()
            .convert::<f32>()
            .to_vec::<f32>()
            .unwrap()
            .chunks(9)
        {
            for (at, value) in row.iter().enumerate() {
                match at < 3 || at % 3 == 0 {
                    true => assert!(value.is_nan(), "{row:?}"),
                    false => assert_eq!(*value, f32::NEG_INFINITY, "{row:?}"),
                }
            }
        }
    }
}

#[test]
fn a_convolution_takes_padding_for_each_side() {
    let w = || line(&[1.0, 10.0]);
    let x = || line(&[1.0, 2.0, 3.0]);
    let padded = PaddedConvOptions::asymmetric([1], [2], [0], [1], 1);
    close(conv1d(x(), w(), None, padded), [[[0.0, 10.0, 21.0, 32.0]]]);
    let padded = ConvOptions::new_with_padding([1], [(0, 1)], [1], 1);
    close(conv1d(x(), w(), None, padded), [[[21.0, 32.0, 3.0]]]);
}

#[test]
fn a_convolution_of_nothing_is_its_bias_or_nothing() {
    let options = || ConvOptions::new([1], [0], [1], 1);
    let bias = || Some(Tensor::<1>::from_data([1.0, 2.0], &dev()));
    let none = conv1d(
        Tensor::zeros([0, 3, 5], &dev()),
        Tensor::zeros([2, 3, 2], &dev()),
        bias(),
        options(),
    );
    assert_eq!(none.dims(), [0, 2, 4]);
    let no_channels = conv1d(
        Tensor::zeros([1, 0, 3], &dev()),
        Tensor::zeros([2, 0, 2], &dev()),
        bias(),
        options(),
    );
    close(no_channels, [[[1.0, 1.0], [2.0, 2.0]]]);
}

#[test]
fn halves_are_summed_in_single_precision() {
    // In f16, 2048 + 1 is 2048.
    let ones = || Tensor::<3>::ones([1, 2050, 1], (&dev(), DType::F16));
    let y = conv1d(ones(), ones(), None, ConvOptions::new([1], [0], [1], 1));
    assert_eq!(y.dtype(), DType::F16);
    close(y, [[[2050.0]]]);
}

#[test]
fn a_window_that_is_cut_off_counts_if_it_starts_before_the_end() {
    let x = || line(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    let max = |size: usize, stride: usize, padding: usize| {
        let options = MaxPoolOptions::new([size])
            .with_stride([stride])
            .with_padding([padding])
            .with_ceil_mode(true);
        max_pool1d(x(), options)
    };
    close(max(2, 2, 0), [[[2.0, 4.0, 5.0]]]);
    close(max(2, 3, 1), [[[1.0, 4.0]]]);
    let avg = |padding: usize, counts: bool| {
        let options = AvgPoolOptions::new([2])
            .with_padding([padding])
            .with_ceil_mode(true)
            .with_count_include_pad(counts);
        avg_pool1d(x(), options)
    };
    close(avg(0, true), [[[1.5, 3.5, 5.0]]]);
    close(avg(1, true), [[[0.5, 2.5, 4.5]]]);
    close(avg(1, false), [[[1.0, 2.5, 4.5]]]);
}

#[test]
fn the_gradient_of_a_maximum_goes_where_it_was() {
    let x = Tensor::<4>::from_data(
        [[[
            [1.0, 9.0, 2.0, 8.0],
            [3.0, 7.0, 4.0, 6.0],
            [5.0, 0.0, 11.0, 10.0],
        ]]],
        &ad(),
    )
    .require_grad();
    let options = MaxPoolOptions::new([2, 2])
        .with_stride([1, 1])
        .with_dilation([1, 2]);
    let y = max_pool2d(x.clone(), options);
    close(y.clone(), [[[[4.0, 9.0], [11.0, 10.0]]]]);
    let upstream = Tensor::<4>::from_data([[[[1.0, 2.0], [3.0, 4.0]]]], &ad());
    let gradients = (y * upstream).backward();
    close(
        x.grad(&gradients).unwrap(),
        [[[
            [0.0, 2.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 3.0, 4.0],
        ]]],
    );
}

#[test]
fn a_maximum_says_where_it_is() {
    let nan = f32::NAN;
    let x = line(&[1.0, nan, 3.0, 3.0, 3.0, nan, nan]);
    let options = MaxPoolOptions::new([3]).with_stride([1]);
    let (values, indices) = max_pool1d_with_indices(x, options);
    equal(indices, [[[1, 1, 2, 5, 5]]]);
    let values = values.into_data().convert::<f32>().to_vec::<f32>().unwrap();
    let is_nan: Vec<bool> = values.iter().map(|x| x.is_nan()).collect();
    assert_eq!(
        (is_nan, values[2]),
        (vec![true, true, false, true, true], 3.0)
    );
}

#[test]
fn the_mean_of_equal_elements_is_that_element() {
    let x = Tensor::<4>::full([1, 1, 7, 7], 0.1, &dev());
    let means = avg_pool2d(x.clone(), AvgPoolOptions::new([3, 3]).with_stride([2, 2]));
    equal(means, TensorData::from([[[[0.1f32; 3]; 3]]]));
    equal(
        adaptive_avg_pool2d(x, [2, 3]),
        TensorData::from([[[[0.1f32; 3]; 2]]]),
    );
}

#[test]
fn lines_are_interpolated_as_their_mode_says() {
    // Checked with PyTorch 2 and, for Lanczos, with the formula in f64.
    let x = || Tensor::<4>::from_data([[[[1.0, 5.0, 2.0, 9.0, 4.0]]]], &dev());
    let resized = |mode, align_corners| {
        let options = InterpolateOptions::new(mode)
            .with_output_size([1, 7])
            .with_align_corners(align_corners);
        interpolate(x(), options)
    };
    close(
        resized(InterpolateMode::Nearest, false),
        [[[[1.0, 1.0, 5.0, 2.0, 2.0, 9.0, 4.0]]]],
    );
    close(
        resized(InterpolateMode::Bilinear, true),
        [[[[1.0, 3.6666667, 4.0, 2.0, 6.6666665, 7.333333, 4.0]]]],
    );
    close(
        resized(InterpolateMode::Bicubic, false),
        [[[[
            0.6851312, 3.6355686, 4.33965, 2.0, 7.568513, 7.6355686, 3.606414,
        ]]]],
    );
    close(
        resized(InterpolateMode::Lanczos3, false),
        [[[[
            0.6035084, 3.6322901, 4.2597137, 2.0, 7.67659, 7.487544, 3.4225347,
        ]]]],
    );
    let by_factor = InterpolateOptions::new(InterpolateMode::Nearest).with_scale_factor([2.0, 1.5]);
    assert_eq!(interpolate(x(), by_factor).dims(), [1, 1, 2, 7]);
}

#[test]
fn folding_counts_how_many_windows_an_element_is_in() {
    let options = || UnfoldOptions::new([1, 1], [0, 0], [1, 1]);
    let image = Tensor::<4>::ones([1, 1, 2, 3], &dev());
    let columns = unfold4d(image, [2, 2], options());
    assert_eq!(columns.dims(), [1, 4, 2]);
    let counts = fold4d(columns, [2, 3], [2, 2], options());
    close(counts, [[[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]]);
}

#[test]
fn normalization_of_large_numbers_keeps_their_differences() {
    let x = Tensor::<2>::from_data([[10000.0, 10000.5, 10001.0, 10001.5]], &dev());
    let gamma = Tensor::ones([4], &dev());
    let y = layer_norm(x, gamma, None, 1e-5);
    close(y, [[-1.3416193, -0.4472064, 0.4472064, 1.3416193]]);
}

#[test]
fn attention_and_its_definition_agree_and_a_blind_query_has_no_gradient() {
    let of = |fallback: bool| {
        let q = Tensor::<1, Int>::arange(0..24, &dev())
            .float()
            .mul_scalar(0.1);
        let q = Tensor::<4>::from_data(q.reshape([1, 2, 3, 4]).into_data(), &ad()).require_grad();
        let mask = Tensor::<4, Bool>::from_data([[[[true], [false], [false]]]], &ad());
        let options = AttentionModuleOptions {
            is_causal: true,
            softcap: Some(5.0),
            ..Default::default()
        };
        let run = if fallback {
            attention_fallback
        } else {
            attention
        };
        let y = run(q.clone(), q.clone(), q.clone(), Some(mask), None, options);
        let gradients = y.clone().sum().backward();
        (y.inner(), q.grad(&gradients).unwrap())
    };
    let ((y, gradient), (defined, of_definition)) = (of(false), of(true));
    close(y.clone(), defined.into_data());
    close(gradient.clone(), of_definition.into_data());
    assert!(!gradient.clone().is_nan().any().into_scalar::<bool>());
    close(y.narrow(2, 0, 1), TensorData::zeros::<f32, _>([1, 2, 1, 4]));
}

#[test]
fn a_grid_reads_between_and_beyond_elements() {
    // Checked with PyTorch 2.
    let image = || Tensor::<4>::from_data([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]], &dev());
    let grid = || {
        let places = [
            [-1.2f32, 0.0],
            [0.0, 0.0],
            [0.5, 0.5],
            [1.4, -1.3],
            [1.0, 1.0],
        ];
        Tensor::<4>::from_data([[places]], &dev())
    };
    let read = |mode, padding, align_corners| {
        let options = GridSampleOptions::new(mode)
            .with_padding_mode(padding)
            .with_align_corners(align_corners);
        image().grid_sample_2d(grid(), options)
    };
    use GridSamplePaddingMode::{Border, Reflection, Zeros};
    use InterpolateMode::{Bilinear, Nearest};
    close(
        read(Bilinear, Zeros, true),
        [[[[2.0, 3.5, 4.75, 1.53, 6.0]]]],
    );
    close(
        read(Bilinear, Zeros, false),
        [[[[0.5, 3.5, 5.75, 0.0, 1.5]]]],
    );
    close(
        read(Bilinear, Border, true),
        [[[[2.5, 3.5, 4.75, 3.0, 6.0]]]],
    );
    close(
        read(Bilinear, Reflection, true),
        [[[[2.7, 3.5, 4.75, 3.05, 6.0]]]],
    );
    close(
        read(Bilinear, Reflection, false),
        [[[[2.5, 3.5, 5.75, 2.9, 6.0]]]],
    );
    close(read(Nearest, Zeros, true), [[[[1.0, 2.0, 6.0, 3.0, 6.0]]]]);
    close(read(Nearest, Zeros, false), [[[[0.0, 2.0, 6.0, 0.0, 0.0]]]]);
    // At elements, cubic weights choose them.
    close(
        image().grid_sample_2d(
            Tensor::from_data([[[[-1.0, -1.0], [1.0, 1.0], [0.0, -1.0]]]], &dev()),
            GridSampleOptions::new(InterpolateMode::Bicubic).with_align_corners(true),
        ),
        [[[[1.0, 6.0, 2.0]]]],
    );
}

#[test]
fn a_deformed_convolution_without_offsets_is_a_convolution() {
    let numbers = |shape: [usize; 4], scale: f32| {
        let count = shape.iter().product::<usize>() as i64;
        let line = Tensor::<1, Int>::arange(0..count, &dev()).float();
        line.mul_scalar(scale).sin().reshape(shape)
    };
    let (x, w) = (numbers([2, 4, 5, 6], 0.7), numbers([4, 2, 3, 2], 0.3));
    let bias = || Some(Tensor::<1>::from_data([0.5, 1.0, -1.0, 2.0], &dev()));
    let options = DeformConvOptions::new([2, 1], [1, 0], [1, 2], 2, 2);
    let offset = Tensor::zeros([2, 2 * 6 * 2, 3, 4], &dev());
    let mask = Tensor::full([2, 2 * 6, 3, 4], 0.5, &dev());
    let bent = deform_conv2d(
        x.clone(),
        offset,
        w.clone(),
        Some(mask),
        None,
        options.clone(),
    );
    let plain = ConvOptions::new([2, 1], [1, 0], [1, 2], 2);
    let straight = conv2d(x.clone(), w.clone(), None, plain.clone());
    close(bent.mul_scalar(2.0), straight.into_data());
    // An offset of one row down is the image moved up.
    let down = Tensor::<1>::from_data([1.0, 0.0], &dev());
    let offset = down
        .reshape([1, 1, 2, 1])
        .repeat(&[2, 12, 1, 12])
        .reshape([2, 24, 3, 4]);
    let bent = deform_conv2d(x.clone(), offset, w.clone(), None, bias(), options);
    let moved = x.slice([0..2, 0..4, 1..5]).pad([(0, 1), (0, 0)], 0.0);
    // The row above the image is read as its first row now.
    let moved = conv2d(moved, w, bias(), plain);
    close(bent.narrow(2, 1, 2), moved.narrow(2, 1, 2).into_data());
}

#[test]
fn the_loss_of_a_spelling_is_over_all_ways_to_spell_it() {
    let probabilities = || {
        let half = |a: f32, b: f32, c: f32| [[a, b, c], [0.5, 0.25, 0.25]];
        Tensor::<3>::from_data(
            [
                half(0.2, 0.5, 0.3),
                half(0.4, 0.4, 0.2),
                half(0.1, 0.2, 0.7),
            ],
            &ad(),
        )
    };
    let targets = || Tensor::<2, Int>::from_data([[1, 2], [1, 1]], &ad());
    let lengths = |a: i64, b: i64| Tensor::<1, Int>::from_data([a, b], &ad());
    let loss =
        |inputs, letters| ctc_loss(probabilities().log(), targets(), inputs, letters, 0).inner();
    // 1 2 in three steps: 112, 122, 012, 102, 120.
    let ways: f32 =
        0.5 * 0.4 * 0.7 + 0.5 * 0.2 * 0.7 + 0.2 * 0.4 * 0.7 + 0.5 * 0.4 * 0.7 + 0.5 * 0.2 * 0.1;
    // 1 1 takes a blank between: 101.
    let repeated: f32 = 0.25 * 0.5 * 0.25;
    close(
        loss(lengths(3, 3), lengths(2, 2)),
        [-ways.ln(), -repeated.ln()],
    );
    // In two steps there is no way; nothing at all is blanks.
    close(
        loss(lengths(3, 2), lengths(0, 2)),
        [-(0.2f32 * 0.4 * 0.1).ln(), f32::INFINITY],
    );
    let p = probabilities().require_grad();
    let two = ctc_loss(p.clone().log(), targets(), lengths(3, 2), lengths(2, 2), 0);
    let gradient = p.grad(&two.narrow(0, 0, 1).sum().backward()).unwrap();
    assert!(!gradient.clone().is_nan().any().into_scalar::<bool>());
    // The loss falls with the last letter as 1 / its probability, but for the way that ends in a blank.
    let last = gradient.slice([2..3, 0..1, 2..3]).into_scalar::<f32>();
    let expected = -(ways - 0.5 * 0.2 * 0.1) / 0.7 / ways;
    assert!((last - expected).abs() < 1e-5, "{last} {expected}");
}

#[test]
fn what_does_not_fit_is_said() {
    let says = |text: &str, f: &dyn Fn()| {
        let message = message(f);
        assert!(message.contains(text), "{message}");
    };
    let image = || Tensor::<4>::zeros([1, 3, 4, 4], &dev());
    let zeros = |shape: [usize; 4]| Tensor::<4>::zeros(shape, &dev());
    let options = |groups| ConvOptions::new([1, 1], [0, 0], [1, 1], groups);
    says("does not fit spatial dim 0 of size 4", &|| {
        conv2d(image(), zeros([2, 3, 5, 1]), None, options(1));
    });
    says("3 channels in and 2 out do not fall into 2 groups", &|| {
        conv2d(image(), zeros([2, 3, 3, 1]), None, options(2));
    });
    says("`weight` has shape [2, 2, 3, 1]", &|| {
        conv2d(image(), zeros([2, 2, 3, 1]), None, options(1));
    });
    says("[4, 4] elements are to become [10, 8]", &|| {
        let options = ConvTransposeOptions::new([2, 2], [0, 0], [2, 0], [1, 1], 1);
        conv_transpose2d(image(), zeros([3, 1, 2, 2]), None, options);
    });
    says("hold nothing but padding", &|| {
        let options = MaxPoolOptions::new([2, 2]).with_padding([2, 0]);
        max_pool2d(image(), options);
    });
    says("the options have no size", &|| {
        interpolate(image(), InterpolateOptions::new(InterpolateMode::Nearest));
    });
    says("do not fit with DeformConvOptions", &|| {
        let options = DeformConvOptions::new([1, 1], [0, 0], [1, 1], 1, 1);
        deform_conv2d(
            image(),
            zeros([1, 2, 4, 4]),
            zeros([1, 3, 2, 2]),
            None,
            None,
            options,
        );
    });
}
