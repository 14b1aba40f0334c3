//! Runs the program `importer.py`, in an environment of its own if wanted.

use core::error::Error;
use core::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output, Stdio};

use crate::SqliteDatasetError;

/// The program.
const PROGRAM: &str = include_str!("importer.py");

/// What the program needs. Version 4 runs no programs of datasets any more, which some need.
const LIBRARY: &str = "datasets[audio,vision]>=2.16,<4";

/// What can go wrong with an import.
#[derive(Debug)]
pub enum ImporterError {
    /// Anything else, as Python says it.
    Unknown(String),
    /// The library `datasets` cannot be installed.
    FailToDownloadPythonDependencies(String),
    /// The database cannot be read.
    SqliteDataset(SqliteDatasetError),
    /// There is no Python.
    PythonNotInstalled,
    /// Python cannot make an environment.
    VenvNotInitialized,
}

impl fmt::Display for ImporterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(text) => write!(f, "the dataset cannot be imported: {text}"),
            Self::FailToDownloadPythonDependencies(text) => {
                write!(f, "Python's library `datasets` cannot be installed: {text}")
            }
            Self::SqliteDataset(error) => write!(f, "the imported dataset cannot be read: {error}"),
            Self::PythonNotInstalled => f.write_str("Python is needed: no program `python3` or `python` runs"),
            Self::VenvNotInitialized => {
                f.write_str("Python cannot make an environment: its module `venv` is needed (on Debian: python3-venv)")
            }
        }
    }
}

impl Error for ImporterError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::SqliteDataset(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SqliteDatasetError> for ImporterError {
    fn from(error: SqliteDatasetError) -> Self {
        Self::SqliteDataset(error)
    }
}

/// What to import.
#[derive(Clone, Default)]
pub(super) struct Import {
    pub name: String,
    pub subset: Option<String>,
    pub token: Option<String>,
    pub cache_dir: Option<String>,
    pub data_dir: Option<String>,
    pub trust_remote_code: bool,
}

/// Without the token.
impl fmt::Debug for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import")
            .field("name", &self.name)
            .field("subset", &self.subset)
            .finish_non_exhaustive()
    }
}

/// Imports into the database `file`, which appears when it is complete; an environment is kept in `base_dir`.
pub(super) fn run(
    import: &Import,
    file: &Path,
    base_dir: &Path,
    venv: bool,
) -> Result<(), ImporterError> {
    fs::create_dir_all(base_dir)
        .map_err(|error| unknown(&format!("{}: {error}", base_dir.display())))?;
    let python = python()?;
    let python = match venv {
        true => environment(&python, base_dir)?,
        false => python,
    };
    let part = file.with_extension(format!("part-{}", process::id()));
    let done = import_with(&python, import, &part, &[]).and_then(|()| {
        fs::rename(&part, file).map_err(|error| unknown(&format!("{}: {error}", file.display())))
    });
    if done.is_err() {
        // It may not exist, and who fails to remove it has a better error to report.
        let _ = fs::remove_file(&part);
    }
    done
}

/// Runs the program with the Python given; `variables` are for its environment.
fn import_with(
    python: &Path,
    import: &Import,
    part: &Path,
    variables: &[(&str, &Path)],
) -> Result<(), ImporterError> {
    let mut command = Command::new(python);
    command.arg("-c").arg(PROGRAM).arg(&import.name).arg(part);
    let options = [
        ("--subset", &import.subset),
        ("--cache-dir", &import.cache_dir),
        ("--data-dir", &import.data_dir),
    ];
    for (option, value) in options {
        if let Some(value) = value {
            command.arg(format!("{option}={value}"));
        }
    }
    if import.trust_remote_code {
        command.arg("--trust-remote-code");
    }
    if let Some(token) = &import.token {
        // Not as an argument, which everybody on the machine can read.
        command.env("HF_TOKEN", token);
    }
    command.envs(variables.iter().copied());
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| unknown(&format!("{}: {error}", python.display())))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(unknown(&format!("{}: {}", import.name, complaint(&output)))),
    }
}

/// The name of a Python that runs.
fn python() -> Result<PathBuf, ImporterError> {
    let runs = |name: &&str| succeeds(Command::new(name).arg("--version"));
    let found = ["python3", "python"].into_iter().find(runs);
    found
        .map(PathBuf::from)
        .ok_or(ImporterError::PythonNotInstalled)
}

/// The Python of an environment with the library, which is made if it is not there.
fn environment(python: &Path, base_dir: &Path) -> Result<PathBuf, ImporterError> {
    let folder = base_dir.join("venv");
    let own = match cfg!(windows) {
        true => folder.join("Scripts").join("python.exe"),
        false => folder.join("bin").join("python3"),
    };
    // An environment may be there without the library, if making it was interrupted.
    if !succeeds(Command::new(&own).args(["-c", "import pip"]))
        && !succeeds(Command::new(python).args(["-m", "venv"]).arg(&folder))
    {
        return Err(ImporterError::VenvNotInitialized);
    }
    if !succeeds(Command::new(&own).args(["-c", "import datasets"])) {
        let install = Command::new(&own)
            .args(["-m", "pip", "install", "--quiet", LIBRARY])
            .output();
        let install = install
            .map_err(|error| ImporterError::FailToDownloadPythonDependencies(error.to_string()))?;
        if !install.status.success() {
            return Err(ImporterError::FailToDownloadPythonDependencies(complaint(
                &install,
            )));
        }
    }
    Ok(own)
}

fn succeeds(command: &mut Command) -> bool {
    let silent = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// The end of what a program complained of, where Python says what is wrong.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let end = &lines[lines.len().saturating_sub(5)..];
    match end.is_empty() {
        true => output.status.to_string(),
        false => end.join("\n"),
    }
}

fn unknown(text: &str) -> ImporterError {
    ImporterError::Unknown(text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::{Dataset, SqliteDataset};

    #[derive(Clone, Debug, Deserialize, PartialEq)]
    struct Item {
        text: String,
        label: u8,
        good: bool,
        score: Option<f32>,
        tokens: Vec<u32>,
        audio_bytes: Vec<u8>,
    }

    /// Stands for the library, which comes from a network.
    fn library() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/huggingface")
    }

    #[test]
    fn what_python_imports_is_read_with_its_types() {
        let Ok(python) = python() else {
            println!("not run: there is no Python");
            return;
        };
        let dir = tempfile::tempdir().expect("a folder can be made");
        let file = dir.path().join("import.db");
        let import = Import {
            name: "some/items".into(),
            subset: Some("small".into()),
            ..Import::default()
        };
        import_with(&python, &import, &file, &[("PYTHONPATH", &library())])
            .expect("Python imports it");
        let train = SqliteDataset::<Item>::from_db_file(&file, "train").expect("it was imported");
        let items = train.get_many(vec![1, 0]).expect("it can be read");
        let expected = |label, score, audio_bytes| Item {
            text: format!("some/items small {label}"),
            label,
            good: label == 1,
            score,
            tokens: vec![1, 2, u32::from(label)],
            audio_bytes,
        };
        assert_eq!(
            items,
            [
                expected(1, None, vec![0, 255]),
                expected(0, Some(0.5), vec![])
            ]
        );
        let test = SqliteDataset::<Item>::from_db_file(&file, "test").expect("it was imported");
        assert_eq!(test.len(), 0);
    }

    #[test]
    fn what_python_complains_of_is_the_error() {
        let Ok(python) = python() else {
            println!("not run: there is no Python");
            return;
        };
        let dir = tempfile::tempdir().expect("a folder can be made");
        let import = Import {
            name: "no/such".into(),
            ..Import::default()
        };
        let error = import_with(
            &python,
            &import,
            &dir.path().join("import.db"),
            &[("PYTHONPATH", &library())],
        );
        let error = error.expect_err("it is not there").to_string();
        assert!(
            error.contains("no/such: ") && error.contains("there is no dataset no/such"),
            "{error}"
        );
    }
}
