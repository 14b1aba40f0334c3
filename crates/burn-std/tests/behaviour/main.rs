//! The behaviour of `burn-std`, one file a topic, all in one binary to link once.

mod bytes;
mod compare;
mod data;
mod distribution;
mod element;
mod layout;
mod quantization;
mod rest;
mod shape;
mod slice;
