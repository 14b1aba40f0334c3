//! A file that appears under its name in one step, complete or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;
use crate::error::io;

/// A file that appears under its name in one step, complete or not at all.
///
/// It is written beside its target under another name. Dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    temporary: PathBuf,
    file: File,
    /// Whether the temporary name is gone.
    moved: bool,
}

impl AtomicFile {
    /// Starts a file that will appear as `target`. Write to the [`File`], then commit.
    ///
    /// # Errors
    /// [`Error::IoError`] if the directory of `target` does not exist or cannot be written.
    pub fn create(target: &Path) -> Result<(Self, File), Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some(name) = target.file_name() else {
            return Err(Error::IoError(format!(
                "'{}' names no file",
                target.display()
            )));
        };
        // Process and count make the name unique here; `create_new` refuses what others left behind.
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut temporary = name.to_os_string();
        temporary.push(format!(".{}-{count}.tmp", std::process::id()));
        let temporary = target.with_file_name(temporary);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .map_err(|error| io("create", &temporary, error))?;
        let this = Self {
            target: target.into(),
            temporary,
            file,
            moved: false,
        };
        let file = this
            .file
            .try_clone()
            .map_err(|error| io("write", &this.temporary, error))?;
        Ok((this, file))
    }

    /// The name under which the file is written until the commit.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file its name and replaces what had it. Returns when the content is on the disk.
    ///
    /// # Errors
    /// [`Error::IoError`]; what had the name is then untouched.
    pub fn commit(mut self) -> Result<(), Error> {
        self.sync()?;
        fs::rename(&self.temporary, &self.target)
            .map_err(|error| io("replace", &self.target, error))?;
        self.moved = true;
        self.sync_directory();
        Ok(())
    }

    /// Gives the file its name, unless a file has it. Returns when the content is on the disk.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`] if the name is taken, [`Error::IoError`] for other failures.
    pub fn commit_new(self) -> Result<(), Error> {
        self.sync()?;
        // A link is the one way to give a name that never replaces. The drop removes the other name.
        match fs::hard_link(&self.temporary, &self.target) {
            Ok(()) => {
                self.sync_directory();
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(self.exists()),
            // File systems without links: take the name with an empty file first.
            Err(_) => match File::create_new(&self.target) {
                Ok(_) => self.commit(),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(self.exists()),
                Err(error) => Err(io("create", &self.target, error)),
            },
        }
    }

    fn exists(&self) -> Error {
        Error::AlreadyExists(self.target.display().to_string())
    }

    fn sync(&self) -> Result<(), Error> {
        self.file
            .sync_all()
            .map_err(|error| io("write", &self.temporary, error))
    }

    /// Makes the new name durable where directories can be synced; elsewhere the system does it in its own time.
    fn sync_directory(&self) {
        let parent = self
            .target
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        if let Ok(directory) = File::open(parent.unwrap_or(Path::new("."))) {
            let _ = directory.sync_all();
        }
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.moved {
            // There is nobody to tell, and a file left over harms nothing.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
