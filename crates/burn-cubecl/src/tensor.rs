//! A tensor of the backend and its views. Kernels that copy are in [`ops`](crate::ops).

use crate::CubeDevice;
use crate::device::count;
use burn_ir::{Described, SliceRange, TensorMeta};
use burn_std::{Shape, Strides};
use cubecl::server::Handle;

/// A part of a buffer on a device, seen through strides.
#[derive(Clone, Debug)]
pub struct CubeTensor {
    meta: TensorMeta,
    /// The distance between neighbours in each dim, in elements.
    strides: Strides,
    /// The place of the first element, in elements.
    offset: usize,
    handle: Handle,
}

impl Described for CubeTensor {
    fn meta(&self) -> &TensorMeta {
        &self.meta
    }
}

impl CubeTensor {
    /// The whole of a buffer, in row-major order.
    pub(crate) fn whole(meta: TensorMeta, handle: Handle) -> Self {
        Self {
            strides: Strides::contiguous(&meta.shape),
            meta,
            offset: 0,
            handle,
        }
    }

    /// A tensor that a kernel is about to write.
    pub(crate) fn empty(device: &CubeDevice, meta: TensorMeta) -> Self {
        // Not every runtime has buffers without bytes.
        let bytes = (count(&meta) * meta.dtype.size()).max(8);
        Self::whole(meta, device.client().empty(bytes))
    }

    pub(crate) fn strides(&self) -> &[isize] {
        &self.strides
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Whether the elements are the first of the buffer, in row-major order.
    pub(crate) fn is_plain(&self) -> bool {
        self.offset == 0 && self.is_contiguous()
    }

    fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        let dims = self.meta.shape.iter().zip(self.strides.iter()).rev();
        for (size, stride) in dims {
            if *size != 1 && *stride != expected {
                return false;
            }
            expected *= *size as isize;
        }
        true
    }

    fn view(self, meta: TensorMeta, strides: Strides, offset: usize) -> Self {
        Self {
            meta,
            strides,
            offset,
            handle: self.handle,
        }
    }

    pub(crate) fn permute(self, axes: &[usize], meta: TensorMeta) -> Self {
        let strides = axes.iter().map(|axis| self.strides[*axis]).collect();
        let offset = self.offset;
        self.view(meta, strides, offset)
    }

    pub(crate) fn expand(self, meta: TensorMeta) -> Self {
        let strides = (0..meta.rank())
            .map(|dim| match self.meta.shape[dim] {
                1 => 0,
                _ => self.strides[dim],
            })
            .collect();
        let offset = self.offset;
        self.view(meta, strides, offset)
    }

    pub(crate) fn slice(self, ranges: &[SliceRange], meta: TensorMeta) -> Self {
        let mut offset = self.offset as isize;
        let mut strides = self.strides.clone();
        for (dim, range) in ranges.iter().enumerate() {
            // A dim without elements may start beyond the end of the buffer, where nothing is ever read.
            offset += range.start as isize * self.strides[dim];
            strides[dim] *= range.step;
        }
        let offset = if count(&meta) == 0 {
            0
        } else {
            offset as usize
        };
        self.view(meta, strides, offset)
    }

    /// The elements under other sizes, or the tensor back if no strides can say that.
    // The error is the tensor itself, which moves on either way.
    #[allow(clippy::result_large_err)]
    pub(crate) fn reshape(self, meta: TensorMeta) -> Result<Self, Self> {
        match reshaped(&self.meta.shape, &self.strides, &meta.shape) {
            Some(strides) => {
                let offset = self.offset;
                Ok(self.view(meta, strides, offset))
            }
            None => Err(self),
        }
    }
}

/// The strides that give the elements of a view in the same order under other sizes, if there are any.
///
/// Old and new dims are matched in runs with the same number of elements; a run of old dims must lie evenly.
fn reshaped(from: &Shape, strides: &[isize], to: &Shape) -> Option<Strides> {
    if from.num_elements() == 0 {
        return Some(Strides::contiguous(to));
    }
    let mut result = Strides::contiguous(to);
    let old: Vec<(usize, isize)> = from.iter().copied().zip(strides.iter().copied()).collect();
    let old: Vec<(usize, isize)> = old.into_iter().filter(|(size, _)| *size != 1).collect();
    let (mut next, mut dim) = (0, 0);
    while next < old.len() {
        let (first, start) = (next, dim);
        let (mut have, mut want) = (old[next].0, to[dim]);
        next += 1;
        dim += 1;
        while have != want {
            if have < want {
                have *= old[next].0;
                next += 1;
            } else {
                want *= to[dim];
                dim += 1;
            }
        }
        let even = |at: usize| old[at].1 == old[at + 1].1 * old[at + 1].0 as isize;
        if !(first..next - 1).all(even) {
            return None;
        }
        let mut stride = old[next - 1].1;
        for dim in (start..dim).rev() {
            result[dim] = stride;
            stride *= to[dim] as isize;
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_matrix_flattens_only_by_a_copy() {
        assert_eq!(reshaped(&[2, 3].into(), &[1, 2], &[6].into()), None);
    }

    #[test]
    fn a_dim_of_a_transposed_matrix_splits_without_a_copy() {
        let strides = reshaped(&[4, 3].into(), &[1, 4], &[2, 2, 1, 3].into());
        assert_eq!(strides.map(|it| it.to_vec()), Some(vec![2, 1, 12, 4]));
    }

    #[test]
    fn an_expanded_dim_joins_another_only_by_a_copy() {
        assert_eq!(reshaped(&[2, 3].into(), &[0, 1], &[6].into()), None);
        let strides = reshaped(&[2, 3].into(), &[0, 0], &[6].into());
        assert_eq!(strides.map(|it| it.to_vec()), Some(vec![0]));
    }
}
