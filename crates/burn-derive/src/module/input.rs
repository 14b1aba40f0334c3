//! A module type as the derive sees it. A struct is an enum with one nameless variant, so that
//! [`emit`](super::emit) has one case.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Generics, Result, Type};

pub(super) struct ModuleInput<'a> {
    pub ident: &'a Ident,
    pub generics: &'a Generics,
    /// What visitors are told the fields belong to: `Struct:Name` or `Enum:Name`.
    pub container: String,
    pub is_enum: bool,
    pub custom_display: bool,
    pub variants: Vec<Variant<'a>>,
}

pub(super) struct Variant<'a> {
    /// `Self` or `Self::Name`.
    pub path: TokenStream,
    pub ident: &'a Ident,
    pub fields: Vec<Field<'a>>,
    /// One field without a name: the variant's own name serves for it.
    pub is_wrapper: bool,
}

pub(super) struct Field<'a> {
    /// How the field is written in a braced pattern: `name` or `0`.
    pub member: TokenStream,
    /// The variable a pattern binds the field to.
    pub binding: Ident,
    /// The name in paths of parameters: `name` or `0`.
    pub name: String,
    /// The name in the printed module: `name` or `_0`.
    pub label: String,
    pub ty: &'a Type,
    /// Not walked: the user said so, or the type is plain data.
    pub skip: bool,
}

/// What plain data is made of. Such a field has no parameters, so no code is made for it, and it
/// prints as `Debug` has it.
const PLAIN: &[&str] = &[
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64",
    "usize", "String", "Option", "Vec", "alloc", "core", "option", "std", "string", "vec",
];

impl<'a> ModuleInput<'a> {
    pub fn parse(input: &'a DeriveInput) -> Result<Self> {
        let custom_display = flag(
            &input.attrs,
            "custom_display",
            "a module type takes `#[module(custom_display)]`",
        )?;
        let ident = &input.ident;
        let (kind, variants) = match &input.data {
            Data::Struct(data) => {
                let variant = Variant::parse(quote!(Self), ident, &data.fields, false)?;
                ("Struct", vec![variant])
            }
            Data::Enum(data) if data.variants.is_empty() => {
                let advice = "an enum without variants cannot be a module: give it a variant";
                return Err(Error::new(ident.span(), advice));
            }
            Data::Enum(data) => {
                let variants = data.variants.iter().map(|variant| {
                    let name = &variant.ident;
                    Variant::parse(quote!(Self::#name), name, &variant.fields, true)
                });
                ("Enum", variants.collect::<Result<_>>()?)
            }
            Data::Union(data) => {
                let advice = "a union cannot be a module: use an enum";
                return Err(Error::new(data.union_token.span(), advice));
            }
        };
        Ok(Self {
            ident,
            generics: &input.generics,
            container: format!("{kind}:{ident}"),
            is_enum: kind == "Enum",
            custom_display,
            variants,
        })
    }

    /// The fields whose type depends on a type parameter, and whose bound must be stated.
    ///
    /// A field that mentions the type itself is left out: its bound would ask for the impl that
    /// is being defined, which the compiler takes for a cycle.
    pub fn generic_fields(&self) -> impl Iterator<Item = &Field<'a>> {
        let fields = self.variants.iter().flat_map(|variant| &variant.fields);
        fields.filter(|field| {
            let params = self.generics.type_params();
            let tokens = field.ty.to_token_stream();
            !mentions(tokens.clone(), self.ident)
                && params
                    .into_iter()
                    .any(|param| mentions(tokens.clone(), &param.ident))
        })
    }
}

impl<'a> Variant<'a> {
    fn parse(
        path: TokenStream,
        ident: &'a Ident,
        fields: &'a Fields,
        of_enum: bool,
    ) -> Result<Self> {
        let is_wrapper = of_enum && matches!(fields, Fields::Unnamed(_)) && fields.len() == 1;
        let fields = fields
            .iter()
            .enumerate()
            .map(Field::parse)
            .collect::<Result<_>>()?;
        Ok(Self {
            path,
            ident,
            fields,
            is_wrapper,
        })
    }

    /// The pattern that binds every field: `Self::Name { 0: field0 }`.
    pub fn pattern(&self) -> TokenStream {
        self.build(|field| field.binding.to_token_stream())
    }

    /// The variant with each field given by `value`, as expression or pattern.
    pub fn build(&self, value: impl Fn(&Field) -> TokenStream) -> TokenStream {
        let path = &self.path;
        let members = self.fields.iter().map(|field| &field.member);
        let values = self.fields.iter().map(value);
        quote!(#path { #(#members: #values),* })
    }
}

impl<'a> Field<'a> {
    fn parse((index, field): (usize, &'a syn::Field)) -> Result<Self> {
        let skip =
            flag(&field.attrs, "skip", "a field takes `#[module(skip)]`")? || is_plain(&field.ty);
        let (member, name, label) = match &field.ident {
            Some(ident) => {
                // A raw identifier (`r#type`) is called `type` wherever it is text.
                let text = ident.to_string();
                let text = text.trim_start_matches("r#").to_string();
                (ident.to_token_stream(), text.clone(), text)
            }
            None => {
                let member = syn::Index::from(index).to_token_stream();
                (member, index.to_string(), format!("_{index}"))
            }
        };
        // The compiler points at the variable where its type is no module: at the field, then.
        let place = Span::call_site().located_at(field.ty.span());
        let binding = Ident::new(&format!("field{index}"), place);
        Ok(Self {
            member,
            binding,
            name,
            label,
            ty: &field.ty,
            skip,
        })
    }
}

/// Whether `#[module(name)]` stands among `attrs`; anything else in `module(…)` is an error.
fn flag(attrs: &[Attribute], name: &str, usage: &str) -> Result<bool> {
    let mut found = false;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("module")) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident(name) {
                found = true;
                return Ok(());
            }
            let given = meta.path.to_token_stream().to_string();
            Err(meta.error(format!("unknown attribute `{given}`: {usage}")))
        })?;
    }
    Ok(found)
}

fn is_plain(ty: &Type) -> bool {
    fn all_plain(tokens: TokenStream) -> bool {
        tokens.into_iter().all(|token| match token {
            TokenTree::Ident(ident) => PLAIN.iter().any(|plain| ident == plain),
            TokenTree::Group(group) => all_plain(group.stream()),
            TokenTree::Punct(punct) => punct.as_char() != '&',
            TokenTree::Literal(_) => true,
        })
    }
    let is_marker = |path: &syn::TypePath| {
        path.path
            .segments
            .last()
            .is_some_and(|last| last.ident == "PhantomData")
    };
    matches!(ty, Type::Path(path) if is_marker(path)) || all_plain(ty.to_token_stream())
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
