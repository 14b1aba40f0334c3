//! Reports of what a configuration or an input may not be.

use core::fmt::Debug;

/// Stops at a value of a field that makes no sense.
///
/// # Panics
/// With the layer, the field, the value and what would be legal, unless `ok`.
#[track_caller]
pub(crate) fn field(ok: bool, layer: &str, field: &str, value: impl Debug, legal: &str) {
    assert!(
        ok,
        "`{layer}`: the field `{field}` is {value:?}\n  legal: {legal}"
    );
}

/// Stops at a size of nothing.
#[track_caller]
pub(crate) fn positive(layer: &str, name: &str, sizes: &[usize]) {
    let ok = !sizes.contains(&0);
    match sizes {
        [size] => field(ok, layer, name, size, "at least 1"),
        _ => field(ok, layer, name, sizes, "at least 1 each"),
    }
}

/// Stops at an `epsilon` that does not keep a division finite.
#[track_caller]
pub(crate) fn epsilon(layer: &str, epsilon: f64) {
    let ok = epsilon >= 0.0 && epsilon.is_finite();
    field(ok, layer, "epsilon", epsilon, "a number of at least 0");
}
