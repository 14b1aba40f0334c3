//! The backend contract, lowerings and the erased engines every layer runs on.
