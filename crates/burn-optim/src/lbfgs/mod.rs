//! L-BFGS: steps of all parameters together, by the curvature that earlier steps have met.
//!
//! The search along a direction is in [`search`], parameters as one vector in [`flat`].

mod flat;
mod search;

use alloc::vec::Vec;

use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::store::RecordError;
use burn_core::tensor::{Bytes, Device, Tensor};

use crate::field::Move;
use crate::{GradientsParams, LearningRate, OptimizerRecord, RecordState, StateSink};
use flat::Layout;
use search::{Point, strong_wolfe};

/// A pair of steps whose curvature is not above this is not remembered: the matrix would lose its definiteness.
const LEAST_CURVATURE: f64 = 1e-10;

/// How far to go along a direction.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum LineSearchFn {
    /// As far as the learning rate says.
    None,
    /// To a point that fulfils the strong Wolfe conditions.
    StrongWolfe,
}

/// Describes an [`LBFGS`].
#[derive(Config, Debug)]
pub struct LBFGSConfig {
    /// The most iterations of a step.
    #[config(default = 20)]
    pub max_iter: usize,
    /// The number of pairs that stand for the curvature.
    #[config(default = 100)]
    pub history_size: usize,
    /// A step ends when no element of the gradient is larger.
    #[config(default = 1e-7)]
    pub tolerance_grad: f64,
    /// A step ends when neither the parameters nor the loss change by more.
    #[config(default = 1e-9)]
    pub tolerance_change: f64,
    /// The most evaluations of the loss in a step; `1.25 · max_iter` if there is none.
    pub max_eval: Option<usize>,
    /// How far to go along a direction.
    #[config(default = "LineSearchFn::None")]
    pub line_search_fn: LineSearchFn,
}

impl LBFGSConfig {
    /// The optimizer.
    pub fn init(&self) -> LBFGS {
        LBFGS {
            config: self.clone(),
            state: LBFGSState::default(),
        }
    }
}

/// What [`LBFGS`] remembers.
#[derive(Clone, Debug, Default, RecordState)]
pub struct LBFGSState {
    /// Differences of parameters.
    pub history_s: Vec<Tensor<1>>,
    /// Differences of gradients.
    pub history_y: Vec<Tensor<1>>,
    /// The last direction.
    pub d: Option<Tensor<1>>,
    /// How far the last iteration went along it.
    pub t: Option<f64>,
    /// The gradient before the last iteration.
    pub prev_flat_grad: Option<Tensor<1>>,
    /// The loss before the last iteration.
    pub prev_loss: Option<f64>,
    /// Iterations so far, in all steps.
    pub g_iter: usize,
}

impl LBFGSState {
    /// The state on another device.
    pub fn to_device(self, device: &Device) -> Self {
        Self {
            history_s: self.history_s.moved(device),
            history_y: self.history_y.moved(device),
            d: self.d.moved(device),
            prev_flat_grad: self.prev_flat_grad.moved(device),
            ..self
        }
    }

    /// The direction from a point with the gradient `grad`.
    fn direction(&mut self, grad: &Tensor<1>, history_size: usize) -> Tensor<1> {
        let last = self.d.take().zip(self.t).zip(self.prev_flat_grad.take());
        if let Some(((d, t), prev)) = last {
            let (y, s) = (grad.clone() - prev, d * t);
            if dot(&y, &s) > LEAST_CURVATURE {
                if self.history_s.len() >= history_size.max(1) {
                    self.history_s.remove(0);
                    self.history_y.remove(0);
                }
                self.history_s.push(s);
                self.history_y.push(y);
            }
        }
        self.two_loops(grad.clone().neg())
    }

    /// The inverse of the approximate Hessian times `q` (Nocedal and Wright, 2006, algorithm 7.4). Scalars stay on the
    /// device.
    fn two_loops(&self, mut q: Tensor<1>) -> Tensor<1> {
        let pairs = self.history_s.iter().zip(&self.history_y);
        let mut factors = Vec::with_capacity(pairs.len());
        for (s, y) in pairs.clone().rev() {
            let curvature = y.clone().dot(s.clone());
            let alpha = s.clone().dot(q.clone()) / curvature.clone();
            q = q - y.clone() * alpha.clone();
            factors.push((alpha, curvature));
        }
        if let Some((y, (_, curvature))) = self.history_y.last().zip(factors.first()) {
            q = q * (curvature.clone() / y.clone().square().sum());
        }
        for ((s, y), (alpha, curvature)) in pairs.zip(factors.into_iter().rev()) {
            let beta = y.clone().dot(q.clone()) / curvature;
            q = q + s.clone() * (alpha - beta);
        }
        q
    }
}

/// A quasi-Newton method for smooth losses of whole data sets (Liu and Nocedal, 1989).
#[derive(Clone, Debug)]
pub struct LBFGS {
    config: LBFGSConfig,
    state: LBFGSState,
}

impl LBFGS {
    /// The module after up to `max_iter` iterations, and its loss.
    ///
    /// `closure` computes the loss of a module and its gradients; it is called several times. The parameters that get a
    /// gradient in its first call are improved.
    ///
    /// # Panics
    /// If other parameters get gradients than in the step before.
    #[track_caller]
    pub fn step<M, F>(&mut self, lr: LearningRate, module: M, mut closure: F) -> (M, f64)
    where
        M: Module + Clone,
        F: FnMut(M) -> (f64, GradientsParams),
    {
        let (loss, grads) = closure(module.clone());
        let layout = Layout::new(&module, &grads);
        let Some(device) = layout.device() else {
            return (module, loss);
        };
        self.state = core::mem::take(&mut self.state).to_device(&device);
        let x = layout.parameters(&module);
        let grad = layout.gradient(grads);
        if let Some(prev) = &self.state.prev_flat_grad {
            assert!(
                prev.shape() == grad.shape(),
                "`LBFGS::step`: {} elements of parameters have gradients, and {} had in the step before\n  legal: the same parameters in each step",
                grad.shape().num_elements(),
                prev.shape().num_elements()
            );
        }
        let mut evaluate = |x: Tensor<1>| {
            let (loss, grads) = closure(layout.with_parameters(module.clone(), x));
            (loss, layout.gradient(grads))
        };
        let (x, loss) = self.iterate(lr, x, Point { t: 0.0, loss, grad }, &mut evaluate);
        (layout.with_parameters(module.clone(), x), loss)
    }

    fn iterate(
        &mut self,
        lr: LearningRate,
        mut x: Tensor<1>,
        mut point: Point,
        evaluate: &mut dyn FnMut(Tensor<1>) -> (f64, Tensor<1>),
    ) -> (Tensor<1>, f64) {
        let config = &self.config;
        let most = config.max_eval.unwrap_or(config.max_iter * 5 / 4);
        let mut evaluations = 1;
        for _ in 0..config.max_iter {
            if largest(&point.grad) <= config.tolerance_grad {
                break;
            }
            let state = &mut self.state;
            let d = state.direction(&point.grad, config.history_size);
            state.g_iter += 1;
            // Nothing is known about the curvature at first: the step is at most as long as the learning rate.
            let t = match state.g_iter {
                1 => lr * (1.0 / number(point.grad.clone().abs().sum())).min(1.0),
                _ => lr,
            };
            let slope = dot(&point.grad, &d);
            state.prev_flat_grad = Some(point.grad.clone());
            state.prev_loss = Some(point.loss);
            state.d = Some(d.clone());
            state.t = Some(t);
            if slope > -config.tolerance_change {
                break;
            }
            let from = x.clone();
            let mut at = |t: f64| {
                evaluations += 1;
                let (loss, grad) = evaluate(from.clone() + d.clone() * t);
                Point { t, loss, grad }
            };
            let before = point.loss;
            point = match config.line_search_fn {
                LineSearchFn::None => at(t),
                LineSearchFn::StrongWolfe => {
                    let start = Point { t: 0.0, ..point };
                    strong_wolfe(&mut at, start, t, &d, config.tolerance_change)
                }
            };
            state.t = Some(point.t);
            x = x + d.clone() * point.t;
            if evaluations >= most
                || largest(&d) * point.t.abs() <= config.tolerance_change
                || (point.loss - before).abs() < config.tolerance_change
            {
                break;
            }
        }
        (x, point.loss)
    }

    /// What the optimizer remembers.
    pub fn to_record(&self) -> OptimizerRecord {
        let mut sink = StateSink::default();
        self.state.state_flatten("", &mut sink);
        OptimizerRecord::new(sink, Default::default())
    }

    /// The optimizer going on from `record`.
    ///
    /// # Panics
    /// If the record is of another optimizer.
    #[track_caller]
    pub fn load_record(self, record: OptimizerRecord) -> Self {
        self.try_load_record(record)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_load_record(self, record: OptimizerRecord) -> Result<Self, RecordError> {
        let (mut source, _) = record.into_source()?;
        // The first step moves the state to where the parameters are.
        let device = Device::default().without_autodiff();
        let state = LBFGSState::state_unflatten("", &mut source, &device);
        match state {
            Some(state) => Ok(Self { state, ..self }),
            None => Err(RecordError::Validation(
                "the record is not of an `LBFGS`".into(),
            )),
        }
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
    /// [`RecordError::Io`] if the file cannot be read, [`RecordError::Validation`] if it is corrupt or of another
    /// optimizer.
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

    /// The optimizer with its state on another device.
    pub fn to_device(self, device: &Device) -> Self {
        Self {
            state: self.state.to_device(device),
            ..self
        }
    }
}

fn dot(lhs: &Tensor<1>, rhs: &Tensor<1>) -> f64 {
    number(lhs.clone().dot(rhs.clone()))
}

fn largest(tensor: &Tensor<1>) -> f64 {
    number(tensor.clone().max_abs())
}

fn number(tensor: Tensor<1>) -> f64 {
    tensor.into_scalar()
}
