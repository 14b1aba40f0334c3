//! `targets`: the no_std crates for bare metal, the facade for the web.
//!
//! Nothing is linked or run: a library that builds for a target without an operating system is
//! the promise. A target of rustup is used where there is one; elsewhere Debian's compiler
//! builds the standard library from source.

use crate::util::{Result, Steps, cargo, execute, output_of, program, target_dir};
use std::path::Path;
use std::process::Command;

/// One build for a foreign machine.
struct Target {
    triple: &'static str,
    /// What to compile of the standard library where rustup has no ready one.
    build_std: &'static str,
    packages: &'static [&'static str],
    features: &'static [&'static str],
}

const TARGETS: [Target; 2] = [
    Target {
        triple: "thumbv7em-none-eabihf",
        build_std: "core,alloc",
        packages: &[
            "burn-std",
            "burn-ir",
            "burn-backend",
            "burn-flex",
            "burn-autodiff",
            "burn-capture",
            "burn-fusion",
            "burn-dispatch",
            "burn-tensor",
        ],
        features: &[
            "burn-tensor/flex",
            "burn-tensor/autodiff",
            "burn-tensor/capture",
            "burn-tensor/fusion",
        ],
    },
    Target {
        triple: "wasm32-unknown-unknown",
        build_std: "std,panic_abort",
        packages: &["burn"],
        features: &[
            "std", "flex", "autodiff", "capture", "fusion", "dataset", "simd",
        ],
    },
];

/// Debian's compiler with its library's source, and the linker its web targets use.
const DEBIAN: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld"];

/// Undoes the workspace's optimised dependencies.
const UNOPTIMISED: &str = r#"profile.dev.package."*".opt-level=0"#;

/// Who compiles for a target.
enum Toolchain {
    /// The toolchain in use has the target's libraries.
    Ready,
    /// Debian's compiler, which builds them.
    Debian,
}

/// Builds both targets; `install` allows to install what they need.
pub(crate) fn run(steps: &mut Steps, install: bool) -> Result {
    for target in &TARGETS {
        let title = format!("toolchain for {}", target.triple);
        let toolchain = steps.step(&title, || toolchain(target.triple, install))?;
        steps.command(
            &format!("build {}", target.triple),
            &mut build(target, &toolchain),
        )?;
    }
    Ok(())
}

fn toolchain(triple: &str, install: bool) -> Result<Toolchain> {
    if has_library(triple)? {
        return Ok(Toolchain::Ready);
    }
    if has_debian() {
        return Ok(Toolchain::Debian);
    }
    if !install {
        return Err(format!(
            "this toolchain has no library for it. Run `rustup target add {triple}`, or on \
             Debian `apt-get install {}`, or let `cargo xtask targets --install` try both",
            DEBIAN.join(" ")
        ));
    }
    if execute(&mut program("rustup", &["target", "add", triple])).is_ok() && has_library(triple)? {
        return Ok(Toolchain::Ready);
    }
    println!("rustup cannot fetch the target; trying Debian's packages");
    execute(&mut program("apt-get", &["update"]))?;
    let mut apt = program("apt-get", &["install", "-y", "--no-install-recommends"]);
    execute(apt.args(DEBIAN).env("DEBIAN_FRONTEND", "noninteractive"))?;
    if has_debian() {
        Ok(Toolchain::Debian)
    } else {
        Err(format!(
            "{} are installed, but /usr/bin/cargo does not run",
            DEBIAN.join(", ")
        ))
    }
}

/// Whether the compiler in use has a standard library for `triple`.
fn has_library(triple: &str) -> Result<bool> {
    let args = ["--print", "target-libdir", "--target", triple];
    let libraries = output_of(&mut program("rustc", &args))?;
    Ok(Path::new(libraries.trim()).is_dir())
}

/// Whether Debian's compiler, its library's source and its linker are here.
fn has_debian() -> bool {
    let mut query = program(
        "dpkg-query",
        &["--show", "--showformat=${db:Status-Status}\n"],
    );
    query.args(DEBIAN).stderr(std::process::Stdio::null());
    query.output().is_ok_and(|output| {
        let states = String::from_utf8_lossy(&output.stdout);
        states.lines().filter(|state| *state == "installed").count() == DEBIAN.len()
    })
}

fn build(target: &Target, toolchain: &Toolchain) -> Command {
    let features = target.features.join(",");
    let mut args = vec!["build", "--lib", "--target", target.triple];
    args.extend(target.packages.iter().flat_map(|package| ["-p", package]));
    args.extend(["--no-default-features", "--features", &features]);
    // Nothing runs here, so nothing is worth optimising; it would triple the time.
    args.extend(["--config", UNOPTIMISED]);
    match toolchain {
        Toolchain::Ready => cargo(&args),
        Toolchain::Debian => {
            let build_std = format!("-Zbuild-std={}", target.build_std);
            args.push(&build_std);
            let mut command = program("/usr/bin/cargo", &args);
            // The rustup proxy hands its own tools down; the other compiler needs its own, and
            // its own folder, or both would rebuild what the other has left.
            for name in [
                "CARGO",
                "RUSTC",
                "RUSTDOC",
                "RUSTUP_TOOLCHAIN",
                "LD_LIBRARY_PATH",
            ] {
                command.env_remove(name);
            }
            command
                .env("RUSTC_BOOTSTRAP", "1")
                .env("RUSTC", "/usr/bin/rustc");
            command.env("CARGO_TARGET_DIR", target_dir().join("debian"));
            command
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::NO_STD;

    #[test]
    fn every_package_for_bare_metal_is_also_checked_without_std_on_the_host() {
        for package in TARGETS[0].packages {
            assert!(
                NO_STD.iter().any(|(name, _)| name == package),
                "{package} is missing"
            );
        }
    }
}
