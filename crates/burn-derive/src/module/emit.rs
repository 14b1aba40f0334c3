//! The impls of a module type: `visit`, `map`, the content to print, and `clone`.
//! Everything else a module can do is a default method in `burn-core`.

use super::input::{Field, ModuleInput, Variant};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

pub(super) fn impls(module: &ModuleInput, burn: &Ident) -> TokenStream {
    let ident = module.ident;
    let (impl_generics, ty_generics, _) = module.generics.split_for_impl();
    let bounds = where_clause(module, burn);
    let header = |item: TokenStream| {
        quote! { #[automatically_derived] impl #impl_generics #item for #ident #ty_generics #bounds }
    };

    let module_impl = header(quote!(#burn::module::Module));
    let clone_impl = clone_header(module);
    let default_impl = header(quote!(#burn::module::ModuleDisplayDefault));
    let display_impl = header(quote!(::core::fmt::Display));
    let custom_impl = match module.custom_display {
        true => TokenStream::new(),
        false => {
            let item = header(quote!(#burn::module::ModuleDisplay));
            quote!(#item {})
        }
    };

    let visit = arms(module, |variant| visit_arm(module, variant, burn));
    let map = arms(module, |variant| map_arm(module, variant, burn));
    let content = arms(module, content_arm);
    let clone = arms(module, clone_arm);
    quote! {
        #module_impl {
            #[allow(unused_variables)]
            fn visit<__Visitor: #burn::module::ModuleVisitor>(&self, visitor: &mut __Visitor) { match self { #visit } }
            #[allow(unused_variables)]
            fn map<__Mapper: #burn::module::ModuleMapper>(self, mapper: &mut __Mapper) -> Self { match self { #map } }
        }
        #clone_impl {
            fn clone(&self) -> Self { match self { #clone } }
        }
        #default_impl {
            fn content(
                &self,
                content: #burn::module::Content,
            ) -> ::core::option::Option<#burn::module::Content> {
                ::core::option::Option::Some(match self { #content })
            }
            fn num_params(&self) -> usize { #burn::module::Module::num_params(self) }
        }
        #custom_impl
        #display_impl {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(&#burn::module::ModuleDisplay::format(self, ::core::default::Default::default()))
            }
        }
    }
}

fn arms(module: &ModuleInput, body: impl Fn(&Variant) -> TokenStream) -> TokenStream {
    let patterns = module.variants.iter().map(Variant::pattern);
    let bodies = module.variants.iter().map(body);
    quote!(#(#patterns => #bodies,)*)
}

fn visit_arm(module: &ModuleInput, variant: &Variant, burn: &Ident) -> TokenStream {
    let container = &module.container;
    let visits = variant
        .fields
        .iter()
        .filter(|field| !field.skip)
        .map(|field| {
            let (name, binding) = (path_name(variant, field), &field.binding);
            // The span makes a missing `Module` impl an error at the field.
            quote_spanned!(place(field)=>
                #burn::module::field::visit(#name, #container, #binding, visitor);
            )
        });
    let visits = quote!(#(#visits)*);
    match is_level(module, variant) {
        false => quote!({ #visits }),
        true => {
            let name = variant.ident.to_string();
            quote!({
                visitor.enter_module(#name, #container);
                #visits
                visitor.exit_module(#name, #container);
            })
        }
    }
}

/// Where errors of a field are reported. Names resolve as elsewhere here, also if a macro wrote the type.
fn place(field: &Field) -> Span {
    Span::call_site().located_at(field.ty.span())
}

fn map_arm(module: &ModuleInput, variant: &Variant, burn: &Ident) -> TokenStream {
    let container = &module.container;
    let mapped = variant.build(|field| {
        let (name, binding) = (path_name(variant, field), &field.binding);
        match field.skip {
            true => quote!(#binding),
            false => quote_spanned!(place(field)=>
                #burn::module::field::map(#name, #container, #binding, mapper)
            ),
        }
    });
    match is_level(module, variant) {
        false => mapped,
        true => {
            let name = variant.ident.to_string();
            quote!({
                mapper.enter_module(#name, #container);
                let mapped = #mapped;
                mapper.exit_module(#name, #container);
                mapped
            })
        }
    }
}

/// Whether the variant's name is a level of its own in the paths below it.
fn is_level(module: &ModuleInput, variant: &Variant) -> bool {
    module.is_enum && !variant.is_wrapper && !variant.fields.is_empty()
}

fn path_name(variant: &Variant, field: &Field) -> String {
    match variant.is_wrapper {
        true => variant.ident.to_string(),
        false => field.name.clone(),
    }
}

fn content_arm(variant: &Variant) -> TokenStream {
    let name = variant.ident.to_string();
    let adds = variant.fields.iter().map(|field| {
        let (label, binding) = (&field.label, &field.binding);
        match field.skip {
            true => quote!(.add_debug_attribute(#label, #binding)),
            false => quote_spanned!(place(field)=> .add(#label, #binding)),
        }
    });
    quote!(content.set_top_level_type(#name) #(#adds)*)
}

fn clone_arm(variant: &Variant) -> TokenStream {
    variant.build(|field| {
        let binding = &field.binding;
        quote!(::core::clone::Clone::clone(#binding))
    })
}

/// The bounds of the type plus those that its fields of generic type need.
fn where_clause(module: &ModuleInput, burn: &Ident) -> TokenStream {
    let given = module
        .generics
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates);
    let fields = module.generic_fields().map(|field| {
        let ty = field.ty;
        match field.skip {
            true => quote!(#ty: ::core::clone::Clone + ::core::fmt::Debug + ::core::marker::Send),
            false => quote!(#ty: #burn::module::Module + #burn::module::ModuleDisplay),
        }
    });
    // The bounds that `derive(Debug)` puts on the parameters do not follow from those above.
    let this = module.generics.type_params().next();
    let this = this.map(|_| quote!(Self: ::core::fmt::Debug + ::core::marker::Send));
    let bounds = given
        .map(|bound| quote!(#bound))
        .chain(fields)
        .chain(this)
        .collect::<Vec<_>>();
    match bounds.is_empty() {
        true => TokenStream::new(),
        false => quote!(where #(#bounds),*),
    }
}

fn clone_header(module: &ModuleInput) -> TokenStream {
    let ident = module.ident;
    let (impl_generics, ty_generics, _) = module.generics.split_for_impl();
    let given = module
        .generics
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates);
    let given = given.map(|bound| quote!(#bound));
    let fields = module.generic_fields().map(|field| {
        let ty = field.ty;
        quote!(#ty: ::core::clone::Clone)
    });
    let bounds = given.chain(fields);
    quote! {
        #[automatically_derived]
        impl #impl_generics ::core::clone::Clone for #ident #ty_generics where #(#bounds),*
    }
}
