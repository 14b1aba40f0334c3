//! What methods take for shapes, dims and borders.

use alloc::vec;
use alloc::vec::Vec;
use burn_std::{AsIndex, Shape, wrap_dim};
use core::fmt::Debug;

/// A shape to reshape to.
pub trait ReshapeArgs<const D2: usize>: Debug {
    /// The sizes for a tensor of shape `source`.
    fn into_shape<const D: usize>(self, source: Shape) -> Shape;
}

impl<const D2: usize> ReshapeArgs<D2> for Shape {
    fn into_shape<const D: usize>(self, _source: Shape) -> Shape {
        self
    }
}

/// 0 keeps the size that the source has there; one -1 takes what is left.
impl<const D2: usize, I: AsIndex> ReshapeArgs<D2> for [I; D2] {
    #[track_caller]
    fn into_shape<const D: usize>(self, source: Shape) -> Shape {
        reshaped(&self.map(AsIndex::index), &source)
    }
}

#[track_caller]
fn reshaped(sizes: &[isize], source: &Shape) -> Shape {
    let mut shape = Shape::from(vec![1; sizes.len()]);
    let mut inferred = None;
    for (dim, size) in sizes.iter().enumerate() {
        shape[dim] = match size {
            0 if source.contains(&0) => 0,
            0 => match source.get(dim) {
                Some(size) => *size,
                None => panic!(
                    "`reshape`: size 0 of dim {dim} keeps the size of {source}, which has no such dim\n  legal: 0 below the rank of the input"
                ),
            },
            -1 if inferred.is_none() => {
                inferred = Some(dim);
                1
            }
            size => match usize::try_from(*size) {
                Ok(size) => size,
                Err(_) => panic!(
                    "`reshape`: {sizes:?} is no shape\n  legal: sizes, 0 to keep one, and -1 at most once to infer one"
                ),
            },
        };
    }
    if let Some(dim) = inferred {
        let (total, known) = (source.num_elements(), shape.num_elements());
        shape[dim] = match known {
            0 if total == 0 => 0,
            known if known != 0 && total.is_multiple_of(known) => total / known,
            known => panic!(
                "`reshape`: the {total} elements of {source} do not fill {sizes:?}\n  legal: known sizes whose product {known} divides {total}"
            ),
        };
    }
    shape
}

/// A shape to expand to.
pub trait BroadcastArgs<const D1: usize, const D2: usize> {
    /// The sizes for a tensor of shape `source`.
    fn into_shape(self, source: &Shape) -> Shape;
}

impl<const D1: usize, const D2: usize> BroadcastArgs<D1, D2> for Shape {
    fn into_shape(self, _source: &Shape) -> Shape {
        self
    }
}

/// -1 keeps the size that the source has there, counted from the last dim.
impl<const D1: usize, const D2: usize, E: AsIndex> BroadcastArgs<D1, D2> for [E; D2] {
    #[track_caller]
    fn into_shape(self, source: &Shape) -> Shape {
        expanded(&self.map(AsIndex::index), source)
    }
}

#[track_caller]
fn expanded(sizes: &[isize], source: &Shape) -> Shape {
    let new = sizes.len().saturating_sub(source.len());
    let mut shape = Shape::from(vec![0; sizes.len()]);
    for (dim, size) in sizes.iter().enumerate() {
        let kept = dim.checked_sub(new).and_then(|dim| source.get(dim));
        shape[dim] = match (size, kept) {
            (-1, Some(size)) => *size,
            (size, _) => match usize::try_from(*size) {
                Ok(size) => size,
                Err(_) => panic!(
                    "`expand`: {sizes:?} is no shape for {source}\n  legal: sizes, and -1 where the input has a dim"
                ),
            },
        };
    }
    shape
}

/// One dim or several.
pub trait MovedimArgs {
    /// The dims of a tensor of rank `D`.
    fn into_dim_vec<const D: usize>(self) -> Vec<usize>;
}

#[track_caller]
fn resolve(dims: &[isize], rank: usize) -> Vec<usize> {
    let mut resolved = Vec::with_capacity(dims.len());
    for dim in dims {
        match wrap_dim(*dim, rank) {
            Ok(dim) => resolved.push(dim),
            Err(_) => panic!("`movedim`: there is no dim {dim}\n  legal: a dim in -{rank}..{rank}"),
        }
    }
    resolved
}

macro_rules! movedim {
    ($($int:ty),+) => {
        $(impl MovedimArgs for $int {
            #[track_caller]
            fn into_dim_vec<const D: usize>(self) -> Vec<usize> {
                resolve(&[self.index()], D)
            }
        })+
    };
}

movedim!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl<I: AsIndex> MovedimArgs for Vec<I> {
    #[track_caller]
    fn into_dim_vec<const D: usize>(self) -> Vec<usize> {
        resolve(&crate::emit::indices(&self), D)
    }
}

/// The number of new elements before and after each dim.
pub trait IntoPadding<const D: usize> {
    /// One pair for each dim.
    fn into_padding(self) -> [(usize, usize); D];
}

/// Pairs for the last dims, in order.
#[track_caller]
fn last<const D: usize>(pairs: &[(usize, usize)]) -> [(usize, usize); D] {
    assert!(
        pairs.len() <= D,
        "`pad`: {} pairs were given for rank {D}\n  legal: at most one pair for each dim",
        pairs.len()
    );
    let mut padding = [(0, 0); D];
    padding[D - pairs.len()..].copy_from_slice(pairs);
    padding
}

impl<const D: usize, const N: usize> IntoPadding<D> for [(usize, usize); N] {
    #[track_caller]
    fn into_padding(self) -> [(usize, usize); D] {
        last(&self)
    }
}

impl<const D: usize> IntoPadding<D> for &[(usize, usize)] {
    #[track_caller]
    fn into_padding(self) -> [(usize, usize); D] {
        last(self)
    }
}

impl<const D: usize> IntoPadding<D> for Vec<(usize, usize)> {
    #[track_caller]
    fn into_padding(self) -> [(usize, usize); D] {
        last(&self)
    }
}

/// `(left, right, top, bottom)` of the last two dims.
impl<const D: usize> IntoPadding<D> for (usize, usize, usize, usize) {
    #[track_caller]
    fn into_padding(self) -> [(usize, usize); D] {
        let (left, right, top, bottom) = self;
        last(&[(top, bottom), (left, right)])
    }
}
