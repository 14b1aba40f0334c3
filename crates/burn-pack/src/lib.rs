//! The burnpack file format.
