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

/// Numbers that vectors are made of.
pub(crate) trait Real: Copy + Send + Sync + 'static {
    /// Runs `kernel` with the widest vectors there are.
    fn vectors<K: VectorKernel<Self>>(kernel: K) -> K::Output;
}

/// A loop over sums that stay in registers, which the compiler does not make vectors of by itself.
pub(crate) trait VectorKernel<T: Copy> {
    /// What the loop yields.
    type Output;

    /// The loop, `#[inline(always)]`.
    fn run<L: Lanes<T>>(self, lanes: L) -> Self::Output;
}

/// Vectors of numbers under one instruction set. Who has a value of this type is on a machine that has the instructions.
pub(crate) trait Lanes<T: Copy>: Copy {
    /// Several numbers.
    type Vector: Copy;

    /// How many.
    const COUNT: usize;

    /// `x` in each lane.
    fn splat(self, x: T) -> Self::Vector;

    /// `x · y + z`, rounded once where that is one instruction.
    fn mul_add(self, x: Self::Vector, y: Self::Vector, z: Self::Vector) -> Self::Vector;

    /// `x + y`
    fn add(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    /// `x - y`
    fn sub(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    /// `x · y`
    fn mul(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    /// `x / y`
    fn div(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    /// `√x`
    fn sqrt(self, x: Self::Vector) -> Self::Vector;

    /// The numbers at `from`.
    ///
    /// # Safety
    /// As many as there are lanes are readable; there is no alignment.
    #[inline(always)]
    unsafe fn load(self, from: *const T) -> Self::Vector {
        // SAFETY: the caller's promise; a vector is its lanes side by side.
        unsafe { from.cast::<Self::Vector>().read_unaligned() }
    }

    /// Writes the numbers to `to`.
    ///
    /// # Safety
    /// As many as there are lanes are writable; there is no alignment.
    #[inline(always)]
    unsafe fn store(self, x: Self::Vector, to: *mut T) {
        // SAFETY: as in `load`.
        unsafe { to.cast::<Self::Vector>().write_unaligned(x) }
    }
}

#[cfg(feature = "simd")]
#[derive(Clone, Copy)]
struct Pulp<S>(S);

#[cfg(not(feature = "simd"))]
#[derive(Clone, Copy)]
struct Single;

macro_rules! reals {
    ($($ty:ident $vector:ident $count:ident $splat:ident $mul_add:ident $add:ident $sub:ident $mul:ident $div:ident $sqrt:ident;)+) => {
        $(impl Real for $ty {
            #[inline(always)]
            fn vectors<K: VectorKernel<Self>>(kernel: K) -> K::Output {
                #[cfg(feature = "simd")]
                {
                    struct Run<K>(K);
                    impl<K: VectorKernel<$ty>> pulp::WithSimd for Run<K> {
                        type Output = K::Output;
                        #[inline(always)]
                        fn with_simd<S: pulp::Simd>(self, simd: S) -> K::Output {
                            self.0.run(Pulp(simd))
                        }
                    }
                    pulp::Arch::new().dispatch(Run(kernel))
                }
                #[cfg(not(feature = "simd"))]
                kernel.run(Single)
            }
        }

        #[cfg(feature = "simd")]
        impl<S: pulp::Simd> Lanes<$ty> for Pulp<S> {
            type Vector = S::$vector;
            const COUNT: usize = S::$count;
            #[inline(always)]
            fn splat(self, x: $ty) -> S::$vector {
                self.0.$splat(x)
            }
            #[inline(always)]
            fn mul_add(self, x: S::$vector, y: S::$vector, z: S::$vector) -> S::$vector {
                self.0.$mul_add(x, y, z)
            }
            #[inline(always)]
            fn add(self, x: S::$vector, y: S::$vector) -> S::$vector {
                self.0.$add(x, y)
            }
            #[inline(always)]
            fn sub(self, x: S::$vector, y: S::$vector) -> S::$vector {
                self.0.$sub(x, y)
            }
            #[inline(always)]
            fn mul(self, x: S::$vector, y: S::$vector) -> S::$vector {
                self.0.$mul(x, y)
            }
            #[inline(always)]
            fn div(self, x: S::$vector, y: S::$vector) -> S::$vector {
                self.0.$div(x, y)
            }
            #[inline(always)]
            fn sqrt(self, x: S::$vector) -> S::$vector {
                self.0.$sqrt(x)
            }
        }

        #[cfg(not(feature = "simd"))]
        impl Lanes<$ty> for Single {
            type Vector = $ty;
            const COUNT: usize = 1;
            #[inline(always)]
            fn splat(self, x: $ty) -> $ty {
                x
            }
            #[inline(always)]
            fn mul_add(self, x: $ty, y: $ty, z: $ty) -> $ty {
                x * y + z
            }
            #[inline(always)]
            fn add(self, x: $ty, y: $ty) -> $ty {
                x + y
            }
            #[inline(always)]
            fn sub(self, x: $ty, y: $ty) -> $ty {
                x - y
            }
            #[inline(always)]
            fn mul(self, x: $ty, y: $ty) -> $ty {
                x * y
            }
            #[inline(always)]
            fn div(self, x: $ty, y: $ty) -> $ty {
                x / y
            }
            #[inline(always)]
            fn sqrt(self, x: $ty) -> $ty {
                num_traits::Float::sqrt(x)
            }
        })+
    };
}

reals! {
    f32 f32s F32_LANES splat_f32s mul_add_e_f32s add_f32s sub_f32s mul_f32s div_f32s sqrt_f32s;
    f64 f64s F64_LANES splat_f64s mul_add_e_f64s add_f64s sub_f64s mul_f64s div_f64s sqrt_f64s;
}
