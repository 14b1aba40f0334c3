//! Layers that print in one line.

/// Prints layers in one line, with the named fields: as values, or behind `debug` as `Debug` has them.
macro_rules! in_one_line {
    ($($name:ident { $($field:ident),* $(; debug $($debug:ident),+)? })+) => { $(
        impl burn_core::module::ModuleDisplay for $name {
            fn custom_settings(&self) -> Option<burn_core::module::DisplaySettings> {
                $crate::modules::inline()
            }

            fn custom_content(
                &self,
                content: burn_core::module::Content,
            ) -> Option<burn_core::module::Content> {
                content
                    $(.add(stringify!($field), &self.$field))*
                    $($(.add_debug_attribute(stringify!($debug), &self.$debug))+)?
                    .optional()
            }
        }
    )+ };
}

pub(crate) use in_one_line;
