//! The few things that datasets ask of the engine, without its panics.
//!
//! The engine checks what it reads by assertions here and there, so that a damaged file may panic in it: that becomes
//! an error, and the connection on which it happened is not used again.

use core::fmt;
use core::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use turso_core::{
    Connection, LimboError, OpenFlags, OpenOptions, PlatformIO, Result as SqlResult, SqliteDialect,
    Value,
};

use super::{RowError, SqliteDatasetError};

type Result<T> = core::result::Result<T, SqliteDatasetError>;

/// An open database with a connection for each thread that reads at the same time.
pub(super) struct Database {
    path: PathBuf,
    engine: Arc<turso_core::Database>,
    idle: Mutex<Vec<Arc<Connection>>>,
}

impl Database {
    /// Opens the file to read it.
    pub fn read(path: &Path) -> Result<Self> {
        Self::open(path, OpenFlags::ReadOnly)
    }

    /// Opens the file to write it, which is made if it is not there.
    pub fn write(path: &Path) -> Result<Self> {
        Self::open(path, OpenFlags::Create)
    }

    fn open(path: &Path, flags: OpenFlags) -> Result<Self> {
        let name = path
            .to_str()
            .ok_or("the path of a database must be UTF-8")?;
        let engine = guarded(path, || {
            let options = OpenOptions::new(Arc::new(SqliteDialect)).flags(flags);
            turso_core::Database::open(Arc::new(PlatformIO::new()?), name, options)
        })?;
        let (path, idle) = (path.to_owned(), Mutex::default());
        Ok(Self { path, engine, idle })
    }

    /// Does something on a connection that nobody else uses meanwhile.
    pub fn with<T>(&self, action: impl FnOnce(&Arc<Connection>) -> SqlResult<T>) -> Result<T> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => guarded(&self.path, || self.engine.connect()).map_err(|error| match error {
                SqliteDatasetError::Sql(error) => SqliteDatasetError::ConnectionPool(error),
                error => error,
            })?,
        };
        let answer = guarded(&self.path, || action(&connection))?;
        self.idle().push(connection);
        Ok(answer)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Connection>>> {
        // Pushing and popping leave no state half-written.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the columns that `query` gives.
    pub fn columns(&self, query: &str) -> Result<Vec<String>> {
        self.with(|connection| {
            let statement = connection.prepare(query)?;
            let name = |index| statement.get_column_name(index).into_owned();
            Ok((0..statement.num_columns()).map(name).collect())
        })
    }

    /// The rows that `query` gives for each of the ids, one after the other.
    pub fn rows(
        &self,
        query: &str,
        ids: impl IntoIterator<Item = Option<i64>>,
    ) -> Result<Vec<Vec<Value>>> {
        self.with(|connection| {
            let mut statement = connection.prepare(query)?;
            let mut rows = Vec::new();
            for id in ids {
                if let Some(id) = id {
                    statement.reset()?;
                    statement.bind_at(NonZero::<usize>::MIN, Value::from_i64(id))?;
                }
                statement.run_with_row_callback(|row| {
                    rows.push(row.get_values().cloned().collect());
                    Ok(())
                })?;
            }
            Ok(rows)
        })
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.path).finish()
    }
}

/// Names the file in what the engine says, or in what it panics with.
fn guarded<T>(path: &Path, action: impl FnOnce() -> SqlResult<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(action)) {
        Ok(Ok(answer)) => Ok(answer),
        // What says no more than its kind is told apart by programs; it keeps its kind, and the file is that of the call.
        Ok(Err(error @ (LimboError::Busy | LimboError::DatabaseFull))) => Err(error.into()),
        Ok(Err(error)) => {
            let text = format!("{}: {error}", path.display());
            Err(SqliteDatasetError::Sql(LimboError::SqlError(text)))
        }
        Err(_) => Err(SqliteDatasetError::Row(RowError::Message(format!(
            "{}: the database is damaged",
            path.display()
        )))),
    }
}

/// A name as SQL quotes it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
