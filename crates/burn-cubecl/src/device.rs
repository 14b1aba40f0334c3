//! A device of one of the runtimes, with the state of its random generator.

use crate::Cube;
use burn_backend::{Device, Local};
use burn_ir::TensorMeta;
use burn_std::{BoolStore, DType};
use cubecl::device::{WgpuBackend, WgpuDeviceKind};
use cubecl::features::TypeUsage;
use cubecl::ir::{ElemType, FloatKind, IntKind, UIntKind};
use cubecl::prelude::Client;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A device of one of CubeCL's runtimes.
#[derive(Clone)]
pub struct CubeDevice {
    device: cubecl::Device,
    client: Client,
    random: Arc<Mutex<Generator>>,
    built: Arc<Mutex<HashSet<u64>>>,
}

/// A counter-based generator: a key, and how many blocks of it are used.
#[derive(Debug, Default)]
struct Generator {
    key: u64,
    used: u64,
}

impl CubeDevice {
    /// What an engine of this backend runs on.
    pub fn of(device: Device) -> Option<&'static Self> {
        Some(device.get::<Local<Cube>>()?.device())
    }

    /// The device of a runtime, started. Panics if it does not start.
    pub(crate) fn new(device: cubecl::Device) -> Self {
        Self {
            client: device.client(),
            device,
            random: Arc::default(),
            built: Arc::default(),
        }
    }

    /// The name in errors and prints, like `cpu` or `cuda:0`.
    pub(crate) fn name(&self) -> String {
        match &self.device {
            cubecl::Device::Cuda(device) => format!("cuda:{}", device.index),
            cubecl::Device::Hip(device) => format!("rocm:{}", device.index),
            cubecl::Device::Cpu(_) => "cpu".into(),
            cubecl::Device::Wgpu(device) => {
                let interface = match device.backend {
                    WgpuBackend::Auto => "wgpu".into(),
                    named => format!("{named:?}").to_lowercase(),
                };
                match device.kind {
                    WgpuDeviceKind::DefaultDevice => interface,
                    ref kind => format!("{interface}:{kind:?}"),
                }
            }
            other => format!("{other:?}").to_lowercase(),
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it is one of NVIDIA's, used through CUDA.
    pub(crate) fn is_cuda(&self) -> bool {
        matches!(self.device, cubecl::Device::Cuda(_))
    }

    /// Whether the units of a cube may share memory.
    ///
    /// A CPU's need not. Without Vulkan's extension for its layout CubeCL 0.11.3 declares that memory as a pointer to a pointer
    /// (`lower_shared_implicit`), at which drivers crash. Its devices do not tell; the drivers of GPUs have had the extension
    /// since 2021, but those that run shaders on the CPU have not.
    pub(crate) fn shares(&self) -> bool {
        self.client.properties().hardware.num_cpu_cores.is_none() && !self.is_software()
    }

    /// Whether it is a driver for graphics that computes on the CPU.
    pub(crate) fn is_software(&self) -> bool {
        matches!(self.device, cubecl::Device::Wgpu(_))
            && self.client.properties().identity.physical.is_none()
            && !cfg!(target_family = "wasm")
    }

    /// Whether kernels can load, store and compute with `dtype`.
    pub(crate) fn computes(&self, dtype: DType) -> bool {
        if matches!(dtype, DType::Flex32 | DType::QFloat(_)) {
            return false;
        }
        // The functions of shaders, from `exp` to `atan`, take f32 and f16 alone (SPIR-V extended instructions for GLSL, 2.3;
        // WGSL has no f64): what a driver adds and multiplies in f64 is not all that a tensor does.
        if dtype == DType::F64 && matches!(self.device, cubecl::Device::Wgpu(_)) {
            return false;
        }
        let usage = self.client.features().type_usage(storage(dtype));
        usage.contains(TypeUsage::Buffer) && usage.contains(TypeUsage::Arithmetic)
    }

    pub(crate) fn seed(&self, seed: u64) {
        *self.generator() = Generator { key: seed, used: 0 };
    }

    /// The key of the generator and its first of `blocks` unused blocks, which count as used from now on.
    pub(crate) fn draw(&self, blocks: u64) -> (u64, u64) {
        let mut generator = self.generator();
        let first = generator.used;
        generator.used = first.wrapping_add(blocks);
        (generator.key, first)
    }

    /// The kernels, as hashes, that the device's compiler has accepted.
    pub(crate) fn built(&self) -> MutexGuard<'_, HashSet<u64>> {
        // A panic elsewhere leaves a set of numbers whole.
        self.built.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn generator(&self) -> MutexGuard<'_, Generator> {
        // The state is two numbers, which a panic elsewhere leaves whole.
        self.random.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl core::fmt::Debug for CubeDevice {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "CubeDevice({})", self.name())
    }
}

/// How elements lie in memory; bools are integers there.
pub(crate) fn storage(dtype: DType) -> ElemType {
    match dtype {
        DType::F64 => ElemType::Float(FloatKind::F64),
        DType::F32 => ElemType::Float(FloatKind::F32),
        DType::F16 => ElemType::Float(FloatKind::F16),
        DType::BF16 => ElemType::Float(FloatKind::BF16),
        DType::I64 => ElemType::Int(IntKind::I64),
        DType::I32 => ElemType::Int(IntKind::I32),
        DType::I16 => ElemType::Int(IntKind::I16),
        DType::I8 => ElemType::Int(IntKind::I8),
        DType::U64 => ElemType::UInt(UIntKind::U64),
        DType::U32 | DType::Bool(BoolStore::U32) => ElemType::UInt(UIntKind::U32),
        DType::U16 => ElemType::UInt(UIntKind::U16),
        DType::U8 | DType::Bool(BoolStore::Native | BoolStore::U8) => ElemType::UInt(UIntKind::U8),
        DType::Flex32 | DType::QFloat(_) => unreachable!("no device here has {dtype:?}"),
    }
}

/// The number of elements of a description.
pub(crate) fn count(meta: &TensorMeta) -> usize {
    meta.shape.num_elements()
}
