//! `#[derive(Module)]`, `#[derive(Config)]` and `#[derive(RecordState)]`.
//!
//! The macros only connect fields: what a module or a configuration *does* is written once, in
//! `burn-core`, so that a user's crate compiles little code of ours.

mod config;
mod module;
mod path;
mod record_state;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct or an enum a module: a tree of parameters that can be visited, mapped, moved,
/// saved and printed.
///
/// Every field is a module, or a constant (numbers, strings, …) that has no parameters.
/// Implements `Module`, `Clone`, `Display`, `ModuleDisplayDefault` and `ModuleDisplay`.
///
/// # Attributes
/// - `#[module(skip)]` on a field: the field is runtime state; it is cloned and printed, but not
///   visited, mapped or saved. Its type needs `Clone`, `Debug` and `Send` only.
/// - `#[module(custom_display)]` on the type: you implement `ModuleDisplay` yourself.
///
/// Unions, enums without variants and unknown attributes are errors at their place.
#[proc_macro_derive(Module, attributes(module))]
pub fn derive_module(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    module::expand(&input, &path::facade())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a struct or an enum a configuration: something with defaults that can be printed, saved
/// and loaded as JSON.
///
/// Implements `Config`, `Clone`, `Display` (as JSON), `Serialize` and `Deserialize`; a struct also
/// gets `new`, which takes the fields without a default in their order, and `with_<field>` for
/// each field with one. A field of type `Option` has the default `None`.
///
/// # Attributes
/// - `#[config(default = value)]` on a field: a literal (`3`, `1e-5`, `true`), an expression, or
///   an expression in a string (`"Activation::Relu"`, `"\"text\".into()"`).
///
/// Tuple structs, generic types and unknown attributes are errors at their place.
#[proc_macro_derive(Config, attributes(config))]
pub fn derive_config(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    config::expand(&input, &path::facade())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a struct with named fields a `RecordState`: something that an optimizer or a schedule remembers, and that is
/// saved and loaded under the names of the fields.
///
/// Fields are float tensors, numbers, truth values, other states, and `Option` and `Vec` of these.
#[proc_macro_derive(RecordState)]
pub fn derive_record_state(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    record_state::expand(&input, &path::optim())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
