//! Devices.

use super::{ad, close, dev};
use burn_flex::Flex;
use burn_ir::Described;
use burn_tensor::{
    BoolStore, DType, Device, DeviceFilter, DeviceIndex, DeviceSettings, DeviceType, Devices,
    FloatDType, Int, IntDType, PrimitiveConversionError, Tensor, TensorData, TimingMethod, s,
};
use std::time::Duration;

#[test]
fn the_default_device_is_the_cpu() {
    assert_eq!(Device::default(), Device::flex());
    let expected = DeviceSettings::with_dtypes(FloatDType::F32, IntDType::I32, BoolStore::Native);
    assert_eq!(dev().settings(), expected);
    assert!(dev().supports_dtype(FloatDType::F64));
    dev().sync().unwrap();
    dev().flush().unwrap();
}

#[test]
fn equality_does_not_see_the_tape() {
    assert_eq!(ad(), dev());
    assert_eq!(ad().autodiff(), ad());
    assert!(ad().is_autodiff() && !dev().is_autodiff());
    assert!(!ad().inner().is_autodiff() && !ad().autodiff().without_autodiff().is_autodiff());
    assert!(!dev().inner().is_autodiff());
    assert_eq!(
        format!("{:?} {:?}", dev(), ad()),
        "Device(flex) Device(flex:autodiff)"
    );
}

#[test]
fn a_result_of_mixed_operands_lives_with_the_tape() {
    let (x, y) = (
        Tensor::<1>::ones([1], &ad()),
        Tensor::<1>::ones([1], &dev()),
    );
    assert!((x.clone() + y.clone()).is_autodiff());
    assert!((y + x).is_autodiff());
}

#[test]
fn tensors_move_between_a_device_and_its_tape() {
    let x = Tensor::<1>::from_data([2.0], &dev());
    assert!(x.clone().to_device(&ad()).is_autodiff());
    assert!(!x.clone().to_device(&ad()).to_device(&dev()).is_autodiff());
    close(x.to_device(&ad()), [2.0]);
}

#[cfg(feature = "fusion")]
#[test]
fn a_device_without_fusion_computes_the_same() {
    let unfused = dev().unfused();
    assert_ne!(unfused, dev());
    assert_eq!(unfused.clone().fused(), dev());
    assert!(ad().unfused().is_autodiff());
    let x = Tensor::<1, Int>::arange(0..20_000, &unfused).float() / 10_000.0;
    let y = Tensor::<1, Int>::arange(0..20_000, &dev()).float() / 10_000.0;
    let f = |x: Tensor<1>| (x.clone() * 2.0 + x).exp().tanh();
    f(x.clone())
        .into_data()
        .assert_eq(&f(y.clone()).into_data(), true);
    let twice = (x.to_device(&dev()) + y).slice(s![5_000..5_002]);
    close(twice, [1.0, 1.0002]);
}

#[test]
fn devices_are_found_by_type() {
    assert_eq!(Device::enumerate(DeviceType::Flex).into_vec(), [dev()]);
    assert!(Device::enumerate(DeviceFilter::new()).is_empty());
    let twice = DeviceType::Flex | DeviceType::Flex;
    let devices: Devices = Device::enumerate(twice).autodiff();
    assert_eq!(devices.len(), 1);
    assert!(devices[0].is_autodiff());
    assert!(
        devices
            .without_autodiff()
            .into_iter()
            .all(|device| !device.is_autodiff())
    );
    assert_eq!(DeviceIndex::from(2u32), DeviceIndex::Specified(2));
}

#[test]
fn half_precision_is_computed_where_it_is_supported() {
    assert!(dev().supports_dtype(DType::F16));
    let x = Tensor::<1>::ones([2], (&dev(), DType::F16)) + 0.5;
    assert_eq!(x.dtype(), DType::F16);
    close(x, [1.5, 1.5]);
}

#[test]
fn an_engine_of_a_third_party_is_a_device() {
    let engine = Box::leak(Box::new(burn_backend::Local::<burn_flex::Flex>::new(
        burn_flex::FlexDevice,
    )));
    let device = Device::from(burn_backend::Device::new(engine));
    assert_ne!(device, dev());
    close(Tensor::<1>::ones([2], &device) + 1.0, [2.0, 2.0]);
}

#[cfg(not(feature = "cuda"))]
#[test]
fn what_is_not_built_in_is_not_found_and_named_by_the_panic() {
    assert!(Device::enumerate(DeviceType::Cuda).is_empty());
    let panic = std::panic::catch_unwind(|| Device::cuda(0)).unwrap_err();
    let text = panic
        .downcast_ref::<String>()
        .expect("the panic has a text");
    assert!(text.contains("a build with the feature `cuda`"), "{text}");
    assert!(text.contains("built in: flex"), "{text}");
}

#[test]
fn asking_for_devices_never_panics() {
    let all = DeviceType::Flex
        | DeviceType::Cpu
        | DeviceType::Cuda
        | DeviceType::Rocm
        | DeviceType::Vulkan
        | DeviceType::Wgpu
        | DeviceType::Metal
        | DeviceType::WebGpu;
    let found = Device::enumerate(all);
    assert!(found.contains(&dev()));
    assert_eq!(dev().memory_pool_usage(), None);
    dev().memory_cleanup();
}

#[cfg(feature = "cpu")]
#[test]
fn a_device_with_compiled_kernels_fuses_by_itself_and_counts_its_memory() {
    let device = Device::cpu();
    #[cfg(feature = "fusion")]
    assert_eq!(device.to_string(), "cpu");
    #[cfg(feature = "fusion")]
    assert_eq!(device.clone().fused(), device);
    assert_eq!(
        Device::enumerate(DeviceType::Cpu).into_vec(),
        [device.clone()]
    );
    let x = Tensor::<1>::ones([1024], &device);
    close(x.clone().sum(), [1024.0]);
    device.flush().unwrap();
    let usage = device.memory_pool_usage().expect("it manages memory");
    assert!(
        usage.bytes_in_use >= 4096 && usage.bytes_reserved >= usage.bytes_in_use,
        "{usage:?}"
    );
    assert!(device.memory_pool_report().is_some());
    drop(x);
    device.memory_cleanup();
}

#[test]
fn a_device_measures_what_it_did() {
    let x = Tensor::<2>::ones([64, 64], &dev());
    let (sum, measured) = dev()
        .profile(move || x.clone().matmul(x).sum().into_scalar::<f32>())
        .unwrap();
    assert_eq!(sum, 64.0 * 64.0 * 64.0);
    assert_eq!(measured.timing_method(), TimingMethod::System);
    let ticks = burn_tensor::read_sync(measured.resolve()).unwrap();
    assert!(ticks.duration() > Duration::ZERO);
}

#[test]
fn memory_for_long_lives_and_staging_change_no_value() {
    let mut data = TensorData::from([1.0f32, 2.0]);
    dev().staging([&mut data].into_iter());
    let x = dev().memory_persistent_allocations(data, |data| Tensor::<1>::from_data(data, &dev()));
    close(x, [1.0, 2.0]);
}

#[test]
fn a_tensor_knows_whether_it_may_be_overwritten() {
    let x = Tensor::<1>::ones([2], &dev());
    assert!(x.can_mut());
    let y = x.clone();
    assert!(!x.can_mut() && !y.can_mut());
    drop(x);
    assert!(y.can_mut());
    assert!(!y.clone().reshape([2, 1]).can_mut());
}

#[test]
fn a_tensor_of_a_backend_comes_out_and_goes_back() {
    let x = Tensor::<1>::ones([10_000], &dev()) * 3.0;
    let primitive = x
        .clone()
        .try_into_primitive::<Flex>()
        .expect("flex runs on Flex");
    assert_eq!(primitive.meta().shape.as_slice(), [10_000]);
    let back =
        Tensor::<1>::try_from_primitive::<Flex>(primitive, &dev()).expect("it is the same device");
    assert_eq!(back.device(), dev());
    assert_eq!(back.to_data(), x.to_data());
}

#[test]
fn a_tensor_of_another_backend_kind_or_rank_is_an_error() {
    let x = Tensor::<2>::ones([1, 2], &dev());
    let error = x
        .clone()
        .autodiff()
        .try_into_primitive::<Flex>()
        .expect_err("a tape is no backend");
    assert!(matches!(
        error,
        PrimitiveConversionError::BackendMismatch(_)
    ));
    assert!(
        error.to_string().contains("legal: what `inner` gives"),
        "{error}"
    );
    let primitive = x.try_into_primitive::<Flex>().expect("flex runs on Flex");
    let kind = Tensor::<2, Int>::try_from_primitive::<Flex>(primitive.clone(), &dev());
    let rank = Tensor::<1>::try_from_primitive::<Flex>(primitive, &dev());
    for (error, text) in [
        (kind.map(|_| ()), "the tensor is of kind Float, not Int"),
        (rank.map(|_| ()), "the tensor has rank 2, not 1"),
    ] {
        let error = error.expect_err("the type says otherwise");
        assert_eq!(error, PrimitiveConversionError::KindMismatch(text.into()));
    }
}
