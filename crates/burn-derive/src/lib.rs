//! Derive macros for modules and configurations.
