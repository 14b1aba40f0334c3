//! What a backend is, and where instructions can be sent.

use crate::{Handle, MemoryPoolUsage, SlicedPoolReport, lower};
use burn_ir::{Checked, Described, Graph, Operation, Outputs, Symbol, TensorId, Tier};
use burn_std::{DType, DeviceSettings, DynFut, ExecutionError, TensorData};
use core::fmt::Debug;

/// An interpreter of instructions with its own tensors.
///
/// User mistakes are found before [`Backend::execute`], which therefore cannot fail; a device that fails poisons what
/// it would have written, and the error comes out of [`Backend::download`] or [`Backend::sync`].
pub trait Backend: Debug + Send + Sync + Sized + 'static {
    /// Which of the machine's devices.
    type Device: Clone + Debug + Send + Sync + 'static;
    /// A tensor on a device. Cloning shares the storage, which holds the only reference count.
    type Tensor: Described + Clone + Debug + Send + Sync + 'static;

    /// The device's name in errors and prints, like `flex` or `cuda:0`.
    fn name(device: &Self::Device) -> alloc::string::String;

    /// The element types that the device prefers.
    fn settings(device: &Self::Device) -> DeviceSettings;

    /// Whether the device computes with elements of `dtype`.
    fn supports_dtype(device: &Self::Device, dtype: DType) -> bool;

    /// Whether [`Backend::execute`] has a kernel for exactly this instruction, element types included.
    ///
    /// True for every primitive on the element types that the device supports, once the backend is complete. What is
    /// primitive and not supported stops at the call, naming the device.
    fn supports<T: Described>(device: &Self::Device, operation: &Operation<T>) -> bool;

    /// Runs an instruction for which [`Backend::supports`] is true.
    ///
    /// Consumes its operands: storage that nobody else holds may be overwritten.
    fn execute(device: &Self::Device, operation: Checked<Self::Tensor>) -> Outputs<Self::Tensor>;

    /// Runs an instruction over handles, which `open` makes tensors of this backend: natively where there is a kernel,
    /// lowered elsewhere. A backend over another may go straight to that one.
    fn receive(
        device: &Self::Device,
        operation: Checked<Handle>,
        open: &mut dyn FnMut(Handle) -> Self::Tensor,
    ) -> Outputs<Self::Tensor> {
        On::<Self>(device).emit(operation.map(open))
    }

    /// Brings data to the device.
    fn upload(device: &Self::Device, data: TensorData) -> Self::Tensor;

    /// Brings tensors back, in order.
    fn download(
        device: &Self::Device,
        tensors: alloc::vec::Vec<Self::Tensor>,
    ) -> DynFut<Result<alloc::vec::Vec<TensorData>, ExecutionError>>;

    /// Waits for all instructions.
    ///
    /// # Errors
    /// What went wrong on the device since the last wait.
    fn sync(device: &Self::Device) -> Result<(), ExecutionError>;

    /// Starts all instructions that wait, and returns before they are done. Nothing to do where none waits.
    ///
    /// # Errors
    /// What the device refused.
    fn flush(_device: &Self::Device) -> Result<(), ExecutionError> {
        Ok(())
    }

    /// Whether the tensor is the only owner of its storage, so that an instruction which takes it may overwrite it.
    fn can_mut(_tensor: &Self::Tensor) -> bool {
        false
    }

    /// Restarts the generator of random numbers.
    fn seed(device: &Self::Device, seed: u64);

    /// What the device's memory holds, if the backend manages it.
    fn memory_usage(_device: &Self::Device) -> Option<MemoryPoolUsage> {
        None
    }

    /// The pools that cut buffers from pages, if the backend manages memory.
    fn memory_report(_device: &Self::Device) -> Option<alloc::vec::Vec<SlicedPoolReport>> {
        None
    }

    /// Gives memory that is kept for later back, where that is possible.
    fn memory_cleanup(_device: &Self::Device) {}
}

/// Somewhere instructions can be sent: a backend, an engine, a recorder. Lowerings and gradient rules know nothing
/// else.
pub trait Emit {
    /// What stands for a tensor there.
    type Tensor: Described + Clone;

    /// Sends an instruction.
    fn emit(&mut self, operation: Checked<Self::Tensor>) -> Outputs<Self::Tensor>;
}

/// Eager execution on a device of a backend: native where there is a kernel, lowered elsewhere.
#[derive(Debug)]
pub struct On<'d, B: Backend>(pub &'d B::Device);

impl<B: Backend> Emit for On<'_, B> {
    type Tensor = B::Tensor;

    fn emit(&mut self, operation: Checked<B::Tensor>) -> Outputs<B::Tensor> {
        match B::supports(self.0, operation.operation()) {
            true => B::execute(self.0, operation),
            false if operation.operation().tier() == Tier::Primitive => panic!(
                "`{}`: {} has no kernel for it yet\n  legal: another device, such as flex",
                operation.operation().name(),
                B::name(self.0)
            ),
            false => lower(self, operation.into_parts().0),
        }
    }
}

/// Writes instructions into a program, composites as their lowering if asked to.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The program so far.
    pub graph: Graph,
    /// Whether composites are recorded as their lowering.
    pub primitives_only: bool,
    next: u64,
}

impl Recorder {
    /// A recorder that writes composites as their lowering.
    pub fn of_primitives() -> Self {
        Self {
            primitives_only: true,
            ..Self::default()
        }
    }

    /// Declares an input of the program.
    pub fn input(&mut self, meta: burn_ir::TensorMeta) -> Symbol {
        let id = self.fresh();
        self.graph.input(id, meta.clone()).expect("the id is fresh");
        Symbol { id, meta }
    }

    fn fresh(&mut self) -> TensorId {
        self.next += 1;
        TensorId::new(self.next)
    }
}

impl Emit for Recorder {
    type Tensor = Symbol;

    fn emit(&mut self, operation: Checked<Symbol>) -> Outputs<Symbol> {
        if self.primitives_only && operation.operation().tier() == Tier::Composite {
            return lower(self, operation.into_parts().0);
        }
        let next = &mut self.next;
        let fresh = || {
            *next += 1;
            TensorId::new(*next)
        };
        self.graph
            .record(operation, fresh)
            .expect("symbols are of this recorder")
    }
}
