//! How the elements of several operands lie relative to each other, in as few dims as possible.

/// Dims of an iteration with the strides of each operand in them; the last dim is the innermost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// The size of each dim.
    pub(crate) sizes: Vec<usize>,
    /// For each operand the stride in each dim, in elements.
    pub(crate) strides: Vec<Vec<isize>>,
}

impl Layout {
    /// The iteration over `sizes`, with dims of size 1 left out and neighbours merged that every operand walks evenly.
    pub(crate) fn new(sizes: &[usize], strides: &[Vec<isize>]) -> Self {
        let mut layout = Self {
            sizes: Vec::new(),
            strides: vec![Vec::new(); strides.len()],
        };
        for (dim, size) in sizes.iter().enumerate().filter(|(_, size)| **size != 1) {
            let even = |(kept, all): (&Vec<isize>, &Vec<isize>)| {
                kept.last()
                    .is_some_and(|outer| *outer == all[dim] * *size as isize)
            };
            let operands = || layout.strides.iter().zip(strides);
            match layout.sizes.last().copied() {
                Some(outer) if operands().all(even) => {
                    *layout.sizes.last_mut().expect("there is one") = outer * size;
                    for (kept, all) in layout.strides.iter_mut().zip(strides) {
                        *kept.last_mut().expect("there is one") = all[dim];
                    }
                }
                _ => {
                    layout.sizes.push(*size);
                    for (kept, all) in layout.strides.iter_mut().zip(strides) {
                        kept.push(all[dim]);
                    }
                }
            }
        }
        layout
    }

    pub(crate) fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The stride of an operand in the innermost dim.
    pub(crate) fn inner_stride(&self, operand: usize) -> isize {
        self.strides[operand].last().copied().unwrap_or(0)
    }
}

/// The strides of an operand of `shape` that broadcasts to an iteration of the same rank.
pub(crate) fn broadcast(shape: &[usize], strides: &[isize], to: &[usize]) -> Vec<isize> {
    let stride = |dim: usize| match shape[dim] == 1 && to[dim] != 1 {
        true => 0,
        false => strides[dim],
    };
    (0..to.len()).map(stride).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_major_operands_merge_to_one_dim() {
        let layout = Layout::new(&[2, 1, 3, 4], &[vec![12, 9, 4, 1], vec![12, 7, 4, 1]]);
        assert_eq!(layout.sizes, [24]);
        assert_eq!(layout.strides, [vec![1], vec![1]]);
    }

    #[test]
    fn a_broadcast_row_keeps_its_dim_apart() {
        let layout = Layout::new(&[2, 3, 4], &[vec![12, 4, 1], vec![0, 0, 1]]);
        assert_eq!(layout.sizes, [6, 4]);
        assert_eq!(layout.strides, [vec![4, 1], vec![0, 1]]);
    }

    #[test]
    fn one_element_needs_no_dim() {
        assert_eq!(Layout::new(&[1, 1], &[vec![5, 5]]).rank(), 0);
    }
}
