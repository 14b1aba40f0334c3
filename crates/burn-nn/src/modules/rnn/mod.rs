//! Recurrent layers. All gates of a layer are one product: that of the input for all positions at once, that of the
//! hidden state position by position.

pub mod basic;
pub mod gru;
pub mod lstm;

mod gate;
mod packed;
mod state;

pub use basic::{BiRnn, BiRnnConfig, Rnn, RnnConfig, RnnState};
pub use gate::GateController;
pub use gru::{BiGru, BiGruConfig, Gru, GruConfig};
pub use lstm::{BiLstm, BiLstmConfig, Lstm, LstmConfig};
pub use state::{LstmState, OptionalInitialLstmState};
