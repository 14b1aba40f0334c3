//! Grids.

use super::{close, dev, equal, message};
use burn_tensor::grid::{
    GridIndexing, GridOptions, GridSparsity, IndexPos, affine_grid_2d, meshgrid, meshgrid_stack,
};
use burn_tensor::{Int, Tensor};

fn lines() -> [Tensor<1, Int>; 2] {
    [[1, 2, 0], [7, 8, 9]].map(|line| Tensor::from_data(line, &dev()))
}

#[test]
fn a_grid_runs_along_its_own_dim() {
    let [first, second] = lines();
    let lines = [first.narrow(0, 0, 2), second];
    let [x, y] = meshgrid(&lines, GridOptions::default());
    equal(x, [[1, 1, 1], [2, 2, 2]]);
    equal(y, [[7, 8, 9], [7, 8, 9]]);
    let [x, y] = meshgrid(&lines, GridIndexing::Cartesian);
    equal(x, [[1, 2], [1, 2], [1, 2]]);
    equal(y, [[7, 7], [8, 8], [9, 9]]);
    let [x, y] = meshgrid(&lines, GridSparsity::Sparse);
    equal(x, [[1], [2]]);
    equal(y, [[7, 8, 9]]);
    let [x] = meshgrid(&[lines[0].clone()], GridIndexing::Cartesian);
    equal(x, [1, 2]);
}

#[test]
fn a_stacked_grid_has_its_coordinates_where_asked() {
    let lines = lines().map(|line| line.narrow(0, 0, 2));
    let last: Tensor<3, Int> = meshgrid_stack(&lines, IndexPos::Last);
    equal(last, [[[1, 7], [1, 8]], [[2, 7], [2, 8]]]);
    let first: Tensor<3, Int> = meshgrid_stack(&lines, IndexPos::First);
    equal(first, [[[1, 1], [2, 2]], [[7, 8], [7, 8]]]);
}

#[test]
fn an_affine_grid_moves_the_points_of_an_image() {
    // x' = 2x + 3, y' = y - x
    let map = Tensor::from_data([[[2.0, 0.0, 3.0], [-1.0, 1.0, 0.0]]], &dev());
    let grid = affine_grid_2d(map.clone(), [1, 4, 2, 3]);
    close(
        grid,
        [[
            [[1.0, 0.0], [3.0, -1.0], [5.0, -2.0]],
            [[1.0, 2.0], [3.0, 1.0], [5.0, 0.0]],
        ]],
    );
    close(affine_grid_2d(map.clone(), [1, 1, 1, 1]), [[[[3.0, 0.0]]]]);
    assert!(message(|| affine_grid_2d(map, [2, 1, 1, 1])).contains("[2, 2, 3]"));
}
