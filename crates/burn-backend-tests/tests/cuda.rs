//! The sample table on an NVIDIA GPU: one test for each mode.

burn_backend_tests::compiled!(burn_cubecl::cuda(0));
