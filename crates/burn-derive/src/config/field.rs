//! One field of a configuration struct, and its default.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Error, Expr, ExprLit, Lit, Result, Type};

pub(super) struct Field<'a> {
    pub ident: &'a Ident,
    /// The name without the `r#` of a raw identifier.
    pub name: String,
    pub ty: &'a Type,
    /// `None`: the field is an argument of `new`.
    pub default: Option<TokenStream>,
    is_option: bool,
}

impl<'a> Field<'a> {
    pub fn parse(field: &'a syn::Field) -> Result<Self> {
        let ident = field
            .ident
            .as_ref()
            .expect("tuple structs were refused before");
        let name = ident.to_string().trim_start_matches("r#").to_string();
        let given = default(&field.attrs, &name)?;
        let is_option = is_option(&field.ty) && given.is_none();
        let default = match is_option {
            true => Some(quote!(::core::option::Option::None)),
            false => given,
        };
        Ok(Self {
            ident,
            name,
            ty: &field.ty,
            default,
            is_option,
        })
    }

    /// The place of the field among all: required, optional, with a default.
    pub fn rank(&self) -> u8 {
        match (&self.default, self.is_option) {
            (None, _) => 0,
            (Some(_), true) => 1,
            (Some(_), false) => 2,
        }
    }
}

/// An error if `#[config(…)]` stands where it has no meaning.
pub(super) fn refuse_attributes(attrs: &[Attribute]) -> Result<()> {
    match attrs.iter().find(|attr| attr.path().is_ident("config")) {
        None => Ok(()),
        Some(attr) => Err(Error::new_spanned(
            attr,
            "`#[config(…)]` stands on fields of structs only: a variant is always given in full",
        )),
    }
}

fn default(attrs: &[Attribute], field: &str) -> Result<Option<TokenStream>> {
    let mut found = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("config")) {
        attr.parse_nested_meta(|meta| {
            if !meta.path.is_ident("default") {
                let given = meta.path.to_token_stream().to_string();
                let usage = "a field takes `#[config(default = value)]`";
                return Err(meta.error(format!("unknown attribute `{given}`: {usage}")));
            }
            found = Some(expression(meta.value()?.parse()?, field)?);
            Ok(())
        })?;
    }
    Ok(found)
}

/// The default as an expression; a string literal holds one.
fn expression(value: Expr, field: &str) -> Result<TokenStream> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = &value
    else {
        return Ok(value.into_token_stream());
    };
    match text.parse::<Expr>() {
        Ok(expression) => Ok(expression.into_token_stream()),
        Err(_) => {
            let problem = "is not an expression";
            let message = format!("the default of `{field}` {problem}: `{}`", text.value());
            Err(Error::new(text.span(), message))
        }
    }
}

fn is_option(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path
        .segments
        .last()
        .is_some_and(|segment| segment.ident == "Option")
}
