//! Options of convolutions, pools, interpolation and sampling.

/// How the window of a convolution slides, in `N` spatial dims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConvOptions<const N: usize> {
    /// Elements from one window to the next.
    pub stride: [usize; N],
    /// Zeros before and after each dim.
    pub padding: [(usize, usize); N],
    /// Elements from one weight to the next.
    pub dilation: [usize; N],
    /// Parts of the channels that do not see each other.
    pub groups: usize,
}

impl<const N: usize> ConvOptions<N> {
    /// Options with as many zeros after a dim as before it.
    pub fn new(
        stride: [usize; N],
        padding: [usize; N],
        dilation: [usize; N],
        groups: usize,
    ) -> Self {
        Self::new_with_padding(stride, pairs(padding), dilation, groups)
    }

    /// Options with zeros before and after each dim.
    pub fn new_with_padding(
        stride: [usize; N],
        padding: [(usize, usize); N],
        dilation: [usize; N],
        groups: usize,
    ) -> Self {
        Self {
            stride,
            padding,
            dilation,
            groups,
        }
    }

    /// Whether a dim has other zeros after it than before it.
    pub fn is_asymmetric(&self) -> bool {
        asymmetric(&self.padding)
    }

    /// Zeros before each dim.
    pub fn padding_begin(&self) -> [usize; N] {
        self.padding.map(|(before, _)| before)
    }

    /// Zeros after each dim.
    pub fn padding_end(&self) -> [usize; N] {
        self.padding.map(|(_, after)| after)
    }

    /// Zeros on either side of each dim.
    ///
    /// # Panics
    /// If the sides differ.
    #[track_caller]
    pub fn symmetric_padding(&self) -> [usize; N] {
        assert!(
            !self.is_asymmetric(),
            "the padding {:?} differs between sides",
            self.padding
        );
        self.padding_begin()
    }
}

/// [`ConvOptions`] with the zeros after each dim apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PaddedConvOptions<const N: usize> {
    /// The options; of the padding, what is before each dim counts.
    pub options: ConvOptions<N>,
    /// Zeros after each dim, where they differ from those before it.
    pub padding_end: Option<[usize; N]>,
}

impl<const N: usize> PaddedConvOptions<N> {
    /// Options with zeros before and after each dim.
    pub fn asymmetric(
        stride: [usize; N],
        padding_start: [usize; N],
        padding_end: [usize; N],
        dilation: [usize; N],
        groups: usize,
    ) -> Self {
        Self {
            options: ConvOptions::new(stride, padding_start, dilation, groups),
            padding_end: (padding_start != padding_end).then_some(padding_end),
        }
    }

    /// Whether a dim has other zeros after it than before it.
    pub fn is_asymmetric(&self) -> bool {
        self.padding_end.is_some() || self.options.is_asymmetric()
    }
}

impl<const N: usize> From<ConvOptions<N>> for PaddedConvOptions<N> {
    fn from(options: ConvOptions<N>) -> Self {
        Self {
            padding_end: options.is_asymmetric().then(|| options.padding_end()),
            options,
        }
    }
}

impl<const N: usize> From<PaddedConvOptions<N>> for ConvOptions<N> {
    fn from(padded: PaddedConvOptions<N>) -> Self {
        let mut options = padded.options;
        if let Some(after) = padded.padding_end {
            for (pair, after) in options.padding.iter_mut().zip(after) {
                pair.1 = after;
            }
        }
        options
    }
}

/// How the window of a transposed convolution slides, in `N` spatial dims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConvTransposeOptions<const N: usize> {
    /// Elements of the output from one element of the input to the next.
    pub stride: [usize; N],
    /// Elements cut from either side of each dim of the output.
    pub padding: [usize; N],
    /// Elements more at the end of each dim of the output.
    pub padding_out: [usize; N],
    /// Elements from one weight to the next.
    pub dilation: [usize; N],
    /// Parts of the channels that do not see each other.
    pub groups: usize,
}

impl<const N: usize> ConvTransposeOptions<N> {
    /// Options from their parts.
    pub fn new(
        stride: [usize; N],
        padding: [usize; N],
        padding_out: [usize; N],
        dilation: [usize; N],
        groups: usize,
    ) -> Self {
        Self {
            stride,
            padding,
            padding_out,
            dilation,
            groups,
        }
    }
}

/// How the window of a deformable convolution slides, in `N` spatial dims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeformConvOptions<const N: usize> {
    /// Elements from one window to the next.
    pub stride: [usize; N],
    /// Zeros on either side of each dim.
    pub padding: [usize; N],
    /// Elements from one weight to the next.
    pub dilation: [usize; N],
    /// Parts of the channels that do not see each other.
    pub weight_groups: usize,
    /// Parts of the channels with offsets of their own.
    pub offset_groups: usize,
}

impl<const N: usize> DeformConvOptions<N> {
    /// Options from their parts.
    pub fn new(
        stride: [usize; N],
        padding: [usize; N],
        dilation: [usize; N],
        weight_groups: usize,
        offset_groups: usize,
    ) -> Self {
        Self {
            stride,
            padding,
            dilation,
            weight_groups,
            offset_groups,
        }
    }
}

/// How the windows of a mean slide, in `N` spatial dims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AvgPoolOptions<const N: usize> {
    /// Elements in a window.
    pub kernel_size: [usize; N],
    /// Elements from one window to the next; those of a window by default.
    pub stride: [usize; N],
    /// Zeros before and after each dim.
    pub padding: [(usize, usize); N],
    /// Whether zeros around the input count as elements; they do by default.
    pub count_include_pad: bool,
    /// Whether a window that is cut off at the end counts.
    pub ceil_mode: bool,
}

/// How the windows of a maximum slide, in `N` spatial dims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MaxPoolOptions<const N: usize> {
    /// Elements in a window.
    pub kernel_size: [usize; N],
    /// Elements from one window to the next; those of a window by default.
    pub stride: [usize; N],
    /// Elements that are never the largest before and after each dim.
    pub padding: [(usize, usize); N],
    /// Elements from one of a window to the next.
    pub dilation: [usize; N],
    /// Whether a window that is cut off at the end counts.
    pub ceil_mode: bool,
}

macro_rules! pool {
    ($name:ident { $($field:ident: $default:expr),* }) => {
        impl<const N: usize> $name<N> {
            /// Windows side by side.
            pub fn new(kernel_size: [usize; N]) -> Self {
                Self {
                    kernel_size,
                    stride: kernel_size,
                    padding: [(0, 0); N],
                    ceil_mode: false,
                    $($field: $default),*
                }
            }

            /// With this many elements from one window to the next.
            pub fn with_stride(self, stride: [usize; N]) -> Self {
                Self { stride, ..self }
            }

            /// With this many elements around each dim.
            pub fn with_padding(self, padding: [usize; N]) -> Self {
                self.with_padding_pairs(pairs(padding))
            }

            /// With elements before and after each dim.
            pub fn with_padding_pairs(self, padding: [(usize, usize); N]) -> Self {
                Self { padding, ..self }
            }

            /// Whether a window that is cut off at the end counts.
            pub fn with_ceil_mode(self, ceil_mode: bool) -> Self {
                Self { ceil_mode, ..self }
            }

            /// Whether a dim has another padding after it than before it.
            pub fn is_asymmetric(&self) -> bool {
                asymmetric(&self.padding)
            }
        }
    };
}

pool!(AvgPoolOptions {
    count_include_pad: true
});
pool!(MaxPoolOptions { dilation: [1; N] });

impl<const N: usize> AvgPoolOptions<N> {
    /// Whether zeros around the input count as elements.
    pub fn with_count_include_pad(self, count_include_pad: bool) -> Self {
        Self {
            count_include_pad,
            ..self
        }
    }
}

impl<const N: usize> MaxPoolOptions<N> {
    /// With this many elements from one of a window to the next.
    pub fn with_dilation(self, dilation: [usize; N]) -> Self {
        Self { dilation, ..self }
    }
}

/// How windows become columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnfoldOptions {
    /// Elements from one window to the next.
    pub stride: [usize; 2],
    /// Zeros on either side of each dim.
    pub padding: [usize; 2],
    /// Elements from one of a window to the next.
    pub dilation: [usize; 2],
}

impl UnfoldOptions {
    /// Options from their parts.
    pub fn new(stride: [usize; 2], padding: [usize; 2], dilation: [usize; 2]) -> Self {
        Self {
            stride,
            padding,
            dilation,
        }
    }
}

/// How values between elements come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InterpolateMode {
    /// The element below.
    Nearest,
    /// The element nearest to the centre.
    NearestExact,
    /// A line between two elements, in each dim.
    Bilinear,
    /// A cubic convolution of four elements with `a = -0.75`, in each dim (Keys 1981).
    Bicubic,
    /// A windowed sinc of six elements, in each dim (Lanczos; Duchon 1979).
    Lanczos3,
}

impl InterpolateMode {
    /// [`InterpolateMode::Nearest`]
    pub fn new_nearest() -> Self {
        Self::Nearest
    }

    /// [`InterpolateMode::NearestExact`]
    pub fn new_nearest_exact() -> Self {
        Self::NearestExact
    }

    /// [`InterpolateMode::Bilinear`]
    pub fn new_bilinear() -> Self {
        Self::Bilinear
    }

    /// [`InterpolateMode::Bicubic`]
    pub fn new_bicubic() -> Self {
        Self::Bicubic
    }

    /// [`InterpolateMode::Lanczos3`]
    pub fn new_lanczos3() -> Self {
        Self::Lanczos3
    }
}

/// How an image gets another size.
#[derive(Clone, Debug, PartialEq)]
pub struct InterpolateOptions {
    /// Height and width of the output; goes before the factors.
    pub output_size: Option<[usize; 2]>,
    /// What height and width of the input are multiplied by.
    pub scale_factor: Option<[f32; 2]>,
    /// How values between elements come about.
    pub mode: InterpolateMode,
    /// Whether the centres of the outermost elements stay in place, rather than their outer edges; they do by default.
    pub align_corners: bool,
}

impl InterpolateOptions {
    /// Options without a size.
    pub fn new(mode: InterpolateMode) -> Self {
        Self {
            output_size: None,
            scale_factor: None,
            mode,
            align_corners: true,
        }
    }

    /// With this height and width of the output.
    pub fn with_output_size(self, output_size: [usize; 2]) -> Self {
        Self {
            output_size: Some(output_size),
            ..self
        }
    }

    /// With these factors for height and width.
    pub fn with_scale_factor(self, scale_factor: [f32; 2]) -> Self {
        Self {
            scale_factor: Some(scale_factor),
            ..self
        }
    }

    /// Whether the centres of the outermost elements stay in place.
    pub fn with_align_corners(self, align_corners: bool) -> Self {
        Self {
            align_corners,
            ..self
        }
    }
}

/// What a grid meets outside of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GridSamplePaddingMode {
    /// Zeros.
    #[default]
    Zeros,
    /// The outermost elements.
    Border,
    /// The image, mirrored.
    Reflection,
}

/// How an image is read between its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GridSampleOptions {
    /// How values between elements come about.
    pub mode: InterpolateMode,
    /// What there is outside.
    pub padding_mode: GridSamplePaddingMode,
    /// Whether -1 and 1 are the centres of the outermost elements, rather than their outer edges.
    pub align_corners: bool,
}

impl GridSampleOptions {
    /// Options with zeros outside and edges at -1 and 1.
    pub fn new(mode: InterpolateMode) -> Self {
        Self {
            mode,
            padding_mode: GridSamplePaddingMode::Zeros,
            align_corners: false,
        }
    }

    /// With this outside.
    pub fn with_padding_mode(self, padding_mode: GridSamplePaddingMode) -> Self {
        Self {
            padding_mode,
            ..self
        }
    }

    /// Whether -1 and 1 are the centres of the outermost elements.
    pub fn with_align_corners(self, align_corners: bool) -> Self {
        Self {
            align_corners,
            ..self
        }
    }
}

impl Default for GridSampleOptions {
    fn default() -> Self {
        Self::new(InterpolateMode::Bilinear)
    }
}

impl From<InterpolateMode> for GridSampleOptions {
    fn from(mode: InterpolateMode) -> Self {
        Self::new(mode)
    }
}

fn pairs<const N: usize>(padding: [usize; N]) -> [(usize, usize); N] {
    padding.map(|size| (size, size))
}

fn asymmetric(padding: &[(usize, usize)]) -> bool {
    padding.iter().any(|(before, after)| before != after)
}
