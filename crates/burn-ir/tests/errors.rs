//! What authors of illegal instructions read.

use burn_ir::{
    ActivationOp, BinaryOp, CreateOp, Dims, Graph, IndexOp, MovementOp, Operand, Operation,
    Outputs, PadRange, ReduceOp, SliceRange, SortOp, TensorId, TensorMeta, UnaryOp,
};
use burn_std::{BoolStore, DType, Distribution, IntDType, Scalar, Shape};
use insta::assert_snapshot;

fn f32s<const D: usize>(shape: [usize; D]) -> TensorMeta {
    TensorMeta::new(shape, DType::F32)
}

fn ints<const D: usize>(shape: [usize; D]) -> TensorMeta {
    TensorMeta::new(shape, DType::I64)
}

#[track_caller]
fn error(operation: Operation<TensorMeta>) -> String {
    operation
        .infer()
        .expect_err("the instruction is illegal")
        .to_string()
}

fn binary(op: BinaryOp, lhs: TensorMeta, rhs: TensorMeta) -> Operation<TensorMeta> {
    Operation::Binary {
        op,
        lhs,
        rhs: Operand::Tensor(rhs),
    }
}

fn movement(op: MovementOp, input: TensorMeta) -> Operation<TensorMeta> {
    Operation::Movement { op, input }
}

fn reduce(op: ReduceOp, input: TensorMeta, dims: &[usize]) -> Operation<TensorMeta> {
    Operation::Reduce {
        op,
        input,
        dims: dims.iter().copied().collect::<Dims>(),
    }
}

#[test]
fn a_wrong_kind_names_the_operand_and_the_legal_kinds() {
    assert_snapshot!(error(Operation::Unary { op: UnaryOp::Exp, input: ints([2, 3]) }), @r"
    `exp`: `input` has elements of type i64
      input: i64 [2, 3]
      legal: elements of kind float
    ");
    assert_snapshot!(error(binary(BinaryOp::And, ints([2]), f32s([2]))), @r"
    `and`: `rhs` has elements of type f32
      lhs: i64 [2]
      rhs: f32 [2]
      legal: elements of kind int or bool
    ");
    let mask = Operation::Where {
        mask: f32s([2]),
        on_true: Operand::Tensor(f32s([2])),
        on_false: Scalar::Float(0.0).into(),
    };
    assert_snapshot!(error(mask), @r"
    `where`: `mask` has elements of type f32
      mask: f32 [2]
      legal: elements of kind bool
    ");
}

#[test]
fn different_element_types_ask_for_a_cast() {
    let doubles = TensorMeta::new([2, 3], DType::F64);
    assert_snapshot!(error(binary(BinaryOp::Add, f32s([2, 3]), doubles)), @r"
    `add`: the operands have different element types
      lhs: f32 [2, 3]
      rhs: f64 [2, 3]
      legal: equal element types; cast one of the operands
    ");
}

#[test]
fn different_ranks_ask_for_a_reshape() {
    assert_snapshot!(error(binary(BinaryOp::Mul, f32s([2, 3]), f32s([3]))), @r"
    `mul`: the operands have different ranks
      lhs: f32 [2, 3]
      rhs: f32 [3]
      legal: equal ranks; reshape or unsqueeze one of the operands
    ");
}

#[test]
fn sizes_that_do_not_stretch_name_the_dim() {
    assert_snapshot!(error(binary(BinaryOp::Sub, f32s([2, 3]), f32s([2, 4]))), @r"
    `sub`: sizes 3 and 4 differ in dim 1
      lhs: f32 [2, 3]
      rhs: f32 [2, 4]
      legal: equal sizes, or size 1 on either side
    ");
}

#[test]
fn a_scalar_of_another_kind_names_both() {
    let by_float = Operation::Binary {
        op: BinaryOp::Add,
        lhs: ints([2]),
        rhs: Scalar::Float(0.5).into(),
    };
    assert_snapshot!(error(by_float), @r"
    `add`: the scalar Float(0.5) meets elements of type i64
      lhs: i64 [2]
      legal: a scalar of kind int
    ");
}

#[test]
fn a_choice_between_scalars_names_the_mask() {
    let mask = TensorMeta::new([2], DType::Bool(BoolStore::Native));
    let choice = Operation::Where {
        mask,
        on_true: Scalar::Int(1).into(),
        on_false: Scalar::Int(0).into(),
    };
    assert_snapshot!(error(choice), @r"
    `where`: every value is a scalar
      mask: bool [2]
      legal: at least one tensor; cast the mask instead
    ");
}

#[test]
fn matrix_products_say_what_meets_what() {
    let matmul = |lhs, rhs| Operation::Matmul { lhs, rhs };
    assert_snapshot!(error(matmul(f32s([2, 3]), f32s([4, 5]))), @r"
    `matmul`: 3 columns meet 4 rows
      lhs: f32 [2, 3]
      rhs: f32 [4, 5]
      legal: […, m, k] and […, k, n]
    ");
    assert_snapshot!(error(matmul(f32s([3]), f32s([3]))), @r"
    `matmul`: an operand has too few dims
      lhs: f32 [3]
      rhs: f32 [3]
      legal: at least 2 dims
    ");
    assert_snapshot!(error(matmul(f32s([2, 4, 3]), f32s([5, 3, 4]))), @r"
    `matmul`: sizes 2 and 5 differ in dim 0
      lhs: f32 [2, 4, 3]
      rhs: f32 [5, 3, 4]
      legal: equal sizes, or size 1 on either side
    ");
}

#[test]
fn reductions_name_the_dim() {
    assert_snapshot!(error(reduce(ReduceOp::Sum, f32s([2, 3]), &[0, 2])), @r"
    `sum`: there is no dim 2
      input: f32 [2, 3]
      legal: a dim below the rank of the input
    ");
    assert_snapshot!(error(reduce(ReduceOp::Max, f32s([2, 0]), &[1])), @r"
    `max`: dim 1 has size 0, there is nothing to choose from
      input: f32 [2, 0]
      legal: at least one element
    ");
    assert_snapshot!(error(reduce(ReduceOp::ArgMin { dtype: IntDType::I64 }, f32s([2, 3]), &[0, 1])), @r"
    `argmin`: 2 dims were given
      input: f32 [2, 3]
      legal: exactly one dim
    ");
}

#[test]
fn activations_name_the_dim() {
    let softmax = Operation::Activation {
        op: ActivationOp::Softmax { dim: 2 },
        input: f32s([2, 3]),
    };
    assert_snapshot!(error(softmax), @r"
    `softmax`: there is no dim 2
      input: f32 [2, 3]
      legal: a dim below the rank of the input
    ");
}

#[test]
fn movements_name_what_does_not_fit() {
    let to = |sizes: &[usize]| sizes.iter().copied().collect::<Shape>();
    assert_snapshot!(error(movement(MovementOp::Reshape { shape: to(&[4, 2]) }, f32s([2, 3]))), @r"
    `reshape`: [4, 2] holds another number of elements
      input: f32 [2, 3]
      legal: a shape with as many elements as the input
    ");
    assert_snapshot!(error(movement(MovementOp::Permute { axes: [0, 0].into_iter().collect() }, f32s([2, 3]))), @r"
    `permute`: [0, 0] is no permutation of the dims
      input: f32 [2, 3]
      legal: each dim of the input once
    ");
    assert_snapshot!(error(movement(MovementOp::Expand { shape: to(&[2, 6]) }, f32s([2, 3]))), @r"
    `expand`: dim 1 cannot become [2, 6]
      input: f32 [2, 3]
      legal: a new size only where the input has size 1
    ");
    assert_snapshot!(error(movement(MovementOp::Expand { shape: to(&[2]) }, f32s([2, 3]))), @r"
    `expand`: 1 entries were given
      input: f32 [2, 3]
      legal: one entry for each dim of the input
    ");
    let ranges = [
        SliceRange::full(2),
        SliceRange {
            start: 2,
            step: -2,
            len: 3,
        },
    ]
    .into();
    assert_snapshot!(error(movement(MovementOp::Slice { ranges }, f32s([2, 3]))), @r"
    `slice`: 3 elements from 2 in steps of -2 leave dim 1
      input: f32 [2, 3]
      legal: a selection inside the dim, with a step other than 0
    ");
    let padding = [PadRange {
        before: usize::MAX,
        between: 0,
        after: 1,
    }]
    .into();
    assert_snapshot!(error(movement(MovementOp::Pad { padding, value: Scalar::Float(0.0) }, f32s([2]))), @r"
    `pad`: the output has too many elements to count
      input: f32 [2]
      legal: a count that fits the address space
    ");
}

#[test]
fn tensors_from_nothing_say_what_they_can_be() {
    let create = |op| Operation::<TensorMeta>::Create { op };
    let arange = CreateOp::Arange {
        start: 0,
        step: 1,
        len: 3,
        dtype: DType::F32,
    };
    assert_snapshot!(error(create(arange)), @r"
    `arange`: the output cannot have elements of type f32
      legal: elements of kind int
    ");
    let random = |dtype, distribution| {
        create(CreateOp::Random {
            shape: [2].into(),
            dtype,
            distribution,
        })
    };
    assert_snapshot!(error(random(DType::I32, Distribution::Normal(0.0, 1.0))), @r"
    `random`: the output cannot have elements of type i32
      legal: elements of kind float
    ");
    assert_snapshot!(error(random(DType::F32, Distribution::Bernoulli(1.5))), @r"
    `random`: Bernoulli(1.5) is no distribution
      legal: a probability in [0, 1]
    ");
    assert_snapshot!(error(random(DType::F32, Distribution::Uniform(1.0, 0.0))), @r"
    `random`: Uniform(1.0, 0.0) is no distribution
      legal: finite bounds, low ≤ high
    ");
    assert_snapshot!(error(random(DType::F32, Distribution::Normal(0.0, -1.0))), @r"
    `random`: Normal(0.0, -1.0) is no distribution
      legal: a finite mean and a deviation of at least 0
    ");
}

#[test]
fn programs_name_the_tensor() {
    let (x, y) = (TensorId::new(1), TensorId::new(2));
    let mut graph = Graph::default();
    graph.input(x, f32s([2])).unwrap();
    let exp = |input| Operation::Unary {
        op: UnaryOp::Exp,
        input,
    };
    assert_snapshot!(graph.push(exp(y), Outputs::One(TensorId::new(3))).unwrap_err(), @r"
    %2 is used and neither an input nor defined before
    ");
    assert_snapshot!(graph.push(exp(x), Outputs::One(x)).unwrap_err(), @r"
    %1 is defined twice
    ");
    assert_snapshot!(graph.push(exp(x), Outputs::Many(vec![])).unwrap_err(), @r"
    %18446744073709551615 is not described as its instruction implies
    ");
    assert_snapshot!(graph.yields(vec![y]).unwrap_err(), @r"
    %2 is used and neither an input nor defined before
    ");
    let not = Operation::Unary {
        op: UnaryOp::Not,
        input: x,
    };
    assert_snapshot!(graph.push(not, Outputs::One(y)).unwrap_err(), @r"
    `not`: `input` has elements of type f32
      input: f32 [2]
      legal: elements of kind int or bool
    ");
}

#[test]
fn joined_tensors_say_which_does_not_fit() {
    let cat = |inputs: Vec<TensorMeta>| error(Operation::Cat { dim: 0, inputs });
    assert_snapshot!(cat(vec![]), @r"
    `cat`: there is no tensor
      legal: at least one tensor
    ");
    assert_snapshot!(cat(vec![f32s([2, 3]), f32s([1, 3]), f32s([1, 4])]), @r"
    `cat`: `other` does not fit
      first: f32 [2, 3]
      other: f32 [1, 4]
      legal: the shape [1, 3]
    ");
    let ranges = [SliceRange::full(2), SliceRange::full(3)].into();
    let assign = Operation::SliceAssign {
        ranges,
        input: f32s([2, 3]),
        values: Operand::Tensor(f32s([3, 2])),
    };
    assert_snapshot!(error(assign), @r"
    `slice_assign`: `values` does not fit
      input: f32 [2, 3]
      values: f32 [3, 2]
      legal: the shape [2, 3]
    ");
}

#[test]
fn indices_say_what_they_cannot_name() {
    let gather = |op, indices| {
        let input = f32s([2, 3]);
        error(Operation::Gather { op, input, indices })
    };
    assert_snapshot!(gather(IndexOp::Select { dim: 0 }, f32s([1])), @r"
    `select`: `indices` has elements of type f32
      indices: f32 [1]
      legal: elements of kind int
    ");
    assert_snapshot!(gather(IndexOp::Select { dim: 0 }, ints([1, 1])), @r"
    `select`: `indices` has the wrong number of dims
      input: f32 [2, 3]
      indices: i64 [1, 1]
      legal: rank 1
    ");
    assert_snapshot!(gather(IndexOp::Nd, ints([5, 3])), @r"
    `gather_nd`: an operand has too few dims
      input: f32 [2, 3]
      indices: i64 [5, 3]
      legal: at least 3 dims
    ");
    let most = Operation::Sort {
        op: SortOp::Values,
        dim: 1,
        descending: true,
        len: 4,
        input: f32s([2, 3]),
    };
    assert_snapshot!(error(most), @r"
    `sort`: dim 1 has 3 positions, not 4
      input: f32 [2, 3]
      legal: at most 3
    ");
    let count = Operation::Argwhere {
        count: 7,
        dtype: IntDType::I64,
        mask: TensorMeta::new([2, 3], DType::Bool(BoolStore::Native)),
    };
    assert_snapshot!(error(count), @r"
    `argwhere`: the mask has 6 true elements, not 7
      mask: bool [2, 3]
      legal: the number of true elements of this mask
    ");
}
