//! The sample table on Vulkan: one test for each mode.

burn_backend_tests::compiled!(burn_cubecl::vulkan(Default::default()));
