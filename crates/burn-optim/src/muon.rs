//! Muon.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use crate::decay::WeightDecayConfig;
use crate::field::state;
use crate::momentum::{Momentum, MomentumConfig, MomentumState};
use crate::numeric::{norm, scale};
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// How the learning rate depends on the shape of the parameter.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum AdjustLrFn {
    /// `√max(1, rows / columns)` (Jordan et al., 2024).
    Original,
    /// `0.2 · √max(rows, columns)`, which gives steps of the size of AdamW's (Moonshot, 2025), so that its learning rate
    /// and decay can be kept.
    MatchRmsAdamW,
}

impl AdjustLrFn {
    fn ratio(self, [rows, columns]: [usize; 2]) -> f64 {
        let (rows, columns) = (rows as f64, columns as f64);
        match self {
            Self::Original => (rows / columns).max(1.0).sqrt(),
            Self::MatchRmsAdamW => 0.2 * rows.max(columns).sqrt(),
        }
    }
}

/// Describes a [`Muon`].
#[derive(Config, Debug)]
pub struct MuonConfig {
    /// Weight decay beside the gradient.
    pub(crate) weight_decay: Option<WeightDecayConfig>,
    /// Momentum.
    #[config(default = "MomentumConfig { momentum: 0.95, dampening: 0.0, nesterov: true }")]
    pub(crate) momentum: MomentumConfig,
    /// Coefficients of the polynomial that is iterated. Those by default rise steeply at 0 and settle around 1 (Jordan
    /// et al., 2024).
    #[config(default = "(3.4445, -4.775, 2.0315)")]
    pub(crate) ns_coefficients: (f32, f32, f32),
    /// Keeps the norm that is divided by from being 0.
    #[config(default = 1e-7)]
    pub(crate) epsilon: f32,
    /// The number of iterations.
    #[config(default = 5)]
    pub(crate) ns_steps: usize,
    /// How the learning rate depends on the shape of the parameter.
    #[config(default = "AdjustLrFn::Original")]
    pub(crate) adjust_lr_fn: AdjustLrFn,
}

impl MuonConfig {
    /// The optimizer of a module whose parameters are matrices; use groups for the others.
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::new(self.build())
    }

    /// The rule for one parameter.
    pub fn build(&self) -> Muon {
        Muon {
            momentum: Momentum::new(&self.momentum),
            coefficients: self.ns_coefficients,
            epsilon: self.epsilon,
            iterations: self.ns_steps,
            adjust: self.adjust_lr_fn,
            weight_decay: self.weight_decay.as_ref().map_or(0.0, |it| it.penalty),
        }
    }
}

/// Momentum made orthogonal (Jordan et al., 2024), for the matrices within a network.
#[derive(Clone, Debug)]
pub struct Muon {
    momentum: Momentum,
    coefficients: (f32, f32, f32),
    epsilon: f32,
    iterations: usize,
    adjust: AdjustLrFn,
    weight_decay: f32,
}

impl Muon {
    /// About the nearest matrix with orthonormal rows or columns: an odd polynomial, iterated, takes the singular values
    /// close to 1 (Newton and Schulz).
    fn orthogonalized<const D: usize>(&self, tensor: Tensor<D>) -> Tensor<D> {
        let [rows, columns] = [tensor.dims()[0], tensor.dims()[1]];
        // The smaller side is that of the products.
        let turned = rows > columns;
        let mut x = match turned {
            true => tensor.transpose(),
            false => tensor,
        };
        // The Frobenius norm bounds the largest singular value.
        let norm = norm(x.clone()).clamp_min(self.epsilon);
        x = scale(x, norm.recip());
        let (a, b, c) = self.coefficients;
        for _ in 0..self.iterations {
            let gram = x.clone().matmul(x.clone().transpose());
            let polynomial = gram.clone() * b + gram.clone().matmul(gram) * c;
            x = x.clone() * a + polynomial.matmul(x);
        }
        match turned {
            true => x.transpose(),
            false => x,
        }
    }
}

impl Optimizer for Muon {
    type State<const D: usize> = MuonState<D>;

    /// # Panics
    /// If the parameter is no matrix.
    #[track_caller]
    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        mut tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<MuonState<D>>,
    ) -> (Tensor<D>, Option<MuonState<D>>) {
        assert!(
            D == 2,
            "`Muon` improves parameters of 2 dimensions, not {D}: {:?}\n  legal: a group with another optimizer for it, by `with_group`",
            tensor.shape().as_slice()
        );
        let lr_of_shape = lr * self.adjust.ratio([tensor.dims()[0], tensor.dims()[1]]);
        let (direction, momentum) = self.momentum.transform(grad, state.map(|it| it.momentum));
        let direction = self.orthogonalized(direction);
        let decay = lr * f64::from(self.weight_decay);
        if decay != 0.0 {
            tensor = tensor * (1.0 - decay);
        }
        let tensor = tensor - direction * lr_of_shape;
        (tensor, Some(MuonState { momentum }))
    }

    fn to_device<const D: usize>(state: MuonState<D>, device: &Device) -> MuonState<D> {
        state.to_device(device)
    }
}

state! {
    /// What [`Muon`] remembers about a parameter.
    MuonState {
        /// The velocity.
        pub momentum: MomentumState<D>,
    }
}

impl<const D: usize> MuonState<D> {
    /// A state with this velocity.
    pub fn new(momentum: MomentumState<D>) -> Self {
        Self { momentum }
    }
}
