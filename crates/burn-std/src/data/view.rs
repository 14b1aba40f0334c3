//! Indexing data by position in each dimension.

use core::ops::{Index, IndexMut};

use super::{DataError, TensorData};
use crate::{AsIndex, DType, Element, Shape, wrap_dim};

/// Data to read by position: `view[&[1, -1]]` is the last element of the second row.
#[derive(Debug)]
pub struct TensorDataView<'a, E: Element> {
    elems: &'a [E],
    shape: &'a Shape,
    dtype: DType,
}

/// Data to write by position.
#[derive(Debug)]
pub struct TensorDataViewMut<'a, E: Element> {
    elems: &'a mut [E],
    shape: &'a Shape,
    dtype: DType,
}

/// Views.
impl TensorData {
    /// A view to read.
    ///
    /// # Panics
    /// If the elements are not stored as `E`.
    #[track_caller]
    pub fn view<E: Element>(&self) -> TensorDataView<'_, E> {
        self.try_view().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A view to read.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] if the elements are not stored as `E`.
    pub fn try_view<E: Element>(&self) -> Result<TensorDataView<'_, E>, DataError> {
        TensorDataView::try_view(self)
    }

    /// A view to write.
    ///
    /// # Panics
    /// If the elements are not stored as `E`.
    #[track_caller]
    pub fn mut_view<E: Element>(&mut self) -> TensorDataViewMut<'_, E> {
        self.try_mut_view()
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// A view to write.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] if the elements are not stored as `E`.
    pub fn try_mut_view<E: Element>(&mut self) -> Result<TensorDataViewMut<'_, E>, DataError> {
        TensorDataViewMut::try_mut_view(self)
    }
}

impl<'a, E: Element> TensorDataView<'a, E> {
    /// A view of `data`.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] if the elements are not stored as `E`.
    pub fn try_view(data: &'a TensorData) -> Result<Self, DataError> {
        Ok(Self {
            elems: data.as_slice()?,
            shape: &data.shape,
            dtype: data.dtype,
        })
    }
}

impl<'a, E: Element> TensorDataViewMut<'a, E> {
    /// A view of `data`.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] if the elements are not stored as `E`.
    pub fn try_mut_view(data: &'a mut TensorData) -> Result<Self, DataError> {
        data.as_mut_slice::<E>()?;
        let TensorData {
            bytes,
            shape,
            dtype,
        } = data;
        let elems = bytemuck::checked::try_cast_slice_mut(bytes)
            .map_err(DataError::InvalidRepresentation)?;
        Ok(Self {
            elems,
            shape,
            dtype: *dtype,
        })
    }
}

macro_rules! view {
    ($view:ident) => {
        impl<'a, E: Element> $view<'a, E> {
            /// The shape of the data.
            pub fn shape(&self) -> &Shape {
                self.shape
            }

            /// The dtype of the data.
            pub fn dtype(&self) -> DType {
                self.dtype
            }

            /// Where the element at `position` lies in row-major order.
            ///
            /// # Panics
            /// If the position is outside the shape or of another rank.
            #[track_caller]
            pub fn ravel_index<I: AsIndex>(&self, position: &[I]) -> usize {
                ravel(self.shape, position)
            }
        }

        impl<'a, I: AsIndex, E: Element> Index<&[I]> for $view<'a, E> {
            type Output = E;

            #[track_caller]
            fn index(&self, position: &[I]) -> &E {
                &self.elems[ravel(self.shape, position)]
            }
        }
    };
}

view!(TensorDataView);
view!(TensorDataViewMut);

impl<'a, I: AsIndex, E: Element> IndexMut<&[I]> for TensorDataViewMut<'a, E> {
    #[track_caller]
    fn index_mut(&mut self, position: &[I]) -> &mut E {
        &mut self.elems[ravel(self.shape, position)]
    }
}

#[track_caller]
fn ravel<I: AsIndex>(shape: &Shape, position: &[I]) -> usize {
    assert!(
        position.len() == shape.rank(),
        "position {position:?} has {} dimensions, shape {shape} has {}",
        position.len(),
        shape.rank()
    );
    shape.iter().zip(position).fold(0, |offset, (size, index)| {
        // An index resolves by the same rule as a dimension does.
        match wrap_dim(index.index(), *size) {
            Ok(index) => offset * size + index,
            Err(_) => panic!("position {position:?} is outside shape {shape}"),
        }
    })
}
