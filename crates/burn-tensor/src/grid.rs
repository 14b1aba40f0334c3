//! Coordinates of the points of a grid. Their list, as one tensor of ints, is
//! [`Tensor::cartesian_grid`](crate::Tensor::cartesian_grid).

use crate::kind::Basic;
use crate::{Device, Int, Tensor, TensorData};
use alloc::vec::Vec;
use burn_std::Shape;

/// Which of the first two dims of a grid the first coordinate runs along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridIndexing {
    /// The first: rows are counted before columns.
    #[default]
    Matrix,
    /// The second: `x` runs along the columns, `y` along the rows.
    Cartesian,
}

/// Whether coordinates are written out for every point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridSparsity {
    /// For every point.
    #[default]
    Dense,
    /// Along their own dim only, for use with broadcasting.
    Sparse,
}

/// Where the coordinates of one point lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexPos {
    /// In the first dim.
    First,
    /// In the last dim.
    #[default]
    Last,
}

/// How a grid is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GridOptions {
    /// Which dim the first coordinate runs along.
    pub indexing: GridIndexing,
    /// Whether coordinates are written out for every point.
    pub sparsity: GridSparsity,
}

impl GridOptions {
    /// The two together.
    pub fn new(indexing: GridIndexing, sparsity: GridSparsity) -> Self {
        Self { indexing, sparsity }
    }
}

impl From<GridIndexing> for GridOptions {
    fn from(indexing: GridIndexing) -> Self {
        Self::new(indexing, GridSparsity::default())
    }
}

impl From<GridSparsity> for GridOptions {
    fn from(sparsity: GridSparsity) -> Self {
        Self::new(GridIndexing::default(), sparsity)
    }
}

/// The position of each element of a tensor of `shape`, as [`Tensor::cartesian_grid`].
#[track_caller]
pub fn cartesian_grid<S: Into<Shape>, const D: usize, const D2: usize>(
    shape: S,
    device: &Device,
) -> Tensor<D2, Int> {
    Tensor::<D, Int>::cartesian_grid(shape, device)
}

/// The coordinates of every point of the grid that the given lines span, a tensor for each line.
///
/// # Shapes
/// - `tensors`: `[n0]`, …, `[n(D-1)]`
/// - output: `[n0, …, n(D-1)]` each, with the first two dims exchanged for [`GridIndexing::Cartesian`]; size 1 in all
///   other dims for [`GridSparsity::Sparse`]
#[track_caller]
pub fn meshgrid<const D: usize, K: Basic, O: Into<GridOptions>>(
    tensors: &[Tensor<1, K>; D],
    options: O,
) -> [Tensor<D, K>; D] {
    let options = options.into();
    let place = |at: usize| match (options.indexing, at) {
        (GridIndexing::Cartesian, 0) if D > 1 => 1,
        (GridIndexing::Cartesian, 1) => 0,
        (_, at) => at,
    };
    let mut shape = Shape::from(alloc::vec![1; D]);
    for (at, line) in tensors.iter().enumerate() {
        shape[place(at)] = line.dims()[0];
    }
    core::array::from_fn(|at| {
        let mut own = Shape::from(alloc::vec![1; D]);
        own[place(at)] = tensors[at].dims()[0];
        let line: Tensor<D, K> = tensors[at].clone().reshape(own);
        match options.sparsity {
            GridSparsity::Dense => line.expand(shape.clone()),
            GridSparsity::Sparse => line,
        }
    })
}

/// The coordinates of every point of the grid that the given lines span, in one tensor.
///
/// # Shapes
/// - `tensors`: `[n0]`, …, `[n(D-1)]`
/// - output: `[n0, …, n(D-1), D]`, or `[D, n0, …, n(D-1)]` for [`IndexPos::First`]
#[track_caller]
pub fn meshgrid_stack<const D: usize, const D2: usize, K: Basic>(
    tensors: &[Tensor<1, K>; D],
    index_pos: IndexPos,
) -> Tensor<D2, K> {
    let grids = meshgrid(tensors, GridOptions::default()).to_vec();
    let dim = match index_pos {
        IndexPos::First => 0,
        IndexPos::Last => D as isize,
    };
    Tensor::stack(grids, dim)
}

/// The points of an image, moved by an affine map of each image: where a sampler finds the colour of each pixel.
///
/// Points are `(x, y)` with -1 and 1 in the middle of the outermost pixels; an image of one pixel has it at 0.
///
/// # Shapes
/// - `transform`: `[batch, 2, 3]`
/// - `dims`: `[batch, channels, height, width]`
/// - output: `[batch, height, width, 2]`
///
/// # Panics
/// If the number of maps is not that of images.
#[track_caller]
pub fn affine_grid_2d(transform: Tensor<3>, dims: [usize; 4]) -> Tensor<4> {
    let [batch, _, height, width] = dims;
    assert!(
        transform.dims() == [batch, 2, 3],
        "`affine_grid_2d`: maps of shape {} for {batch} images\n  legal: [{batch}, 2, 3]",
        transform.shape()
    );
    let place = |at: usize, size: usize| match size {
        1 => 0.0,
        size => 2.0 * at as f64 / (size - 1) as f64 - 1.0,
    };
    let points: Vec<f64> = (0..height * width)
        .flat_map(|at| [place(at % width, width), place(at / width, height), 1.0])
        .collect();
    let options = (&transform.device().without_autodiff(), transform.dtype());
    let data = TensorData::new(points, [1, height * width, 3]);
    let points = Tensor::<3>::from_data(data, options);
    let moved = points.matmul(transform.swap_dims(1, 2));
    moved.reshape([batch, height, width, 2])
}
