//! Fused groups: plans where the value of each step lives, then runs the group as one program.

use crate::block::{ARGS, Step};
use crate::exec::{self, Input, Place, Program, Task};
use crate::{Flex, FlexDevice, FlexTensor};
use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{Backend, FuseBackend, Group, Slot};
use burn_ir::{BinaryOp, Class, Described, Operand, Operation, TensorMeta};
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
    /// What each slot is the product of, if the step that reads it multiplies by itself.
    products: Vec<Option<(Slot, Scalar)>>,
    /// Temporaries that hold nothing any more.
    free: Vec<usize>,
    temporaries: usize,
    tasks: Vec<Task>,
    scalars: Vec<Input>,
    constants: Vec<[u8; 8]>,
    outputs: Vec<TensorMeta>,
}

impl<'a> Plan<'a> {
    fn new(group: &'a Group) -> Self {
        let slots = group.inputs() + group.steps().len();
        let mut places = vec![None; slots];
        for (at, place) in places.iter_mut().enumerate().take(group.inputs()) {
            *place = Some(Place::Input(at));
        }
        let products = products(group);
        // From the end, so that the first reader found is the last, and steps that nobody needs read nothing.
        let mut last_reads = vec![None; slots];
        for (at, step) in group.steps().iter().enumerate().rev() {
            let slot = Slot(group.inputs() + at);
            if last_reads[slot.0].is_some() || group.outputs().contains(&slot) {
                // What a product is made of is read where the product is.
                let reader = match products[slot.0] {
                    Some(_) => last_reads[slot.0].unwrap_or(at),
                    None => at,
                };
                step.each(&mut |slot| {
                    let last: &mut Option<usize> = &mut last_reads[slot.0];
                    *last = Some(last.map_or(reader, |last| last.max(reader)));
                });
            }
        }
        let mut plan = Self {
            group,
            places,
            last_reads,
            products,
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
            // Nobody needs the value, or its reader computes it.
            None if self.last_reads[slot.0].is_none() || self.products[slot.0].is_some() => return,
            None => Place::Temporary(self.free.pop().unwrap_or_else(|| {
                self.temporaries += 1;
                self.temporaries - 1
            })),
        };
        self.places[slot.0] = Some(to);
        let dtype = group.meta(slot).dtype;
        let (step, args) = match scalable(operation, dtype) {
            Some((op, lhs, rhs)) => (Step::Scaled(op, dtype), self.scaled(dtype, lhs, rhs)),
            None => {
                let described = operation.map_ref(&mut |slot| group.meta(*slot));
                let step = Step::new(&described, dtype);
                let step = step.expect("`fuses` admits elementwise instructions only");
                let [a, b, c] = self.args(operation);
                (step, [a, b, c, c])
            }
        };
        self.tasks.push(Task { step, args, to });
        match scalable(operation, dtype) {
            Some((_, lhs, rhs)) => [lhs, rhs]
                .map(|slot| self.products[slot.0].map_or(slot, |(slot, _)| slot))
                .iter()
                .for_each(|slot| self.release(*slot, at)),
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

    /// The operands of [`Step::Scaled`].
    fn scaled(&mut self, dtype: DType, lhs: Slot, rhs: Slot) -> [Place; ARGS] {
        let [(lhs, lhs_scale), (rhs, rhs_scale)] = [lhs, rhs].map(|slot| {
            let (slot, scale) = self.products[slot.0].unwrap_or((slot, Scalar::Float(1.0)));
            let scale = exec::element(scale, dtype);
            let known = self
                .constants
                .iter()
                .position(|constant| *constant == scale);
            let scale = known.unwrap_or_else(|| {
                self.constants.push(scale);
                self.constants.len() - 1
            });
            (self.place(slot), Place::Constant(scale))
        });
        [lhs, lhs_scale, rhs, rhs_scale]
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

/// The slots that are a product with a number and have one reader, which is [`scalable`]: it multiplies by itself.
fn products(group: &Group) -> Vec<Option<(Slot, Scalar)>> {
    let first = group.inputs();
    let mut products = vec![None; first + group.steps().len()];
    let mut reads = vec![0; products.len()];
    let mut scaled = vec![0; products.len()];
    for (at, step) in group.steps().iter().enumerate() {
        let dtype = group.meta(Slot(first + at)).dtype;
        step.each(&mut |slot| reads[slot.0] += 1);
        if let Some((_, lhs, rhs)) = scalable(step, dtype) {
            scaled[lhs.0] += 1;
            scaled[rhs.0] += 1;
        }
        if let Operation::Binary {
            op: BinaryOp::Mul,
            lhs,
            rhs: Operand::Scalar(scale),
        } = step
        {
            products[first + at] = Some((*lhs, *scale));
        }
    }
    for (at, product) in products.iter_mut().enumerate() {
        if (reads[at], scaled[at]) != (1, 1) || group.outputs().contains(&Slot(at)) {
            *product = None;
        }
    }
    products
}

/// The parts of an instruction that [`Step::Scaled`] can stand for.
fn scalable(operation: &Operation<Slot>, dtype: DType) -> Option<(BinaryOp, Slot, Slot)> {
    match operation {
        Operation::Binary {
            op: op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div),
            lhs,
            rhs: Operand::Tensor(rhs),
        } if matches!(dtype, DType::F32 | DType::F64) => Some((*op, *lhs, *rhs)),
        _ => None,
    }
}
