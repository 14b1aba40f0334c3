//! One row of the table: an instruction, inputs for it and what it means.

use crate::array::{Array, Format, Num, Value, int_limits};
use crate::check::Expected;
use crate::fill::Generator;
use crate::reference;
use burn_ir::{Operation, ReduceOp, TensorMeta};
use burn_std::{DType, Kind};
use core::fmt;
use std::sync::Arc;

/// How often an instruction can be differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// No gradient flows.
    None,
    /// Almost everywhere: there are kinks, away from which all orders exist.
    Kinked,
    /// To any order.
    Smooth,
}

/// One input of a sample.
#[derive(Clone, Debug)]
pub struct Input {
    /// The size of each dim.
    pub shape: Vec<usize>,
    /// The element type, where it is not that of the sample.
    pub dtype: Option<DType>,
    /// The least and greatest float.
    pub within: (f64, f64),
    /// The least and greatest integer; unsigned types start at 0.
    pub ints: (i128, i128),
    /// Which truth values are true by their place in row-major order, if that is not left to chance.
    pub truths: Option<fn(usize) -> bool>,
}

impl Input {
    /// An input of the sample's element type.
    pub fn new(shape: impl Into<Vec<usize>>) -> Self {
        Self {
            shape: shape.into(),
            dtype: None,
            within: (-2.0, 2.0),
            ints: (-9, 9),
            truths: None,
        }
    }

    /// Positions of a dim of `size` elements, stored as `dtype`.
    pub fn indices(shape: impl Into<Vec<usize>>, size: usize, dtype: DType) -> Self {
        Self {
            dtype: Some(dtype),
            ints: (0, size as i128 - 1),
            ..Self::new(shape)
        }
    }
}

type Pointwise = Arc<dyn Fn(&[Num]) -> Num + Send + Sync>;
type Group = Arc<dyn Fn(&[Num]) -> Num + Send + Sync>;
type Line = Arc<dyn Fn(&[f64]) -> Vec<f64> + Send + Sync>;
/// What is wrong with an output that is not known in advance, if anything is.
pub type Property = Arc<dyn Fn(&Array) -> Option<String> + Send + Sync>;

/// How the reference computes an instruction.
#[derive(Clone)]
pub(crate) enum Reference {
    /// Each output element from one element of each operand.
    Pointwise(Pointwise),
    /// Each output element from a group of elements.
    Group(Group),
    /// Each line along a dim from itself.
    Line(usize, Line),
    /// As [`reference`](crate::reference) interprets the family.
    Family,
    /// Not known, but checked.
    Property(Property),
}

/// A row of the table.
#[derive(Clone)]
pub struct Sample {
    /// What distinguishes it from other samples of the operation.
    pub note: String,
    /// The element types it runs on.
    pub dtypes: &'static [DType],
    /// Its inputs.
    pub inputs: Vec<Input>,
    /// How often it can be differentiated.
    pub gradient: Gradient,
    /// The order to which its gradients are checked.
    pub order: usize,
    /// The tolerance in units in the last place of f64 and f32. Results of f16 and bf16 are rounded from f32, which
    /// leaves one unit, and none where this is 0.
    pub ulps: f64,
    operation: Arc<dyn Fn(DType) -> Operation<usize> + Send + Sync>,
    references: Vec<(Option<Kind>, Reference)>,
    slack: Option<fn(f64) -> f64>,
    edges: Vec<f64>,
    int_edges: bool,
}

impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.note)
    }
}

/// A formula of the table as numbers see it.
pub trait Formula<Signature> {
    /// The kind of element that it takes.
    const KIND: Kind;
    /// The formula over numbers.
    fn erase(self) -> Pointwise;
}

macro_rules! formula {
    ($($argument:ident $at:literal),*; $first:ident) => {
        impl<Function, $($argument: Value,)* Output: Value> Formula<($($argument,)* Output)> for Function
        where
            Function: Fn($($argument),*) -> Output + Send + Sync + 'static,
        {
            const KIND: Kind = $first::KIND;

            fn erase(self) -> Pointwise {
                Arc::new(move |numbers| self($($argument::of(numbers[$at])),*).num())
            }
        }
    };
}

formula!(A 0; A);
formula!(A 0, B 1; A);

impl Sample {
    /// A sample of an instruction over the numbers of its inputs, with nothing known yet.
    pub fn new(
        note: impl Into<String>,
        dtypes: &'static [DType],
        inputs: Vec<Input>,
        operation: impl Fn(DType) -> Operation<usize> + Send + Sync + 'static,
    ) -> Self {
        Self {
            note: note.into(),
            dtypes,
            inputs,
            gradient: Gradient::None,
            order: 0,
            ulps: 0.0,
            operation: Arc::new(operation),
            references: Vec::new(),
            slack: None,
            edges: Vec::new(),
            int_edges: false,
        }
    }

    /// What it means for one kind of element. The formula's arguments are the operands.
    pub fn reference<Signature, F: Formula<Signature>>(self, formula: F) -> Self {
        self.meaning(Some(F::KIND), Reference::Pointwise(formula.erase()))
    }

    /// What it means for one kind of element: one number for each group.
    pub fn groups<A: Value, R: Value>(
        self,
        formula: impl Fn(&[A]) -> R + Send + Sync + 'static,
    ) -> Self {
        let erased = move |group: &[Num]| {
            let group: Vec<A> = group.iter().map(|num| A::of(*num)).collect();
            formula(&group).num()
        };
        self.meaning(Some(A::KIND), Reference::Group(Arc::new(erased)))
    }

    /// What it means for each line along a dim.
    pub fn lines(self, dim: usize, f: impl Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static) -> Self {
        self.meaning(None, Reference::Line(dim, Arc::new(f)))
    }

    /// It means what [`reference`](crate::reference) says about its family.
    pub fn by_family(self) -> Self {
        self.meaning(None, Reference::Family)
    }

    /// It has no known output; `check` says what is wrong with one.
    pub fn property(
        self,
        check: impl Fn(&Array) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.meaning(None, Reference::Property(Arc::new(check)))
    }

    pub(crate) fn meaning(mut self, kind: Option<Kind>, reference: Reference) -> Self {
        self.references.push((kind, reference));
        self
    }

    /// The element types it runs on.
    pub fn on(self, dtypes: &'static [DType]) -> Self {
        Self { dtypes, ..self }
    }

    /// The range of floats, for all inputs.
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.inputs
            .iter_mut()
            .for_each(|input| input.within = (low, high));
        self
    }

    /// The range of floats of the second input.
    pub fn rhs_within(mut self, low: f64, high: f64) -> Self {
        if let Some(rhs) = self.inputs.get_mut(1) {
            rhs.within = (low, high);
        }
        self
    }

    /// The range of integers of all inputs.
    pub fn ints(mut self, low: i128, high: i128) -> Self {
        self.inputs
            .iter_mut()
            .for_each(|input| input.ints = (low, high));
        self
    }

    /// Floats that inputs have besides random ones where values are compared; each meets each in a second input.
    pub fn edges<const N: usize>(mut self, edges: [f64; N]) -> Self {
        self.edges = edges.to_vec();
        self
    }

    /// Integer inputs have the limits of their type, 0, 1 and -1 besides random ones; each meets each in a second input.
    pub fn int_edges(mut self) -> Self {
        self.int_edges = true;
        self
    }

    /// The tolerance in units in the last place; see [`Sample::ulps`].
    pub fn ulps(self, ulps: f64) -> Self {
        Self { ulps, ..self }
    }

    /// The error that cancellation makes, in unit roundoffs, by the argument.
    pub fn slack(self, slack: fn(f64) -> f64) -> Self {
        Self {
            slack: Some(slack),
            ..self
        }
    }

    /// It can be differentiated to any order.
    pub fn smooth(self) -> Self {
        Self {
            gradient: Gradient::Smooth,
            order: 2,
            ..self
        }
    }

    /// Its gradients are checked to the third order.
    pub fn thrice(self) -> Self {
        assert!(self.gradient == Gradient::Smooth, "{self:?} has kinks");
        Self { order: 3, ..self }
    }

    /// It can be differentiated almost everywhere.
    pub fn kinked(self) -> Self {
        Self {
            gradient: Gradient::Kinked,
            order: 1,
            ..self
        }
    }

    /// The name of its operation.
    pub fn name(&self) -> &'static str {
        (self.operation)(self.dtypes[0]).name()
    }

    /// The instruction on elements of `dtype`, over the numbers of its inputs.
    pub fn operation(&self, dtype: DType) -> Operation<usize> {
        (self.operation)(dtype)
    }

    /// The element type of an input.
    pub fn input_dtype(&self, input: usize, dtype: DType) -> DType {
        self.inputs[input].dtype.unwrap_or(dtype)
    }

    /// The same sample with no dim above 4, where the instruction allows that.
    pub fn small(&self, dtype: DType) -> Self {
        let mut sample = self.clone();
        for input in &mut sample.inputs {
            input
                .shape
                .iter_mut()
                .for_each(|size| *size = (*size).min(4));
        }
        match sample.described(dtype).infer() {
            Ok(_) => sample,
            Err(_) => self.clone(),
        }
    }

    /// The same sample without elements: the first dim that can, in all inputs that have it in full, gets size 0.
    /// `None` if no dim can.
    pub fn emptied(&self, dtype: DType) -> Option<Self> {
        let rank = self.inputs.first()?.shape.len();
        (0..rank).find_map(|dim| {
            let mut sample = self.clone();
            let size = |input: &Input| input.shape.get(dim).copied();
            let most = self.inputs.iter().filter_map(size).max()?;
            for input in &mut sample.inputs {
                if input.shape.get(dim) == Some(&most) {
                    input.shape[dim] = 0;
                }
            }
            let legal = sample.described(dtype).infer().is_ok() && sample.has_positions();
            legal.then_some(sample)
        })
    }

    /// Whether there are elements that indices, if there are any, can name.
    fn has_positions(&self) -> bool {
        let indices = |input: &Input| input.dtype.is_some_and(|dtype| dtype.kind() == Kind::Int);
        let empty = |input: &Input| input.shape.contains(&0);
        self.inputs.iter().filter(|it| indices(it)).all(empty) || !empty(&self.inputs[0])
    }

    /// The element types it is declared for where `supports` holds for all that take part: of inputs and of the output.
    pub fn supported(&self, supports: &dyn Fn(DType) -> bool) -> Vec<DType> {
        let taking_part = |dtype: &&DType| {
            let operation = self.described(**dtype);
            let output = operation.infer().expect("samples are legal").one();
            let mut all = supports(output.dtype);
            operation.each(&mut |input| all &= supports(input.dtype));
            all
        };
        self.dtypes.iter().filter(taking_part).copied().collect()
    }

    /// The instruction over the descriptions of its inputs.
    pub fn described(&self, dtype: DType) -> Operation<TensorMeta> {
        self.operation(dtype).map(&mut |at| {
            TensorMeta::new(self.inputs[at].shape.clone(), self.input_dtype(at, dtype))
        })
    }

    /// The inputs, with edges where values are compared.
    pub fn arrays(&self, dtype: DType, with_edges: bool) -> Vec<Array> {
        let mut generator = Generator::new(&format!("{self:?}"));
        (0..self.inputs.len())
            .map(|at| {
                let input = &self.inputs[at];
                let dtype = self.input_dtype(at, dtype);
                let count = input.shape.iter().product();
                let mut data: Vec<Num> = (0..count)
                    .map(|at| match input.truths {
                        Some(is_true) => Num::Bool(is_true(at)),
                        None => draw(&mut generator, input, dtype),
                    })
                    .collect();
                if with_edges {
                    self.put_edges(&mut data, at, dtype);
                }
                Array::new(input.shape.clone(), dtype, data)
            })
            .collect()
    }

    /// Puts each edge, and for two inputs each pair of them, in front of the elements.
    fn put_edges(&self, data: &mut [Num], input: usize, dtype: DType) {
        // An input of another type than the sample's is no argument of a formula but says where to find one.
        if self.inputs[input].dtype.is_some() && dtype.kind() == Kind::Int {
            return;
        }
        let edges: Vec<Num> = match dtype.kind() {
            Kind::Float => self.edges.iter().map(|edge| Num::Float(*edge)).collect(),
            Kind::Int if self.int_edges => {
                let (low, high) = int_limits(dtype);
                [0, 1, -1, low, high].map(Num::Int).to_vec()
            }
            Kind::Int | Kind::Bool => Vec::new(),
        };
        let count = edges.len();
        let places = if self.inputs.len() > 1 {
            count * count
        } else {
            count
        };
        for (at, place) in data.iter_mut().take(places).enumerate() {
            *place = edges[if input == 0 {
                at / (places / count)
            } else {
                at % count
            }];
        }
    }

    /// What the instruction should give for `inputs`; `Err` checks an output that is not known.
    pub fn expected(&self, dtype: DType, inputs: &[Array]) -> Result<Expected, Property> {
        let kind = inputs.last().map_or(dtype, |input| input.dtype).kind();
        let (_, reference) = self
            .references
            .iter()
            .find(|(of, _)| of.is_none_or(|of| of == kind))
            .unwrap_or_else(|| panic!("{self:?} has no reference for {}", dtype.name()));
        let operation = self.operation(dtype);
        let output = operation
            .map_ref(&mut |at| TensorMeta::new(inputs[*at].shape.clone(), inputs[*at].dtype))
            .infer()
            .unwrap_or_else(|error| panic!("{self:?} is illegal: {error}"))
            .one();
        let array = |shape, data: Vec<Num>| {
            // Floats keep what rounding would take: the comparison rounds.
            let store = |num: Num| match num {
                Num::Float(_) => num,
                num => num.stored_as(output.dtype),
            };
            Array {
                shape,
                dtype: output.dtype,
                data: data.into_iter().map(store).collect(),
            }
        };
        Ok(match reference {
            Reference::Property(check) => return Err(check.clone()),
            Reference::Pointwise(formula) => {
                let operands = reference::operands(&operation);
                let (shape, data) = reference::pointwise(&operands, inputs, &**formula);
                self.cancelling(Expected::exactly(array(shape, data)), inputs)
            }
            Reference::Group(formula) => {
                let Operation::Reduce { op, dims, .. } = operation else {
                    panic!("groups are of reductions")
                };
                let (shape, groups) = reference::groups(&inputs[0], dims);
                let data = groups.iter().map(|group| formula(group)).collect();
                Expected {
                    array: array(shape, data),
                    slack: groups.iter().map(|group| summation(op, group)).collect(),
                }
            }
            Reference::Line(dim, f) => {
                let data = reference::lines(&inputs[0], *dim, &**f);
                let expected = Expected::exactly(array(inputs[0].shape.clone(), data));
                self.cancelling(expected, inputs)
            }
            Reference::Family => self.by_interpreter(&operation, inputs, &output, &array),
        })
    }

    fn cancelling(&self, mut expected: Expected, inputs: &[Array]) -> Expected {
        if let Some(slack) = self.slack {
            expected.slack = inputs[0].data.iter().map(|x| slack(x.float())).collect();
        }
        expected
    }

    fn by_interpreter(
        &self,
        operation: &Operation<usize>,
        inputs: &[Array],
        output: &TensorMeta,
        array: &dyn Fn(Vec<usize>, Vec<Num>) -> Array,
    ) -> Expected {
        match operation {
            Operation::Create { op } => Expected::exactly(reference::create(op)),
            Operation::Movement { op, .. } => {
                Expected::exactly(reference::movement(op, &inputs[0]))
            }
            Operation::Cast { dtype, .. } => {
                let cast = |num: &Num| reference::cast(*num, *dtype);
                let data = inputs[0].data.iter().map(cast).collect();
                Expected::exactly(array(inputs[0].shape.clone(), data))
            }
            Operation::Cat { dim, .. } => Expected::exactly(reference::cat(*dim, inputs)),
            Operation::SliceAssign { ranges, values, .. } => {
                Expected::exactly(reference::assign(ranges, values, inputs))
            }
            Operation::Gather { op, .. } => {
                Expected::exactly(reference::gather(*op, &inputs[0], &inputs[1]))
            }
            Operation::Scatter { op, mode, .. } => {
                let (data, slack) = reference::scatter(*op, *mode, inputs);
                let array = array(inputs[0].shape.clone(), data);
                Expected { array, slack }
            }
            Operation::Scan { op, dim, .. } => {
                let (data, slack) = reference::scan(*op, *dim, &inputs[0]);
                let array = array(inputs[0].shape.clone(), data);
                Expected { array, slack }
            }
            Operation::Sort {
                op,
                dim,
                descending,
                len,
                ..
            } => {
                let (shape, data) = reference::sort(*op, *dim, *descending, *len, &inputs[0]);
                Expected::exactly(array(shape, data))
            }
            Operation::Argwhere { .. } => {
                let (shape, data) = reference::argwhere(&inputs[0]);
                Expected::exactly(array(shape, data))
            }
            Operation::Matmul { .. } => {
                let (shape, data, magnitudes) = reference::matmul(&inputs[0], &inputs[1]);
                let terms = inputs[0].shape.last().copied().unwrap_or(0) as f64;
                Expected {
                    array: array(shape, data),
                    slack: magnitudes.iter().map(|sum| sum * terms).collect(),
                }
            }
            Operation::Module(op) => reference::module(op, inputs, output),
            other => panic!("the table gives the formula of `{}`", other.name()),
        }
    }

    /// The tolerance of results of `dtype`, in units in the last place.
    pub fn tolerance(&self, dtype: DType) -> f64 {
        match dtype {
            DType::F16 | DType::BF16 => self.ulps.min(1.0),
            _ => self.ulps,
        }
    }
}

/// The type that results of `dtype` are computed in.
pub(crate) fn compute_type(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F64,
        // Only floats have a tolerance.
        _ => DType::F32,
    }
}

/// The error of a sum in any order, in unit roundoffs: `n · Σ|x|` (Higham 2002, equation 4.4). The mean divides it.
fn summation(op: ReduceOp, group: &[Num]) -> f64 {
    let magnitudes = || group.iter().map(|num| num.float().abs()).sum::<f64>();
    match op {
        ReduceOp::Sum => group.len() as f64 * magnitudes(),
        ReduceOp::Mean => magnitudes(),
        // The product of n factors has n - 1 roundings (Higham 2002, section 3.1).
        ReduceOp::Prod => {
            let product: f64 = group.iter().map(|num| num.float().abs()).product();
            2.0 * group.len() as f64 * product
        }
        _ => 0.0,
    }
}

fn draw(generator: &mut Generator, input: &Input, dtype: DType) -> Num {
    match dtype.kind() {
        Kind::Float => {
            let (low, high) = input.within;
            Num::Float(Format::of(dtype).round(generator.uniform(low, high)))
        }
        Kind::Int => {
            let (least, greatest) = int_limits(dtype);
            let (low, high) = (input.ints.0.max(least), input.ints.1.min(greatest));
            Num::Int(low + generator.below((high - low + 1) as usize) as i128)
        }
        Kind::Bool => Num::Bool(generator.bits() & 1 == 1),
    }
}
