//! Masks: which positions are padding, and which are still to come.

use alloc::vec::Vec;
use burn_core::config::Config;
use burn_core::tensor::{Bool, Device, Int, Tensor, TensorData};

/// How long padded sequences are.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum SeqLengthOption {
    /// As the longest sequence.
    NoMax,
    /// As the longest sequence, but no longer than this.
    Max(usize),
    /// This long.
    Fixed(usize),
}

impl From<Option<usize>> for SeqLengthOption {
    fn from(max: Option<usize>) -> Self {
        max.map_or(Self::NoMax, Self::Max)
    }
}

impl SeqLengthOption {
    fn length(self, longest: usize) -> usize {
        match self {
            Self::NoMax => longest,
            Self::Max(max) => longest.min(max),
            Self::Fixed(length) => length,
        }
    }
}

/// Sequences of one length, and where they are padding.
#[derive(Clone, Debug)]
pub struct GeneratePaddingMask {
    /// The tokens, `[batch, length]`.
    pub tensor: Tensor<2, Int>,
    /// True where a token is padding, `[batch, length]`.
    pub mask: Tensor<2, Bool>,
}

/// True where a key is behind its query, which no query may see that is to predict it: `[batch_size, seq_length,
/// seq_length]`.
pub fn generate_autoregressive_mask(
    batch_size: usize,
    seq_length: usize,
    device: &Device,
) -> Tensor<3, Bool> {
    let shape = [seq_length, seq_length];
    // `tril_mask` is false on and below the diagonal.
    let mask = Tensor::<2, Bool>::tril_mask(shape, 0, device);
    mask.expand([batch_size, seq_length, seq_length])
}

/// Sequences cut and padded to one length, with the mask of their padding. A token that is `pad_token` is padding
/// wherever it stands.
///
/// # Panics
/// If `pad_token` or a token does not fit the integers of the device.
#[track_caller]
pub fn generate_padding_mask(
    pad_token: usize,
    tokens_list: Vec<Vec<usize>>,
    max_seq_length: impl Into<SeqLengthOption>,
    device: &Device,
) -> GeneratePaddingMask {
    let longest = tokens_list.iter().map(Vec::len).max().unwrap_or(0);
    let length = max_seq_length.into().length(longest);
    let number = |token: usize| {
        i64::try_from(token).unwrap_or_else(|_| {
            panic!(
                "`generate_padding_mask`: {token} is no token\n  legal: 0 to {}",
                i64::MAX
            )
        })
    };
    let pad = number(pad_token);
    let tokens: Vec<i64> = tokens_list
        .iter()
        .flat_map(|tokens| {
            let padded = tokens.iter().map(|token| number(*token));
            padded.chain(core::iter::repeat(pad)).take(length)
        })
        .collect();
    let tokens = TensorData::new(tokens, [tokens_list.len(), length]);
    let tensor = Tensor::<2, Int>::from_data(tokens, device);
    GeneratePaddingMask {
        mask: tensor.clone().equal_elem(pad),
        tensor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bools<const D: usize>(tensor: Tensor<D, Bool>) -> Vec<bool> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[test]
    fn later_positions_are_hidden() {
        let mask = generate_autoregressive_mask(2, 3, &Device::default());
        assert_eq!(mask.dims(), [2, 3, 3]);
        let (no, yes) = (false, true);
        let one = [no, yes, yes, no, no, yes, no, no, no];
        assert_eq!(bools(mask), [one, one].concat());
    }

    #[test]
    fn sequences_are_cut_and_padded() {
        let device = Device::default();
        let lists = || alloc::vec![alloc::vec![1, 2, 3], alloc::vec![4], alloc::vec![7, 1]];
        let padded = |length: SeqLengthOption| generate_padding_mask(7, lists(), length, &device);
        let tokens = |length| -> Vec<i64> {
            let tensor = padded(length).tensor;
            tensor.try_into_vec_as().expect("a CPU tensor can be read")
        };
        let whole = [1, 2, 3, 4, 7, 7, 7, 1, 7];
        assert_eq!(tokens(SeqLengthOption::NoMax), whole);
        assert_eq!(tokens(SeqLengthOption::Max(9)), whole);
        assert_eq!(tokens(None.into()), whole);
        assert_eq!(tokens(SeqLengthOption::Max(2)), [1, 2, 4, 7, 7, 1]);
        assert_eq!(tokens(Some(2).into()), [1, 2, 4, 7, 7, 1]);
        let fixed = padded(SeqLengthOption::Fixed(4));
        assert_eq!(fixed.tensor.dims(), [3, 4]);
        let (no, yes) = (false, true);
        let expected = [no, no, no, yes, no, yes, yes, yes, yes, no, yes, yes];
        assert_eq!(bools(fixed.mask), expected);
    }
}
