//! `llvm`: puts the LLVM that `cubecl-cpu` and `cubecl-cuda` link where their build looks for it.
//!
//! Their bundler fetches an archive from a code host at build time and skips that where a
//! finished install is found. Python's registry carries the same libraries as wheels, which also
//! reach machines behind a proxy. Nothing here compiles or links LLVM.

use crate::util::{Result, Steps, execute, program};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The folder that version 23.1.0-4 of the bundler looks for.
const INSTALL: &str = "tracel/tracel-llvm-23.1.0-4";

/// The empty file by which the bundler knows a finished install.
const MARK: &str = ".tracel-llvm-installed";

/// The wheels in the order to unpack them: the second adds to the first's folders.
const WHEELS: [&str; 2] = [
    "mlc-llvm-static==23.1.1.post0",
    "mlc-llvm-static-extra-targets==23.1.1.post0",
];

/// Installs LLVM unless a finished install is there.
pub(crate) fn run(steps: &mut Steps) -> Result {
    let home = home()?;
    if home.join(MARK).exists() {
        steps.skip("llvm", &format!("already installed in {}", home.display()));
        return Ok(());
    }
    if !has_pip() {
        return Err(format!("{PIP}\n  legal: a machine with both"));
    }
    // Beside the final folder, so that the last step is a rename within one file system.
    let work = home.with_file_name(format!("unpacking-{}", std::process::id()));
    fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    let outcome = install(steps, &work, &home);
    let cleaned = fs::remove_dir_all(&work);
    outcome?;
    cleaned.map_err(|error| format!("{}: {error}", work.display()))
}

/// What [`run`] does, before a build that can do without: it then fetches its LLVM itself, where it reaches the code host.
pub(crate) fn prepare(steps: &mut Steps) -> Result {
    let installed = home().is_ok_and(|home| home.join(MARK).exists());
    if installed || (cfg!(target_os = "linux") && has_pip()) {
        return run(steps);
    }
    steps.skip("llvm", &format!("{PIP}: the build has to fetch it"));
    Ok(())
}

/// Why there is no install.
const PIP: &str = "installing LLVM takes Linux and python3 with pip";

fn has_pip() -> bool {
    let mut pip = program("python3", &["-m", "pip", "--version"]);
    let pip = pip.stdout(Stdio::null()).stderr(Stdio::null());
    pip.status().is_ok_and(|status| status.success())
}

/// The folder of the install on this machine.
fn home() -> Result<PathBuf> {
    install_dir(env::var_os("XDG_DATA_HOME"), env::home_dir())
}

fn install(steps: &mut Steps, work: &Path, home: &Path) -> Result {
    for (index, wheel) in WHEELS.into_iter().enumerate() {
        let folder = work.join(index.to_string());
        let shown = folder.to_string_lossy();
        let args = [
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary",
            ":all:",
        ];
        let mut download = program("python3", &args);
        steps.command(
            &format!("download {wheel}"),
            download.args(["--dest", &shown, wheel]),
        )?;
        steps.step(&format!("unpack {wheel}"), || unpack(&folder, work))?;
    }
    steps.step("place", || {
        place(&work.join("mlc_llvm_static/static"), home)
    })
}

/// Unpacks the one wheel in `folder` into `into`.
fn unpack(folder: &Path, into: &Path) -> Result {
    let wheels = crate::util::files(folder, "whl")?;
    let [wheel] = wheels.as_slice() else {
        return Err(format!(
            "expected one wheel in {}, found {}",
            folder.display(),
            wheels.len()
        ));
    };
    let mut unzip = program("python3", &["-m", "zipfile", "-e"]);
    execute(unzip.arg(wheel).arg(into))
}

/// Moves the unpacked tree to its final folder and marks the install as finished.
fn place(tree: &Path, home: &Path) -> Result {
    let named = |error: std::io::Error| format!("{}: {error}", home.display());
    make_runnable(&tree.join("bin/llvm-config"))?;
    if home.exists() {
        fs::remove_dir_all(home).map_err(named)?;
    }
    fs::rename(tree, home).map_err(named)?;
    fs::write(home.join(MARK), "").map_err(named)?;
    println!("installed in {}", home.display());
    Ok(())
}

/// Zip files opened by Python lose the run bit.
#[cfg(unix)]
fn make_runnable(path: &Path) -> Result {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
fn make_runnable(_path: &Path) -> Result {
    Ok(())
}

/// The bundler's folder in the user's local data folder, as the `dirs` crate defines it.
fn install_dir(xdg_data: Option<std::ffi::OsString>, home: Option<PathBuf>) -> Result<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Err(
            "this install is known to work on Linux only; elsewhere the build of the \
             `cpu` and `cuda` engines fetches its LLVM itself"
                .to_owned(),
        );
    }
    let xdg_data = xdg_data.map(PathBuf::from).filter(|dir| dir.is_absolute());
    let data = xdg_data.or_else(|| home.map(|home| home.join(".local/share")));
    Ok(data
        .ok_or("no home folder: set XDG_DATA_HOME")?
        .join(INSTALL))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_install_folder_follows_the_data_home_if_it_is_absolute() {
        let home = Some(PathBuf::from("/home/ada"));
        let folder = |xdg: &str| install_dir(Some(xdg.into()), home.clone());
        assert_eq!(folder("/data"), Ok(PathBuf::from("/data").join(INSTALL)));
        assert_eq!(
            folder("data"),
            Ok(PathBuf::from("/home/ada/.local/share").join(INSTALL))
        );
    }
}
