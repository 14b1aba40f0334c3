//! The instruction set: operations, their inference, graphs and their encoding.
