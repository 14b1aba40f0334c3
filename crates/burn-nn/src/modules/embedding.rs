//! [`Embedding`]: a table of vectors.

use crate::Initializer;
use crate::modules::inline;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::{Device, Int, Tensor, module::embedding};

/// Describes an [`Embedding`].
#[derive(Config, Debug)]
pub struct EmbeddingConfig {
    /// The number of vectors.
    pub n_embedding: usize,
    /// Elements of a vector.
    pub d_model: usize,
    /// Draws the vectors.
    #[config(default = Initializer::Normal { mean: 0.0, std: 1.0 })]
    pub initializer: Initializer,
}

/// A table of vectors, looked up by number.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Embedding {
    /// `[n_embedding, d_model]`.
    pub weight: Param<Tensor<2>>,
}

impl EmbeddingConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> Embedding {
        let shape = [self.n_embedding, self.d_model];
        Embedding {
            weight: self.initializer.init(shape, device),
        }
    }
}

impl Embedding {
    /// The vectors of `[batch, length]` numbers: `[batch, length, d_model]`.
    #[track_caller]
    pub fn forward(&self, input: Tensor<2, Int>) -> Tensor<3> {
        embedding(self.weight.val(), input)
    }
}

impl ModuleDisplay for Embedding {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let shape = self.weight.lazy_shape();
        content
            .add("n_embedding", &shape[0])
            .add("d_model", &shape[1])
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    #[test]
    fn numbers_name_rows() {
        let device = Device::default();
        let weight = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let layer = Embedding {
            weight: Param::from_data(weight, &device),
        };
        let found = layer.forward(Tensor::from_data([[2, 0], [1, 2]], &device));
        assert_eq!(found.dims(), [2, 2, 2]);
        let found: Vec<f32> = found.try_into_vec_as().expect("a CPU tensor can be read");
        assert_eq!(found, [5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_table_prints_its_sizes() {
        let layer = EmbeddingConfig::new(50, 6).init(&Device::default());
        assert_eq!(
            format!("{layer}"),
            "Embedding {n_embedding: 50, d_model: 6, params: 300}"
        );
    }
}
