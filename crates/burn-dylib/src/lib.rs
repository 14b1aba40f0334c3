//! The framework as a shared library: `burn` links it by its feature `dynamic`.
//!
//! A program that is being written is linked after every edit. With everything behind `burn-core`, engines and their
//! compilers included, in a library that was linked before, that takes as long whatever engines are built in. Nothing is
//! here but the link.

use burn_core as _;
