//! Positions that are data. Cases named BC are of the list of cases that must come out right.

use super::{ad, close, dev, equal, message};
use burn_tensor::{Bool, DType, IndexingUpdateOp, Int, Tensor, TensorData, module};
use insta::assert_snapshot;

const MODES: [IndexingUpdateOp; 5] = [
    IndexingUpdateOp::Assign,
    IndexingUpdateOp::Add,
    IndexingUpdateOp::Mul,
    IndexingUpdateOp::Min,
    IndexingUpdateOp::Max,
];

fn grid(rows: i64, columns: usize) -> Tensor<2> {
    let count = rows * columns as i64;
    let flat = Tensor::<1, Int>::arange(0..count, &dev()).float();
    flat.reshape([rows as usize, columns])
}

fn ints<const D: usize>(data: impl Into<TensorData>) -> Tensor<D, Int> {
    Tensor::from_data(data, &dev())
}

/// BC-023.
#[test]
fn gather_takes_fewer_indices_than_elements_and_reads_views() {
    let x = grid(3, 4);
    let columns = ints([[3, 0], [2, 2], [1, 1]]);
    close(x.clone().gather(1, columns), [[3., 0.], [6., 6.], [9., 9.]]);
    close(
        x.clone().gather(0, ints([[2, 0, 1, 1]])),
        [[8., 1., 6., 7.]],
    );
    let rows = ints([[3, 2, 1], [0, 2, 1]]);
    close(x.transpose().gather(0, rows), [[3., 6., 9.], [0., 6., 9.]]);
}

/// BC-021.
#[test]
fn scatter_nd_counts_values_over_all_batch_dims() {
    let indices = || ints::<3>([[[0], [2]]]);
    let values = Tensor::<3>::from_data([[[1., 2., 3.], [4., 5., 6.]]], &dev());
    let zeros = || Tensor::<2>::zeros([4, 3], &dev());
    let expected = [[1., 2., 3.], [0., 0., 0.], [4., 5., 6.], [0., 0., 0.]];
    let add = IndexingUpdateOp::Add;
    close(zeros().scatter_nd(indices(), values.clone(), add), expected);
    // The same values as every second element of a larger tensor.
    let wide = values.unsqueeze_dim::<4>(3).repeat(&[1, 1, 1, 2]);
    let wide: Tensor<3> = wide.reshape([1, 2, 6]);
    let stepped = wide
        .slice([0..1, 0..2])
        .slice_dim(2, burn_tensor::s![0..6;2]);
    close(zeros().scatter_nd(indices(), stepped, add), expected);
}

#[test]
fn values_that_meet_are_combined_in_their_order() {
    let x = || Tensor::<1>::from_data([2., 3., 5.], &dev());
    let values = || Tensor::<1>::from_data([7., -1., 4.], &dev());
    let expected = [
        [-1., 3., 4.],
        [8., 3., 9.],
        [-14., 3., 20.],
        [-1., 3., 4.],
        [7., 3., 5.],
    ];
    for (mode, expected) in MODES.into_iter().zip(expected) {
        close(x().scatter(0, ints([0, 0, 2]), values(), mode), expected);
        close(
            x().select_assign(0, ints([0, 0, 2]), values(), mode),
            expected,
        );
        close(
            x().scatter_nd(ints::<2>([[0], [0], [2]]), values(), mode),
            expected,
        );
    }
}

#[test]
fn sums_of_bools_are_or_and_products_and() {
    let x = || Tensor::<1, Bool>::from_data([true, true, false, false], &dev());
    let values = || Tensor::<1, Bool>::from_data([true, false, true, false], &dev());
    let at = || ints([0, 1, 2, 3]);
    equal(
        x().scatter(0, at(), values(), IndexingUpdateOp::Add),
        [true, true, true, false],
    );
    equal(
        x().scatter(0, at(), values(), IndexingUpdateOp::Mul),
        [true, false, false, false],
    );
}

#[test]
fn select_and_take_read_parts_in_any_shape() {
    let x = grid(3, 2);
    close(
        x.clone().select(0, ints([2, 0, 2])),
        [[4., 5.], [0., 1.], [4., 5.]],
    );
    close(x.clone().select(-1, ints([1])), [[1.], [3.], [5.]]);
    assert_eq!(
        x.clone()
            .select(0, ints(TensorData::new(Vec::<i32>::new(), [0])))
            .dims(),
        [0, 2]
    );
    let taken: Tensor<3> = x.clone().take(0, ints::<2>([[0, 2]]));
    close(taken, [[[0., 1.], [4., 5.]]]);
    let corner: Tensor<1> = x.clone().gather_nd(ints::<2>([[2, 1], [0, 0]]));
    close(corner, [5., 0.]);
    close(module::embedding(x, ints([[1]])), [[[2., 3.]]]);
}

#[test]
fn a_narrow_type_sums_in_a_wider_one() {
    // 2048 + 1 is no f16; 2048 + 4 is.
    let x = Tensor::<1>::full([1], 2048.0, (&dev(), DType::F16));
    let ones = Tensor::<1>::ones([4], (&dev(), DType::F16));
    let sum = x.scatter(0, ints([0, 0, 0, 0]), ones, IndexingUpdateOp::Add);
    assert_eq!(sum.dtype(), DType::F16);
    close(sum, [2052.0]);
}

#[test]
fn true_positions_select_elements() {
    let x = grid(2, 3);
    let mask = || Tensor::<2, Bool>::from_data([[true, false, true], [false, true, false]], &dev());
    equal(mask().argwhere(), [[0, 0], [0, 2], [1, 1]]);
    let columns = mask().nonzero();
    equal(columns[0].clone(), [0, 0, 1]);
    equal(columns[1].clone(), [0, 2, 1]);
    close(x.clone().mask_select(mask()), [0., 2., 4.]);
    close(
        x.clone().transpose().mask_select(mask().transpose()),
        [0., 4., 2.],
    );
    let row = Tensor::<2, Bool>::from_data([[false, true, true]], &dev());
    close(x.clone().mask_select(row), [1., 2., 4., 5.]);
    let none = Tensor::<2, Bool>::from_data([[false, false, false]], &dev());
    assert_eq!(x.mask_select(none.clone()).dims(), [0]);
    assert_eq!(none.argwhere().dims(), [0, 2]);
}

#[test]
fn counts_are_read_without_blocking() {
    let mask = || Tensor::<1, Bool>::from_data([true, false, true], &dev());
    let x = Tensor::<1>::from_data([1., 2., 3.], &dev());
    close(
        burn_tensor::read_sync(x.mask_select_async(mask())),
        [1., 3.],
    );
    equal(burn_tensor::read_sync(mask().argwhere_async()), [[0], [2]]);
    equal(
        burn_tensor::read_sync(mask().nonzero_async())[0].clone(),
        [0, 2],
    );
}

#[test]
fn an_index_out_of_range_is_named_with_its_dim() {
    let text = message(|| grid(2, 3).gather(1, ints([[0, 3]])));
    assert_snapshot!(text, @"
    `gather`: index 3 is out of range in dim 1 of size 3
      input: f32 [2, 3]
      indices: i32 [1, 2]
      legal: indices in 0..3
    ");
    let text = message(|| grid(2, 3).select(0, ints([-1])));
    assert!(
        text.starts_with("`select`: index -1 is out of range in dim 0 of size 2"),
        "{text}"
    );
    let values = Tensor::<2>::zeros([1, 3], &dev());
    let assign = IndexingUpdateOp::Assign;
    let text = message(|| grid(2, 3).select_assign(0, ints([2]), values, assign));
    assert!(
        text.starts_with("`select_assign`: index 2 is out of range in dim 0"),
        "{text}"
    );
    let text = message(|| grid(2, 3).gather_nd::<2, 1>(ints([[1, 3]])));
    assert!(
        text.starts_with("`gather_nd`: index 3 is out of range in dim 1"),
        "{text}"
    );
}

#[test]
fn indices_that_do_not_fit_are_refused_before_they_are_read() {
    let text = message(|| grid(2, 3).gather(1, ints([[0], [0], [0]])));
    assert_snapshot!(text, @"
    `gather`: dim 0 has 2 positions, not 3
      input: f32 [2, 3]
      indices: i32 [3, 1]
      legal: at most 2
    ");
    let values = Tensor::<2>::zeros([2, 2], &dev());
    let add = IndexingUpdateOp::Add;
    let text = message(|| grid(2, 3).scatter(1, ints([[0], [0]]), values, add));
    assert_snapshot!(text, @"
    `scatter`: `values` does not fit
      input: f32 [2, 3]
      indices: i32 [2, 1]
      values: f32 [2, 2]
      legal: the shape [2, 1]
    ");
}

/// The autodiff part of BC-003.
#[test]
fn nothing_selected_gives_gradients_of_zero() {
    let x = Tensor::<1>::from_data([1., 2., 3.], &ad()).require_grad();
    let none = Tensor::<1, Int>::zeros([0], &ad());
    let gradients = x.clone().select(0, none).sum().backward();
    close(x.grad(&gradients).unwrap(), [0., 0., 0.]);
}

/// BC-037.
#[test]
fn an_untracked_part_keeps_its_place_in_the_gradient() {
    let a = Tensor::<1>::from_data([10., 20.], &ad());
    let b = Tensor::<1>::from_data([1., 2., 3.], &ad()).require_grad();
    let c = Tensor::<1>::from_data([7., 8.], &ad()).require_grad();
    let weights = Tensor::<1>::from_data([1., 2., 3., 4., 5., 6., 7.], &ad());
    let joined = Tensor::cat(vec![a, b.clone(), c.clone()], 0);
    let gradients = (joined * weights).sum().backward();
    close(b.grad(&gradients).unwrap(), [3., 4., 5.]);
    close(c.grad(&gradients).unwrap(), [6., 7.]);
}

#[test]
fn of_values_assigned_to_one_place_the_last_gets_the_gradient() {
    let x = Tensor::<1>::from_data([1., 2.], &ad()).require_grad();
    let v = Tensor::<1>::from_data([3., 4., 5.], &ad()).require_grad();
    let at = Tensor::<1, Int>::from_data([0, 0, 0], &ad());
    let weights = Tensor::<1>::from_data([10., 20.], &ad());
    let written = x
        .clone()
        .select_assign(0, at, v.clone(), IndexingUpdateOp::Assign);
    let gradients = (written * weights).backward();
    close(x.grad(&gradients).unwrap(), [0., 20.]);
    close(v.grad(&gradients).unwrap(), [0., 0., 10.]);
}

#[test]
fn a_zero_among_the_factors_leaves_the_others_their_product() {
    let x = Tensor::<1>::from_data([2.], &ad()).require_grad();
    let v = Tensor::<1>::from_data([3., 0., 5.], &ad()).require_grad();
    let at = Tensor::<1, Int>::from_data([0, 0, 0], &ad());
    let product = x.clone().scatter(0, at, v.clone(), IndexingUpdateOp::Mul);
    let gradients = product.backward();
    close(x.grad(&gradients).unwrap(), [0.]);
    close(v.grad(&gradients).unwrap(), [0., 30., 0.]);
}
