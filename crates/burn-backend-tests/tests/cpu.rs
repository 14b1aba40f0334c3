//! The sample table on the CPU through compiled kernels: one test for each mode.

burn_backend_tests::compiled!(burn_cubecl::cpu());
