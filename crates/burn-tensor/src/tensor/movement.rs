//! The same elements in another arrangement, and several tensors in one.

use super::{BroadcastArgs, IntoPadding, MovedimArgs, ReshapeArgs, Tensor};
use crate::emit::{self, create, join, movement, window};
use crate::kind::{Basic, Numeric};
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_ir::{CompareOp, Dims, Operand};
use burn_std::ops::PadMode;
use burn_std::{AsIndex, Element, Scalar, Slice, SliceArg};

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// The same elements in row-major order under other sizes. In a list, 0 keeps a size and one -1 is inferred.
    #[track_caller]
    pub fn reshape<const D2: usize, S: ReshapeArgs<D2>>(self, shape: S) -> Tensor<D2, K> {
        let shape = shape.into_shape::<D>(self.shape());
        Tensor::new(movement::reshape(self.handle, shape))
    }

    /// The last two dims exchanged; a vector as it is.
    #[track_caller]
    pub fn transpose(self) -> Tensor<D, K> {
        Self::new(movement::transpose(self.handle))
    }

    /// [`Tensor::transpose`] under its short name.
    #[track_caller]
    pub fn t(self) -> Tensor<D, K> {
        self.transpose()
    }

    /// Two dims exchanged.
    #[track_caller]
    pub fn swap_dims<Dim1, Dim2>(self, dim1: Dim1, dim2: Dim2) -> Tensor<D, K>
    where
        Dim1: AsIndex,
        Dim2: AsIndex,
    {
        Self::new(movement::swap_dims(self.handle, dim1.index(), dim2.index()))
    }

    /// The dims in another order: dim `d` of the result is dim `axes[d]` of the tensor.
    #[track_caller]
    pub fn permute<Dim>(self, axes: [Dim; D]) -> Tensor<D, K>
    where
        Dim: AsIndex,
    {
        Self::new(movement::permute(self.handle, &emit::indices(&axes)))
    }

    /// Some dims at other places, the rest in order.
    #[track_caller]
    pub fn movedim<S1: MovedimArgs, S2: MovedimArgs>(self, source: S1, target: S2) -> Tensor<D, K> {
        let (source, target) = (source.into_dim_vec::<D>(), target.into_dim_vec::<D>());
        Self::new(movement::movedim(self.handle, &source, &target))
    }

    /// The elements in reverse order along the given dims.
    #[track_caller]
    pub fn flip<const N: usize>(self, dims: [impl AsIndex; N]) -> Tensor<D, K> {
        Self::new(movement::flip(self.handle, &emit::indices(&dims)))
    }

    /// Dims of size 1, and new leading ones, repeated to the given sizes. In a list, -1 keeps a size.
    #[track_caller]
    pub fn expand<const D2: usize, S: BroadcastArgs<D, D2>>(self, shape: S) -> Tensor<D2, K> {
        let shape = shape.into_shape(emit::shape(&self.handle));
        Tensor::new(movement::expand(self.handle, shape))
    }

    /// Each dim repeated as a whole; dims without an entry stay.
    #[track_caller]
    pub fn repeat(self, times: &[usize]) -> Self {
        Self::new(movement::repeat(self.handle, times))
    }

    /// One dim repeated as a whole.
    #[track_caller]
    pub fn repeat_dim(self, dim: impl AsIndex, times: usize) -> Self {
        let dim = emit::dim("repeat_dim", meta(&self.handle), dim.index());
        let mut all = [1; D];
        all[dim] = times;
        self.repeat(&all)
    }

    /// The dims from `start` to `end` as one.
    #[track_caller]
    pub fn flatten<const D2: usize>(self, start: impl AsIndex, end: impl AsIndex) -> Tensor<D2, K> {
        Tensor::new(movement::flatten(self.handle, start.index(), end.index()))
    }

    /// Without the dims of size 1.
    #[track_caller]
    pub fn squeeze<const D2: usize>(self) -> Tensor<D2, K> {
        Tensor::new(movement::squeeze_all(self.handle, D2))
    }

    /// Without one dim of size 1.
    #[track_caller]
    pub fn squeeze_dim<const D2: usize>(self, dim: impl AsIndex) -> Tensor<D2, K> {
        let dim = emit::dim("squeeze_dim", meta(&self.handle), dim.index());
        Tensor::new(movement::squeeze(self.handle, Dims::one(dim)))
    }

    /// Without the given dims of size 1; without all of them if none is given.
    #[track_caller]
    pub fn squeeze_dims<const D2: usize>(self, dims: &[impl AsIndex]) -> Tensor<D2, K> {
        if dims.is_empty() {
            return self.squeeze();
        }
        let dims = emit::dims("squeeze_dims", meta(&self.handle), &emit::indices(dims));
        Tensor::new(movement::squeeze(self.handle, dims))
    }

    /// With new leading dims of size 1.
    #[track_caller]
    pub fn unsqueeze<const D2: usize>(self) -> Tensor<D2, K> {
        Tensor::new(movement::unsqueeze_leading(self.handle, D2))
    }

    /// With a new dim of size 1 at a place of the result.
    #[track_caller]
    pub fn unsqueeze_dim<const D2: usize>(self, dim: impl AsIndex) -> Tensor<D2, K> {
        Tensor::new(movement::unsqueeze(self.handle, &[dim.index()], D2))
    }

    /// With new dims of size 1 at places of the result.
    #[track_caller]
    pub fn unsqueeze_dims<const D2: usize>(self, dims: &[impl AsIndex]) -> Tensor<D2, K> {
        Tensor::new(movement::unsqueeze(self.handle, &emit::indices(dims), D2))
    }

    /// A selection in each dim; dims without one stay whole. See [`s!`](crate::s).
    #[track_caller]
    pub fn slice<S>(self, slices: S) -> Self
    where
        S: SliceArg,
    {
        let slices = slices.into_slices(emit::shape(&self.handle));
        Self::new(movement::slice(self.handle, &slices))
    }

    /// A selection in one dim.
    #[track_caller]
    pub fn slice_dim<S>(self, dim: impl AsIndex, slice: S) -> Self
    where
        S: Into<Slice>,
    {
        Self::new(movement::slice_dim(self.handle, dim.index(), slice.into()))
    }

    /// The tensor with a selection replaced by `values`.
    #[track_caller]
    pub fn slice_assign<S>(self, slices: S, values: Self) -> Self
    where
        S: SliceArg,
    {
        let slices = slices.into_slices(emit::shape(&self.handle));
        let values = Operand::Tensor(values.handle);
        Self::new(join::slice_assign(self.handle, &slices, values))
    }

    /// The tensor with a selection replaced by one value.
    #[track_caller]
    pub fn slice_fill<S, E: Element>(self, slices: S, value: E) -> Self
    where
        S: SliceArg,
    {
        let slices = slices.into_slices(emit::shape(&self.handle));
        let value = Scalar::new(value, &self.dtype()).into();
        Self::new(join::slice_assign(self.handle, &slices, value))
    }

    /// `length` elements of one dim, from `start`.
    #[track_caller]
    pub fn narrow(self, dim: impl AsIndex, start: usize, length: usize) -> Self {
        let dim = emit::dim("narrow", meta(&self.handle), dim.index());
        Self::new(movement::narrow(self.handle, dim, start, length))
    }

    /// One element of a dim, without the dim.
    #[track_caller]
    pub fn select_dim<const D2: usize>(
        self,
        dim: impl AsIndex,
        index: impl AsIndex,
    ) -> Tensor<D2, K> {
        Tensor::new(movement::select_dim(
            self.handle,
            dim.index(),
            index.index(),
        ))
    }

    /// At most `chunks` parts of equal size along a dim; the last one may be smaller.
    #[track_caller]
    pub fn chunk(self, chunks: usize, dim: impl AsIndex) -> Vec<Self> {
        tensors(movement::chunk(self.handle, chunks, dim.index()))
    }

    /// Parts of `size` along a dim; the last one may be smaller.
    #[track_caller]
    pub fn split(self, size: usize, dim: impl AsIndex) -> Vec<Self> {
        tensors(movement::split_equal(self.handle, size, dim.index()))
    }

    /// Parts of the given sizes along a dim; together they are the whole.
    #[track_caller]
    pub fn split_with_sizes(self, sizes: Vec<usize>, dim: impl AsIndex) -> Vec<Self> {
        let dim = emit::dim("split", meta(&self.handle), dim.index());
        tensors(movement::split(self.handle, &sizes, dim))
    }

    /// The parts of size 1 along a dim, one after the other.
    #[track_caller]
    pub fn iter_dim(self, dim: impl AsIndex) -> DimIter<D, K> {
        let dim = emit::dim("iter_dim", meta(&self.handle), dim.index());
        let end = emit::shape(&self.handle)[dim];
        DimIter {
            tensor: self,
            dim,
            start: 0,
            end,
        }
    }

    /// The tensors one after the other along a dim.
    #[track_caller]
    pub fn cat(tensors: Vec<Self>, dim: impl AsIndex) -> Self {
        Self::new(join::cat(handles(tensors), dim.index()))
    }

    /// The tensors side by side along a new dim.
    #[track_caller]
    pub fn stack<const D2: usize>(tensors: Vec<Tensor<D, K>>, dim: impl AsIndex) -> Tensor<D2, K> {
        Tensor::new(join::stack(handles(tensors), dim.index(), D2))
    }

    /// The elements moved along a dim, those that leave it coming in at the other end.
    #[track_caller]
    pub fn roll_dim<Shift, Dim>(self, shift: Shift, dim: Dim) -> Self
    where
        Shift: AsIndex,
        Dim: AsIndex,
    {
        Self::new(join::roll(self.handle, shift.index(), dim.index()))
    }

    /// The elements moved along several dims; see [`Tensor::roll_dim`].
    #[track_caller]
    pub fn roll<Shift, Dim>(self, shifts: &[Shift], dims: &[Dim]) -> Self
    where
        Shift: AsIndex,
        Dim: AsIndex,
    {
        assert!(
            shifts.len() == dims.len(),
            "`roll`: {} shifts were given for {} dims\n  legal: one shift for each dim",
            shifts.len(),
            dims.len()
        );
        let mut output = self;
        for (shift, dim) in shifts.iter().zip(dims) {
            output = output.roll_dim(*shift, *dim);
        }
        output
    }

    /// Windows of `size` elements every `step` along a dim, as a new last dim.
    #[track_caller]
    pub fn unfold<const D2: usize, I: AsIndex>(
        self,
        dim: I,
        size: usize,
        step: usize,
    ) -> Tensor<D2, K> {
        Tensor::new(window::unfold(self.handle, dim.index(), size, step))
    }
}

impl<const D: usize, K: Numeric> Tensor<D, K> {
    /// New elements around the tensor: a constant, or what the border continues with.
    #[track_caller]
    pub fn pad(self, padding: impl IntoPadding<D>, mode: impl Into<PadMode>) -> Self {
        let padding = padding.into_padding();
        Self::new(window::pad(self.handle, &padding, mode.into()))
    }

    /// The elements on and below a diagonal of the last two dims, zeros above it.
    #[track_caller]
    pub fn tril(self, diagonal: i64) -> Self {
        self.keep(CompareOp::LowerEqual, diagonal)
    }

    /// The elements on and above a diagonal of the last two dims, zeros below it.
    #[track_caller]
    pub fn triu(self, diagonal: i64) -> Self {
        self.keep(CompareOp::GreaterEqual, diagonal)
    }

    #[track_caller]
    fn keep(self, op: CompareOp, diagonal: i64) -> Self {
        let mask = create::diagonal(self.handle.device().base(), self.shape(), op, diagonal);
        let zero = emit::scalar(0.0, &self.handle).into();
        Self::new(emit::choose(mask, Operand::Tensor(self.handle), zero))
    }
}

fn meta(handle: &Handle) -> &burn_ir::TensorMeta {
    burn_ir::Described::meta(handle)
}

fn handles<const D: usize, K: Basic>(tensors: Vec<Tensor<D, K>>) -> Vec<Handle> {
    tensors.into_iter().map(|tensor| tensor.handle).collect()
}

fn tensors<const D: usize, K: Basic>(handles: Vec<Handle>) -> Vec<Tensor<D, K>> {
    handles.into_iter().map(Tensor::new).collect()
}

/// The parts of size 1 along a dim; see [`Tensor::iter_dim`].
#[derive(Clone, Debug)]
pub struct DimIter<const D: usize, K>
where
    K: Basic,
{
    tensor: Tensor<D, K>,
    dim: usize,
    start: usize,
    end: usize,
}

impl<const D: usize, K: Basic> DimIter<D, K> {
    fn part(&self, at: usize) -> Tensor<D, K> {
        self.tensor.clone().narrow(self.dim, at, 1)
    }
}

impl<const D: usize, K: Basic> Iterator for DimIter<D, K> {
    type Item = Tensor<D, K>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = (self.start..self.end).next()?;
        self.start += 1;
        Some(self.part(at))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.start;
        (left, Some(left))
    }
}

impl<const D: usize, K: Basic> DoubleEndedIterator for DimIter<D, K> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let at = (self.start..self.end).next_back()?;
        self.end = at;
        Some(self.part(at))
    }
}

impl<const D: usize, K: Basic> ExactSizeIterator for DimIter<D, K> {}
