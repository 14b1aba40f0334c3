//! The tensor of this backend: shared storage under a strided layout. Nothing here computes.

use crate::ops::movement::copy_strided;
use crate::rows::{Row, Rows};
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_ir::{Described, TensorMeta};
use burn_std::{Bytes, DType, Element, Shape, Strides};

/// Elements in shared storage. A view shares the storage and has a layout of its own.
///
/// One address: instructions hand tensors on by value, several times on their way to a kernel.
#[derive(Clone, Debug)]
pub struct FlexTensor(Arc<Held>);

#[derive(Clone, Debug)]
struct Held {
    meta: TensorMeta,
    layout: Layout,
    // Invariant: aligned for `meta.dtype`, valid elements of it everywhere, and large enough for `layout`.
    storage: Arc<Bytes>,
}

/// Where the elements of a tensor are in its storage, counted in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Distance from one index of a dim to the next; 0 repeats, negative walks backwards.
    pub strides: Strides,
    /// Position of the first element.
    pub offset: usize,
}

impl Layout {
    /// The dense row-major layout.
    pub(crate) fn contiguous(shape: &Shape) -> Self {
        Self {
            strides: Strides::contiguous(shape),
            offset: 0,
        }
    }

    /// Whether the elements of a tensor of `shape` lie side by side in row-major order.
    pub(crate) fn is_contiguous(&self, shape: &Shape) -> bool {
        let mut expected = 1;
        for (size, stride) in shape.iter().zip(self.strides.iter()).rev() {
            if *size != 1 && *stride != expected {
                return shape.contains(&0);
            }
            expected *= *size as isize;
        }
        true
    }
}

/// A buffer of `len` bytes for elements of `dtype`, of any content.
///
/// # Safety
/// Every byte is written before it is read.
pub(crate) unsafe fn allocate(len: usize, dtype: DType) -> Bytes {
    // The general allocator is faster at its own alignment than at that of a cache line, which small tensors
    // gain nothing from.
    const SMALL: usize = 4096;
    #[expect(clippy::uninit_vec, reason = "the caller writes the elements")]
    fn vec<E: bytemuck::Pod>(len: usize) -> Bytes {
        let mut elems = Vec::<E>::with_capacity(len / size_of::<E>());
        // SAFETY: the capacity is allocated, and any bits are an element; the caller writes before it reads.
        unsafe { elems.set_len(len / size_of::<E>()) };
        Bytes::from_elems(elems)
    }
    #[cfg(test)]
    tests::ALLOCATIONS.with(|count| count.set(count.get() + 1));
    match dtype.size() {
        // SAFETY: the caller's promise.
        _ if len > SMALL => unsafe { Bytes::uninit(len) },
        1 => vec::<u8>(len),
        2 => vec::<u16>(len),
        4 => vec::<u32>(len),
        _ => vec::<u64>(len),
    }
}

impl FlexTensor {
    /// A tensor whose elements fill `storage` in row-major order.
    pub(crate) fn contiguous(meta: TensorMeta, storage: Bytes) -> Self {
        let layout = Layout::contiguous(&meta.shape);
        Self::with_layout(meta, layout, storage)
    }

    /// A tensor of new storage under any layout.
    pub(crate) fn with_layout(meta: TensorMeta, layout: Layout, storage: Bytes) -> Self {
        debug_assert!(storage.as_ptr().addr().is_multiple_of(meta.dtype.size()));
        debug_assert!(Some(storage.len()) >= meta.dtype.size_of(&meta.shape));
        Self(Arc::new(Held {
            meta,
            layout,
            storage: Arc::new(storage),
        }))
    }

    /// The same storage under another description. The element type stays.
    pub(crate) fn view(self, shape: Shape, layout: Layout) -> Self {
        let dtype = self.dtype();
        self.described(TensorMeta { shape, dtype }, layout)
    }

    /// The same storage as elements of another type of the same size. The caller has written them.
    pub(crate) fn with_meta(self, meta: TensorMeta, layout: Layout) -> Self {
        debug_assert_eq!(meta.dtype.size(), self.dtype().size());
        self.described(meta, layout)
    }

    fn described(mut self, meta: TensorMeta, layout: Layout) -> Self {
        if let Some(held) = Arc::get_mut(&mut self.0) {
            (held.meta, held.layout) = (meta, layout);
            return self;
        }
        let storage = self.0.storage.clone();
        Self(Arc::new(Held {
            meta,
            layout,
            storage,
        }))
    }

    /// The same storage and layout as elements of another type of the same size. The caller has written them.
    pub(crate) fn with_dtype(mut self, dtype: DType) -> Self {
        debug_assert_eq!(dtype.size(), self.dtype().size());
        if self.dtype() != dtype {
            Arc::make_mut(&mut self.0).meta.dtype = dtype;
        }
        self
    }

    /// The sizes.
    pub(crate) fn shape(&self) -> &Shape {
        &self.0.meta.shape
    }

    /// The element type.
    pub(crate) fn dtype(&self) -> DType {
        self.0.meta.dtype
    }

    /// Where the elements are in the storage.
    pub(crate) fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.0.meta.shape.num_elements()
    }

    /// Whether the elements lie side by side in row-major order.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.0.layout.is_contiguous(&self.0.meta.shape)
    }

    /// The bytes of the storage.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.0.storage
    }

    /// The first element.
    pub(crate) fn first(&self) -> *const u8 {
        let offset = self.0.layout.offset * self.0.meta.dtype.size();
        self.0.storage.as_ptr().wrapping_add(offset)
    }

    /// The storage to overwrite, if nobody else holds it and the elements fill it.
    ///
    /// Elements need not be in row-major order: the layout is to be kept.
    pub(crate) fn unique_storage(&mut self) -> Option<&mut Bytes> {
        let held = Arc::get_mut(&mut self.0)?;
        let len = held.meta.shape.num_elements() * held.meta.dtype.size();
        let filled = held.storage.len() == len;
        if !filled || held.layout.strides.contains(&0) {
            return None;
        }
        Arc::get_mut(&mut held.storage)
    }

    /// Whether nobody else holds the storage.
    pub(crate) fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && Arc::strong_count(&self.0.storage) == 1
    }

    /// The elements to overwrite, if nobody else holds the storage and they fill it in row-major order.
    pub(crate) fn unique_mut<E: Element>(&mut self) -> Option<&mut [E]> {
        assert_eq!(self.0.meta.dtype, E::dtype(), "written as the type it has");
        if !self.is_contiguous() {
            return None;
        }
        let len = self.len();
        let storage = self.unique_storage()?;
        // SAFETY: the storage is aligned for the element type, holds `len` valid elements, and is borrowed mutably.
        Some(unsafe { core::slice::from_raw_parts_mut(storage.as_mut_ptr().cast(), len) })
    }

    /// The same elements in row-major order; a copy only if they are not already.
    pub(crate) fn into_contiguous(self) -> Self {
        if self.is_contiguous() {
            return self;
        }
        let meta = self.0.meta.clone();
        let size = meta.dtype.size();
        // SAFETY: the copy writes as many elements as the shape has.
        let mut storage = unsafe { allocate(self.len() * size, meta.dtype) };
        let dense = Strides::contiguous(&meta.shape);
        let from = self.first();
        // SAFETY: the layout stays inside the storage, which is aligned; the new buffer has room for all elements, which
        // dense strides reach once each.
        unsafe {
            copy_strided(
                size,
                &meta.shape,
                from,
                &self.0.layout.strides,
                storage.as_mut_ptr(),
                &dense,
            )
        };
        Self::contiguous(meta, storage)
    }

    /// The bytes of the elements in row-major order; the storage itself if nobody else holds it.
    pub(crate) fn into_bytes(self) -> Bytes {
        let tensor = self.into_contiguous();
        let all = tensor.bytes().len();
        let (from, len) = match tensor.dtype() {
            // Codes and scales fill their storage.
            dtype if dtype.is_quantized() => (0, all),
            dtype => (
                tensor.layout().offset * dtype.size(),
                tensor.len() * dtype.size(),
            ),
        };
        if len != all {
            return Bytes::copy_from(&tensor.bytes()[from..from + len]);
        }
        let storage = match Arc::try_unwrap(tensor.0) {
            Ok(held) => held.storage,
            Err(shared) => shared.storage.clone(),
        };
        Arc::try_unwrap(storage).unwrap_or_else(|shared| Bytes::clone(&shared))
    }
}

/// What tests make and look into tensors with.
#[cfg(test)]
impl FlexTensor {
    /// A tensor of these elements in row-major order.
    pub(crate) fn from_vec<E: Element>(shape: impl Into<Shape>, elems: Vec<E>) -> Self {
        let meta = TensorMeta::new(shape, E::dtype());
        Self::contiguous(meta, Bytes::from_elems(elems))
    }

    /// The whole storage, for [`Rows`] to point into.
    ///
    /// # Panics
    /// If `E` is not the element type.
    pub(crate) fn storage<E: Element>(&self) -> &[E] {
        assert_eq!(self.0.meta.dtype, E::dtype(), "read as the type it has");
        let len = self.0.storage.len() / size_of::<E>();
        // SAFETY: the storage is aligned for the element type, which `E` is, and holds valid elements.
        unsafe { core::slice::from_raw_parts(self.0.storage.as_ptr().cast(), len) }
    }

    /// The elements, if they lie side by side in row-major order.
    pub(crate) fn as_slice<E: Element>(&self) -> Option<&[E]> {
        let (from, len) = (self.0.layout.offset, self.len());
        match len {
            0 => Some(&[]),
            _ => self
                .is_contiguous()
                .then(|| &self.storage::<E>()[from..from + len]),
        }
    }
}

/// Copies a range of the elements of `rows` to `to`.
///
/// # Safety
/// Every position of `rows` is readable from `from`, and `to` is writable for the range; they do not overlap.
pub(crate) unsafe fn pack<T: Copy>(
    rows: &Rows,
    range: core::ops::Range<usize>,
    from: *const T,
    mut to: *mut T,
) {
    rows.each(range, |Row { start, stride, len }| {
        // SAFETY: the caller's promise.
        unsafe {
            let from = from.offset(start);
            match stride {
                1 => to.copy_from_nonoverlapping(from, len),
                0 => core::slice::from_raw_parts_mut(to, len).fill(*from),
                _ => {
                    for i in 0..len {
                        *to.add(i) = *from.offset(i as isize * stride);
                    }
                }
            }
            to = to.add(len);
        }
    });
}

impl Described for FlexTensor {
    fn meta(&self) -> &TensorMeta {
        &self.0.meta
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use alloc::vec;
    use core::cell::Cell;

    std::thread_local! {
        /// Buffers allocated by kernels on this thread.
        pub(crate) static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    }

    fn layout<const D: usize>(strides: [isize; D], offset: usize) -> Layout {
        Layout {
            strides: strides.into(),
            offset,
        }
    }

    #[test]
    fn a_transposed_view_becomes_contiguous_by_a_copy() {
        for (lines, columns) in [(2, 3), (40, 37), (1, 5)] {
            let elems: Vec<i32> = (0..lines * columns).collect();
            let (lines, columns) = (lines as usize, columns as usize);
            let view = FlexTensor::from_vec([columns, lines], elems)
                .view(Shape::new([lines, columns]), layout([1, lines as isize], 0));
            let copy = view.into_contiguous();
            let copy = copy.as_slice::<i32>().unwrap();
            for line in 0..lines {
                for column in 0..columns {
                    let expected = (column * lines + line) as i32;
                    assert_eq!(copy[line * columns + column], expected);
                }
            }
        }
    }

    #[test]
    fn a_contiguous_part_is_a_slice_and_is_not_overwritten() {
        let mut part = FlexTensor::from_vec([6], vec![0i32, 1, 2, 3, 4, 5])
            .view(Shape::new([2]), layout([1], 3));
        assert_eq!(part.as_slice::<i32>(), Some(&[3, 4][..]));
        assert!(part.unique_mut::<i32>().is_none());
        assert_eq!(part.into_bytes(), Bytes::from_elems(vec![3i32, 4]));
    }

    #[test]
    fn only_the_last_owner_overwrites() {
        let mut tensor = FlexTensor::from_vec([2], vec![1.0f32, 2.0]);
        let other = tensor.clone();
        assert!(tensor.unique_mut::<f32>().is_none());
        drop(other);
        assert!(tensor.unique_mut::<f32>().is_some());
    }
}
