//! `#[derive(RecordState)]`: the state of an optimizer or a schedule, field by field.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result};

/// The impl for `input`, naming our items under `optim`.
pub(crate) fn expand(input: &DeriveInput, optim: &TokenStream) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        let advice = "the state of an optimizer is a struct with named fields";
        return Err(Error::new(input.ident.span(), advice));
    };
    let fields = match &data.fields {
        Fields::Unnamed(fields) => {
            let advice = "the fields of a state need names, by which they are stored";
            return Err(Error::new(fields.span(), advice));
        }
        fields => fields,
    };
    let names: Vec<&Ident> = fields.iter().filter_map(|it| it.ident.as_ref()).collect();
    let texts: Vec<String> = names
        .iter()
        .map(|name| name.to_string().trim_start_matches("r#").into())
        .collect();
    // The span makes a field that cannot be stored an error at the field.
    let types = fields.iter().map(|field| field.ty.span());
    let flatten = types
        .clone()
        .zip(names.iter().zip(&texts))
        .map(|(span, (name, text))| {
            quote_spanned!(span=> #optim::field::StateField::flatten(&self.#name, prefix, #text, sink);)
        });
    let unflatten = types.zip(names.iter().zip(&texts)).map(|(span, (name, text))| {
        quote_spanned!(span=> #name: #optim::field::StateField::unflatten(prefix, #text, source, device)?,)
    });
    let ident = &input.ident;
    let (impl_generics, ty_generics, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics #optim::RecordState for #ident #ty_generics #bounds {
            fn state_flatten(&self, prefix: &str, sink: &mut #optim::StateSink) { #(#flatten)* }

            fn state_unflatten(
                prefix: &str,
                source: &mut #optim::StateSource,
                device: &#optim::field::Device,
            ) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self { #(#unflatten)* })
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn error(input: DeriveInput) -> String {
        expand(&input, &quote!(burn::optim))
            .expect_err("the type is no state")
            .to_string()
    }

    #[test]
    fn what_has_no_named_fields_is_refused() {
        let tuple = error(parse_quote!(
            struct State(usize);
        ));
        assert!(tuple.contains("need names"), "{tuple}");
        let choice = error(parse_quote!(
            enum State {
                A,
            }
        ));
        assert!(choice.contains("struct with named fields"), "{choice}");
    }
}
