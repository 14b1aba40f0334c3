//! Tensors as text.

use super::{ad, dev};
use burn_tensor::{Bool, Int, Tensor};
use insta::assert_snapshot;

fn range(count: i64) -> Tensor<1, Int> {
    Tensor::arange(0..count, &dev())
}

#[test]
fn rows_stand_under_each_other() {
    let x = Tensor::<2>::from_data([[1.5, 2.0], [3.25, f32::NAN]], &dev());
    let expected = "Tensor {\n  data:\n[[1.5, 2.0],\n [3.25, NaN]],\n  shape:  [2, 2],\n  device:  Device(flex),\n  kind:  \"Float\",\n  dtype:  \"f32\",\n}";
    assert_eq!(x.to_string(), expected);
}

#[test]
fn more_dims_are_indented() {
    assert_snapshot!(range(8).reshape([2, 2, 2]), @r#"
    Tensor {
      data:
    [[[0, 1],
      [2, 3]],
     [[4, 5],
      [6, 7]]],
      shape:  [2, 2, 2],
      device:  Device(flex),
      kind:  "Int",
      dtype:  "i32",
    }
    "#);
}

#[test]
fn long_dims_show_their_ends() {
    assert_snapshot!(range(10_000).reshape([100, 100]), @r#"
    Tensor {
      data:
    [[0, 1, 2, ..., 97, 98, 99],
     [100, 101, 102, ..., 197, 198, 199],
     [200, 201, 202, ..., 297, 298, 299],
     ...
     [9700, 9701, 9702, ..., 9797, 9798, 9799],
     [9800, 9801, 9802, ..., 9897, 9898, 9899],
     [9900, 9901, 9902, ..., 9997, 9998, 9999]],
      shape:  [100, 100],
      device:  Device(flex),
      kind:  "Int",
      dtype:  "i32",
    }
    "#);
    let short = range(2000).reshape([2, 500, 2]).to_string();
    assert!(
        short.contains("[[[0, 1],\n  [2, 3],\n  [4, 5],\n  ...\n  [994, 995],"),
        "{short}"
    );
}

#[test]
fn digits_follow_the_format() {
    let x = Tensor::<1>::from_data([1.0, 0.125], &ad());
    assert_snapshot!(format!("{x:.2}"), @r#"
    Tensor {
      data:
    [1.00, 0.12],
      shape:  [2],
      device:  Device(flex:autodiff),
      kind:  "Float",
      dtype:  "f32",
    }
    "#);
    let odd = Tensor::<1>::from_data([1e10, 1e-10, f32::INFINITY, 0.1], &dev()).to_string();
    assert!(odd.contains("[10000000000.0, 1e-10, inf, 0.1]"), "{odd}");
}

#[test]
fn empty_tensors_and_truth_values_are_shown() {
    assert!(
        Tensor::<1>::zeros([0], &dev())
            .to_string()
            .contains("data:\n[],")
    );
    assert!(
        Tensor::<2>::zeros([2, 0], &dev())
            .to_string()
            .contains("data:\n[[],\n []],")
    );
    let bools = Tensor::<1, Bool>::from_bool([true, false], &dev());
    assert!(bools.to_string().contains("[true, false]"));
    assert_eq!(format!("{:?}", range(3)), "Tensor(i32 [3] on flex)");
}
