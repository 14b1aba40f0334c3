//! Element types that a user chooses for a device. A process of its own: the choice is for all of it.

use burn_tensor::{
    Bool, BoolStore, DType, Device, DeviceConfig, DeviceError, FloatDType, Int, IntDType, Tensor,
};

#[test]
fn a_device_is_configured_before_its_first_tensor_and_never_after() {
    let mut device = Device::flex();
    // Asking is not using.
    assert_eq!(device.settings().float_dtype, FloatDType::F32);
    let error = device.configure(BoolStore::U32).unwrap_err();
    assert!(
        matches!(error, DeviceError::UnsupportedDType { .. }),
        "{error}"
    );
    assert_eq!(device.settings().float_dtype, FloatDType::F32);

    device.configure((FloatDType::F64, IntDType::I64)).unwrap();
    assert_eq!(device.settings().int_dtype, IntDType::I64);
    assert_eq!(Tensor::<1>::ones([1], &device).dtype(), DType::F64);
    let ad = Device::flex().autodiff();
    assert_eq!(Tensor::<1, Int>::ones([1], &ad).dtype(), DType::I64);
    let bools = Tensor::<1, Bool>::ones([1], &ad);
    assert_eq!(bools.dtype(), DType::Bool(BoolStore::Native));

    let same = DeviceConfig::new(Some(FloatDType::F64), None, None);
    device.configure(same).unwrap();
    let error = device.configure(FloatDType::F32).unwrap_err();
    assert!(
        matches!(error, DeviceError::AlreadyInitialized { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("flex"), "{error}");
}
