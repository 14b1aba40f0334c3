//! Other arrangements of the same elements.

use super::{close, dev, equal};
use burn_tensor::ops::PadMode;
use burn_tensor::{Bool, Int, Shape, Tensor, s};

fn range(count: i64) -> Tensor<1, Int> {
    Tensor::arange(0..count, &dev())
}

/// `[[0, 1, 2], [3, 4, 5]]`
fn matrix() -> Tensor<2, Int> {
    range(6).reshape([2, 3])
}

#[test]
fn a_reshape_keeps_and_infers_sizes() {
    assert_eq!(
        Tensor::<2>::zeros([3, 4], &dev()).reshape([0, -1]).dims(),
        [3, 4]
    );
    assert_eq!(range(6).reshape([-1, 2]).dims(), [3, 2]);
    assert_eq!(range(0).reshape([0, 3]).dims(), [0, 3]);
    assert_eq!(range(6).reshape::<2, _>(Shape::new([1, 6])).dims(), [1, 6]);
}

#[test]
fn dims_change_places() {
    equal(matrix().transpose(), [[0, 3], [1, 4], [2, 5]]);
    equal(matrix().swap_dims(-1, 0).t(), [[0, 1, 2], [3, 4, 5]]);
    let x = || Tensor::<3>::zeros([2, 3, 4], &dev());
    assert_eq!(x().permute([2, 0, -2]).dims(), [4, 2, 3]);
    assert_eq!(x().movedim(0, 2).dims(), [3, 4, 2]);
    assert_eq!(x().movedim(-1, 0).dims(), [4, 2, 3]);
    assert_eq!(x().movedim(vec![0, 1], vec![2, 0]).dims(), [3, 4, 2]);
    assert_eq!(range(2).transpose().dims(), [2]);
}

#[test]
fn dims_of_size_one_come_and_go() {
    let x = || Tensor::<4>::zeros([1, 3, 1, 5], &dev());
    assert_eq!(x().squeeze::<2>().dims(), [3, 5]);
    assert_eq!(x().squeeze_dim::<3>(-2).dims(), [1, 3, 5]);
    assert_eq!(x().squeeze_dims::<2>(&[0, -2]).dims(), [3, 5]);
    assert_eq!(x().squeeze_dims::<2>(&[] as &[i32]).dims(), [3, 5]);
    let x = || Tensor::<2>::zeros([3, 5], &dev());
    assert_eq!(x().unsqueeze::<4>().dims(), [1, 1, 3, 5]);
    assert_eq!(x().unsqueeze_dim::<3>(-1).dims(), [3, 5, 1]);
    assert_eq!(
        x().unsqueeze_dims::<5>(&[0, -1, -1]).dims(),
        [1, 3, 5, 1, 1]
    );
    assert_eq!(x().unsqueeze_dims::<4>(&[0, -2]).dims(), [1, 3, 1, 5]);
    assert_eq!(
        Tensor::<4>::zeros([2, 3, 4, 5], &dev())
            .flatten::<2>(1, -1)
            .dims(),
        [2, 60]
    );
}

#[test]
fn slices_are_cut_off_and_count_from_the_end() {
    equal(range(5).slice(1..7), [1, 2, 3, 4]);
    equal(range(5).slice(s![-2..]), [3, 4]);
    assert_eq!(matrix().slice(0..1).dims(), [1, 3]);
    equal(matrix().slice(s![.., 0..3;2]), [[0, 2], [3, 5]]);
    equal(matrix().slice_dim(1, 1..), [[1, 2], [4, 5]]);
    equal(matrix().slice(s![-1, ..]), [[3, 4, 5]]);
}

/// BC-025: a negative step walks the range backwards, and an empty range is empty.
#[test]
fn steps_walk_backwards() {
    let x = || Tensor::<1>::from_data([10.0, 20.0, 30.0, 40.0, 50.0], &dev());
    close(x().slice(s![0..5;-2]), [50.0, 30.0, 10.0]);
    assert_eq!(x().slice(s![0..0;-1]).dims(), [0]);
    assert_eq!(x().slice(s![2..2;-2]).dims(), [0]);
    close(x().slice(s![-2..]), [40.0, 50.0]);
    equal(matrix().flip([0, -1]), [[5, 4, 3], [2, 1, 0]]);
}

#[test]
fn parts_make_the_whole() {
    let sizes =
        |parts: Vec<Tensor<1, Int>>| parts.iter().map(|part| part.dims()[0]).collect::<Vec<_>>();
    assert_eq!(sizes(range(7).split(3, 0)), [3, 3, 1]);
    assert_eq!(sizes(range(7).chunk(3, 0)), [3, 3, 1]);
    assert_eq!(sizes(range(7).chunk(5, 0)), [2, 2, 2, 1]);
    assert_eq!(sizes(range(2).chunk(5, 0)), [1, 1]);
    assert_eq!(
        sizes(range(7).split_with_sizes(vec![3, 0, 4], 0)),
        [3, 0, 4]
    );
    equal(Tensor::cat(range(7).split(3, 0), 0), [0, 1, 2, 3, 4, 5, 6]);
    let columns: Vec<_> = matrix().iter_dim(1).rev().collect();
    equal(columns[0].clone(), [[2], [5]]);
    assert_eq!(columns.len(), 3);
    equal(matrix().select_dim::<1>(0, -1), [3, 4, 5]);
    equal(matrix().narrow(1, 1, 2), [[1, 2], [4, 5]]);
}

/// BC-007: a dim repeated no times has no elements.
#[test]
fn a_dim_repeats_any_number_of_times() {
    let x = Tensor::<2>::from_data([[1.0, 2.0, 3.0]], &dev());
    let none = x.clone().repeat(&[0, 2]);
    assert_eq!(none.dims(), [0, 6]);
    assert_eq!(none.into_data().num_elements(), 0);
    assert_eq!(x.clone().repeat_dim(1, 0).dims(), [1, 0]);
    close(x.clone().repeat(&[2]), [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]);
    close(x.repeat_dim(-1, 2), [[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]]);
}

#[test]
fn an_expansion_adds_leading_dims_and_keeps_sizes() {
    equal(range(2).expand::<2, _>([2, 2]), [[0, 1], [0, 1]]);
    let x = matrix().unsqueeze_dim::<3>(1).expand::<3, _>([-1, 4, 3]);
    assert_eq!(x.dims(), [2, 4, 3]);
    assert_eq!(range(1).expand::<1, _>([0]).dims(), [0]);
}

/// Also of values that arithmetic would change: NaN, infinities and negative zero.
#[test]
fn tensors_are_joined_bit_by_bit() {
    let odd = Tensor::<1>::from_data([f32::NAN, f32::INFINITY, -0.0], &dev());
    let parts = vec![odd.clone(), Tensor::zeros([0], &dev()), odd.clone(), odd];
    let joined = Tensor::cat(parts, 0).into_data().to_vec::<f32>().unwrap();
    let bits: Vec<_> = joined.iter().map(|value| value.to_bits()).collect();
    let one = [
        f32::NAN.to_bits(),
        f32::INFINITY.to_bits(),
        (-0.0f32).to_bits(),
    ];
    assert_eq!(bits, [one, one, one].concat());
    equal(
        Tensor::cat(vec![matrix(), matrix()], -1).slice(s![0]),
        [[0, 1, 2, 0, 1, 2]],
    );
    equal(
        Tensor::stack::<2>(vec![range(2), range(2) + 5], 1),
        [[0, 5], [1, 6]],
    );
    let bools = Tensor::<1, Bool>::from_bool([true, false], &dev());
    equal(
        Tensor::cat(vec![bools.clone(), bools], 0),
        [true, false, true, false],
    );
}

#[test]
fn selections_are_replaced() {
    let ones = Tensor::<2, Int>::ones([1, 2], &dev());
    equal(
        matrix().slice_assign([0..1, 1..3], ones * 9),
        [[0, 9, 9], [3, 4, 5]],
    );
    equal(
        range(5).slice_assign(s![0..5;2], range(3) * 10),
        [0, 1, 10, 3, 20],
    );
    equal(
        range(5).slice_assign(s![1..5;-3], range(2) + 8),
        [0, 9, 2, 3, 8],
    );
    equal(range(3).slice_assign(s![1..1], range(0)), [0, 1, 2]);
    equal(matrix().slice_fill([0..1, 1..3], 7), [[0, 7, 7], [3, 4, 5]]);
    let nan = Tensor::<1>::from_data([f32::NAN, 1.0], &dev());
    close(nan.slice_fill(s![0], 2), [2.0, 1.0]);
}

#[test]
fn elements_roll_over_the_end() {
    equal(range(5).roll_dim(-2, 0), [2, 3, 4, 0, 1]);
    equal(range(5).roll_dim(7, -1), [3, 4, 0, 1, 2]);
    equal(matrix().roll(&[1, 1], &[0, 1]), [[5, 3, 4], [2, 0, 1]]);
}

#[test]
fn windows_slide_over_a_dim() {
    equal(
        range(7).unfold::<2, _>(0, 3, 2),
        [[0, 1, 2], [2, 3, 4], [4, 5, 6]],
    );
    let x = range(12).reshape([6, 2]).unfold::<3, _>(0, 3, 2);
    equal(x, [[[0, 2, 4], [1, 3, 5]], [[4, 6, 8], [5, 7, 9]]]);
}

#[test]
fn borders_are_filled_or_continued() {
    let x = || range(4);
    equal(
        x().pad([(2, 3)], PadMode::Reflect),
        [2, 1, 0, 1, 2, 3, 2, 1, 0],
    );
    equal(
        x().pad([(2, 3)], PadMode::Edge),
        [0, 0, 0, 1, 2, 3, 3, 3, 3],
    );
    equal(x().pad([(1, 0)], 9), [9, 0, 1, 2, 3]);
    let ones = || Tensor::<2, Int>::ones([1, 1], &dev());
    equal(ones().pad((1, 0, 2, 0), 0), [[0, 0], [0, 0], [0, 1]]);
    equal(ones().pad([(2, 0), (1, 0)], 0), [[0, 0], [0, 0], [0, 1]]);
    equal(ones().pad([(1, 0)], 0), [[0, 1]]);
}
