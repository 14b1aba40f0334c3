//! Reading.

use super::{ad, dev, equal};
use burn_tensor::{
    DType, DynTensor, DynTensorError, Int, Tensor, TensorReadError, Transaction, read_sync,
};

#[test]
fn a_tensor_is_read_as_any_element_type() {
    let x = || Tensor::<1>::from_data([1.7, -2.2], &dev());
    assert_eq!(x().to_data().dtype(), DType::F32);
    assert_eq!(x().into_data_as::<i64>().to_vec::<i64>().unwrap(), [1, -2]);
    assert_eq!(x().to_data_dtype(DType::F64).dtype(), DType::F64);
    assert_eq!(x().try_into_vec_as::<i32>().unwrap(), [1, -2]);
    assert_eq!(x().try_to_vec_as::<f32>().unwrap(), [1.7, -2.2]);
}

#[test]
fn a_scalar_is_read_from_one_element() {
    let x = Tensor::<3>::from_data([[[1.7]]], &ad());
    assert_eq!(x.clone().into_scalar::<i32>(), 1);
    assert_eq!(read_sync(x.into_scalar_async::<f32>()).unwrap(), 1.7);
    let several = Tensor::<1>::zeros([3], &dev()).try_into_scalar::<f32>();
    let expected = (1, 3);
    assert!(matches!(
        several,
        Err(TensorReadError::InvalidShape { expected: e, actual }) if (e, actual) == expected
    ));
}

#[test]
fn a_read_can_be_awaited() {
    let x = Tensor::<1, Int>::from_data([1, 2], &dev());
    let data = read_sync(x.to_data_async()).unwrap();
    data.assert_eq(&x.into_data(), true);
}

#[test]
fn a_transaction_keeps_the_order_across_devices() {
    let x = Tensor::<1>::from_data([1.0], &dev());
    let y = Tensor::<2, Int>::from_data([[2, 3]], &ad());
    let z = Tensor::<1>::from_data([4.0], &dev());
    let data = Transaction::default()
        .register(x)
        .register(y)
        .register(z)
        .execute();
    assert_eq!(data[0].to_vec::<f32>().unwrap(), [1.0]);
    assert_eq!(data[1].to_vec::<i32>().unwrap(), [2, 3]);
    assert_eq!(data[2].to_vec::<f32>().unwrap(), [4.0]);
    assert!(Transaction::default().execute().is_empty());
}

#[test]
fn a_tensor_of_any_rank_gets_its_type_back() {
    let erased = DynTensor::from(Tensor::<1, Int>::from_data([1, 2], &dev()));
    assert_eq!(
        (erased.shape().to_vec(), erased.dtype()),
        (vec![2], DType::I32)
    );
    let rank = erased.clone().into_rank::<2, Int>().unwrap_err();
    assert_eq!(
        rank,
        DynTensorError::Rank {
            found: 1,
            expected: 2
        }
    );
    let kind = erased
        .clone()
        .into_rank::<1, burn_tensor::Float>()
        .unwrap_err();
    assert_eq!(kind.to_string(), "the tensor is of kind Int, not Float");
    equal(erased.into_rank::<1, Int>().unwrap(), [1, 2]);
}

#[test]
fn code_of_any_rank_asks_for_the_rank_it_knows() {
    fn rows<const D: usize>(tensor: Tensor<D>) -> Option<Tensor<2>> {
        tensor.into_rank().ok()
    }
    let matrix = Tensor::<2>::ones([2, 3], &dev());
    assert_eq!(matrix.clone().into_dyn().shape().to_vec(), [2, 3]);
    assert!(rows(Tensor::<1>::ones([2], &dev())).is_none());
    assert_eq!(rows(matrix).unwrap().dims(), [2, 3]);
}
