//! Programs: instructions over tensor ids, with one table of descriptions. Running them is an interpreter's work.

use crate::{Checked, Described, Operation, OperationError, Outputs, TensorMeta};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// The version of the encoding. Families, leaves and attributes are encoded by name, so that additions keep it; it
/// grows when a name changes its meaning or goes.
pub const IR_VERSION: u32 = 1;

/// A tensor of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TensorId(u64);

impl TensorId {
    /// The id of this number.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The number of this id.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TensorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Debug for TensorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An instruction of a program and the tensors it defines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The instruction.
    pub operation: Operation<TensorId>,
    /// The tensors it defines, in output order.
    pub outputs: Outputs<TensorId>,
}

/// A program: every tensor is an input or defined once, before its uses, as its instruction implies.
///
/// Only [`Graph::input`] and [`Graph::push`] build one, and decoding goes through them, so a program from a file is as
/// well formed as one that was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Graph {
    version: Version,
    inputs: Vec<TensorId>,
    outputs: Vec<TensorId>,
    tensors: BTreeMap<TensorId, TensorMeta>,
    nodes: Vec<Node>,
}

/// Always [`IR_VERSION`] in a program that exists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Version(u32);

impl Default for Version {
    fn default() -> Self {
        Self(IR_VERSION)
    }
}

/// Why a program is not well formed.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphError {
    /// The encoding is of another version.
    Version {
        /// The version found.
        found: u32,
    },
    /// A tensor is used before it is defined.
    Undefined {
        /// The tensor.
        tensor: TensorId,
    },
    /// A tensor is defined twice.
    Redefined {
        /// The tensor.
        tensor: TensorId,
    },
    /// A tensor is described otherwise than its instruction implies, or not at all.
    Description {
        /// The tensor.
        tensor: TensorId,
    },
    /// An instruction is illegal.
    Operation(OperationError),
}

impl core::error::Error for GraphError {}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { found } => {
                write!(
                    f,
                    "the program has encoding version {found}, and this build reads version {IR_VERSION}"
                )
            }
            Self::Undefined { tensor } => write!(
                f,
                "{tensor} is used and neither an input nor defined before"
            ),
            Self::Redefined { tensor } => write!(f, "{tensor} is defined twice"),
            Self::Description { tensor } => {
                write!(f, "{tensor} is not described as its instruction implies")
            }
            Self::Operation(error) => error.fmt(f),
        }
    }
}

impl Graph {
    /// Declares an input.
    ///
    /// # Errors
    /// If the tensor is already defined.
    pub fn input(&mut self, tensor: TensorId, meta: TensorMeta) -> Result<(), GraphError> {
        self.define(tensor, meta)?;
        self.inputs.push(tensor);
        Ok(())
    }

    /// Appends an instruction that defines `outputs`.
    ///
    /// # Errors
    /// If an operand is not defined, an output already is, their number is not the instruction's, or the instruction
    /// is illegal.
    pub fn push(
        &mut self,
        operation: Operation<TensorId>,
        outputs: Outputs<TensorId>,
    ) -> Result<(), GraphError> {
        let metas = self.check(&operation)?;
        if metas.as_slice().len() != outputs.as_slice().len() {
            let tensor = outputs
                .as_slice()
                .first()
                .copied()
                .unwrap_or(TensorId(u64::MAX));
            return Err(GraphError::Description { tensor });
        }
        for (tensor, meta) in outputs.as_slice().iter().zip(metas.into_vec()) {
            self.define(*tensor, meta)?;
        }
        self.nodes.push(Node { operation, outputs });
        Ok(())
    }

    /// Declares what the program yields.
    ///
    /// # Errors
    /// If a tensor is not defined.
    pub fn yields(&mut self, outputs: Vec<TensorId>) -> Result<(), GraphError> {
        match outputs
            .iter()
            .find(|tensor| !self.tensors.contains_key(tensor))
        {
            Some(tensor) => Err(GraphError::Undefined { tensor: *tensor }),
            None => {
                self.outputs = outputs;
                Ok(())
            }
        }
    }

    /// The tensors the program takes, in order.
    pub fn inputs(&self) -> &[TensorId] {
        &self.inputs
    }

    /// The tensors the program yields, in order.
    pub fn outputs(&self) -> &[TensorId] {
        &self.outputs
    }

    /// The instructions, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The description of a tensor of the program.
    pub fn meta(&self, tensor: TensorId) -> Option<&TensorMeta> {
        self.tensors.get(&tensor)
    }

    fn define(&mut self, tensor: TensorId, meta: TensorMeta) -> Result<(), GraphError> {
        match self.tensors.insert(tensor, meta) {
            None => Ok(()),
            Some(_) => Err(GraphError::Redefined { tensor }),
        }
    }

    fn check(&self, operation: &Operation<TensorId>) -> Result<Outputs<TensorMeta>, GraphError> {
        let mut undefined = None;
        operation.each(&mut |tensor| {
            if !self.tensors.contains_key(tensor) {
                undefined = Some(*tensor);
            }
        });
        if let Some(tensor) = undefined {
            return Err(GraphError::Undefined { tensor });
        }
        let described = operation.map_ref(&mut |tensor| &self.tensors[tensor]);
        described.infer().map_err(GraphError::Operation)
    }
}

impl<'de> Deserialize<'de> for Graph {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Encoded::deserialize(deserializer)?
            .decode()
            .map_err(serde::de::Error::custom)
    }
}

/// A program as it is written, not yet believed.
#[derive(Deserialize)]
struct Encoded {
    version: Version,
    inputs: Vec<TensorId>,
    outputs: Vec<TensorId>,
    tensors: BTreeMap<TensorId, TensorMeta>,
    nodes: Vec<Node>,
}

impl Encoded {
    fn decode(mut self) -> Result<Graph, GraphError> {
        if self.version != Version::default() {
            return Err(GraphError::Version {
                found: self.version.0,
            });
        }
        let mut graph = Graph::default();
        for tensor in self.inputs {
            let meta = self
                .tensors
                .remove(&tensor)
                .ok_or(GraphError::Description { tensor })?;
            graph.input(tensor, meta)?;
        }
        for node in self.nodes {
            let defined = node.outputs.clone();
            graph.push(node.operation, node.outputs)?;
            for tensor in defined.as_slice() {
                if self.tensors.remove(tensor).as_ref() != graph.meta(*tensor) {
                    return Err(GraphError::Description { tensor: *tensor });
                }
            }
        }
        graph.yields(self.outputs)?;
        match self.tensors.keys().next() {
            Some(tensor) => Err(GraphError::Undefined { tensor: *tensor }),
            None => Ok(graph),
        }
    }
}

/// A tensor that is only an id and a description, as recorders use it.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// The tensor.
    pub id: TensorId,
    /// Its description.
    pub meta: TensorMeta,
}

impl Described for Symbol {
    fn meta(&self) -> &TensorMeta {
        &self.meta
    }
}

impl Graph {
    /// Appends a checked instruction, naming its outputs by `next`.
    ///
    /// # Errors
    /// As [`Graph::push`].
    pub fn record(
        &mut self,
        operation: Checked<Symbol>,
        mut next: impl FnMut() -> TensorId,
    ) -> Result<Outputs<Symbol>, GraphError> {
        let (operation, metas) = operation.into_parts();
        let symbols = metas.map(|meta| Symbol { id: next(), meta });
        self.push(
            operation.map(&mut |symbol| symbol.id),
            symbols.map_ref(|symbol| symbol.id),
        )?;
        Ok(symbols)
    }
}
