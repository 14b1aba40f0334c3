//! Tensors as text: elements row by row, long ones with their edges only, then what is known of the tensor.

use super::Tensor;
use crate::kind::Basic;
use alloc::vec::Vec;
use burn_std::sync::RwLock;
use burn_std::{DType, Element, TensorData};
use core::fmt;

/// How tensors are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// A tensor of more elements is summarized.
    pub threshold: usize,
    /// The number of elements that a summary shows at each end of a dim.
    pub edge_items: usize,
    /// Digits after the point; `None` for as many as tell the value. `{:.2}` takes precedence.
    pub precision: Option<usize>,
}

impl PrintOptions {
    /// Summaries of 3 elements at each end for more than 1,000 elements.
    pub const fn const_default() -> Self {
        Self {
            threshold: 1000,
            edge_items: 3,
            precision: None,
        }
    }
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self::const_default()
    }
}

static OPTIONS: RwLock<PrintOptions> = RwLock::new(PrintOptions::const_default());

/// Sets how all tensors are shown from now on.
pub fn set_print_options(options: PrintOptions) {
    *OPTIONS.write() = options;
}

/// Reads the tensor.
impl<const D: usize, K: Basic> fmt::Display for Tensor<D, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tensor {\n  data:\n")?;
        match self.try_to_data() {
            Ok(data) => elements(f, &data)?,
            Err(error) => write!(f, "({error})")?,
        }
        let (shape, device) = (self.shape(), self.device());
        let (kind, dtype) = (K::name(), self.dtype().name());
        write!(
            f,
            ",\n  shape:  {shape},\n  device:  {device:?},\n  kind:  {kind:?},\n  dtype:  {dtype:?},\n"
        )?;
        if let DType::QFloat(scheme) = self.dtype() {
            writeln!(f, "  scheme:  {scheme:?},")?;
        }
        f.write_str("}")
    }
}

fn elements(f: &mut fmt::Formatter<'_>, data: &TensorData) -> fmt::Result {
    let options = *OPTIONS.read();
    let precision = f.precision().or(options.precision);
    let edge = match data.num_elements() > options.threshold {
        true => options.edge_items,
        false => usize::MAX,
    };
    match data.dtype() {
        DType::F64 => Rows::<f64>::new(data, edge).write(f, &float(precision)),
        DType::F32 | DType::F16 | DType::BF16 | DType::Flex32 | DType::QFloat(_) => {
            Rows::<f32>::new(data, edge).write(f, &float(precision))
        }
        DType::U64 => Rows::<u64>::new(data, edge).write(f, &exact),
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => {
            Rows::<i64>::new(data, edge).write(f, &exact)
        }
        DType::U32 | DType::U16 | DType::U8 => Rows::<i64>::new(data, edge).write(f, &exact),
        DType::Bool(_) => Rows::<bool>::new(data, edge).write(f, &exact),
    }
}

/// Writes an element.
type Text<'a, E> = dyn Fn(&mut fmt::Formatter<'_>, E) -> fmt::Result + 'a;

fn exact<E: fmt::Display>(f: &mut fmt::Formatter<'_>, element: E) -> fmt::Result {
    write!(f, "{element}")
}

/// With the given digits after the point, or as many as tell the value.
fn float<E: fmt::Display + fmt::Debug>(
    precision: Option<usize>,
) -> impl Fn(&mut fmt::Formatter<'_>, E) -> fmt::Result {
    move |f, element| match precision {
        Some(digits) => write!(f, "{element:.digits$}"),
        None => write!(f, "{element:?}"),
    }
}

/// Elements with the number of them that is shown at each end of a dim.
struct Rows<'a, E> {
    elements: Vec<E>,
    shape: &'a [usize],
    edge: usize,
}

impl<'a, E: Element> Rows<'a, E> {
    fn new(data: &'a TensorData, edge: usize) -> Self {
        Self {
            elements: data.iter().collect(),
            shape: data.shape(),
            edge,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, text: &Text<'_, E>) -> fmt::Result {
        self.dim(f, text, 0, 0)
    }

    /// The part of dim `dim` and those behind it that starts at element `start`.
    fn dim(
        &self,
        f: &mut fmt::Formatter<'_>,
        text: &Text<'_, E>,
        dim: usize,
        start: usize,
    ) -> fmt::Result {
        let Some(size) = self.shape.get(dim).copied() else {
            return text(f, self.elements[start]);
        };
        let stride: usize = self.shape[dim + 1..].iter().product();
        let is_last = dim + 1 == self.shape.len();
        let is_long = size > self.edge.saturating_mul(2);
        f.write_str("[")?;
        for at in 0..size {
            if is_long && (self.edge..size - self.edge).contains(&at) {
                if at == self.edge {
                    match is_last {
                        true => f.write_str(", ...")?,
                        false => write!(f, ",\n{:1$}...", "", dim + 1)?,
                    }
                }
                continue;
            }
            match (at, is_last) {
                (0, _) => {}
                (_, true) => f.write_str(", ")?,
                // The gap is not an element and has no comma.
                (_, false) if is_long && at == size - self.edge => {
                    write!(f, "\n{:1$}", "", dim + 1)?
                }
                (_, false) => write!(f, ",\n{:1$}", "", dim + 1)?,
            }
            self.dim(f, text, dim + 1, start + at * stride)?;
        }
        f.write_str("]")
    }
}
