//! What a step allocates: no buffer where parameter, gradient and state are nobody else's.
//!
//! A test binary of its own: the counting allocator is the program's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn_core::module::{Module, Param};
use burn_core::tensor::{Bytes, Device, Tensor};
use burn_optim::momentum::MomentumConfig;
use burn_optim::{
    AdaGradConfig, AdamConfig, AdamWConfig, AdanConfig, GradientsParams, LionConfig,
    ModuleOptimizer, RmsPropConfig, SgdConfig,
};

/// Large enough to be fused; nothing else is as large as its buffer.
const ELEMENTS: usize = 200_000;

static LARGE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn count(bytes: usize) {
    if bytes >= ELEMENTS * size_of::<f32>() {
        LARGE.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator with the arguments it came with; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The counter is the process's: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

#[derive(Module, Debug)]
struct Weights {
    values: Param<Tensor<1>>,
}

/// The buffers that a third step allocates, whose state is there.
fn buffers(device: &Device, mut optimizer: ModuleOptimizer) -> usize {
    Bytes::allocate_singly();
    let filled = |value: f32| Tensor::<1>::full([ELEMENTS], value, device);
    let mut weights = Weights {
        values: Param::from_tensor(filled(1.0)),
    };
    let mut found = 0;
    for _ in 0..3 {
        let mut grads = GradientsParams::new();
        grads.register(weights.values.id, filled(0.5));
        device.sync().expect("the device is sound");
        let before = LARGE.load(Ordering::Relaxed);
        weights = optimizer.step(0.1, weights, grads);
        device.sync().expect("the device is sound");
        found = LARGE.load(Ordering::Relaxed) - before;
    }
    let value = weights.values.val().into_data().iter::<f32>().next();
    assert!(value.is_some_and(|value| value < 1.0));
    found
}

#[test]
fn a_step_overwrites_the_parameter_and_the_state() {
    let _alone = ALONE.lock();
    let momentum = Some(MomentumConfig::new());
    let optimizers = [
        ("sgd", SgdConfig::new().init()),
        ("momentum", SgdConfig::new().with_momentum(momentum).init()),
        ("adam", AdamConfig::new().init()),
        ("adamw", AdamWConfig::new().init()),
        ("adagrad", AdaGradConfig::new().init()),
        ("lion", LionConfig::new().init()),
        ("adan", AdanConfig::new().init()),
        ("rmsprop", RmsPropConfig::new().init()),
    ];
    for (name, optimizer) in optimizers {
        assert_eq!(buffers(&Device::flex(), optimizer), 0, "{name}");
    }
}

#[test]
fn a_parameter_that_lives_on_keeps_its_elements() {
    let _alone = ALONE.lock();
    for device in [Device::flex(), Device::flex().unfused()] {
        let before = Weights {
            values: Param::from_tensor(Tensor::full([ELEMENTS], 1.0, &device)),
        };
        let grad = Tensor::<1>::full([ELEMENTS], 0.5, &device);
        let mut grads = GradientsParams::new();
        grads.register(before.values.id, grad.clone());
        let mut optimizer = AdamConfig::new().init();
        let after = optimizer.step(0.1, before.clone(), grads);
        let values = |tensor: Tensor<1>| tensor.into_data().iter::<f32>().collect::<Vec<_>>();
        assert!(values(before.values.val()).iter().all(|it| *it == 1.0));
        assert!(values(grad).iter().all(|it| *it == 0.5));
        assert!(values(after.values.val()).iter().all(|it| *it < 1.0));
    }
}
