//! Watching values: which operation made the first one that is not finite.

use alloc::string::String;
use alloc::vec;
use burn_backend::{Device, Handle};
use burn_ir::{Checked, Class, Described, Operation, Outputs};
use core::fmt::Write;

/// What a tensor holds that is not finite.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    nan: bool,
    infinite: bool,
    /// The first such value and its place.
    first: Option<(usize, f64)>,
}

impl Found {
    /// Reads a tensor.
    fn of(tensor: &Handle) -> Self {
        let mut found = Self::default();
        if !tensor.meta().dtype.is_float() {
            return found;
        }
        let reading = tensor.device().download(vec![tensor.clone()]);
        let data = match burn_std::read_sync(reading) {
            Ok(data) => data,
            Err(error) => panic!(
                "watching for values that are not finite reads every tensor, and {} cannot: {error}",
                tensor.device()
            ),
        };
        for (at, value) in data.iter().flat_map(|data| data.iter::<f64>()).enumerate() {
            if !value.is_finite() {
                found.nan |= value.is_nan();
                found.infinite |= value.is_infinite();
                found.first.get_or_insert((at, value));
            }
        }
        found
    }

    /// Whether this is no consequence of what was there before.
    fn is_new(self, before: Self) -> bool {
        self.nan && !before.nan || self.infinite && !before.nan && !before.infinite
    }

    fn or(self, other: Self) -> Self {
        Self {
            nan: self.nan || other.nan,
            infinite: self.infinite || other.infinite,
            first: None,
        }
    }
}

/// Runs an instruction.
///
/// # Panics
/// If it makes the first value that is not finite: NaN of operands without NaN, or an infinity of finite ones. What
/// moves, selects or repeats values makes none.
pub(crate) fn run(below: Device, operation: Checked<Handle>) -> Outputs<Handle> {
    let class = operation.operation().class();
    let selects = matches!(operation.operation(), Operation::Where { .. });
    if selects || matches!(class, Class::Movement | Class::Barrier) {
        return below.run(operation);
    }
    let before = operation.operation().map_ref(&mut Handle::clone);
    let outputs = below.run(operation);
    for output in outputs.as_slice() {
        let found = Found::of(output);
        if found.first.is_none() {
            continue;
        }
        let mut given = Found::default();
        before.each(&mut |operand| given = given.or(Found::of(operand)));
        if found.is_new(given) {
            panic!("{}", report(&before, output, found));
        }
    }
    outputs
}

fn report(operation: &Operation<Handle>, output: &Handle, found: Found) -> String {
    let mut text = alloc::format!(
        "`{}` made the first value that is not finite",
        operation.name()
    );
    if let Some((at, value)) = found.first {
        let _ = write!(
            text,
            ": {value} at element {at} of its output {}",
            output.meta()
        );
    }
    let mut position = 0;
    operation.each(&mut |operand| {
        let _ = write!(text, "\n  operand {position}: {}", operand.meta());
        position += 1;
    });
    text
}

/// The report of a backward pass through the operation of this name, if it made the first value that is not finite in
/// the gradients for its operands.
pub(crate) fn pulled(
    name: &'static str,
    arrived: &[Option<Handle>],
    pulled: &[Option<Handle>],
) -> Option<String> {
    let given = || {
        let arrived = arrived.iter().flatten().map(Found::of);
        arrived.fold(Found::default(), Found::or)
    };
    pulled.iter().enumerate().find_map(|(operand, gradient)| {
        let gradient = gradient.as_ref()?;
        let found = Found::of(gradient);
        let (at, value) = found.first?;
        found.is_new(given()).then(|| {
            alloc::format!(
                "the gradient of `{name}` has the first value that is not finite: {value} at element {at} for operand {operand}, {}",
                gradient.meta()
            )
        })
    })
}
