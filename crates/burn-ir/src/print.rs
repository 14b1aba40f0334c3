//! Programs as text, one instruction a line. For people; machines read the serde encoding.

use crate::{Graph, Operand, Operation, TensorId};
use alloc::format;
use alloc::string::String;
use core::fmt;

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for input in self.inputs() {
            writeln!(f, "{}", Definition(self, *input, "input"))?;
        }
        for node in self.nodes() {
            let right = format!("{}", Call(&node.operation));
            for output in node.outputs.as_slice() {
                writeln!(f, "{}", Definition(self, *output, &right))?;
            }
        }
        write!(f, "yield")?;
        for (at, output) in self.outputs().iter().enumerate() {
            write!(f, "{} {output}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

struct Definition<'a>(&'a Graph, TensorId, &'a str);

impl fmt::Display for Definition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(graph, tensor, right) = self;
        match graph.meta(*tensor) {
            Some(meta) => write!(f, "{tensor}: {meta} = {right}"),
            None => write!(f, "{tensor} = {right}"),
        }
    }
}

struct Call<'a>(&'a Operation<TensorId>);

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut arguments = String::new();
        let mut push = |text: String| {
            if !arguments.is_empty() {
                arguments.push_str(", ");
            }
            arguments.push_str(&text);
        };
        self.0.each(&mut |tensor| push(format!("{tensor}")));
        match self.0 {
            Operation::Create { op } => push(format!("{op:?}")),
            Operation::Cast { dtype, .. } => push(dtype.name().into()),
            Operation::Reduce { op, dims, .. } => push(format!("{op:?} over {dims:?}")),
            Operation::Movement { op, .. } => push(format!("{op:?}")),
            Operation::Activation { op, .. } => push(format!("{op:?}")),
            Operation::Module(op) => push(format!("{:?}", op.map_ref(&mut |_| ()))),
            Operation::Binary {
                rhs: Operand::Scalar(scalar),
                ..
            }
            | Operation::Compare {
                rhs: Operand::Scalar(scalar),
                ..
            } => push(format!("{scalar:?}")),
            Operation::Where {
                on_true, on_false, ..
            } => {
                for (name, operand) in [("on_true", on_true), ("on_false", on_false)] {
                    if let Operand::Scalar(scalar) = operand {
                        push(format!("{name} = {scalar:?}"));
                    }
                }
            }
            Operation::Cat { dim, .. } => push(format!("dim {dim}")),
            Operation::SliceAssign { ranges, values, .. } => {
                if let Operand::Scalar(scalar) = values {
                    push(format!("{scalar:?}"));
                }
                push(format!("{ranges:?}"));
            }
            Operation::Gather { op, .. } => push(format!("{op:?}")),
            Operation::Scatter { op, mode, .. } => push(format!("{op:?}, {mode:?}")),
            Operation::Scan { dim, .. } => push(format!("dim {dim}")),
            Operation::Sort {
                op,
                dim,
                descending,
                len,
                ..
            } => {
                let order = if *descending {
                    "descending"
                } else {
                    "ascending"
                };
                push(format!("{op:?}, dim {dim}, {order}, {len}"));
            }
            Operation::Argwhere { count, dtype, .. } => push(format!("{count}, {dtype:?}")),
            Operation::Unary { .. }
            | Operation::Binary { .. }
            | Operation::Compare { .. }
            | Operation::Matmul { .. } => {}
        }
        write!(f, "{}({arguments})", self.0.name())
    }
}
