//! What every task shares: steps with a header and a time, commands, and paths.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// A task's outcome; the error is the sentence that the summary ends with.
pub(crate) type Result<T = ()> = std::result::Result<T, String>;

/// How a step ended.
enum End {
    Passed,
    Failed,
    Skipped,
}

/// The steps of one invocation, printed as they run and summed up at the end.
pub(crate) struct Steps {
    done: Vec<(String, Duration, End)>,
    started: Instant,
}

impl Steps {
    /// No step so far; the clock starts.
    pub(crate) fn new() -> Self {
        Self {
            done: Vec::new(),
            started: Instant::now(),
        }
    }

    /// Runs `work` as the step `title`.
    pub(crate) fn step<T>(&mut self, title: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n== {title}");
        let started = Instant::now();
        let outcome = work();
        let end = if outcome.is_ok() {
            End::Passed
        } else {
            End::Failed
        };
        self.done.push((title.to_owned(), started.elapsed(), end));
        outcome.map_err(|error| format!("{title}: {error}"))
    }

    /// Runs one command as the step `title`.
    pub(crate) fn command(&mut self, title: &str, command: &mut Command) -> Result {
        self.step(title, || execute(command))
    }

    /// Records that the step `title` did not run, and why.
    pub(crate) fn skip(&mut self, title: &str, why: &str) {
        println!("\n== {title}\nskipped: {why}");
        self.done
            .push((format!("{title} ({why})"), Duration::ZERO, End::Skipped));
    }

    /// Prints the summary and turns the outcome into the process's exit code.
    pub(crate) fn finish(self, outcome: Result) -> ExitCode {
        println!("\n== summary");
        for (title, time, end) in &self.done {
            let end = match end {
                End::Passed => "ok",
                End::Failed => "FAILED",
                End::Skipped => "skipped",
            };
            println!("{end:>8} {:>7.1} s  {title}", time.as_secs_f64());
        }
        println!(
            "{:>8} {:>7.1} s",
            "total",
            self.started.elapsed().as_secs_f64()
        );
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("\nerror: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

/// The workspace's folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
        .to_path_buf()
}

/// Where cargo puts what it builds for this workspace.
pub(crate) fn target_dir() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A call of the cargo that runs this task, in the workspace's folder.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// A call of any other program, in the workspace's folder.
pub(crate) fn program(name: &str, args: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(args).current_dir(root());
    command
}

/// Whether `name` can be started here.
pub(crate) fn installed(name: &str) -> bool {
    let mut command = Command::new(name);
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Prints the command, runs it with the terminal's streams and fails if it fails.
pub(crate) fn execute(command: &mut Command) -> Result {
    println!("$ {}", shown(command));
    let status = command
        .status()
        .map_err(|error| unstartable(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` ended with {status}", shown(command)))
    }
}

/// Prints the command, runs it and returns its standard output.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    println!("$ {}", shown(command));
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| unstartable(command, &error))?;
    if !output.status.success() {
        return Err(format!("`{}` ended with {}", shown(command), output.status));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| format!("`{}` printed something that is not UTF-8", shown(command)))
}

/// Reads a text file, naming it where that fails.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The files below `dir` with the extension `extension`, sorted; none if there is no such folder.
pub(crate) fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        let entries =
            std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry
                .map_err(|error| format!("{}: {error}", folder.display()))?
                .path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The path below the workspace, with forward slashes on every system.
pub(crate) fn relative(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .to_string_lossy()
        .replace('\\', "/")
}

fn unstartable(command: &Command, error: &std::io::Error) -> String {
    format!(
        "`{}` could not be started: {error}",
        command.get_program().to_string_lossy()
    )
}

/// The command as one would type it, with the variables it sets.
fn shown(command: &Command) -> String {
    let text = |word: &OsStr| quoted(&word.to_string_lossy());
    let set =
        |(key, value): (&OsStr, Option<&OsStr>)| Some(format!("{}={}", text(key), text(value?)));
    let mut words: Vec<String> = command.get_envs().filter_map(set).collect();
    // Cargo tells its path to this process, too long to be of use to a reader.
    let program = command.get_program();
    let is_cargo = env::var_os("CARGO").is_some_and(|cargo| cargo == program);
    words.push(if is_cargo {
        "cargo".to_owned()
    } else {
        text(program)
    });
    words.extend(command.get_args().map(text));
    words.join(" ")
}

/// The word in single quotes if a shell would not take it as it is.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{word}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_can_be_typed() {
        let mut command = program("rustdoc", &["--test", "a b.md", "--features", ""]);
        assert_eq!(
            shown(command.env("FLAGS", "-D warnings")),
            "FLAGS='-D warnings' rustdoc --test 'a b.md' --features ''"
        );
    }
}
