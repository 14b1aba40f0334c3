//! A deep-learning framework in Rust: tensors, modules, training and inference.
//!
//! This crate only gathers what the crates behind it offer, under the paths that programs use.
//! Most programs start with `use burn::prelude::*`.
//!
//! A model is a struct of layers. It learns from gradients, which come from an autodiff device:
//!
//! ```
//! # #[cfg(all(feature = "flex", feature = "nn", feature = "optim"))] {
//! use burn::nn::{Linear, LinearConfig};
//! use burn::optim::{GradientsParams, SgdConfig};
//! use burn::prelude::*;
//!
//! #[derive(Module, Debug)]
//! struct Line {
//!     layer: Linear,
//! }
//!
//! let device = Device::default().autodiff();
//! device.seed(1);
//! let mut model = Line { layer: LinearConfig::new(1, 1).init(&device) };
//! let mut optimizer = SgdConfig::new().init();
//!
//! // y = 2 x + 1
//! let x = Tensor::<2>::from_data([[-1.0], [0.0], [1.0]], &device);
//! let y = Tensor::<2>::from_data([[-1.0], [1.0], [3.0]], &device);
//! for _ in 0..200 {
//!     let loss = (model.layer.forward(x.clone()) - y.clone()).square().mean();
//!     let grads = GradientsParams::from_grads(loss.backward(), &model);
//!     model = optimizer.step(0.1, model, grads);
//! }
//!
//! // Without gradients, on the plain device:
//! let model = model.valid();
//! let x = Tensor::<2>::from_data([[10.0]], &Device::default());
//! let y: f32 = model.layer.forward(x).into_scalar();
//! assert!((y - 21.0).abs() < 0.01);
//! # }
//! ```
//!
//! # Features
//! On by default; `optim` brings `autodiff`.
//!
//! | feature | what it adds |
//! |---|---|
//! | `std` | files, and loaders that work on threads; without it the crate needs only `alloc` |
//! | `flex` | the CPU device, [`Device::flex`](tensor::Device) |
//! | `fusion` | groups of instructions run as one kernel: always on the devices below, by `Device::fused` on flex |
//! | `autotune` | kernels with a choice are tried when they first run, on the devices below |
//! | `capture` | `Device::capture`: programs are written down, saved and replayed |
//! | `autodiff` | `Device::autodiff`: gradients |
//! | `nn` | layers, initializers and losses: `burn::nn` |
//! | `linalg` | norms, decompositions and linear systems: `burn::linalg` |
//! | `signal` | Fourier transforms and windows: `burn::signal` |
//! | `optim` | optimizers: `burn::optim`, `burn::grad_clipping`, `burn::lr_scheduler` |
//! | `dataset` | datasets and loaders: `burn::data` |
//! | `rayon` | kernels use several threads |
//! | `simd` | kernels use the vector units found at run time |
//!
//! Off by default, since they bring compilers and drivers:
//!
//! | feature | device |
//! |---|---|
//! | `cuda` | NVIDIA GPUs, `Device::cuda(0)` |
//! | `rocm` | AMD GPUs, `Device::rocm(0)` |
//! | `vulkan`, `metal`, `webgpu` | GPUs through one graphics interface, `Device::vulkan(DeviceKind::DefaultDevice)` |
//! | `wgpu` | GPUs through whichever of these the machine offers |
//! | `cpu` | the CPU through the compiler for GPUs, `Device::cpu()` |
//!
//! While a program is being written, `dynamic` keeps links short: the engines are in a shared library, which Cargo finds
//! when it runs the program. A program that leaves the machine is built without it.
//!
//! [`Device::default`](tensor::Device) is the first GPU that is built in and there, or else flex. The environment
//! (`BURN_FUSION=0`, `BURN_AUTOTUNE=0`) and `burn.toml` switch fusion and autotune off.

#![cfg_attr(not(feature = "std"), no_std)]

// Whoever links this crate links the shared library instead of what is in it.
#[cfg(feature = "dynamic")]
use burn_dylib as _;

pub use burn_core::*;

/// Limits for gradients.
#[cfg(feature = "optim")]
pub mod grad_clipping {
    pub use burn_optim::grad_clipping::*;
}

/// Norms, decompositions and solutions of linear systems.
#[cfg(feature = "linalg")]
pub mod linalg {
    pub use burn_linalg::*;
}

/// Learning rates.
#[cfg(feature = "optim")]
pub mod lr_scheduler {
    pub use burn_optim::lr_scheduler::*;
}

/// Modules: trees of parameters that are visited, mapped, moved, saved and printed.
pub mod module {
    pub use burn_core::module::*;
    #[cfg(feature = "nn")]
    pub use burn_nn::Initializer;
}

/// Layers and losses.
#[cfg(feature = "nn")]
pub mod nn {
    pub use burn_nn::*;
}

/// Optimizers.
#[cfg(feature = "optim")]
pub mod optim {
    pub use burn_optim::*;
}

/// What nearly every program uses.
pub mod prelude {
    #[cfg(feature = "nn")]
    pub use crate::nn;
    pub use burn_core::prelude::*;
}

/// Fourier transforms, windows and spectrograms.
#[cfg(feature = "signal")]
pub mod signal {
    pub use burn_signal::*;
}

/// Tensors and what is computed with them.
pub mod tensor {
    #[cfg(feature = "linalg")]
    pub use crate::linalg;
    #[cfg(feature = "signal")]
    pub use crate::signal;
    pub use burn_core::tensor::*;
}
