//! Mistakes: what the message says, and that it names the user's line.

use super::{ad, dev, message, stop};
use burn_tensor::{Bool, DType, Int, Shape, Tensor, TensorData, activation, assert_shape, s};
use insta::assert_snapshot;

#[test]
fn shapes_that_do_not_broadcast_are_both_named() {
    let text = message(|| Tensor::<2>::ones([2, 3], &dev()) + Tensor::<2>::ones([2, 4], &dev()));
    assert_snapshot!(text, @"
    `add`: sizes 3 and 4 differ in dim 1
      lhs: f32 [2, 3]
      rhs: f32 [2, 4]
      legal: equal sizes, or size 1 on either side
    ");
}

#[test]
fn an_empty_dim_does_not_stretch() {
    let text = message(|| Tensor::<2>::ones([2, 0], &dev()) + Tensor::<2>::ones([2, 3], &dev()));
    assert_snapshot!(text, @"
    `add`: sizes 0 and 3 differ in dim 1
      lhs: f32 [2, 0]
      rhs: f32 [2, 3]
      legal: equal sizes, or size 1 on either side
    ");
}

#[test]
fn matrices_that_do_not_fit_are_both_named() {
    let text = message(|| Tensor::<2>::ones([3, 4], &dev()).matmul(Tensor::ones([3, 4], &dev())));
    assert_snapshot!(text, @"
    `matmul`: 4 columns meet 3 rows
      lhs: f32 [3, 4]
      rhs: f32 [3, 4]
      legal: […, m, k] and […, k, n]
    ");
}

#[test]
fn element_types_do_not_mix() {
    let text =
        message(|| Tensor::<1>::ones([1], &dev()) + Tensor::<1>::ones([1], (&dev(), DType::F64)));
    assert_snapshot!(text, @"
    `add`: the operands have different element types
      lhs: f32 [1]
      rhs: f64 [1]
      legal: equal element types; cast one of the operands
    ");
}

#[test]
fn data_of_another_rank_is_refused_with_both_ranks() {
    let text = message(|| Tensor::<2>::from_data([1.0], &dev()));
    assert_snapshot!(text, @"
    `from_data`: the data has shape [1] of rank 1, and the tensor has rank 2
      legal: data of the tensor's rank
    ");
}

#[test]
fn an_element_type_of_another_kind_is_refused() {
    let text = message(|| Tensor::<1, Int>::zeros([1], (&dev(), DType::F32)));
    assert_snapshot!(text, @"
    a tensor of kind Int cannot have elements of type f32
      legal: an element type of the kind
    ");
}

#[test]
fn a_dim_that_does_not_exist_is_named_with_the_legal_ones() {
    let text = message(|| Tensor::<2>::ones([2, 3], &dev()).sum_dim(2));
    assert_snapshot!(text, @"
    `sum`: there is no dim 2
      input: f32 [2, 3]
      legal: a dim in -2..2
    ");
}

#[test]
fn a_dim_given_twice_is_refused() {
    let text = message(|| Tensor::<2>::ones([2, 3], &dev()).sum_dims(&[1, -1]));
    assert_snapshot!(text, @"
    `sum`: dim 1 is given twice
      input: f32 [2, 3]
      legal: each dim once
    ");
}

#[test]
fn the_maximum_of_nothing_is_refused() {
    let text = message(|| Tensor::<1>::zeros([0], &dev()).max());
    assert_snapshot!(text, @"
    `max`: dim 0 has size 0, there is nothing to choose from
      input: f32 [0]
      legal: at least one element
    ");
}

#[test]
fn a_reshape_to_another_count_is_refused() {
    let text = message(|| Tensor::<1>::zeros([3], &dev()).reshape([2, 2]));
    assert_snapshot!(text, @"
    `reshape`: [2, 2] holds another number of elements
      input: f32 [3]
      legal: a shape with as many elements as the input
    ");
    let text = message(|| Tensor::<1>::zeros([3], &dev()).reshape([2, -1]));
    assert_snapshot!(text, @"
    `reshape`: the 3 elements of [3] do not fill [2, -1]
      legal: known sizes whose product 2 divides 3
    ");
}

#[test]
fn a_result_type_of_another_rank_is_refused() {
    let text = message(|| Tensor::<1>::zeros([4], &dev()).reshape::<3, _>(Shape::new([2, 2])));
    assert_snapshot!(text, @"
    a tensor of rank 3 and kind Float was expected, and the result is f32 [2, 2]
      legal: a result type of rank 2 and kind Float
    ");
}

#[test]
fn a_tensor_of_several_elements_is_no_scalar() {
    let text = message(|| Tensor::<2>::zeros([2, 3], &dev()).into_scalar::<f32>());
    assert_snapshot!(text, @"
    `into_scalar`: the tensor holds 6 elements, not 1
      to handle this: `try_into_scalar`
    ");
}

#[test]
fn a_squeeze_of_a_longer_dim_names_its_size() {
    let text = message(|| Tensor::<2>::zeros([2, 1], &dev()).squeeze_dim::<1>(0));
    assert_snapshot!(text, @"
    `squeeze`: dim 0 has size 2
      input: f32 [2, 1]
      legal: dims of size 1
    ");
}

#[test]
fn parts_that_do_not_make_the_whole_are_refused() {
    let text = message(|| Tensor::<1>::zeros([7], &dev()).split_with_sizes(vec![3, 3], 0));
    assert_snapshot!(text, @"
    `split`: parts of [3, 3] make 6 elements in dim 0
      input: f32 [7]
      legal: parts that make 7 together
    ");
}

#[test]
fn tensors_that_do_not_fit_are_not_joined() {
    let text = message(|| {
        Tensor::cat(
            vec![
                Tensor::<2>::ones([2, 3], &dev()),
                Tensor::ones([3, 2], &dev()),
            ],
            0,
        )
    });
    assert_snapshot!(text, @"
    `cat`: `other` does not fit
      first: f32 [2, 3]
      other: f32 [3, 2]
      legal: the shape [3, 3]
    ");
    let text = message(|| Tensor::<1>::cat(vec![], 0));
    assert_snapshot!(text, @"
    `cat`: there is no tensor
      legal: at least one tensor
    ");
}

#[test]
fn a_leaf_needs_a_tape() {
    let text = message(|| Tensor::<1>::ones([1], &dev()).require_grad());
    assert_snapshot!(text, @"
    `require_grad`: the tensor lives on flex, which records no tape
      legal: a tensor of an autodiff device; make it with `device.autodiff()`
    ");
}

#[test]
fn a_result_on_the_tape_is_no_leaf() {
    let text = message(|| (Tensor::<1>::ones([1], &ad()).require_grad() * 2.0).require_grad());
    assert_snapshot!(text, @"
    `require_grad`: the tensor is already on a tape as a result, and gradients flow through it
      legal: a tensor that is not tracked; `detach` it first to make it a leaf
    ");
}

#[test]
fn there_are_no_gradients_of_a_constant() {
    let text = message(|| Tensor::<1>::ones([1], &ad()).backward());
    assert_snapshot!(text, @"
    `backward`: the tensor is on no tape
      legal: a tensor made from one with `require_grad` on an autodiff device
    ");
}

#[test]
fn classes_that_do_not_exist_are_refused() {
    let text = message(|| Tensor::<1, Int>::from_data([0, 3], &dev()).one_hot::<2>(3));
    assert_snapshot!(text, @"
    `one_hot`: there is an element that is none of 3 classes
      input: i32 [2, 1]
      legal: elements in -3..3
    ");
}

#[test]
fn a_shape_assertion_names_the_dim() {
    let x = Tensor::<2>::zeros([2, 3], &dev());
    assert_shape!(x, [2, 3]);
    assert_shape!(x, [_, 1 + 2]);
    assert_shape!(x, [2, ..]);
    let text = message(|| assert_shape!(x, [2, 4]));
    assert_snapshot!(text, @"
    assert_shape!(x, [2, 4]): dim 1 has size 3, not 4
      dims: [2, 3]
    ");
    let text = message(|| assert_shape!(x, [2, 3, _]));
    assert_snapshot!(text, @"
    assert_shape!(x, [2, 3, _]): the rank is 2, not 3
      dims: [2, 3]
    ");
}

/// Each closure panics, and the place is the line it stands on.
#[test]
fn a_mistake_is_reported_at_the_line_of_the_user() {
    let x = || Tensor::<2>::ones([2, 3], &dev());
    let y = || Tensor::<2>::ones([4, 5], &dev());
    let int = || Tensor::<2, Int>::ones([2, 3], &dev());
    let bool = || Tensor::<2, Bool>::ones([4, 5], &dev());
    type Case<'a> = (u32, Box<dyn Fn() + 'a>);
    macro_rules! cases {
        ($($case:expr),+ $(,)?) => { vec![$((line!(), Box::new(move || { let _ = $case; }) as Box<dyn Fn()>)),+] };
    }
    let cases: Vec<Case<'_>> = cases![
        x() + y(),
        x() - y(),
        x() % y(),
        x().matmul(x()),
        x().max_pair(y()),
        x().equal(y()),
        x().mask_where(bool(), x()),
        x().mask_fill(bool(), 1),
        x().sum_dim(5),
        x().mean_dims(&[5]),
        x().argmax(5),
        x().var(5),
        x().reshape([7]),
        x().reshape([-1, -1]),
        x().permute([0, 0]),
        x().swap_dims(0, 9),
        x().movedim(0, 9),
        x().expand([9, 9]),
        x().repeat_dim(9, 1),
        x().flatten::<1>(1, 0),
        x().squeeze::<1>(),
        x().unsqueeze_dim::<3>(9),
        x().slice([0..1, 0..1, 0..1]),
        x().slice_assign(s![0..1], y()),
        x().narrow(0, 1, 9),
        x().select_dim::<1>(0, 9),
        x().split(0, 0),
        x().chunk(0, 0),
        x().roll_dim(1, 9),
        x().unfold::<3, _>(0, 9, 1),
        x().pad([(0, 0), (0, 0), (0, 0)], 0),
        x().cov(9, 1),
        x().cross(y(), 0),
        int().bitwise_and(int().transpose()),
        int().float().int() + int().transpose(),
        activation::softmax(x(), 9),
        activation::glu(x(), 1),
        x().into_scalar::<f32>(),
        x().require_grad(),
        x().backward(),
        Tensor::<2>::from_data(TensorData::from([1.0]), &dev()),
    ];
    let first = cases[0].0;
    for (at, (_, case)) in cases.iter().enumerate() {
        let (text, file, line) = stop(case);
        assert_eq!(file, file!(), "{text}");
        // A macro gives all its arguments one `line!()`; the places inside them are their own.
        assert!(line > first, "case {at}: {text}");
    }
}
