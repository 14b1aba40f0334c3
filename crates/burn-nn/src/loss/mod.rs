//! Losses: what training makes small.
//!
//! Formulas are computed so that no part overflows or meets an undefined gradient before the whole does.

mod binary_cross_entropy;
mod cross_entropy;
mod ctc;
mod likelihood;
mod margin;
mod reduction;
mod regression;
mod rnnt;

pub use binary_cross_entropy::{BinaryCrossEntropyLoss, BinaryCrossEntropyLossConfig};
pub use cross_entropy::{CrossEntropyLoss, CrossEntropyLossConfig};
pub use ctc::{CTCLoss, CTCLossConfig};
pub use likelihood::{
    GaussianNLLLoss, GaussianNLLLossConfig, KLDivLoss, KLDivLossConfig, PoissonNllLoss,
    PoissonNllLossConfig,
};
pub use margin::{
    CosineEmbeddingLoss, CosineEmbeddingLossConfig, HingeEmbeddingLoss, HingeEmbeddingLossConfig,
    MarginRankingLoss, MarginRankingLossConfig, MultiMarginLoss, MultiMarginLossConfig,
    SoftMarginLoss, TripletMarginLoss, TripletMarginLossConfig,
};
pub use reduction::Reduction;
pub use regression::{
    HuberLoss, HuberLossConfig, LpLoss, LpLossConfig, MseLoss, SmoothL1Loss, SmoothL1LossConfig,
};
pub use rnnt::{RNNTLoss, RNNTLossConfig};
