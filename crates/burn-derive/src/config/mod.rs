//! `#[derive(Config)]`: `new`, `with_<field>`, and the conversions to and from JSON.

mod field;

use field::Field;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Result, Variant};

/// The impls for `input`, naming our items under `burn`.
pub(crate) fn expand(input: &DeriveInput, burn: &Ident) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let advice = "a configuration cannot be generic: it is read from a file, so name the types";
        return Err(Error::new(input.generics.span(), advice));
    }
    let (constructor, clone, mirror) = match &input.data {
        Data::Struct(data) => {
            let fields = fields(&data.fields)?;
            (
                constructor(&input.ident, &fields),
                clone_struct(&fields),
                mirror_struct(&fields),
            )
        }
        Data::Enum(data) => {
            let mirror = mirror_enum(data)?;
            (TokenStream::new(), clone_enum(data), mirror)
        }
        Data::Union(data) => {
            let advice = "a union cannot be a configuration: use an enum";
            return Err(Error::new(data.union_token.span(), advice));
        }
    };
    let shared = shared_impls(&input.ident, burn, &clone);
    let serde = serde_impls(&input.ident, burn, &mirror);
    Ok(quote!(#constructor #shared #serde))
}

/// The fields as files have them: those of `new` first, then optional ones, then defaults.
fn fields(fields: &Fields) -> Result<Vec<Field<'_>>> {
    if let Fields::Unnamed(fields) = fields {
        let advice = "the fields of a configuration need names: write `{ name: Type }`";
        return Err(Error::new(fields.span(), advice));
    }
    let mut fields = fields
        .iter()
        .map(Field::parse)
        .collect::<Result<Vec<_>>>()?;
    fields.sort_by_key(Field::rank);
    Ok(fields)
}

fn constructor(ident: &Ident, fields: &[Field]) -> TokenStream {
    let required = fields.iter().filter(|field| field.default.is_none());
    let arguments = required.map(|Field { ident, ty, .. }| quote!(#ident: #ty));
    let values = fields
        .iter()
        .map(|Field { ident, default, .. }| match default {
            Some(default) => quote!(#ident: #default),
            None => quote!(#ident),
        });
    let setters = fields
        .iter()
        .filter(|field| field.default.is_some())
        .map(|field| {
            let Field {
                ident, ty, name, ..
            } = field;
            let setter = format_ident!("with_{}", name);
            let doc = format!("Sets `{name}`.");
            quote! {
                #[doc = #doc]
                #[must_use]
                pub fn #setter(mut self, #ident: #ty) -> Self { self.#ident = #ident; self }
            }
        });
    let doc = format!("A `{ident}` with the given values, and the defaults for all others.");
    quote! {
        #[allow(clippy::new_without_default, clippy::too_many_arguments, clippy::wrong_self_convention)]
        impl #ident {
            #[doc = #doc]
            pub fn new(#(#arguments),*) -> Self { Self { #(#values),* } }
            #(#setters)*
        }
    }
}

fn clone_struct(fields: &[Field]) -> TokenStream {
    let names = fields.iter().map(|field| &field.ident);
    quote!(Self { #(#names: ::core::clone::Clone::clone(&self.#names)),* })
}

fn clone_enum(data: &DataEnum) -> TokenStream {
    let arms = data.variants.iter().map(|Variant { ident, fields, .. }| {
        let members = fields.members().collect::<Vec<_>>();
        let bound = (0..fields.len())
            .map(|index| format_ident!("field{index}"))
            .collect::<Vec<_>>();
        quote! {
            Self::#ident { #(#members: #bound),* }
                => Self::#ident { #(#members: ::core::clone::Clone::clone(#bound)),* }
        }
    });
    quote!(match self { #(#arms),* })
}

fn mirror_struct(fields: &[Field]) -> TokenStream {
    let fields = fields
        .iter()
        .map(|Field { ident, ty, .. }| quote!(#ident: #ty));
    quote!(struct Mirror { #(#fields),* })
}

fn mirror_enum(data: &DataEnum) -> Result<TokenStream> {
    if data.variants.is_empty() {
        let advice = "an enum without variants cannot be a configuration: give it a variant";
        return Err(Error::new(data.brace_token.span.join(), advice));
    }
    let variants = data.variants.iter().map(|Variant { ident, fields, .. }| {
        for field in fields {
            field::refuse_attributes(&field.attrs)?;
        }
        let fields = match fields {
            Fields::Named(fields) => {
                let fields = fields
                    .named
                    .iter()
                    .map(|syn::Field { ident, ty, .. }| quote!(#ident: #ty));
                quote!({ #(#fields),* })
            }
            Fields::Unnamed(fields) => {
                let types = fields.unnamed.iter().map(|field| &field.ty);
                quote!((#(#types),*))
            }
            Fields::Unit => TokenStream::new(),
        };
        Ok(quote!(#ident #fields))
    });
    let variants = variants.collect::<Result<Vec<_>>>()?;
    Ok(quote!(enum Mirror { #(#variants),* }))
}

fn shared_impls(ident: &Ident, burn: &Ident, clone: &TokenStream) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #burn::config::Config for #ident {}
        #[automatically_derived]
        impl ::core::clone::Clone for #ident {
            fn clone(&self) -> Self { #clone }
        }
        #[automatically_derived]
        impl ::core::fmt::Display for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(&#burn::config::config_to_json(self))
            }
        }
    }
}

/// `Serialize` and `Deserialize` by serde's own derive on a private mirror of the type, so that
/// the user's crate needs neither serde nor another attribute.
fn serde_impls(ident: &Ident, burn: &Ident, mirror: &TokenStream) -> TokenStream {
    let (name, serde) = (ident.to_string(), format!("{burn}::serde"));
    quote! {
        const _: () = {
            #[derive(#burn::serde::Serialize, #burn::serde::Deserialize)]
            #[serde(crate = #serde, remote = #name, rename = #name)]
            #[allow(dead_code)]
            #mirror
            #[automatically_derived]
            impl #burn::serde::Serialize for #ident {
                fn serialize<S: #burn::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    Mirror::serialize(self, serializer)
                }
            }
            #[automatically_derived]
            impl<'de> #burn::serde::Deserialize<'de> for #ident {
                fn deserialize<D: #burn::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    Mirror::deserialize(deserializer)
                }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;
    use syn::parse_quote;

    fn expanded(input: DeriveInput) -> String {
        expand(&input, &Ident::new("burn", Span::call_site()))
            .expect("the type is a valid configuration")
            .to_string()
    }

    fn error(input: DeriveInput) -> String {
        expand(&input, &Ident::new("burn", Span::call_site()))
            .expect_err("the type is no configuration")
            .to_string()
    }

    #[track_caller]
    fn assert_contains(code: &str, part: TokenStream) {
        let part = part.to_string();
        assert!(code.contains(&part), "no `{part}` in\n{code}");
    }

    #[test]
    fn new_takes_what_has_no_default() {
        let code = expanded(parse_quote! {
            struct NetConfig { #[config(default = 3)] depth: usize, width: usize, rate: Option<f64> }
        });
        assert_contains(
            &code,
            quote! {
                pub fn new(width: usize) -> Self {
                    Self { width, rate: ::core::option::Option::None, depth: 3 }
                }
            },
        );
        assert_contains(
            &code,
            quote!(pub fn with_depth(mut self, depth: usize) -> Self),
        );
        assert_contains(
            &code,
            quote!(pub fn with_rate(mut self, rate: Option<f64>) -> Self),
        );
        assert!(!code.contains("with_width"));
    }

    #[test]
    fn a_default_in_a_string_is_an_expression() {
        let code = expanded(parse_quote! {
            struct NetConfig { #[config(default = "Some(Act::Relu)")] act: Option<Act> }
        });
        assert_contains(
            &code,
            quote!(Self {
                act: Some(Act::Relu)
            }),
        );
    }

    #[test]
    fn an_enum_has_no_constructor() {
        let code = expanded(parse_quote! { enum Act { Relu, Leaky(f64), Elu { alpha: f64 } } });
        assert!(!code.contains("fn new"));
        assert_contains(&code, quote!(Relu, Leaky(f64)));
        assert_contains(&code, quote!(Elu { alpha: f64 }));
    }

    #[test]
    fn what_cannot_be_a_configuration_is_refused_with_advice() {
        assert_eq!(
            error(parse_quote! { struct NetConfig(usize); }),
            "the fields of a configuration need names: write `{ name: Type }`"
        );
        assert_eq!(
            error(parse_quote! { struct NetConfig<T> { value: T } }),
            "a configuration cannot be generic: it is read from a file, so name the types"
        );
        assert_eq!(
            error(parse_quote! { struct NetConfig { #[config(defalt = 3)] depth: usize } }),
            "unknown attribute `defalt`: a field takes `#[config(default = value)]`"
        );
        assert_eq!(
            error(parse_quote! { struct NetConfig { #[config(default = "3 +")] depth: usize } }),
            "the default of `depth` is not an expression: `3 +`"
        );
        assert_eq!(
            error(parse_quote! { enum Act { Leaky(#[config(default = 3)] usize) } }),
            "`#[config(…)]` stands on fields of structs only: a variant is always given in full"
        );
    }
}
