//! Tensors from nothing and from data.

use super::{ad, close, dev, equal, message};
use burn_tensor::{
    Bool, BoolStore, DType, Distribution, Float, Int, Tensor, TensorCreationOptions, TensorData,
    cartesian_grid,
};

#[test]
fn the_device_chooses_the_element_type_unless_the_user_does() {
    assert_eq!(Tensor::<1>::from_data([1.0f64], &dev()).dtype(), DType::F32);
    assert_eq!(
        Tensor::<1>::from_data([1.0f64], (&dev(), DType::F64)).dtype(),
        DType::F64
    );
    assert_eq!(
        Tensor::<1, Int>::from_data([1i64], &dev()).dtype(),
        DType::I32
    );
    assert_eq!(Tensor::<1, Int>::arange(0..3, &dev()).dtype(), DType::I32);
    let native = DType::Bool(BoolStore::Native);
    assert_eq!(Tensor::<1, Bool>::from_data([true], &dev()).dtype(), native);
    let options = TensorCreationOptions::new(dev()).with_dtype(DType::F64);
    assert_eq!(Tensor::<1>::zeros([1], options).dtype(), DType::F64);
}

/// BC-005: truth is "not equal to zero", however it is stored.
#[test]
fn data_is_true_unless_it_is_zero() {
    let stores = [BoolStore::Native, BoolStore::U8, BoolStore::U32];
    for store in stores
        .into_iter()
        .filter(|store| dev().supports_dtype(*store))
    {
        let options = (&dev(), DType::Bool(store));
        let ints = Tensor::<1, Bool>::from_data(TensorData::from([-1i32, 0, 2]), options);
        equal(ints, [true, false, true]);
        let floats = Tensor::<1, Bool>::from_data(TensorData::from([0.5f32, 0.0, -0.0]), options);
        let bytes = floats.into_data().convert::<u8>();
        assert_eq!(bytes.to_vec::<u8>().unwrap(), [1, 0, 0]);
    }
    assert!(dev().supports_dtype(BoolStore::Native));
}

#[test]
fn filled_tensors_have_one_value() {
    close(Tensor::<2>::zeros([1, 2], &dev()), [[0.0, 0.0]]);
    close(Tensor::<1>::full([2], 1.5, &dev()), [1.5, 1.5]);
    equal(Tensor::<1, Int>::full([2], 1.7, &dev()), [1, 1]);
    equal(Tensor::<1, Bool>::ones([2], &dev()), [true, true]);
    let like = Tensor::<1>::full([2], 3, (&dev(), DType::F64)).full_like(4);
    assert_eq!(like.dtype(), DType::F64);
    close(like.ones_like() + like.zeros_like(), [1.0, 1.0]);
    assert_eq!(like.empty_like().dims(), [2]);
}

#[test]
fn ranges_count_by_steps() {
    equal(Tensor::<1, Int>::arange(2..5, &dev()), [2, 3, 4]);
    equal(Tensor::<1, Int>::arange_step(0..7, 3, &dev()), [0, 3, 6]);
    assert_eq!(
        Tensor::<1, Int>::arange(core::ops::Range { start: 5, end: 2 }, &dev()).dims(),
        [0]
    );
    let text = message(|| Tensor::<1, Int>::arange_step(0..7, 0, &dev()));
    assert!(text.contains("the step is 0"), "{text}");
}

#[test]
fn an_identity_matrix_has_ones_on_its_diagonal() {
    equal(Tensor::<2, Int>::eye(2, &dev()), [[1, 0], [0, 1]]);
    close(Tensor::<2>::eye(2, &dev()), [[1.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn a_grid_holds_positions() {
    let positions = [[[0, 0], [0, 1]], [[1, 0], [1, 1]]];
    let grid = Tensor::<2, Int>::cartesian_grid::<_, 3>([2, 2], &dev());
    equal(grid, positions);
    equal(cartesian_grid::<_, 2, 3>([2, 2], &dev()), positions);
}

#[test]
fn a_seed_repeats_the_numbers() {
    // Other tests draw from the same generator: without a lock two draws could have another between them, so the
    // numbers of one draw are compared.
    let draw = || {
        dev().seed(7);
        Tensor::<1>::random([64], Distribution::Normal(0.0, 1.0), &dev()).into_data()
    };
    let first = draw();
    assert!(
        (0..8).any(|_| draw() == first),
        "one of several draws is undisturbed"
    );
    let uniform = Tensor::<1>::random([100], Distribution::Uniform(2.0, 3.0), &dev());
    uniform
        .random_like(Distribution::Uniform(2.0, 3.0))
        .into_data()
        .assert_within_range(2.0f32..3.0);
}

#[test]
fn classes_become_vectors() {
    let classes = Tensor::<1, Int>::from_data([0, 2], &dev());
    equal(classes.clone().one_hot::<2>(3), [[1, 0, 0], [0, 0, 1]]);
    equal(
        classes.clone().float().one_hot::<2>(3),
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    );
    let classes = Tensor::<2, Int>::from_data([[0, 2], [1, -1]], &dev());
    let filled = classes.one_hot_fill::<3>(3, 5.0, 0.0, 1);
    equal(filled, [[[5, 0], [0, 0], [0, 5]], [[0, 0], [5, 0], [0, 5]]]);
}

#[test]
fn data_comes_onto_the_default_device() {
    let x: Tensor<1> = [1.0, 2.0].into();
    assert_eq!(x.device(), dev());
    assert!(!x.is_autodiff());
    assert!(Tensor::<1, Float>::from_floats([1.0], &ad()).is_autodiff());
}

#[test]
fn a_tensor_survives_a_file() {
    let x = Tensor::<2>::from_data([[1.5, f32::NAN]], (&dev(), DType::F64));
    let text = serde_json::to_string(&x).unwrap();
    let read: Tensor<2> = serde_json::from_str(&text).unwrap();
    assert_eq!(read.dtype(), DType::F64);
    let (read, x) = (read.into_data(), x.into_data());
    assert_eq!(read.as_bytes(), x.as_bytes());
    let error = serde_json::from_str::<Tensor<1>>(&text)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("rank 1 and kind Float was expected"),
        "{error}"
    );
}

#[test]
fn categories_are_drawn_by_their_weights() {
    dev().seed(3);
    let weights = Tensor::<2>::from_data([[0.0, 3.0, 0.0, 1.0], [5.0, 0.0, 0.0, 0.0]], &dev());
    let drawn = weights.categorical(40_000).into_data_as::<i64>();
    let drawn: Vec<i64> = drawn.iter().collect();
    let count = |category, row: usize| {
        let row = &drawn[row * 40_000..(row + 1) * 40_000];
        row.iter().filter(|drawn| **drawn == category).count()
    };
    assert_eq!(count(0, 0) + count(2, 0), 0);
    // 30,000 are expected, with a deviation of 87.
    assert!(count(1, 0).abs_diff(30_000) < 500, "{}", count(1, 0));
    assert_eq!(count(1, 0) + count(3, 0), 40_000);
    assert_eq!(count(0, 1), 40_000);
}
