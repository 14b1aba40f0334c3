//! Values without parameters: numbers, texts, and whatever [`empty!`](crate::empty) names.

/// Makes types modules that have no parameters and print as `Debug` has them.
///
/// ```
/// #[derive(Clone, Debug)]
/// struct Mode(u8);
/// burn_core::empty!(Mode);
/// ```
#[macro_export]
macro_rules! empty {
    ($($ty:ty),+ $(,)?) => {
        $crate::empty!(@"{:?}": $($ty),+);
    };
    (@$format:literal: $($ty:ty),+ $(,)?) => { $(
        impl $crate::module::Module for $ty {
            fn visit<V: $crate::module::ModuleVisitor>(&self, _visitor: &mut V) {}
            fn map<M: $crate::module::ModuleMapper>(self, _mapper: &mut M) -> Self { self }
        }
        impl $crate::module::ModuleDisplayDefault for $ty {
            fn content(
                &self,
                content: $crate::module::Content,
            ) -> ::core::option::Option<$crate::module::Content> {
                content.add_formatted(&::core::format_args!($format, self)).optional()
            }
        }
        impl $crate::module::ModuleDisplay for $ty {}
    )+ };
}

empty!(bool, char, alloc::string::String);
// `1` and `0.00001`, where `Debug` has `1.0` and `1e-5`.
empty!(
    @"{}":
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    isize,
    u8,
    u16,
    u32,
    u64,
    usize,
);
