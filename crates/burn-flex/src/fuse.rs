//! Fused groups: plans where the value of each step lives, then runs the group as one program.

use crate::block::{ARGS, Numbers, Step};
use crate::exec::{self, Place, Program, Task};
use crate::ops::binary::Shape;
use crate::source::{Input, element};
use crate::{Flex, FlexDevice, FlexTensor};
use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{Backend, FuseBackend, Group, Slot};
use burn_ir::{BinaryOp, Class, Described, Operand, Operation, TensorMeta, UnaryOp};
use burn_std::{DType, Scalar};

impl FuseBackend for Flex {
    fn fuses<T: Described>(device: &FlexDevice, operation: &Operation<T>) -> bool {
        operation.class() == Class::Elementwise && Self::supports(device, operation)
    }

    fn execute_group(
        _device: &FlexDevice,
        group: &Group,
        inputs: Vec<FlexTensor>,
    ) -> Vec<FlexTensor> {
        let mut plan = Plan::new(group);
        for at in 0..group.steps().len() {
            plan.step(at);
        }
        // An input that is also an output is not to be overwritten: this clone keeps it shared.
        let kept: Vec<Option<FlexTensor>> = (group.outputs().iter())
            .map(|slot| inputs.get(slot.0).cloned())
            .collect();
        let mut computed = Vec::new();
        if !plan.outputs.is_empty() {
            let mut all: Vec<Input> = inputs.into_iter().map(Input::Tensor).collect();
            all.extend(plan.scalars);
            let program = Program {
                tasks: &plan.tasks,
                temporaries: plan.temporaries,
                width: widest(group),
                constants: &plan.constants,
                outputs: &plan.outputs,
            };
            computed.extend(exec::run(program, &mut all));
        }
        let outputs = group.outputs().iter().zip(kept);
        outputs
            .map(|(slot, kept)| match (kept, plan.places[slot.0]) {
                (Some(input), _) => input,
                (None, Some(Place::Output(at))) => computed[at].clone(),
                (None, _) => unreachable!("each output of a group got a place among the outputs"),
            })
            .collect()
    }

    fn reuses(_device: &FlexDevice) -> bool {
        // A worker of the pool runs other programs' tasks while it waits for the parts of a kernel.
        #[cfg(feature = "rayon")]
        return rayon::current_thread_index().is_none();
        #[cfg(not(feature = "rayon"))]
        true
    }

    fn pause() {
        // A worker of the pool may have to run the parts of the kernel that it waits for.
        #[cfg(feature = "rayon")]
        if rayon::yield_now().is_some() {
            return;
        }
        #[cfg(feature = "std")]
        std::thread::yield_now();
        #[cfg(not(feature = "std"))]
        core::hint::spin_loop();
    }
}

/// Places for the values of a group.
struct Plan<'a> {
    group: &'a Group,
    /// Where each slot is, once it is defined.
    places: Vec<Option<Place>>,
    /// The last step that reads each slot.
    last_reads: Vec<Option<usize>>,
    /// Which slots are computed by the step that reads them.
    absorbed: Vec<bool>,
    /// The operands of each step that is [`mappable`], unless it is absorbed itself.
    operands: Vec<Option<[Argument; 2]>>,
    /// Temporaries that hold nothing any more.
    free: Vec<usize>,
    temporaries: usize,
    tasks: Vec<Task>,
    scalars: Vec<Input>,
    constants: Vec<Numbers>,
    outputs: Vec<TensorMeta>,
}

impl<'a> Plan<'a> {
    fn new(group: &'a Group) -> Self {
        let slots = group.inputs() + group.steps().len();
        let mut places = vec![None; slots];
        for (at, place) in places.iter_mut().enumerate().take(group.inputs()) {
            *place = Some(Place::Input(at));
        }
        let (absorbed, operands) = absorb(group);
        // From the end, so that the first reader found is the last, and steps that nobody needs read nothing.
        let mut last_reads = vec![None; slots];
        for (at, step) in group.steps().iter().enumerate().rev() {
            let slot = Slot(group.inputs() + at);
            let needed = last_reads[slot.0].is_some() || group.outputs().contains(&slot);
            if needed && !absorbed[slot.0] {
                let mut read = |slot: &Slot| {
                    last_reads[slot.0].get_or_insert(at);
                };
                match &operands[at] {
                    Some(operands) => operands.iter().for_each(|it| read(&it.of)),
                    None => step.each(&mut read),
                }
            }
        }
        let mut plan = Self {
            group,
            places,
            last_reads,
            absorbed,
            operands,
            free: Vec::new(),
            temporaries: 0,
            tasks: Vec::with_capacity(group.steps().len()),
            scalars: Vec::new(),
            constants: Vec::new(),
            outputs: Vec::new(),
        };
        for slot in group.outputs() {
            if plan.places[slot.0].is_none() {
                plan.places[slot.0] = Some(Place::Output(plan.outputs.len()));
                plan.outputs.push(group.meta(*slot).clone());
            }
        }
        plan
    }

    /// Places the output of a step, and frees what it reads last.
    fn step(&mut self, at: usize) {
        let (group, slot) = (self.group, Slot(self.group.inputs() + at));
        let operation = &group.steps()[at];
        let to = match self.places[slot.0] {
            Some(output) => output,
            // Its reader computes the value, or nobody needs it.
            None if self.absorbed[slot.0] || self.last_reads[slot.0].is_none() => return,
            None => Place::Temporary(self.free.pop().unwrap_or_else(|| {
                self.temporaries += 1;
                self.temporaries - 1
            })),
        };
        self.places[slot.0] = Some(to);
        let dtype = group.meta(slot).dtype;
        let operands = self.operands[at];
        let (step, args) = match (mappable(operation, dtype), &operands) {
            (Some(op), Some(operands)) => {
                let shapes = operands.map(|it| it.shape);
                (
                    Step::Mapped(op, shapes, dtype),
                    self.mapped(dtype, operands),
                )
            }
            _ => {
                let described = operation.map_ref(&mut |slot| group.meta(*slot));
                let step = Step::new(&described, dtype);
                let step = step.expect("`fuses` admits elementwise instructions only");
                let [a, b, c] = self.args(operation);
                (step, [a, b, c, c])
            }
        };
        self.tasks.push(Task { step, args, to });
        match &operands {
            Some(operands) => operands.iter().for_each(|it| self.release(it.of, at)),
            None => operation.each(&mut |slot| self.release(*slot, at)),
        }
    }

    /// Frees the place of a slot if a step was the last to read it.
    fn release(&mut self, slot: Slot, at: usize) {
        if let Some(Place::Temporary(place)) = self.places[slot.0]
            && self.last_reads[slot.0] == Some(at)
            && !self.free.contains(&place)
        {
            self.free.push(place);
        }
    }

    /// The operands of [`Step::Mapped`].
    fn mapped(&mut self, dtype: DType, operands: &[Argument; 2]) -> [Place; ARGS] {
        let [(lhs, lhs_numbers), (rhs, rhs_numbers)] = operands.each_ref().map(|it| {
            let numbers = [(it.scale, 1.0), (it.shift, -0.0)]
                .map(|(number, none)| element(number.unwrap_or(Scalar::Float(none)), dtype));
            let known = (self.constants.iter()).position(|constant| *constant == numbers);
            let at = known.unwrap_or_else(|| {
                self.constants.push(numbers);
                self.constants.len() - 1
            });
            (self.place(it.of), Place::Constant(at))
        });
        [lhs, lhs_numbers, rhs, rhs_numbers]
    }

    /// The places of the operands in order.
    fn args(&mut self, operation: &Operation<Slot>) -> [Place; 3] {
        let operand = |plan: &mut Self, operand: &Operand<Slot>, meet: Slot| match operand {
            Operand::Tensor(slot) => plan.place(*slot),
            Operand::Scalar(value) => plan.scalar(*value, meet),
        };
        match operation {
            Operation::Cast { input, .. }
            | Operation::Unary { input, .. }
            | Operation::Activation { input, .. } => [self.place(*input); 3],
            Operation::Binary { lhs, rhs, .. } | Operation::Compare { lhs, rhs, .. } => {
                let (left, right) = (self.place(*lhs), operand(self, rhs, *lhs));
                [left, right, right]
            }
            Operation::Where {
                mask,
                on_true,
                on_false,
            } => {
                let meet = on_true.tensor().or(on_false.tensor());
                let meet = *meet.expect("the check asks for a tensor among the values");
                let (on_true, on_false) =
                    (operand(self, on_true, meet), operand(self, on_false, meet));
                [self.place(*mask), on_true, on_false]
            }
            Operation::Create { .. }
            | Operation::Reduce { .. }
            | Operation::Movement { .. }
            | Operation::Matmul { .. }
            | Operation::Module(_)
            | Operation::Cat { .. }
            | Operation::SliceAssign { .. }
            | Operation::Gather { .. }
            | Operation::Scatter { .. }
            | Operation::Scan { .. }
            | Operation::Sort { .. }
            | Operation::Argwhere { .. } => {
                unreachable!("`fuses` admits elementwise instructions only")
            }
        }
    }

    fn place(&self, slot: Slot) -> Place {
        self.places[slot.0].expect("a step reads what is defined before it")
    }

    /// A scalar becomes one more input, stored as the elements it meets.
    fn scalar(&mut self, value: Scalar, meet: Slot) -> Place {
        let dtype = self.group.meta(meet).dtype;
        self.scalars.push(Input::new(Operand::Scalar(value), dtype));
        Place::Input(self.group.inputs() + self.scalars.len() - 1)
    }
}

/// The most bytes that an element of a group has.
fn widest(group: &Group) -> usize {
    let slots = 0..group.inputs() + group.steps().len();
    let sizes = slots.map(|slot| group.meta(Slot(slot)).dtype.size());
    sizes.max().unwrap_or(0)
}

/// An operand of [`Step::Mapped`]: what it reads, and what it makes of it.
#[derive(Clone, Copy)]
struct Argument {
    of: Slot,
    shape: Shape,
    scale: Option<Scalar>,
    shift: Option<Scalar>,
}

/// Finds the slots that have one reader, which is mappable, and that it can compute by itself; and what such readers read.
fn absorb(group: &Group) -> (Vec<bool>, Vec<Option<[Argument; 2]>>) {
    let (first, steps) = (group.inputs(), group.steps());
    let mut reads = vec![0; first + steps.len()];
    for step in steps {
        step.each(&mut |slot| reads[slot.0] += 1);
    }
    let mut absorbed = vec![false; first + steps.len()];
    let mut operands = vec![None; steps.len()];
    for (at, step) in steps.iter().enumerate().rev() {
        let dtype = group.meta(Slot(first + at)).dtype;
        let Operation::Binary {
            lhs,
            rhs: Operand::Tensor(rhs),
            ..
        } = step
        else {
            continue;
        };
        if absorbed[first + at] || mappable(step, dtype).is_none() {
            continue;
        }
        operands[at] = Some([*lhs, *rhs].map(|slot| {
            let mut operand = Argument {
                of: slot,
                shape: Shape::Plain,
                scale: None,
                shift: None,
            };
            // From the last function to the first.
            while let Some(made) = operand.of.0.checked_sub(first)
                && reads[operand.of.0] == 1
                && !group.outputs().contains(&operand.of)
                && let Some(before) = operand.before(&steps[made])
            {
                absorbed[operand.of.0] = true;
                operand = before;
            }
            operand
        }));
    }
    (absorbed, operands)
}

impl Argument {
    /// The operand as a function of what the step that makes it reads, if it still is of the form that [`Step::Mapped`] has.
    fn before(self, step: &Operation<Slot>) -> Option<Self> {
        let plain = self.shape == Shape::Plain;
        Some(match step {
            Operation::Binary {
                op: BinaryOp::Add,
                lhs,
                rhs: Operand::Scalar(shift),
            } if plain && self.scale.is_none() && self.shift.is_none() => Self {
                of: *lhs,
                shift: Some(*shift),
                ..self
            },
            Operation::Binary {
                op: BinaryOp::Mul,
                lhs,
                rhs: Operand::Scalar(scale),
            } if plain && self.scale.is_none() => Self {
                of: *lhs,
                scale: Some(*scale),
                ..self
            },
            Operation::Binary {
                op: BinaryOp::Mul,
                lhs,
                rhs: Operand::Tensor(rhs),
            } if plain && lhs == rhs => Self {
                of: *lhs,
                shape: Shape::Square,
                ..self
            },
            Operation::Unary {
                op: UnaryOp::Sqrt,
                input,
            } if plain => Self {
                of: *input,
                shape: Shape::Root,
                ..self
            },
            _ => return None,
        })
    }
}

/// The function of an instruction that [`Step::Mapped`] can stand for.
fn mappable(operation: &Operation<Slot>, dtype: DType) -> Option<BinaryOp> {
    match operation {
        Operation::Binary {
            op: op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div),
            rhs: Operand::Tensor(_),
            ..
        } if matches!(dtype, DType::F32 | DType::F64) => Some(*op),
        _ => None,
    }
}
