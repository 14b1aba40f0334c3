//! Writing items into a database.

use core::marker::PhantomData;
use core::num::NonZero;
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use turso_core::{Connection, Result as SqlResult, Statement, Value};

use super::database::{Database, quoted};
use super::{Result, SqliteDatasetError};

/// Items that are written together: many enough that a commit costs little, few enough to be held in memory.
const TOGETHER: usize = 1024;

/// Writes items, from any number of threads.
///
/// The database is written beside its place and takes it when it is complete: whoever looks there finds all of it or
/// nothing. A writer that ends before removes what it wrote.
pub struct SqliteDatasetWriter<I> {
    path: PathBuf,
    part: PathBuf,
    overwrite: bool,
    /// `None` when the database is complete.
    open: Mutex<Option<Open>>,
    item: PhantomData<fn(I)>,
}

/// A database that is being written. The statements go before the database that they speak to.
struct Open {
    splits: HashMap<String, Split>,
    uncommitted: usize,
    connection: Arc<Connection>,
    _database: Database,
}

struct Split {
    insert: Statement,
    len: usize,
}

impl<I> SqliteDatasetWriter<I>
where
    I: Clone + Send + Sync + Serialize,
{
    /// Starts the database `db_file`; its folder is made if it is not there.
    ///
    /// # Errors
    /// If there is one that is not to be replaced, or none can be made.
    pub fn new<P: AsRef<Path>>(db_file: P, overwrite: bool) -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let path = db_file.as_ref().to_owned();
        if path.exists() && !overwrite {
            return Err(SqliteDatasetError::FileExists(path));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| super::error::named(folder, error))?;
        }
        let (process, count) = (process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut part = path.clone().into_os_string();
        part.push(format!(".part-{process}-{count}"));
        let part = PathBuf::from(part);
        let database = Database::write(&part)?;
        let connection = database.with(|connection| {
            // Nobody reads it before it is complete and on the disk, so no commit on the way need be.
            connection.execute("PRAGMA synchronous = OFF")?;
            Ok(connection.clone())
        })?;
        Ok(Self {
            path,
            part,
            overwrite,
            open: Mutex::new(Some(Open {
                splits: HashMap::new(),
                uncommitted: 0,
                connection,
                _database: database,
            })),
            item: PhantomData,
        })
    }

    /// Appends `item` to `split` and gives its index.
    ///
    /// # Errors
    /// If it cannot be written, or the database is complete already.
    pub fn write(&self, split: &str, item: &I) -> Result<usize> {
        let bytes = rmp_serde::to_vec(item)?;
        // An item that could not be written is rolled back by the engine.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open
            .as_mut()
            .ok_or("the database is complete: no item can be added")?;
        Ok(open.write(split, &bytes)?)
    }

    /// Puts the database in its place.
    ///
    /// # Errors
    /// If it cannot be written to the end, or another has taken the place that is not to be replaced.
    pub fn set_completed(&mut self) -> Result<()> {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(mut open) = open.take() else {
            return Ok(());
        };
        open.commit()?;
        open.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")?;
        drop(open);
        if self.path.exists() && !self.overwrite {
            return Err(SqliteDatasetError::FileExists(self.path.clone()));
        }
        let synced = File::open(&self.part).and_then(|file| file.sync_all());
        synced
            .and_then(|()| fs::rename(&self.part, &self.path))
            .map_err(SqliteDatasetError::PersistDbFile)
    }
}

impl Open {
    fn write(&mut self, split: &str, bytes: &[u8]) -> SqlResult<usize> {
        if self.uncommitted == 0 {
            self.connection.execute("BEGIN")?;
        }
        if !self.splits.contains_key(split) {
            let table = quoted(split);
            let create =
                format!("CREATE TABLE {table} (row_id INTEGER PRIMARY KEY, item BLOB NOT NULL)");
            self.connection.execute(create)?;
            let insert = format!("INSERT INTO {table} (row_id, item) VALUES (?1, ?2)");
            let insert = self.connection.prepare(insert)?;
            self.splits
                .insert(split.to_owned(), Split { insert, len: 0 });
        }
        let split = self.splits.get_mut(split).expect("it was inserted above");
        let blob = Value::from_slice(bytes).map_err(|_| turso_core::LimboError::OutOfMemory)?;
        split.insert.reset()?;
        split
            .insert
            .bind_at(NonZero::<usize>::MIN, Value::from_i64(split.len as i64 + 1))?;
        split
            .insert
            .bind_at(NonZero::<usize>::MIN.saturating_add(1), blob)?;
        split.insert.run_ignore_rows()?;
        let index = split.len;
        split.len += 1;
        self.uncommitted += 1;
        if self.uncommitted == TOGETHER {
            self.commit()?;
        }
        Ok(index)
    }

    fn commit(&mut self) -> SqlResult<()> {
        if self.uncommitted > 0 {
            self.splits
                .values_mut()
                .try_for_each(|split| split.insert.reset())?;
            self.connection.execute("COMMIT")?;
            self.uncommitted = 0;
        }
        Ok(())
    }
}

impl<I> Drop for SqliteDatasetWriter<I> {
    fn drop(&mut self) {
        *self.open.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        for suffix in ["", "-wal", "-shm", "-tshm"] {
            let mut file = self.part.clone().into_os_string();
            file.push(suffix);
            // Most of them are not there.
            let _ = fs::remove_file(file);
        }
    }
}
