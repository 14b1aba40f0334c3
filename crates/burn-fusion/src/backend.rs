//! The backend that lets instructions wait for each other.

use crate::FusionTensor;
use crate::group::{Next, Plan, Step, plan};
use crate::tensor::{Cell, Kind, Waiting};
use alloc::format;
use alloc::string::String;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use burn_backend::{
    Backend, Emit, FuseBackend, Group, Handle, MemoryPoolUsage, On, SlicedPoolReport,
};
use burn_ir::{Checked, Class, Described, Operation, Outputs};
use burn_std::config::{self, fusion::FusionLogLevel};
use burn_std::{DType, DeviceSettings, DynFut, ExecutionError, TensorData};
use core::fmt::{self, Debug};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Instructions beyond this number do not wait: it bounds the memory that waiting holds, the depth of what is freed at
/// once, and the values a group keeps in cache.
const MOST_WAITING: usize = 64;

/// A backend whose instructions wait to run as one kernel, as far as it can fuse them.
#[derive(Clone, Copy, Debug)]
pub struct Fusion<B>(PhantomData<B>);

/// A device of a fusing backend.
pub struct FusionDevice<B: Backend>(Arc<Shared<B>>);

struct Shared<B: Backend> {
    device: B::Device,
    /// Values of fewer elements are made at once.
    smallest: usize,
    next: AtomicUsize,
    /// What waits, for [`Backend::sync`].
    waiting: burn_std::sync::Mutex<Vec<Weak<Cell<B>>>>,
}

impl<B: FuseBackend> FusionDevice<B> {
    /// Fusion over a backend's device. Instructions that make fewer than `smallest` elements run at once, where a wait
    /// costs more than it saves.
    pub fn new(device: B::Device, smallest: usize) -> Self {
        Self(Arc::new(Shared {
            device,
            smallest,
            next: AtomicUsize::new(0),
            waiting: burn_std::sync::Mutex::new(Vec::new()),
        }))
    }

    fn id(&self) -> usize {
        self.0.next.fetch_add(1, Ordering::Relaxed)
    }

    fn ready(&self, tensor: B::Tensor) -> FusionTensor<B> {
        FusionTensor::ready(self.id(), tensor)
    }

    /// Lets an instruction wait in the tensor it defines.
    fn wait(
        &self,
        operation: Operation<FusionTensor<B>>,
        meta: burn_ir::TensorMeta,
    ) -> FusionTensor<B> {
        let mut weight = 1;
        operation
            .each(&mut |operand| weight += operand.waiting().map_or(0, |waiting| waiting.weight));
        let cell = Cell::new(self.id(), meta, Waiting { operation, weight });
        let tensor = FusionTensor(Kind::Lazy(cell.clone()));
        if weight >= MOST_WAITING {
            drop(cell);
            self.force(tensor.clone());
            return tensor;
        }
        let mut waiting = self.0.waiting.lock();
        // Dead entries go whenever the list would grow, which keeps it within twice its useful size.
        if waiting.len() == waiting.capacity() {
            waiting.retain(|cell| cell.strong_count() > 0);
        }
        waiting.push(Arc::downgrade(&cell));
        tensor
    }

    /// The value of a tensor, running what it waits for.
    fn force(&self, tensor: FusionTensor<B>) -> B::Tensor {
        let mut cell = match tensor.into_ready() {
            Ok(value) => return value,
            Err(cell) => cell,
        };
        loop {
            match plan(&cell) {
                Next::Run(plan) => self.run(plan),
                // What they wait for may be what this group would have taken, so that it is planned again.
                Next::First(others) => others.into_iter().for_each(|it| drop(self.force(it))),
                Next::Wait => B::pause(),
            }
            cell = match FusionTensor(Kind::Lazy(cell)).into_ready() {
                Ok(value) => return value,
                Err(cell) => cell,
            };
        }
    }

    fn run(&self, plan: Plan<B>) {
        let Plan {
            group,
            inputs,
            outputs,
            steps,
        } = plan;
        // The instructions hold what they read: without them, storage that nobody else holds can be overwritten.
        let reuses = B::reuses(&self.0.device);
        if reuses && !begin(&steps) {
            return;
        }
        let outputs = Outcome {
            cells: outputs,
            begun: reuses,
        };
        drop(steps);
        let inputs = inputs.into_iter().map(|input| self.force(input)).collect();
        config::log_fusion(|level| describe(&group, level));
        let values = B::execute_group(&self.0.device, &group, inputs);
        for (output, value) in outputs.cells.iter().zip(values) {
            output.fulfil(value);
        }
    }

    /// Whether what an instruction makes is less than what waits.
    fn is_small<T>(&self, operation: &Checked<T>) -> bool {
        let mut outputs = operation.outputs().as_slice().iter();
        outputs.all(|it| it.shape.num_elements() < self.0.smallest)
    }

    /// Whether an instruction waits. A reduction that keeps the shape does not: its prologue could not be told from its
    /// epilogue.
    fn waits(&self, operation: &Checked<FusionTensor<B>>) -> bool {
        let shape = &operation.outputs().as_slice()[0].shape;
        match operation.operation() {
            Operation::Reduce { input, .. } if input.meta().shape == *shape => false,
            operation => B::fuses(&self.0.device, operation),
        }
    }

    fn force_all(&self) {
        let waiting = core::mem::take(&mut *self.0.waiting.lock());
        // The newest first: its group writes the older values that are still held.
        for cell in waiting.iter().rev().filter_map(Weak::upgrade) {
            self.force(FusionTensor(Kind::Lazy(cell)));
        }
    }
}

/// A group, in as many words as the level asks for.
fn describe(group: &Group, level: FusionLogLevel) -> String {
    let mut text = format!("a group of {} instructions", group.steps().len());
    if level >= FusionLogLevel::Medium {
        let written = group.outputs().iter().map(|slot| group.meta(*slot));
        text += &format!(" that writes {:?}", written.collect::<Vec<_>>());
    }
    if level >= FusionLogLevel::Full {
        let names = group.steps().iter().map(|step| step.name());
        text += &format!(": {}", names.collect::<Vec<_>>().join(", "));
    }
    text
}

/// The outputs of a group that runs. If it was begun and panics, they will never have a value, which those who wait are told.
struct Outcome<B: Backend> {
    cells: Vec<Arc<Cell<B>>>,
    begun: bool,
}

impl<B: Backend> Drop for Outcome<B> {
    fn drop(&mut self) {
        if self.begun {
            self.cells.iter().for_each(|cell| cell.fail());
        }
    }
}

/// Takes instructions out of their cells; all or, if another thread runs one of them, none.
fn begin<B: Backend>(steps: &[Step<B>]) -> bool {
    for (at, (cell, _)) in steps.iter().enumerate() {
        if cell.begin().is_none() {
            let before = steps[..at].iter();
            before.for_each(|(cell, waiting)| cell.postpone(waiting.clone()));
            return false;
        }
    }
    true
}

impl<B: FuseBackend> Backend for Fusion<B> {
    type Device = FusionDevice<B>;
    type Tensor = FusionTensor<B>;

    fn name(device: &FusionDevice<B>) -> String {
        B::name(&device.0.device)
    }

    fn settings(device: &FusionDevice<B>) -> DeviceSettings {
        B::settings(&device.0.device)
    }

    fn supports_dtype(device: &FusionDevice<B>, dtype: DType) -> bool {
        B::supports_dtype(&device.0.device, dtype)
    }

    fn supports<T: Described>(device: &FusionDevice<B>, operation: &Operation<T>) -> bool {
        B::supports(&device.0.device, operation)
    }

    fn execute(
        device: &FusionDevice<B>,
        operation: Checked<FusionTensor<B>>,
    ) -> Outputs<FusionTensor<B>> {
        if !device.is_small(&operation) && device.waits(&operation) {
            let (operation, metas) = operation.into_parts();
            if operation.class() == Class::Anchor {
                // A matrix product has no prologue, and the device may as well begin with what leads to it.
                operation.each(&mut |operand| drop(device.force(operand.clone())));
            }
            return Outputs::One(device.wait(operation, metas.one()));
        }
        let operation = operation.map(&mut |operand| device.force(operand));
        B::execute(&device.0.device, operation).map(|tensor| device.ready(tensor))
    }

    fn can_mut(tensor: &FusionTensor<B>) -> bool {
        tensor.can_mut()
    }

    fn receive(
        device: &FusionDevice<B>,
        operation: Checked<Handle>,
        open: &mut dyn FnMut(Handle) -> FusionTensor<B>,
    ) -> Outputs<FusionTensor<B>> {
        if !device.is_small(&operation) {
            return On::<Self>(device).emit(operation.map(open));
        }
        let operation = operation.map(&mut |operand| device.force(open(operand)));
        let outputs = On::<B>(&device.0.device).emit(operation);
        outputs.map(|tensor| device.ready(tensor))
    }

    fn upload(device: &FusionDevice<B>, data: TensorData) -> FusionTensor<B> {
        device.ready(B::upload(&device.0.device, data))
    }

    fn download(
        device: &FusionDevice<B>,
        tensors: Vec<FusionTensor<B>>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
        let tensors = tensors
            .into_iter()
            .map(|tensor| device.force(tensor))
            .collect();
        B::download(&device.0.device, tensors)
    }

    fn sync(device: &FusionDevice<B>) -> Result<(), ExecutionError> {
        device.force_all();
        B::sync(&device.0.device)
    }

    fn flush(device: &FusionDevice<B>) -> Result<(), ExecutionError> {
        device.force_all();
        B::flush(&device.0.device)
    }

    fn seed(device: &FusionDevice<B>, seed: u64) {
        B::seed(&device.0.device, seed);
    }

    fn memory_usage(device: &FusionDevice<B>) -> Option<MemoryPoolUsage> {
        B::memory_usage(&device.0.device)
    }

    fn memory_report(device: &FusionDevice<B>) -> Option<Vec<SlicedPoolReport>> {
        B::memory_report(&device.0.device)
    }

    fn memory_cleanup(device: &FusionDevice<B>) {
        B::memory_cleanup(&device.0.device);
    }
}

impl<B: Backend> Clone for FusionDevice<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Backend> Debug for FusionDevice<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FusionDevice({:?})", self.0.device)
    }
}
