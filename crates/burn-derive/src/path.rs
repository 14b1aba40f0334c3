//! Under which name the generated code finds our items.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The crates of this workspace that sit behind the facade and hold modules or configurations.
const BEHIND_THE_FACADE: &[&str] = &[
    "burn-backend-tests",
    "burn-core",
    "burn-linalg",
    "burn-nn",
    "burn-optim",
    "burn-rl",
    "burn-signal",
    "burn-store",
    "burn-train",
    "burn-vision",
];

/// The crate to name: `burn` for users, `burn_core` for the crates that `burn` is made of.
pub(crate) fn facade() -> Ident {
    // Cargo sets this for the crate being compiled; other build systems may not, and are users.
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    facade_of(&package)
}

/// Where optimizers are: in the facade for users, in their crate for the crates that `burn` is made of.
pub(crate) fn optim() -> TokenStream {
    let facade = facade();
    match facade == "burn" {
        true => quote!(#facade::optim),
        false => quote!(burn_optim),
    }
}

fn facade_of(package: &str) -> Ident {
    let name = match BEHIND_THE_FACADE.contains(&package) {
        true => "burn_core",
        false => "burn",
    };
    Ident::new(name, Span::call_site())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_name_the_facade_and_our_crates_the_core() {
        assert_eq!(facade_of("digits"), "burn");
        assert_eq!(facade_of("burn"), "burn");
        assert_eq!(facade_of("burn-extension-of-somebody"), "burn");
        assert_eq!(facade_of("burn-nn"), "burn_core");
    }
}
