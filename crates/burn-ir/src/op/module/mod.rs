//! Layers as instructions: convolutions, pools, resampling, attention, normalization and quantization. The number of spatial dims is
//! a value. What each leaf takes and yields is in [`infer`](self::infer).

mod infer;
mod quant;
mod window;

pub(crate) use infer::infer;
pub use window::Window;

use crate::{Class, Tier};
use alloc::boxed::Box;
use burn_std::{FloatDType, IntDType, QuantScheme, Scalar, Shape};
use serde::{Deserialize, Serialize};

/// A layer as an instruction. Operands are floats unless said otherwise.
///
/// Images are `[batch, channels, …]` with any number of spatial dims behind; `windows` has an entry for each of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ModuleOp<T> {
    /// Cross-correlation: each output element is the product of a window of the input with the weights of its channel.
    Conv {
        /// `[batch, in, …]`
        input: T,
        /// `[out, in / groups, …]`, with the sizes of the windows.
        weight: T,
        /// `[out]`
        bias: Option<T>,
        /// How the weights slide.
        windows: Box<[Window]>,
        /// Parts of the channels that do not see each other.
        groups: usize,
    },
    /// The adjoint of [`ModuleOp::Conv`] in its input: each input element adds its window of weights to the output.
    ConvTranspose {
        /// `[batch, in, …]`
        input: T,
        /// `[in, out / groups, …]`, with the sizes of the windows.
        weight: T,
        /// `[out]`
        bias: Option<T>,
        /// How the weights slide over the output.
        windows: Box<[Window]>,
        /// The spatial sizes of the output, which under the windows has as many as the input.
        sizes: Shape,
        /// Parts of the channels that do not see each other.
        groups: usize,
    },
    /// The adjoint of [`ModuleOp::Conv`] in its weight.
    ConvWeight {
        /// The input of the convolution: `[batch, in, …]`
        input: T,
        /// What its output is weighed with: `[batch, out, …]`
        grad: T,
        /// How the weights slide.
        windows: Box<[Window]>,
        /// Parts of the channels that do not see each other.
        groups: usize,
    },
    /// Windows as columns: `[batch, channels, …]` becomes `[batch, channels · window, windows]`, zeros around.
    Unfold {
        /// The image.
        input: T,
        /// How windows slide.
        windows: Box<[Window]>,
    },
    /// The adjoint of [`ModuleOp::Unfold`]: columns add up where their windows overlap.
    Fold {
        /// `[batch, channels · window, windows]`
        input: T,
        /// How windows slide.
        windows: Box<[Window]>,
        /// The spatial sizes of the image.
        sizes: Shape,
    },
    /// The largest of each window; NaN is larger than anything, and padding smaller.
    MaxPool {
        /// The image.
        input: T,
        /// How windows slide.
        windows: Box<[Window]>,
        /// Whether a window that is cut off at the end counts.
        ceil: bool,
    },
    /// The position of the first largest of each window in its image, spatial dims flattened.
    MaxPoolIndices {
        /// The image.
        input: T,
        /// How windows slide.
        windows: Box<[Window]>,
        /// Whether a window that is cut off at the end counts.
        ceil: bool,
        /// The element type of positions.
        dtype: IntDType,
    },
    /// A linear function of each line along each spatial dim, which gives it another size.
    Resample {
        /// The image.
        input: T,
        /// The function of each spatial dim.
        filters: Box<[Filter]>,
        /// The spatial sizes of the output.
        sizes: Shape,
        /// Whether to apply the adjoint instead, which goes from the sizes that the function gives to those it takes.
        adjoint: bool,
    },
    /// Scaled dot-product attention (Vaswani and others 2017, equation 1). A query that sees no key gives zeros.
    Attention {
        /// `[batch, heads, queries, features]`
        query: T,
        /// `[batch, shared, keys, features]`; `heads / shared` heads in a row share one.
        key: T,
        /// `[batch, shared, keys, values]`
        value: T,
        /// Bool, broadcast to `[batch, heads, queries, keys]`: true hides.
        mask: Option<T>,
        /// Added to the scores, broadcast like the mask.
        bias: Option<T>,
        /// How scores come about.
        scores: Scores,
    },
    /// The last dim with mean 0 and variance 1, scaled and shifted (Ba, Kiros and Hinton 2016, section 3).
    LayerNorm {
        /// `[…, n]`
        input: T,
        /// The scale: `[n]`
        gamma: T,
        /// The shift: `[n]`
        beta: Option<T>,
        /// Added to the variance; a float.
        epsilon: Scalar,
    },
    /// Floats as codes of few bits: `input / scale`, to the nearest integer of the scheme's range, halves to even; NaN gives
    /// 0. Scales are stored as the scheme says, rounded up, and it is what is stored that divides.
    Quantize {
        /// The floats; blocks divide their dims.
        input: T,
        /// The scale of each block in row-major order, or the one: `[blocks]`
        scales: T,
        /// With two levels, the scale of all scales: `[1]`
        global: Option<T>,
        /// What a code stands for, what shares a scale, and how both are stored.
        scheme: QuantScheme,
    },
    /// The floats that codes stand for: `code · scale`.
    Dequantize {
        /// Quantized.
        input: T,
        /// The element type of the output.
        dtype: FloatDType,
    },
    /// The matrix product of the floats that operands stand for, of which at least one is quantized.
    QuantizedMatmul {
        /// `[…, m, k]`, quantized or of the output's element type.
        lhs: T,
        /// `[…, k, n]`, quantized or of the output's element type.
        rhs: T,
        /// The element type of the output.
        dtype: FloatDType,
    },
}

/// How attention scores come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scores {
    /// The factor of the products; a float.
    pub scale: Scalar,
    /// Scores `s` become `c · tanh(s / c)` before bias and mask; a float.
    pub softcap: Option<Scalar>,
    /// Whether a query sees no key behind its own position, both counted from their ends.
    pub causal: bool,
}

/// A linear function from lines of one size to lines of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Filter {
    /// The mean of each window.
    Mean {
        /// How windows slide; without dilation.
        window: Window,
        /// Whether padding counts as elements of value 0.
        count_padding: bool,
    },
    /// The mean of `⌊i·n/m⌋ ‥ ⌈(i+1)·n/m⌉` for each `i` of `m`.
    AdaptiveMean,
    /// Element `⌊i·n/m⌋`.
    Nearest,
    /// Element `⌊(i + ½)·n/m⌋`.
    NearestExact,
    /// A line between two neighbours; beyond the ends, the outermost element.
    Linear {
        /// Whether the centres of the outermost elements stay in place, rather than their outer edges.
        align_corners: bool,
    },
    /// The cubic convolution of Keys 1981, equation 4, with `a = -0.75`; the outermost elements repeat.
    Cubic {
        /// As for [`Filter::Linear`].
        align_corners: bool,
    },
    /// A sinc of three lobes to each side under a window of its own shape (Duchon 1979), whose weights inside are made to
    /// sum to 1.
    Lanczos {
        /// As for [`Filter::Linear`].
        align_corners: bool,
    },
}

/// Traversal: one row for each leaf, with its attributes, its operands and those that it may lack.
macro_rules! operands {
    ($($leaf:ident { $($attribute:ident),* } => [$($tensor:ident),*] [$($optional:ident),*];)*) => {
        impl<T> ModuleOp<T> {
            /// Replaces each tensor, in operand order.
            pub fn map<U>(self, f: &mut dyn FnMut(T) -> U) -> ModuleOp<U> {
                match self {
                    $(Self::$leaf { $($attribute,)* $($tensor,)* $($optional,)* } => ModuleOp::$leaf {
                        $($tensor: f($tensor),)*
                        $($optional: $optional.map(&mut *f),)*
                        $($attribute,)*
                    },)*
                }
            }

            pub(crate) fn map_ref<'a, U>(&'a self, f: &mut dyn FnMut(&'a T) -> U) -> ModuleOp<U> {
                match self {
                    $(Self::$leaf { $($attribute,)* $($tensor,)* $($optional,)* } => ModuleOp::$leaf {
                        $($tensor: f($tensor),)*
                        $($optional: $optional.as_ref().map(&mut *f),)*
                        $($attribute: $attribute.clone(),)*
                    },)*
                }
            }

            pub(crate) fn each<'a>(&'a self, f: &mut dyn FnMut(&'a T)) {
                match self {
                    $(Self::$leaf { $($tensor,)* $($optional,)* .. } => {
                        $(f($tensor);)*
                        $($optional.iter().for_each(&mut *f);)*
                    })*
                }
            }
        }
    };
}

operands! {
    Conv { windows, groups } => [input, weight] [bias];
    ConvTranspose { windows, sizes, groups } => [input, weight] [bias];
    ConvWeight { windows, groups } => [input, grad] [];
    Unfold { windows } => [input] [];
    Fold { windows, sizes } => [input] [];
    MaxPool { windows, ceil } => [input] [];
    MaxPoolIndices { windows, ceil, dtype } => [input] [];
    Resample { filters, sizes, adjoint } => [input] [];
    Attention { scores } => [query, key, value] [mask, bias];
    LayerNorm { epsilon } => [input, gamma] [beta];
    Quantize { scheme } => [input, scales] [global];
    Dequantize { dtype } => [input] [];
    QuantizedMatmul { dtype } => [lhs, rhs] [];
}

impl<T> ModuleOp<T> {
    /// The name in errors, traces and prints.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Conv { .. } => "conv",
            Self::ConvTranspose { .. } => "conv_transpose",
            Self::ConvWeight { .. } => "conv_weight",
            Self::Unfold { .. } => "unfold",
            Self::Fold { .. } => "fold",
            Self::MaxPool { .. } => "max_pool",
            Self::MaxPoolIndices { .. } => "max_pool_indices",
            Self::Resample { .. } => "resample",
            Self::Attention { .. } => "attention",
            Self::LayerNorm { .. } => "layer_norm",
            Self::Quantize { .. } => "quantize",
            Self::Dequantize { .. } => "dequantize",
            Self::QuantizedMatmul { .. } => "quantized_matmul",
        }
    }

    pub(crate) const fn tier(&self) -> Tier {
        match self {
            Self::Unfold { .. }
            | Self::Fold { .. }
            | Self::Resample { .. }
            | Self::Quantize { .. }
            | Self::Dequantize { .. } => Tier::Primitive,
            Self::Conv { .. }
            | Self::ConvTranspose { .. }
            | Self::ConvWeight { .. }
            | Self::MaxPool { .. }
            | Self::MaxPoolIndices { .. }
            | Self::Attention { .. }
            | Self::LayerNorm { .. }
            | Self::QuantizedMatmul { .. } => Tier::Composite,
        }
    }

    pub(crate) const fn class(&self) -> Class {
        match self {
            Self::Conv { .. }
            | Self::ConvTranspose { .. }
            | Self::ConvWeight { .. }
            | Self::Attention { .. }
            | Self::QuantizedMatmul { .. } => Class::Anchor,
            Self::Unfold { .. }
            | Self::Fold { .. }
            | Self::MaxPool { .. }
            | Self::MaxPoolIndices { .. }
            | Self::Resample { .. }
            | Self::LayerNorm { .. }
            | Self::Quantize { .. }
            | Self::Dequantize { .. } => Class::Reduction,
        }
    }
}
