//! Full-text search ranked by BM25, in an index file shared with the Python SDK.
//!
//! [`Bm25Index`] is one index file of one storage. It opens nothing before it has to, and what it has open is closed by
//! [`Bm25Index::close`]; the next call opens it again.
//!
//! # Writing and reading
//! Changes wait in a [queue](crate::write_queue) and are written by one connection, a transaction for all that wait. Searches
//! have connections of their own, one for each that goes on at the same time: SQLite lets them read while another
//! connection, of this process or any other, writes.
//!
//! # Truth
//! The index is derived from the storage. Hits whose entries are gone from it are left out, whoever removed them. A file that
//! is damaged or no index is set aside under another name, and the search that finds it so, or the next one, makes a new one
//! from the storage; a file that is merely busy, or cannot be written, never is.

mod backfill;
mod database;
mod indexes;
mod query;
mod transaction;

use std::fmt;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use uuid::Uuid;

pub use backfill::{Backfilled, Progress};
use database::{Database, Trouble};
pub use indexes::Indexes;
use query::live_hits;
pub use query::{Bm25Hit, Bm25Query};
use transaction::Writing;

use super::normalization::Normalization;
use crate::atomic_file::{is_missing, same_file};
use crate::error::{Error, Fault, Result};
use crate::file_lock::FileLock;
use crate::storage::Storage;
use crate::storage::key::Key;
use crate::write_queue::{Answer, Batched, Done, WriteQueue};

/// Connections that wait for the next search.
const MOST_IDLE_READERS: usize = 4;

/// A change of an index.
pub struct Change {
    /// The key of the entry.
    pub key: Key,
    /// Its bytes, or `None` if it was deleted.
    pub data: Option<Bytes>,
    /// Where that happened, if the change is to be left out where the storage says otherwise by the time it is written: of
    /// two writers of one entry, the one whose bytes were the last need not be the last to come here.
    pub happened_in: Option<Arc<dyn Storage>>,
}

impl Change {
    /// Whether the storage says otherwise. One that cannot be asked, or not for little, says nothing: a request for each
    /// change would be made while nobody else can write to the index.
    fn is_outdated(&self) -> bool {
        let Some(storage) = self.happened_in.as_ref().filter(|storage| storage.is_local()) else { return false };
        match &self.data {
            Some(data) => storage.read(&self.key).is_ok_and(|present| present.as_ref() != Some(data)),
            None => storage.exists(&self.key).unwrap_or(false),
        }
    }
}

/// The index file of one storage.
pub struct Bm25Index {
    path: PathBuf,
    /// The folder of the storage, if it has one.
    folder: Option<PathBuf>,
    normalization: Normalization,
    queue: WriteQueue<Change, Vec<SetAside>>,
    /// Held while writing.
    writer: Mutex<Option<Database>>,
    /// Those that no search is using.
    readers: Mutex<Vec<Database>>,
    /// How often it was closed.
    closed: AtomicU64,
    /// Index files that were set aside, until somebody is told.
    set_aside: Mutex<Vec<SetAside>>,
}

/// An index file that was set aside.
#[derive(Clone, Debug)]
pub struct SetAside {
    /// Where it was.
    pub path: PathBuf,
    /// Where it is now.
    pub now: PathBuf,
    /// What was wrong with it.
    pub fault: Fault,
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SetAside { path, now, fault } = self;
        let (path, now) = (path.display(), now.display());
        write!(f, "The search index {path} could not be used ({fault}). It was set aside as {now}, and is made anew")
    }
}

/// Where the index of a folder is: beside it, under a name that both SDKs know as internal.
pub fn index_path(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let parent = folder.parent().unwrap_or(folder);
    parent.join(format!(".__strands_{name}-fts5.sqlite"))
}

/// Whether an entry is hidden from searches: its name begins with a dot (the Python SDK's rule).
pub fn is_hidden(key: &Key) -> bool {
    key.as_str().rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}

impl Bm25Index {
    /// The index at `path` of a storage whose entries are in `folder`, if they are in one. Opens nothing.
    pub fn new(path: PathBuf, folder: Option<PathBuf>, normalization: Normalization) -> Self {
        Bm25Index {
            path,
            folder,
            normalization,
            queue: WriteQueue::default(),
            writer: Mutex::default(),
            readers: Mutex::default(),
            closed: AtomicU64::new(0),
            set_aside: Mutex::default(),
        }
    }

    /// Where the index is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The entries of `storage` that match, best first. Without an index there are none. May block.
    ///
    /// # Errors
    /// [`Error::Index`], or those of [`Storage::existing`].
    pub fn search(&self, storage: &dyn Storage, query: &Bm25Query) -> Result<Vec<Bm25Hit>> {
        let Some(matched) = &query.matched else { return Ok(Vec::new()) };
        let hits_in = |reader: &Database| live_hits(&reader.read()?, storage, matched, query);
        // Both in one: damage may show only where something is looked for, and what then takes the index's place is empty.
        let hits = self.reading(|reader| if reader.is_incomplete()? { Ok(None) } else { hits_in(reader).map(Some) })?;
        if let Some(hits) = hits.unwrap_or_else(|| Some(Vec::new())) {
            return Ok(hits);
        }
        match self.backfill(storage, &mut |_| Ok(())) {
            // Where nothing can be written, what there is must do.
            Ok(_) | Err(Error::Index { .. }) => {}
            Err(error) => return Err(error),
        }
        let hits = self.reading(hits_in)?;
        Ok(hits.unwrap_or_default())
    }

    /// Closes what is open, once nothing waits to be written. Searches that go on come to their end. May block.
    pub fn close(&self) {
        self.write_waiting();
        *lock(&self.writer) = None;
        self.closed.fetch_add(1, Ordering::Relaxed);
        lock(&self.readers).clear();
    }

    /// The index files that were set aside since the last call.
    pub fn take_set_aside(&self) -> Vec<SetAside> {
        mem::take(&mut lock(&self.set_aside))
    }

    /// Writes until nothing waits, unless another thread is at it. May block.
    fn write_waiting(&self) {
        self.queue.write_waiting(|changes| self.write(changes));
    }

    fn write(&self, changes: &[Change]) -> Vec<Answer<Vec<SetAside>>> {
        let written = self.writing(|writing| changes.iter().try_for_each(|change| self.apply(change, writing)));
        match written {
            // Whoever comes first is to be told.
            Ok(()) => changes.iter().map(|_| Ok(self.take_set_aside())).collect(),
            // One that cannot be written does not keep the others from it. None can while the database is busy.
            Err(trouble @ Trouble::Failed(_)) if changes.len() > 1 && !trouble.is_busy() => {
                changes.iter().flat_map(|change| self.write(std::slice::from_ref(change))).collect()
            }
            Err(Trouble::Storage(error)) => vec![Err(Arc::new(*error)); changes.len()],
            Err(trouble) => {
                let fault = trouble.into_fault();
                let failed = |change: &Change| {
                    let (key, source) = (change.key.to_string(), fault.clone());
                    match change.data {
                        Some(_) => Error::NotIndexed { key, source },
                        None => Error::NotUnindexed { key, source },
                    }
                };
                changes.iter().map(|change| Err(Arc::new(failed(change)))).collect()
            }
        }
    }

    fn apply(&self, change: &Change, writing: &Writing<'_>) -> database::Result<()> {
        match &change.data {
            _ if change.is_outdated() => Ok(()),
            Some(data) => self.put(writing, &change.key, data, &database::hash(data)),
            None => writing.remove(change.key.as_str()),
        }
    }

    fn put(&self, writing: &Writing<'_>, key: &Key, data: &[u8], hash: &str) -> database::Result<()> {
        writing.put(key.as_str(), hash, || self.normalization.apply(&String::from_utf8_lossy(data)).into_owned())
    }

    /// Does `work` in a transaction, and once more if the index had to be set aside.
    fn writing<T>(&self, work: impl Fn(&Writing<'_>) -> database::Result<T>) -> database::Result<T> {
        self.writing_in(None, work).map(|(output, _)| output)
    }

    /// The same, and which file it was done in: nothing is done in another than the one that is `expected`, if one is.
    fn writing_in<T>(
        &self,
        expected: Option<&Metadata>,
        work: impl Fn(&Writing<'_>) -> database::Result<T>,
    ) -> database::Result<(T, Option<Metadata>)> {
        let mut writer = lock(&self.writer);
        let before = fs::metadata(&self.path).ok();
        match self.transact(&mut writer, expected, &work) {
            Err(Trouble::Broken(fault)) => {
                *writer = None;
                self.put_aside(before.as_ref(), fault)?;
                self.transact(&mut writer, expected, &work)
            }
            done => done,
        }
    }

    fn transact<T>(
        &self,
        writer: &mut Option<Database>,
        expected: Option<&Metadata>,
        work: impl Fn(&Writing<'_>) -> database::Result<T>,
    ) -> database::Result<(T, Option<Metadata>)> {
        // One that was removed or replaced since is the index of nothing.
        let file = fs::metadata(&self.path).ok();
        let open = writer.take().filter(|open| file.is_some_and(|file| open.is_of(&file)));
        let writer = match open {
            Some(open) => writer.insert(open),
            None => {
                let directory = self.path.parent().unwrap_or(&self.path);
                fs::create_dir_all(directory).map_err(|error| database::cannot_open(&error))?;
                writer.insert(Database::create(&self.path, self.folder.as_deref())?)
            }
        };
        let file = writer.file().cloned();
        if let (Some(expected), Some(file)) = (expected, &file)
            && !is_same_index(expected, file)
        {
            return Err(Trouble::Replaced);
        }
        let writing = writer.begin()?;
        let output = work(&writing)?;
        writing.commit()?;
        Ok((output, file))
    }

    /// What `read` gives, and once more if the index had to be set aside; `None` if there is no index.
    fn reading<T>(&self, read: impl Fn(&Database) -> database::Result<T>) -> Result<Option<T>> {
        let attempt = |file: &Metadata| {
            let closed = self.closed.load(Ordering::Relaxed);
            let idle = lock(&self.readers).pop().filter(|idle| idle.is_of(file));
            let Some(reader) = idle.map_or_else(|| Database::open(&self.path), |idle| Ok(Some(idle)))? else {
                return Ok(None);
            };
            let output = read(&reader)?;
            let mut readers = lock(&self.readers);
            if closed == self.closed.load(Ordering::Relaxed) && readers.len() < MOST_IDLE_READERS {
                readers.push(reader);
            }
            Ok(Some(output))
        };
        let file = match fs::metadata(&self.path) {
            // Nor can there be one under a name that is too long.
            Err(error) if is_missing(&error) || error.kind() == ErrorKind::InvalidFilename => return Ok(None),
            file => file.map_err(|error| self.failed("search", database::cannot_open(&error)))?,
        };
        let outcome = match attempt(&file) {
            Err(Trouble::Broken(fault)) => {
                let put_aside = {
                    let mut writer = lock(&self.writer);
                    *writer = None;
                    self.put_aside(Some(&file), fault)
                };
                put_aside
                    .and_then(|()| attempt(&fs::metadata(&self.path).map_err(|error| database::cannot_open(&error))?))
            }
            outcome => outcome,
        };
        outcome.map_err(|trouble| self.failed("search", trouble))
    }

    /// Gives a file that is no index another name, and puts an index in its place that says of itself that it lacks
    /// entries. There is one at any moment, so that nobody takes the storage for one that was never indexed.
    fn put_aside(&self, broken: Option<&Metadata>, fault: Fault) -> database::Result<()> {
        lock(&self.readers).clear();
        // Of several that found it broken, one replaces it. The index itself must not be opened for a lock: closing it would
        // end those of SQLite. Where the directory cannot be locked, one may replace what another has just begun.
        let _turn = self.path.parent().and_then(|directory| FileLock::acquire(directory).ok());
        let is_still_there =
            |broken: &Metadata| fs::metadata(&self.path).is_ok_and(|present| same_file(&present, broken));
        // Another process may have been faster.
        if !broken.is_some_and(is_still_there) {
            return Ok(());
        }
        let id = Uuid::new_v4().simple().to_string();
        let now = with_suffix(&self.path, &format!(".broken-{id}"));
        let successor = with_suffix(&self.path, &format!(".new-{id}"));
        let replaced = Database::begin_incomplete(&successor, self.folder.as_deref()).and_then(|()| {
            // What SQLite keeps beside a database would be taken for that of the successor.
            for suffix in ["-wal", "-shm"] {
                match fs::rename(with_suffix(&self.path, suffix), with_suffix(&now, suffix)) {
                    Err(error) if !is_missing(&error) => return Err(database::cannot_open(&error)),
                    _ => {}
                }
            }
            // Where there are no second names, there is no index for a moment.
            let kept = fs::hard_link(&self.path, &now).or_else(|_| fs::rename(&self.path, &now));
            kept.and_then(|()| fs::rename(&successor, &self.path)).map_err(|error| database::cannot_open(&error))
        });
        if replaced.is_err() {
            // It may not even be there. What cannot be replaced is what there is to report.
            let _ = fs::remove_file(&successor);
            return Err(Trouble::Failed(fault));
        }
        lock(&self.set_aside).push(SetAside { path: self.path.clone(), now, fault });
        Ok(())
    }

    fn failed(&self, operation: &'static str, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Storage(error) => *error,
            trouble => Error::Index { operation, path: self.path.clone(), source: trouble.into_fault() },
        }
    }
}

/// Whether both are one file, which was not removed meanwhile: the number of one that was goes to the next.
fn is_same_index(left: &Metadata, right: &Metadata) -> bool {
    same_file(left, right) && left.created().ok() == right.created().ok()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes of an index, answered with what was set aside for them.
impl Batched for Arc<Bm25Index> {
    type Change = Change;
    type Output = Vec<SetAside>;

    fn enqueue(&self, change: Change, done: Done<Vec<SetAside>>) {
        self.queue.push(change, done);
    }

    fn write_waiting(&self) {
        Bm25Index::write_waiting(self);
    }

    fn give_up(&self, error: Error) {
        self.queue.give_up(error);
    }

    fn needs_writer(&self) -> bool {
        self.queue.needs_writer()
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self, other)
    }
}

#[cfg(test)]
mod tests;
