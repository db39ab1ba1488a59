//! The one error type of the crate.
//!
//! `Display` names the operation and the object it was applied to and never repeats the source; the source is what
//! the binding hands to JavaScript as `cause`.

use std::any::Any;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong, named for what happened.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the names of the fields and the messages say what they hold")]
#[non_exhaustive]
pub enum Error {
    /// A key with no segment in it.
    #[error("Storage key must not be empty")]
    EmptyKey,

    /// A key that no backend accepts.
    #[error("Invalid storage key '{key}': {reason}")]
    InvalidKey { key: String, reason: &'static str },

    /// A list or namespace prefix that no backend accepts.
    #[error("Invalid storage prefix '{prefix}': {reason}")]
    InvalidPrefix { prefix: String, reason: &'static str },

    /// A storage that cannot be set up as asked.
    #[error("{0}")]
    InvalidStorage(String),

    /// The value was not stored; an older value, if any, is still there.
    #[error("Failed to write '{key}' to local storage")]
    Write { key: String, source: io::Error },

    /// The value exists or may exist and could not be read.
    #[error("Failed to read '{key}' from local storage")]
    Read { key: String, source: io::Error },

    /// The value could not be deleted.
    #[error("Failed to delete '{key}' from local storage")]
    Delete { key: String, source: io::Error },

    /// A folder under the prefix could not be listed.
    #[error("Failed to list local storage under '{prefix}'")]
    List { prefix: String, source: io::Error },

    /// The value was not stored; an older value, if any, is still there.
    #[error("Failed to write '{key}' to S3 bucket '{bucket}'")]
    S3Write { key: String, bucket: String, source: Fault },

    /// The value exists or may exist and could not be read.
    #[error("Failed to read '{key}' from S3 bucket '{bucket}'")]
    S3Read { key: String, bucket: String, source: Fault },

    /// The value could not be deleted.
    #[error("Failed to delete '{key}' from S3 bucket '{bucket}'")]
    S3Delete { key: String, bucket: String, source: Fault },

    /// The objects under the prefix could not be listed.
    #[error("Failed to list S3 bucket '{bucket}' under '{prefix}'")]
    S3List { prefix: String, bucket: String, source: Fault },

    /// A memory store was asked for something it cannot be or do; the message says what.
    #[error("TestMemoryStore: {0}")]
    Memory(&'static str),

    /// Metadata that the record format cannot hold.
    #[error("TestMemoryStore: metadata cannot be stored: {problem}.")]
    MemoryMetadata { problem: &'static str },

    /// The backing file of a memory store holds something other than JSON.
    #[error("TestMemoryStore: invalid JSON in {path} at {position}: {problem}", path = path.display())]
    MemoryJson { path: PathBuf, position: Position, problem: &'static str },

    /// The backing file of a memory store holds JSON that is not an array of records.
    #[error("TestMemoryStore: invalid backing file {path}: {problem}", path = path.display())]
    MemoryRecords { path: PathBuf, problem: String },

    /// The backing file of a memory store could not be read.
    #[error("TestMemoryStore: failed to read {path}", path = path.display())]
    MemoryRead { path: PathBuf, source: io::Error },

    /// The backing file of a memory store could not be replaced; it is as it was.
    #[error("TestMemoryStore: failed to write {path}", path = path.display())]
    MemoryWrite { path: PathBuf, source: io::Error },

    /// The value is stored, but searches will not find it, or find what it was before.
    #[error(
        "Wrote '{key}' but failed to index it: it is stored, and not indexed until it is written again or backfilled"
    )]
    NotIndexed { key: String, source: Fault },

    /// The value is gone, and searches leave it out; the index still holds its words.
    #[error("Deleted '{key}' but failed to take it out of the index")]
    NotUnindexed { key: String, source: Fault },

    /// A search index could not be used.
    #[error("Failed to {operation} the search index {path}", path = path.display())]
    Index { operation: &'static str, path: PathBuf, source: Fault },

    /// A storage written in JavaScript reported a fault, which its caller keeps.
    #[error("a storage that is not ours failed")]
    Foreign,

    /// A defect of this package, contained so that the process lives on.
    #[error("strands-native failed internally: {0}. Please report this")]
    Internal(String),
}

impl Error {
    /// What remains of a panic.
    pub(crate) fn from_panic(panic: &(dyn Any + Send)) -> Self {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        Error::Internal(message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default())
    }
}

/// A fault that another system reported: a database, or a service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The name that the system gives it, such as `SQLITE_BUSY`.
    pub code: String,
    /// What the system says about it.
    pub message: String,
    /// By what the system finds the request in its log, if it has one.
    pub request_id: Option<String>,
}

/// A place in a text, counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Lines end in a line feed.
    pub line: usize,
    /// A byte order mark does not count.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
