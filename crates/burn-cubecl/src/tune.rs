//! What a process leaves for the next: compiled kernels, and which kernels were the fastest.

use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig};
use std::sync::Once;

/// Makes CubeCL keep compiled kernels in its environment, as it does with the results of trials by itself.
///
/// This must come before CubeCL first reads its configuration. A program that has set one keeps it, and so does a process in
/// which autotune is switched off: its kernels are kept only if CubeCL's section of `burn.toml` says so.
pub(crate) fn remember() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if burn_std::config::switches().autotune {
            let mut config = CubeClRuntimeConfig::from_current_dir().override_from_env();
            config.compilation.cache = true;
            CubeClRuntimeConfig::try_set(config);
        }
    });
}
