//! Memories in one JSON file, found by the words they share with a question.
//!
//! The counterpart of the SDKs' `TestMemoryStore`: the same file, the same ranking, the same identity of contents.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::json::{self, Value};
use super::memory_file::MemoryFile;
pub use super::recall::Draft;
use super::records::Record;
use crate::error::{Error, Result};
use crate::search::normalization::Normalization;
use crate::search::tokenize::TokenSet;
use crate::write_queue::{Batched, Done};
use crate::wtf8::Wtf8;

/// How many memories a search gives if nobody says (both SDKs).
pub const DEFAULT_MAX_SEARCH_RESULTS: usize = 10;

/// A memory that shares words with the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// What was remembered.
    pub content: Wtf8<'static>,
    /// The fields of the metadata object, as they stand in the file.
    pub metadata: Vec<(Wtf8<'static>, Value)>,
    /// How many distinct words of the query it holds.
    pub score: u32,
}

/// A store of memories.
pub struct TestMemoryStore {
    location: Location,
    normalization: Normalization,
    /// The home directory as it was when it was first needed.
    home: OnceLock<PathBuf>,
    /// The file in use, which keeps what was read of it. A relative path may lead to another one later.
    file: Mutex<Arc<MemoryFile>>,
}

/// Where the memories of a store are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In this process only.
    InMemory,
    /// In this file. A relative path is relative to the current directory at the time of each call.
    File(PathBuf),
    /// In `~/.strands/memory`, in the file of this name.
    Default(String),
}

impl Location {
    /// Where both SDKs keep the store of this name if no path is given.
    pub fn default_for(name: &str) -> Self {
        Location::Default(format!("{}.json", sanitize_name(name)))
    }
}

impl TestMemoryStore {
    /// A store at `location` that compares words in the given form. Touches no file.
    pub fn new(location: Location, normalization: Normalization) -> Self {
        let file = Mutex::new(MemoryFile::in_memory(normalization));
        TestMemoryStore { location, normalization, home: OnceLock::new(), file }
    }

    /// The present state of the store, from which to search and to which to add.
    ///
    /// # Errors
    /// [`Error::Memory`] if the home directory cannot be told.
    pub fn open(&self) -> Result<OpenStore> {
        let path = match &self.location {
            Location::InMemory => None,
            Location::File(path) => Some(absolute(&directory_and_name(path))?),
            Location::Default(file_name) => {
                let home = match self.home.get() {
                    Some(home) => home,
                    None => {
                        let home = std::env::home_dir().ok_or(Error::Memory(NO_HOME))?;
                        self.home.get_or_init(|| home)
                    }
                };
                Some(absolute(&home.join(".strands").join("memory").join(file_name))?)
            }
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = path
            && file.path().map(Path::as_os_str) != Some(path.as_os_str())
        {
            *file = MemoryFile::at(&path, self.normalization);
        }
        Ok(OpenStore { file: Arc::clone(&file) })
    }
}

const NO_HOME: &str = "the home directory cannot be told. Set the HOME environment variable, or give the store a path.";

/// A store whose file is settled upon.
#[derive(Clone)]
pub struct OpenStore {
    file: Arc<MemoryFile>,
}

impl OpenStore {
    /// The best `limit` memories for `query`: those with most of its words first, then the newest, then those last in
    /// the file. A query without words finds nothing and reads nothing. May block.
    ///
    /// # Errors
    /// The file cannot be read, or is not a memory file.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Memory>> {
        if TokenSet::of(query).is_empty() {
            return Ok(Vec::new());
        }
        self.file.with_recall(|recall| {
            let found = recall.search(query, limit).into_iter();
            let memory = |(record, score): (Record<'_>, u32)| Memory {
                content: record.content.into_owned(),
                metadata: match record.metadata.map(json::value_of) {
                    Some(Value::Object(fields)) => fields,
                    _ => Vec::new(),
                },
                score,
            };
            found.map(memory).collect()
        })
    }
}

/// Additions, answered with the id of the memory, or with that of the one which has the same trimmed content.
impl Batched for OpenStore {
    type Change = Draft;
    type Output = String;

    fn enqueue(&self, draft: Draft, done: Done<String>) {
        self.file.queue().push(draft, done);
    }

    fn write_waiting(&self) {
        self.file.write_waiting();
    }

    fn give_up(&self, error: Error) {
        self.file.queue().give_up(error);
    }

    fn needs_writer(&self) -> bool {
        self.file.queue().needs_writer()
    }

    fn is_same(&self, other: &OpenStore) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
    }
}

/// Both SDKs take a path apart into directory and name, so that a slash at its end means nothing.
fn directory_and_name(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => path.to_owned(),
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|source| Error::MemoryRead { path: path.to_owned(), source })
}

/// The TypeScript SDK's rule: what is left of a name once it cannot leave its directory, by UTF-16 code unit.
fn sanitize_name(name: &str) -> String {
    let mut sanitized = String::with_capacity(name.len());
    for char in name.replace("..", "_").chars() {
        match char {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' => sanitized.push(char),
            _ => (0..char.len_utf16()).for_each(|_| sanitized.push('_')),
        }
    }
    sanitized
}

#[cfg(test)]
mod tests;
