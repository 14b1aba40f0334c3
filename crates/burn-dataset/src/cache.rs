//! Where datasets are kept that were fetched or imported.

use std::env;
use std::path::PathBuf;

/// The folder for `burn-dataset` among the user's caches: `XDG_CACHE_HOME`, or where the system keeps them. Without a
/// home it is among the temporary files.
pub(crate) fn dir() -> PathBuf {
    let set = |name| {
        env::var_os(name)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let caches = set("XDG_CACHE_HOME").or_else(|| {
        if cfg!(windows) {
            set("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            set("HOME").map(|home| home.join("Library/Caches"))
        } else {
            set("HOME").map(|home| home.join(".cache"))
        }
    });
    caches.unwrap_or_else(env::temp_dir).join("burn-dataset")
}
