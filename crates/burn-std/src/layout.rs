//! In which order the dims of a tensor lie in memory.

use crate::Shape;
use alloc::vec::Vec;

/// Dims from the outermost in memory to the innermost.
pub type DimOrder = Shape;

/// Whether dims lie in memory as they are counted: row-major.
pub fn is_contiguous_order(order: &[usize]) -> bool {
    order.iter().enumerate().all(|(at, dim)| at == *dim)
}

/// The order of the dims of a dense tensor: each stride is the number of elements of the dims inside. `None` for other
/// layouts, such as slices and broadcasts. Dims of size 1 lie nowhere, and keep their place.
pub fn dim_order(shape: &[usize], strides: &[usize]) -> Option<DimOrder> {
    nested(shape, strides, |stride, inside| stride == inside)
}

/// The order of the dims of a tensor whose dims lie inside each other without overlapping, with gaps or without. `None` for
/// other layouts, such as broadcasts.
pub fn nested_dim_order(shape: &[usize], strides: &[usize]) -> Option<DimOrder> {
    nested(shape, strides, |stride, inside| stride >= inside)
}

fn nested(
    shape: &[usize],
    strides: &[usize],
    fits: impl Fn(usize, usize) -> bool,
) -> Option<DimOrder> {
    if shape.len() != strides.len() {
        return None;
    }
    let mut large: Vec<usize> = (0..shape.len()).filter(|dim| shape[*dim] != 1).collect();
    large.sort_by_key(|dim| core::cmp::Reverse(strides[*dim]));
    let mut inside = 1;
    for dim in large.iter().rev() {
        if !fits(strides[*dim], inside) {
            return None;
        }
        inside = strides[*dim].checked_mul(shape[*dim])?;
    }
    let mut large = large.into_iter();
    let place = |dim| match shape[dim] {
        1 => Some(dim),
        _ => large.next(),
    };
    (0..shape.len()).map(place).collect()
}
