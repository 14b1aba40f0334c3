//! Sums of products in index notation.

use super::{close, dev, equal, message};
use burn_tensor::{Int, Tensor, einsum};
use insta::assert_snapshot;

/// `[[0, 1, 2], [3, 4, 5]]`
fn matrix() -> Tensor<2> {
    Tensor::<1, Int>::arange(0..6, &dev())
        .float()
        .reshape([2, 3])
}

#[test]
fn letters_that_the_result_leaves_out_are_summed() {
    let product: Tensor<2> = einsum!("ij,kj->ik", matrix(), &matrix());
    close(product, [[5.0, 14.0], [14.0, 50.0]]);
    let total: Tensor<1> = einsum!("ij->", matrix());
    close(total, [15.0]);
    let columns: Tensor<1> = einsum!("ij->j", matrix());
    close(columns, [3.0, 5.0, 7.0]);
    let outer: Tensor<2> = einsum!(
        "i,j->ji",
        matrix().select_dim::<1>(0, 0),
        matrix().select_dim::<1>(0, 1)
    );
    close(outer, [[0.0, 3.0, 6.0], [0.0, 4.0, 8.0], [0.0, 5.0, 10.0]]);
    let swapped: Tensor<2> = einsum!("ab->ba", matrix());
    close(swapped, matrix().transpose().into_data());
}

#[test]
fn a_letter_twice_takes_the_diagonal() {
    let square = Tensor::<2, Int>::from_data([[1, 2], [3, 4]], &dev());
    let diagonal: Tensor<1, Int> = einsum!("ii->i", &square);
    equal(diagonal, [1, 4]);
    let trace: Tensor<1, Int> = einsum!("ii", &square);
    equal(trace, [5]);
}

#[test]
fn an_ellipsis_broadcasts() {
    let a = Tensor::<4>::ones([5, 1, 2, 3], &dev());
    let b = Tensor::<3>::ones([4, 3, 6], &dev());
    let product: Tensor<4> = einsum!("...ij,...jk->...ik", a, b);
    assert_eq!(product.dims(), [5, 4, 2, 6]);
}

#[test]
fn three_factors_agree_with_two_products() {
    let (a, b, c) = (matrix(), matrix().transpose(), matrix());
    let found: Tensor<2> = einsum!("ij,jk,kl", &a, &b, &c);
    close(found, a.matmul(b).matmul(c).into_data());
}

#[test]
fn notations_that_do_not_fit_say_why() {
    let text = message(|| Tensor::<2>::einsum("ijk->ik", [matrix().into()]));
    assert_snapshot!(text, @r#"
    `einsum`: a term has not one letter for each dim of its tensor in "ijk->ik"
      legal: one letter for each dim, `...` for the rest, terms separated by `,`, and the result behind `->`
    "#);
    let text = message(|| -> Tensor<2> { einsum!("ij,jk->ik", matrix(), matrix()) });
    assert_snapshot!(text, @"
    `einsum`: one letter names dims of sizes 3 and 2
      input: f32 [2, 3]
      legal: equal sizes, or size 1 on either side
    ");
}
