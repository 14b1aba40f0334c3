//! Weights as codes of few bits: [`Quantizer`].

use alloc::string::ToString;

use burn_tensor::Tensor;
use burn_tensor::quantization::{
    BlockLayout, Calibration, QuantScheme, compute_q_params, compute_range,
};

use super::walk::Path;
use super::{ModuleMapper, Param, ParamGroup};

/// Quantizes float parameters, which are constants from then on: rounding has no gradient.
///
/// Layers need no change, as every operation takes quantized tensors.
#[derive(Clone, Debug)]
pub struct Quantizer {
    /// How the range that scales cover is found.
    pub calibration: Calibration,
    /// What a code stands for, what shares a scale, and how both are stored.
    pub scheme: QuantScheme,
    /// Which parameters are quantized; all by default.
    pub group: ParamGroup,
    path: Path,
}

impl Quantizer {
    /// A quantizer of all float parameters.
    pub fn new(calibration: Calibration, scheme: QuantScheme) -> Self {
        Self {
            calibration,
            scheme,
            group: ParamGroup::all(),
            path: Path::default(),
        }
    }

    /// Sets which parameters are quantized.
    pub fn set_param_group(&mut self, group: ParamGroup) {
        self.group = group;
    }

    /// The parameter at `path` as codes.
    ///
    /// # Panics
    /// If the blocks of the scheme do not divide its dims.
    #[track_caller]
    pub(crate) fn quantize<const D: usize>(
        &self,
        path: &str,
        param: Param<Tensor<D>>,
    ) -> Param<Tensor<D>> {
        if let Some(size) = self.scheme.block_size() {
            let shape = param.lazy_shape();
            let fits = size.as_slice().len() <= D && BlockLayout::new(&shape, &size).divides();
            assert!(
                fits,
                "`Quantizer`: the blocks {size:?} of its scheme do not divide the parameter `{path}` of shape {shape}\n  legal: blocks that divide each dim, or a `group` without this parameter"
            );
        }
        let scheme = &self.scheme;
        let codes = |tensor: Tensor<D>| {
            let range = compute_range(scheme, &tensor, &self.calibration);
            tensor.quantize(scheme, compute_q_params(scheme, range))
        };
        // Where the value is computed, as with an adapter, it is the base that becomes codes.
        param
            .set_require_grad(false)
            .with_base(|param| param.map(codes))
    }
}

impl ModuleMapper for Quantizer {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let path = self.path.to_string();
        match self.group.matches(&param.id, Some(&path)) {
            true => self.quantize(&path, param),
            false => param,
        }
    }

    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.exit();
    }
}
