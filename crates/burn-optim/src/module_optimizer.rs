//! [`ModuleOptimizer`]: one step for all parameters of a module.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use burn_core::module::{Erased, Module, ModuleMapper, Param, ParamGroup, ParamId};
use burn_core::store::RecordError;
use burn_core::tensor::{Bytes, Device, Tensor};
use burn_pack::Scalar;

use crate::grad_clipping::{GradientClipping, GradientClippingConfig};
pub use crate::grads::GradAdaptor;
use crate::lr_scheduler::module_lr_scheduler::ModuleLearningRate;
use crate::optimizer::unbox;
use crate::{
    DynOptimizer, DynState, GradientsParams, LearningRate, MultiGradientsParams, Optimizer,
    OptimizerRecord, StateSink,
};

/// The part of a state's name that tells the rank of its parameter.
const RANK: &str = "__rank";

/// Improves the parameters of a module, and remembers what its rules need for the next step.
#[derive(Clone)]
pub struct ModuleOptimizer {
    default: Rule,
    groups: Vec<(ParamGroup, Rule)>,
    states: BTreeMap<ParamId, State>,
}

#[derive(Clone)]
struct Rule {
    optimizer: Arc<dyn DynOptimizer>,
    clipping: Option<GradientClipping>,
}

#[derive(Clone)]
struct State {
    path: String,
    state: DynState,
}

impl ModuleOptimizer {
    pub(crate) fn new<O: Optimizer>(optimizer: O) -> Self {
        Self {
            default: Rule {
                optimizer: Arc::new(optimizer),
                clipping: None,
            },
            groups: Vec::new(),
            states: BTreeMap::new(),
        }
    }

    #[track_caller]
    pub(crate) fn with_config<O: Optimizer>(
        optimizer: O,
        clipping: &Option<GradientClippingConfig>,
    ) -> Self {
        let mut this = Self::new(optimizer);
        this.default.clipping = clipping.as_ref().map(GradientClippingConfig::init);
        this
    }

    /// Sets how gradients are clipped.
    pub fn with_grad_clipping(mut self, clipping: GradientClipping) -> Self {
        self.default.clipping = Some(clipping);
        self
    }

    /// Whether gradients are clipped.
    pub fn has_gradient_clipping(&self) -> bool {
        self.default.clipping.is_some()
    }

    /// How gradients are clipped.
    pub fn grad_clipping(&self) -> Option<&GradientClipping> {
        self.default.clipping.as_ref()
    }

    /// Improves the parameters in `group` by another rule. A parameter in several groups follows the one added last.
    pub fn with_group<O>(
        mut self,
        group: ParamGroup,
        optimizer: O,
        clipping: Option<GradientClipping>,
    ) -> Self
    where
        O: DynOptimizer + 'static,
    {
        self.groups.push((
            group,
            Rule {
                optimizer: Arc::new(optimizer),
                clipping,
            },
        ));
        self
    }

    /// The module after a step. Parameters without a gradient stay as they are.
    pub fn step<M: Module>(
        &mut self,
        lr: impl Into<ModuleLearningRate>,
        module: M,
        grads: GradientsParams,
    ) -> M {
        self.step_with(lr.into(), module, grads.into())
    }

    /// [`step`](Self::step) with gradients from several devices.
    pub fn step_multi<M: Module>(
        &mut self,
        lr: impl Into<ModuleLearningRate>,
        module: M,
        grads: MultiGradientsParams,
    ) -> M {
        self.step_with(lr.into(), module, grads.into())
    }

    fn step_with<M: Module>(&mut self, lr: ModuleLearningRate, module: M, grads: GradAdaptor) -> M {
        module.map(&mut Step {
            optimizer: self,
            lr,
            grads,
            path: Vec::new(),
        })
    }

    fn rule(&self, id: ParamId, path: &str) -> &Rule {
        let group = self
            .groups
            .iter()
            .rev()
            .find(|(group, _)| group.matches(&id, Some(path)));
        group.map_or(&self.default, |(_, rule)| rule)
    }

    /// What the optimizer remembers.
    pub fn to_record(&self) -> OptimizerRecord {
        let (mut sink, mut paths) = (StateSink::default(), BTreeMap::new());
        for (id, State { path, state }) in &self.states {
            let prefix = id.val().to_string();
            sink.push_scalar(&prefix, RANK, Scalar::from(state.rank()));
            self.rule(*id, path)
                .optimizer
                .state_flatten(&prefix, state, &mut sink);
            paths.insert(prefix, path.clone());
        }
        OptimizerRecord::new(sink, paths)
    }

    /// The optimizer going on from `record`.
    ///
    /// # Panics
    /// If the record is not of such an optimizer; see [`from_bytes`](Self::from_bytes) and
    /// [`load`](Self::load).
    #[track_caller]
    pub fn load_record(self, record: OptimizerRecord) -> Self {
        self.try_load_record(record)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_load_record(mut self, record: OptimizerRecord) -> Result<Self, RecordError> {
        let (mut source, paths) = record.into_source()?;
        // The first step moves each state to where its parameter is.
        let device = Device::default().without_autodiff();
        let mut states = BTreeMap::new();
        for (prefix, path) in paths {
            let mut read = || {
                let id = ParamId::from(prefix.parse::<u64>().ok()?);
                let rank = usize::try_from(source.take_scalar(&prefix, RANK)?).ok()?;
                let optimizer = &self.rule(id, &path).optimizer;
                let state = match (1..=8).contains(&rank) {
                    true => optimizer.state_unflatten(rank, &prefix, &mut source, &device)?,
                    false => return None,
                };
                Some((
                    id,
                    State {
                        path: path.clone(),
                        state,
                    },
                ))
            };
            let (id, state) = read().ok_or_else(|| {
                RecordError::Validation(format!(
                    "the state of the parameter `{path}` is not of this optimizer"
                ))
            })?;
            states.insert(id, state);
        }
        self.states = states;
        Ok(self)
    }

    /// The optimizer going on from the bytes of a burnpack file.
    ///
    /// # Errors
    /// [`RecordError::Validation`] if the bytes are corrupt or of another optimizer.
    pub fn from_bytes(self, bytes: Bytes) -> Result<Self, RecordError> {
        self.try_load_record(OptimizerRecord::from_bytes(bytes)?)
    }

    /// What the optimizer remembers, as the bytes of a burnpack file.
    ///
    /// # Errors
    /// [`RecordError::Validation`] if the record exceeds what the format can hold.
    pub fn into_bytes(&self) -> Result<Bytes, RecordError> {
        self.to_record().into_bytes()
    }

    /// The optimizer going on from `file`.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the file cannot be read, [`RecordError::Validation`] if it is
    /// corrupt or of another optimizer.
    #[cfg(feature = "std")]
    pub fn load<P: AsRef<std::path::Path>>(self, file: P) -> Result<Self, RecordError> {
        self.try_load_record(OptimizerRecord::load(file)?)
    }

    /// Writes what the optimizer remembers to `file`.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the file cannot be written.
    #[cfg(feature = "std")]
    pub fn save<P: AsRef<std::path::Path>>(&self, file: P) -> Result<(), RecordError> {
        self.to_record().save(file)
    }
}

impl fmt::Debug for ModuleOptimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleOptimizer")
            .field("groups", &self.groups.len())
            .field("states", &self.states.len())
            .finish_non_exhaustive()
    }
}

struct Step<'a> {
    optimizer: &'a mut ModuleOptimizer,
    lr: ModuleLearningRate,
    grads: GradAdaptor,
    path: Vec<String>,
}

impl ModuleMapper for Step<'_> {
    fn map_erased(&mut self, module: Box<dyn Erased>) -> Box<dyn Erased> {
        module.map(self)
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some((grad, device)) = self.grads.remove::<D>(param.id) else {
            return param;
        };
        let path = self.path.join(".");
        let lr = self.lr.lr_from_param(param.id, Some(&path));

        // The step is no part of the tape; the improved parameter starts a new one.
        let (id, device) = (param.id, device.without_autodiff());
        let grad = grad.without_autodiff().to_device(&device);
        param.map(|tensor| {
            let tape = Tape::of(&tensor);
            let tensor = tensor.without_autodiff().to_device(&device);
            tape.on(improve(
                self.optimizer,
                lr,
                (id, path),
                tensor,
                grad,
                &device,
            ))
        })
    }

    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }
}

/// Whether a parameter is on a tape, and starts gradients there.
#[derive(Clone, Copy)]
pub(crate) struct Tape {
    tracked: bool,
    require_grad: bool,
}

impl Tape {
    pub fn of<const D: usize>(tensor: &Tensor<D>) -> Self {
        Self {
            tracked: tensor.device().is_autodiff(),
            require_grad: tensor.is_require_grad(),
        }
    }

    /// A new value of the parameter.
    pub fn on<const D: usize>(self, tensor: Tensor<D>) -> Tensor<D> {
        match self.tracked {
            true => tensor.autodiff().set_require_grad(self.require_grad),
            false => tensor,
        }
    }
}

fn improve<const D: usize>(
    optimizer: &mut ModuleOptimizer,
    lr: LearningRate,
    (id, path): (ParamId, String),
    tensor: Tensor<D>,
    grad: Tensor<D>,
    device: &Device,
) -> Tensor<D> {
    let state = optimizer.states.remove(&id).map(|state| state.state);
    let Rule {
        optimizer: rule,
        clipping,
    } = optimizer.rule(id, &path);
    let grad = match clipping {
        Some(clipping) => clipping.clip_gradient(grad),
        None => grad,
    };
    let state = state.map(|state| rule.to_device_dyn(state, device));
    let (tensor, state) = rule.step_dyn(D, lr, Box::new(tensor), Box::new(grad), state);
    if let Some(state) = state {
        optimizer.states.insert(id, State { path, state });
    }
    unbox(tensor)
}
