//! `#[derive(Module)]`: reads the type ([`input`]) and writes the impls ([`emit`]).

mod emit;
mod input;

use proc_macro2::{Ident, TokenStream};
use syn::DeriveInput;

/// The impls for `input`, naming our items under `burn`.
pub(crate) fn expand(input: &DeriveInput, burn: &Ident) -> syn::Result<TokenStream> {
    let module = input::ModuleInput::parse(input)?;
    Ok(emit::impls(&module, burn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;
    use quote::quote;
    use syn::parse_quote;

    fn expanded(input: DeriveInput) -> String {
        expand(&input, &Ident::new("burn", Span::call_site()))
            .expect("the type is a valid module")
            .to_string()
    }

    fn error(input: DeriveInput) -> String {
        expand(&input, &Ident::new("burn", Span::call_site()))
            .expect_err("the type is no module")
            .to_string()
    }

    #[track_caller]
    fn assert_contains(code: &str, part: TokenStream) {
        let part = part.to_string();
        assert!(code.contains(&part), "no `{part}` in\n{code}");
    }

    #[test]
    fn a_field_is_visited_under_its_name_and_its_struct() {
        let code = expanded(parse_quote! { struct Net { linear: Linear } });
        assert_contains(
            &code,
            quote!(burn::module::field::visit("linear", "Struct:Net", field0, visitor);),
        );
        assert_contains(
            &code,
            quote!(linear: burn::module::field::map("linear", "Struct:Net", field0, mapper)),
        );
    }

    #[test]
    fn a_skipped_field_is_moved_as_it_is() {
        let code = expanded(parse_quote! { struct Net { #[module(skip)] state: State } });
        assert!(!code.contains("visit (\"state\""));
        assert_contains(
            &code,
            quote!(Self { state: field0 } => Self { state: field0 }),
        );
        assert_contains(&code, quote!(.add_debug_attribute("state", field0)));
    }

    #[test]
    fn plain_data_is_printed_and_not_walked() {
        let code = expanded(parse_quote! {
            struct Net<T> { sizes: [Option<usize>; 2], name: std::string::String, kind: PhantomData<T> }
        });
        assert!(!code.contains("field :: visit"));
        assert_contains(&code, quote!(.add_debug_attribute("sizes", field0)));
        assert_contains(
            &code,
            quote!(PhantomData<T>: ::core::clone::Clone + ::core::fmt::Debug + ::core::marker::Send),
        );
    }

    #[test]
    fn a_variant_with_one_field_needs_no_name_for_it() {
        let code = expanded(parse_quote! { enum Act { Relu(Relu), Two(Relu, Relu), None } });
        assert_contains(
            &code,
            quote!(burn::module::field::visit("Relu", "Enum:Act", field0, visitor);),
        );
        assert_contains(
            &code,
            quote!(burn::module::field::visit("1", "Enum:Act", field1, visitor);),
        );
        assert_contains(&code, quote!(Self::None {} => Self::None {}));
    }

    #[test]
    fn custom_display_leaves_the_trait_to_the_user() {
        let derived = quote!(burn::module::ModuleDisplay for Net).to_string();
        let plain = expanded(parse_quote! { struct Net; });
        let custom = expanded(parse_quote! { #[module(custom_display)] struct Net; });
        assert!(plain.contains(&derived));
        assert!(!custom.contains(&derived));
    }

    #[test]
    fn a_generic_field_must_be_a_module() {
        let code = expanded(parse_quote! {
            struct Net<M, const N: usize> { inner: M, list: [M; N], again: Vec<Net<M, N>>, fixed: Linear }
        });
        assert_contains(
            &code,
            quote!(where
                M: burn::module::Module + burn::module::ModuleDisplay,
                [M; N]: burn::module::Module + burn::module::ModuleDisplay,
                Self: ::core::fmt::Debug + ::core::marker::Send
            ),
        );
    }

    #[test]
    fn what_cannot_be_a_module_is_refused_with_advice() {
        assert_eq!(
            error(parse_quote! { union Either { a: u8 } }),
            "a union cannot be a module: use an enum"
        );
        assert_eq!(
            error(parse_quote! { enum Never {} }),
            "an enum without variants cannot be a module: give it a variant"
        );
        assert_eq!(
            error(parse_quote! { struct Net { #[module(constant)] a: u8 } }),
            "unknown attribute `constant`: a field takes `#[module(skip)]`"
        );
        assert_eq!(
            error(parse_quote! { #[module(skip)] struct Net; }),
            "unknown attribute `skip`: a module type takes `#[module(custom_display)]`"
        );
    }
}
