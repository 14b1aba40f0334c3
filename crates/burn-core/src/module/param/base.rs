//! [`Param`]: a value with an id, possibly still to be computed.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt::{self, Debug, Display};
use core::ops::Deref;

use burn_std::sync::Mutex;
use burn_tensor::{Device, Shape};
use spin::Once;

use super::sealed::Sealed;
use crate::module::ParamId;
use crate::module::reparam::Attached;

/// What a [`Param`] can hold.
pub trait ParameterValue: Sealed + Clone + Debug + Send {}

/// A [`ParameterValue`] that lies on a device: a tensor.
pub trait Parameter: ParameterValue {
    /// Where the value is.
    fn device(&self) -> Device;

    /// Whether a backward pass computes a gradient for the value.
    fn is_require_grad(&self) -> bool;

    /// Sets whether a backward pass computes a gradient for the value.
    ///
    /// Nothing happens to values that cannot have one: int and bool tensors, and tensors on a
    /// device without autodiff.
    fn set_require_grad(self, require_grad: bool) -> Self;

    /// Whether gradients flow to the value or through it.
    #[doc(hidden)]
    fn is_on_tape(&self) -> bool;

    /// The sizes of the dimensions.
    fn shape(&self) -> Shape;

    /// The value on `device`, without history.
    fn load_to_device(self, device: &Device) -> Self;
}

/// A value that a module keeps under an id: to be trained, moved, saved and loaded.
///
/// Layers give a function instead of a value ([`Param::uninitialized`]); it is called when the
/// value is read first, and never if the value is loaded before.
pub struct Param<T: ParameterValue> {
    /// Names the parameter across saving and loading.
    pub id: ParamId,
    value: Once<T>,
    pending: Mutex<Option<Pending<T>>>,
    mapper: ParamMapper<T>,
    /// Whether the parameter gets gradients where the device has them: outlives validation.
    pub(in crate::module) require_grad: bool,
    /// What the value is computed with, from what is stored here as the base.
    reparam: Option<Box<Reparam<T>>>,
}

struct Reparam<T> {
    attached: Attached<T>,
    /// For those that borrow the value; others compute it anew, on a tape of their own.
    borrowed: Once<T>,
}

/// How to compute a value that is not there yet.
struct Pending<T> {
    init: Init<T>,
    device: Device,
    shape: Shape,
}

type Init<T> = Box<dyn FnOnce(&Device, bool) -> T + Send + Sync>;

/// Functions applied to a value when it is saved and when it is loaded.
pub struct ParamMapper<T: ParameterValue> {
    save: Option<Hook<T>>,
    load: Option<Hook<T>>,
}

type Hook<T> = Arc<dyn Fn(T) -> T + Send + Sync>;

impl<T: ParameterValue> Param<T> {
    /// A parameter with a value.
    pub fn initialized(id: ParamId, value: T) -> Self {
        Self::from_mapped_value(id, value, ParamMapper::default())
    }

    /// A parameter with a value, and functions for saving and loading.
    pub fn from_mapped_value(id: ParamId, value: T, mapper: ParamMapper<T>) -> Self {
        let require_grad = value.wants_grad();
        Self::with_parts(id, value, mapper, require_grad)
    }

    pub(super) fn with_parts(
        id: ParamId,
        value: T,
        mapper: ParamMapper<T>,
        require_grad: bool,
    ) -> Self {
        let value = Once::initialized(value);
        Self {
            id,
            value,
            pending: Mutex::new(None),
            mapper,
            require_grad,
            reparam: None,
        }
    }

    /// What the value is computed with.
    pub(in crate::module) fn attached(&self) -> Option<&Attached<T>> {
        self.reparam.as_ref().map(|reparam| &reparam.attached)
    }

    /// The parameter as the base of a computation.
    pub(in crate::module) fn attach(mut self, attached: Attached<T>) -> Self {
        let borrowed = Once::new();
        self.reparam = Some(Box::new(Reparam { attached, borrowed }));
        self
    }

    /// The base as a parameter, and what its value is computed with.
    pub(in crate::module) fn take_apart(mut self) -> (Self, Option<Attached<T>>) {
        let reparam = self.reparam.take();
        (self, reparam.map(|reparam| reparam.attached))
    }

    /// Changes the base, and keeps what the value is computed with.
    pub(crate) fn with_base(self, func: impl FnOnce(Self) -> Self) -> Self {
        match self.take_apart() {
            (param, None) => func(param),
            (param, Some(attached)) => func(param).attach(attached),
        }
    }

    /// Whether the value has been computed or given.
    pub fn is_initialized(&self) -> bool {
        self.value.is_completed()
    }

    /// The value; computed now if it was not there.
    pub fn val(&self) -> T {
        match self.attached() {
            Some(attached) => attached.apply(self.base()),
            None => self.base(),
        }
    }

    /// The value as it is stored: what a reparameterization computes the value from, if there is one.
    pub fn base(&self) -> T {
        self.force().clone()
    }

    /// The value as it is stored.
    pub(super) fn borrow_base(&self) -> &T {
        self.force()
    }

    /// The value; computed now if it was not there.
    pub fn into_value(self) -> T {
        self.consume().1
    }

    /// The id, the value, and the functions for saving and loading.
    pub fn consume(self) -> (ParamId, T, ParamMapper<T>) {
        self.force();
        let value = self
            .value
            .try_into_inner()
            .expect("the value was computed just now");
        let value = match self.reparam {
            Some(reparam) => reparam.attached.apply(value),
            None => value,
        };
        (self.id, value, self.mapper)
    }

    /// The parameter with another value under the same id. A reparameterization ends with it; in a
    /// [`ModuleMapper`](crate::module::ModuleMapper) the parameter is the base, and keeps it.
    pub fn map<F: FnOnce(T) -> T>(self, func: F) -> Self {
        let require_grad = self.require_grad;
        let (id, value, mapper) = self.consume();
        Self::with_parts(id, func(value), mapper, require_grad)
    }

    /// Sets the function applied to the value when it is loaded.
    pub fn load_mapper<F: Fn(T) -> T + Send + Sync + 'static>(mut self, func: F) -> Self {
        self.mapper.load = Some(Arc::new(func));
        self
    }

    /// Sets the function applied to the value when it is saved.
    pub fn save_mapper<F: Fn(T) -> T + Send + Sync + 'static>(mut self, func: F) -> Self {
        self.mapper.save = Some(Arc::new(func));
        self
    }

    fn force(&self) -> &T {
        self.value.call_once(|| {
            let pending = self.pending.lock().take();
            let Pending { init, device, .. } =
                pending.expect("a parameter without a value holds the function that computes it");
            init(&device, self.require_grad)
        })
    }
}

impl<T: Parameter> Param<T> {
    /// A parameter whose value is computed by `init` when it is read first.
    ///
    /// `init` is given `device` and `require_grad`, and returns a value of `shape`.
    pub fn uninitialized<F>(
        id: ParamId,
        init: F,
        device: Device,
        require_grad: bool,
        shape: Shape,
    ) -> Self
    where
        F: FnOnce(&Device, bool) -> T + Send + Sync + 'static,
    {
        let pending = Pending {
            init: Box::new(init),
            device,
            shape,
        };
        Self {
            id,
            value: Once::new(),
            pending: Mutex::new(Some(pending)),
            mapper: ParamMapper::default(),
            require_grad,
            reparam: None,
        }
    }

    /// The device, without computing the value.
    pub fn lazy_device(&self) -> Device {
        let pending = self
            .pending
            .lock()
            .as_ref()
            .map(|pending| pending.device.clone());
        pending.unwrap_or_else(|| self.force().device())
    }

    /// The shape, without computing the value.
    pub fn lazy_shape(&self) -> Shape {
        let pending = self
            .pending
            .lock()
            .as_ref()
            .map(|pending| pending.shape.clone());
        pending.unwrap_or_else(|| self.force().shape())
    }

    /// Changes the value, after its initialization if that is still to come.
    pub fn init_mapper<F: Fn(T) -> T + Send + Sync + 'static>(self, func: F) -> Self
    where
        T: Sync + 'static,
    {
        let pending = self.pending.lock().take();
        match pending {
            Some(Pending {
                init,
                device,
                shape,
            }) => {
                let init = move |device: &Device, grad: bool| func(init(device, grad));
                let pending = Pending {
                    init: Box::new(init),
                    device,
                    shape,
                };
                Self {
                    pending: Mutex::new(Some(pending)),
                    ..self
                }
            }
            None => self.with_base(|param| param.map(func)),
        }
    }

    /// Sets whether the parameter gets gradients, now and after any move.
    pub fn set_require_grad(mut self, require_grad: bool) -> Self {
        self.require_grad = require_grad;
        match self.is_initialized() {
            true => self.with_base(|param| param.map(|it| it.set_require_grad(require_grad))),
            false => self,
        }
    }

    /// The parameter as it is written to a record: the base, where the value is computed.
    pub fn transform_for_save(&self) -> Self {
        let value = self.mapper.on_save(self.base());
        Self::with_parts(self.id, value, self.mapper.clone(), self.require_grad)
    }

    /// The parameter with a value and an id read from a record.
    ///
    /// The value moves to the device of the parameter, and gets gradients if the parameter does.
    pub fn transform_for_load(self, value: T, id: ParamId) -> Self {
        let value = self.mapped_for_load(value);
        self.replace_loaded(value, id)
    }

    /// Whether a value is stored in another form than it is used.
    pub(crate) fn has_load_mapper(&self) -> bool {
        self.mapper.load.is_some()
    }

    /// A value read from a record, as this parameter would use it.
    pub(crate) fn mapped_for_load(&self, value: T) -> T {
        self.mapper
            .on_load(value.load_to_device(&self.lazy_device()))
    }

    /// The parameter with the result of [`mapped_for_load`](Self::mapped_for_load).
    pub(crate) fn replace_loaded(self, value: T, id: ParamId) -> Self {
        let value = value.set_require_grad(self.require_grad);
        self.with_base(|param| Self::with_parts(id, value, param.mapper, param.require_grad))
    }

    /// Moves the parameter: a value by `value`, and one still to be computed by the new device.
    pub(crate) fn relocate(
        self,
        device: impl FnOnce(Device) -> Device,
        value: impl FnOnce(T, bool) -> T,
    ) -> Self {
        let pending = self.pending.lock().take();
        match pending {
            Some(pending) => {
                let pending = Pending {
                    device: device(pending.device),
                    ..pending
                };
                Self {
                    pending: Mutex::new(Some(pending)),
                    ..self
                }
            }
            None => {
                let require_grad = self.require_grad;
                self.with_base(|param| param.map(|old| value(old, require_grad)))
            }
        }
    }
}

impl<T: ParameterValue> Deref for Param<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.reparam {
            Some(reparam) => reparam.borrowed.call_once(|| self.val()),
            None => self.force(),
        }
    }
}

/// Computes the value if it is not there: both copies have the same one.
impl<T: ParameterValue> Clone for Param<T> {
    fn clone(&self) -> Self {
        let (mapper, require_grad) = (self.mapper.clone(), self.require_grad);
        let param = Self::with_parts(self.id, self.base(), mapper, require_grad);
        match self.attached() {
            Some(attached) => param.attach(attached.clone()),
            None => param,
        }
    }
}

impl<T: ParameterValue> Display for Param<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Param: {}", self.id)
    }
}

impl<T: ParameterValue> Debug for Param<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Param: {} - {:?}", self.id, self.mapper)
    }
}

impl<T: ParameterValue> ParamMapper<T> {
    /// The value as it is used, from the value that was loaded.
    pub fn on_load(&self, value: T) -> T {
        apply(&self.load, value)
    }

    /// The value as it is saved, from the value that is used.
    pub fn on_save(&self, value: T) -> T {
        apply(&self.save, value)
    }
}

fn apply<T>(hook: &Option<Hook<T>>, value: T) -> T {
    match hook {
        Some(hook) => hook(value),
        None => value,
    }
}

impl<T: ParameterValue> Default for ParamMapper<T> {
    fn default() -> Self {
        Self {
            save: None,
            load: None,
        }
    }
}

impl<T: ParameterValue> Clone for ParamMapper<T> {
    fn clone(&self) -> Self {
        Self {
            save: self.save.clone(),
            load: self.load.clone(),
        }
    }
}

impl<T: ParameterValue> Debug for ParamMapper<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (load, save) = (self.load.is_some(), self.save.is_some());
        write!(f, "ParamMapper {{ load: {load}, save: {save} }}")
    }
}
