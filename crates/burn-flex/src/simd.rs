//! The widest vector instructions of the machine, chosen while running.

/// Runs `kernel` compiled for the widest instructions there are.
///
/// Loops vectorise only where they are inlined: into the closure, and the closure into this (`#[inline(always)]`).
#[inline(always)]
pub(crate) fn simd<R>(kernel: impl FnOnce() -> R) -> R {
    #[cfg(feature = "simd")]
    return pulp::Arch::new().dispatch(kernel);
    #[cfg(not(feature = "simd"))]
    kernel()
}

/// A loop that is faster if it knows whether the machine multiplies and adds in one instruction.
pub(crate) trait Kernel {
    /// What the loop yields.
    type Output;

    /// The loop, `#[inline(always)]`. `FMA` says that [`mul_add`](crate::math::mul_add) is one instruction.
    fn run<const FMA: bool>(self) -> Self::Output;
}

/// Runs `kernel` compiled for the widest instructions there are.
#[inline(always)]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(feature = "simd")]
    return pulp::Arch::new().dispatch(Dispatched(kernel));
    #[cfg(not(feature = "simd"))]
    kernel.run::<false>()
}

#[cfg(feature = "simd")]
struct Dispatched<K>(K);

#[cfg(feature = "simd")]
impl<K: Kernel> pulp::WithSimd for Dispatched<K> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> K::Output {
        // Every instruction set that pulp has for these machines fuses; that of WebAssembly does not.
        let fuses = cfg!(any(
            target_arch = "x86",
            target_arch = "x86_64",
            target_arch = "aarch64"
        ));
        match fuses && !S::IS_SCALAR {
            true => self.0.run::<true>(),
            false => self.0.run::<false>(),
        }
    }
}
