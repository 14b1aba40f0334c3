//! Macros: shapes that must hold, and sums of products.

/// Stops unless a tensor has the given sizes.
///
/// `_` is any size, and `..` in the last place any number of further dims.
///
/// ```
/// # use burn_tensor::{Device, Tensor, assert_shape};
/// # #[cfg(feature = "flex")] {
/// let batch = 2;
/// let x = Tensor::<3>::zeros([batch, 3, 4], &Device::default());
/// assert_shape!(x, [batch, _, 2 + 2]);
/// assert_shape!(x, [batch, ..]);
/// # }
/// ```
#[macro_export]
macro_rules! assert_shape {
    (@sizes [$($done:tt)*]) => { &[$($done)*] };
    (@sizes [$($done:tt)*] .. $(,)?) => { &[$($done)* $crate::macros::Size::Rest] };
    (@sizes [$($done:tt)*] _ $(, $($rest:tt)*)?) => {
        $crate::assert_shape!(@sizes [$($done)* $crate::macros::Size::Any,] $($($rest)*)?)
    };
    (@sizes [$($done:tt)*] $size:expr $(, $($rest:tt)*)?) => {
        $crate::assert_shape!(@sizes [$($done)* $crate::macros::Size::Is($size),] $($($rest)*)?)
    };
    ($tensor:expr, [$($sizes:tt)*] $(,)?) => {
        $crate::macros::expect(
            ::core::concat!(
                "assert_shape!(",
                ::core::stringify!($tensor),
                ", [",
                ::core::stringify!($($sizes)*),
                "])"
            ),
            &$tensor.dims(),
            $crate::assert_shape!(@sizes [] $($sizes)*),
        )
    };
}

/// [`assert_shape!`](crate::assert_shape) in builds with debug assertions.
#[macro_export]
macro_rules! debug_assert_shape {
    ($($arguments:tt)*) => {
        if ::core::cfg!(debug_assertions) {
            $crate::assert_shape!($($arguments)*);
        }
    };
}

/// [`Tensor::einsum`](crate::Tensor::einsum) of tensors of any ranks, by value or by reference.
///
/// ```
/// # use burn_tensor::{Device, Tensor, einsum};
/// # #[cfg(feature = "flex")] {
/// let x = Tensor::<2>::ones([2, 3], &Device::default());
/// let gram: Tensor<2> = einsum!("ij,kj->ik", &x, &x);
/// assert_eq!(gram.dims(), [2, 2]);
/// # }
/// ```
#[macro_export]
macro_rules! einsum {
    ($notation:expr, $($operand:expr),+ $(,)?) => {
        $crate::Tensor::einsum($notation, [$($crate::EinsumOperand::from($operand)),+])
    };
}

/// What `assert_shape!` expects of a dim.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// This size.
    Is(usize),
    /// Any size.
    Any,
    /// Any number of further dims.
    Rest,
}

/// The function behind `assert_shape!`.
#[track_caller]
pub fn expect(call: &str, dims: &[usize], sizes: &[Size]) {
    for (dim, size) in sizes.iter().enumerate() {
        match (size, dims.get(dim)) {
            (Size::Rest, _) => return,
            (Size::Is(expected), Some(found)) if expected != found => {
                panic!("{call}: dim {dim} has size {found}, not {expected}\n  dims: {dims:?}")
            }
            (_, Some(_)) => {}
            (_, None) => break,
        }
    }
    let rank = sizes.len();
    assert!(
        dims.len() == rank,
        "{call}: the rank is {}, not {rank}\n  dims: {dims:?}",
        dims.len()
    );
}
