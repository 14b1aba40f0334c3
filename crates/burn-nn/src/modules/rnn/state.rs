//! [`LstmState`]: what an LSTM hands on from one position to the next.

use alloc::vec::Vec;
use burn_core::tensor::{AsIndex, Device, Shape, SliceArg, Tensor};

/// The two states of an [`Lstm`](super::Lstm).
///
/// Of one direction they are `[batch, d_hidden]`, of both `[2, batch, d_hidden]`.
#[derive(Clone, Debug)]
pub struct LstmState<const D: usize> {
    /// What the layer remembers.
    pub cell: Tensor<D>,
    /// What it puts out.
    pub hidden: Tensor<D>,
}

impl<const D: usize> LstmState<D> {
    /// A state from its parts, which have the same shape.
    ///
    /// # Panics
    /// If they have not.
    #[track_caller]
    pub fn new(cell: Tensor<D>, hidden: Tensor<D>) -> Self {
        assert!(
            cell.dims() == hidden.dims(),
            "`LstmState`: `cell` has the shape {:?}, `hidden` {:?}\n  legal: two tensors of the same shape",
            cell.dims(),
            hidden.dims()
        );
        Self { cell, hidden }
    }

    /// Zeros.
    pub fn initial<S>(shape: S, device: &Device) -> Self
    where
        S: Into<Shape>,
    {
        let zeros = Tensor::zeros(shape, device);
        Self::new(zeros.clone(), zeros)
    }

    /// The cell and the hidden state.
    pub fn unpack(self) -> (Tensor<D>, Tensor<D>) {
        (self.cell, self.hidden)
    }

    /// The shape of each part.
    pub fn shape(&self) -> Shape {
        self.hidden.shape()
    }

    /// The device of the state.
    pub fn device(&self) -> Device {
        self.hidden.device()
    }

    /// Both parts through `f`.
    pub fn map_state<const D2: usize, F>(self, f: F) -> LstmState<D2>
    where
        F: Fn(Tensor<D>) -> Tensor<D2>,
    {
        LstmState::new(f(self.cell), f(self.hidden))
    }

    /// A selection of both parts.
    #[track_caller]
    pub fn slice<S>(self, slices: S) -> Self
    where
        S: SliceArg,
    {
        let slices = slices.into_slices(&self.shape());
        self.map_state(|part| part.slice(slices.as_slice()))
    }

    /// Both parts cut into as many pieces of equal size, the last perhaps smaller.
    #[track_caller]
    pub fn chunk(self, chunks: usize, dim: impl AsIndex) -> Vec<LstmState<D>> {
        let dim = dim.index();
        let cells = self.cell.chunk(chunks, dim);
        let hidden = self.hidden.chunk(chunks, dim);
        let pairs = cells.into_iter().zip(hidden);
        pairs
            .map(|(cell, hidden)| Self::new(cell, hidden))
            .collect()
    }

    /// Both parts without a dimension of size 1.
    #[track_caller]
    pub fn squeeze_dim<const D2: usize>(self, dim: impl AsIndex) -> LstmState<D2> {
        let dim = dim.index();
        self.map_state(|part| part.squeeze_dim(dim))
    }

    /// Both parts with a new dimension of size 1.
    #[track_caller]
    pub fn unsqueeze_dim<const D2: usize>(self, dim: impl AsIndex) -> LstmState<D2> {
        let dim = dim.index();
        self.map_state(|part| part.unsqueeze_dim(dim))
    }

    /// States along a new dimension.
    #[track_caller]
    pub fn stack<const D2: usize>(states: Vec<LstmState<D>>, dim: impl AsIndex) -> LstmState<D2> {
        let dim = dim.index();
        let (cells, hidden) = states.into_iter().map(Self::unpack).unzip();
        LstmState::new(Tensor::stack(cells, dim), Tensor::stack(hidden, dim))
    }
}

/// A state that may be missing.
pub trait OptionalInitialLstmState<const D: usize> {
    /// The state, or zeros of the given shape.
    fn unwrap_or_initial<S>(self, shape: S, device: &Device) -> LstmState<D>
    where
        S: Into<Shape>;
}

impl<const D: usize> OptionalInitialLstmState<D> for Option<LstmState<D>> {
    fn unwrap_or_initial<S>(self, shape: S, device: &Device) -> LstmState<D>
    where
        S: Into<Shape>,
    {
        self.unwrap_or_else(|| LstmState::initial(shape, device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> LstmState<2> {
        let device = Device::default();
        let cell = Tensor::from_data([[1.0, 2.0], [3.0, 4.0]], &device);
        LstmState::new(cell.clone(), cell.mul_scalar(10.0))
    }

    fn values<const D: usize>(state: LstmState<D>) -> [Vec<f32>; 2] {
        [state.cell, state.hidden].map(|part| part.try_into_vec_as().expect("readable"))
    }

    #[test]
    fn both_parts_are_selected_joined_and_cut() {
        let stacked: LstmState<3> = LstmState::stack(alloc::vec![state(), state()], 0);
        assert_eq!(stacked.shape().as_slice(), [2, 2, 2]);
        let back: LstmState<2> = stacked.slice([1..2, 0..2, 1..2]).squeeze_dim(0);
        assert_eq!(values(back), [[2.0, 4.0], [20.0, 40.0]]);
        let rows = state().chunk(2, -2);
        assert_eq!(values(rows[1].clone()), [[3.0, 4.0], [30.0, 40.0]]);
        let wide: LstmState<3> = state().unsqueeze_dim(1);
        assert_eq!(wide.shape().as_slice(), [2, 1, 2]);
    }

    #[test]
    fn a_missing_state_is_zeros() {
        let device = Device::default();
        let missing = None::<LstmState<2>>.unwrap_or_initial([1, 2], &device);
        assert_eq!(values(missing), [[0.0; 2], [0.0; 2]]);
        let there = Some(state()).unwrap_or_initial([1, 2], &device);
        assert_eq!(values(there)[0], [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    #[should_panic(expected = "`cell` has the shape [1, 2], `hidden` [2, 2]")]
    fn parts_have_one_shape() {
        let device = Device::default();
        LstmState::new(Tensor::<2>::ones([1, 2], &device), state().hidden);
    }
}
