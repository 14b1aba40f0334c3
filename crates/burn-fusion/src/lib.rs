//! Instruction streams, grouping and the fused-kernel contract.
