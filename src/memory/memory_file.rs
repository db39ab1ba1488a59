//! A memory file that many stores of this process share, and other processes too.
//!
//! # Reading
//! What was read is kept and trusted for as long as the file's stamp is the same and settled (see
//! [`crate::atomic_file`]): an unchanged file costs one look at its metadata. A file changed so recently that a second
//! change might not show is compared byte for byte.
//!
//! # Writing
//! Additions wait in a [queue](crate::write_queue), so that a burst of them costs a few rewrites. A round holds the lock
//! of the file, then the turn among the threads that may replace the snapshot; it reads the file again if anything else
//! wrote it, and replaces it. Readers go on with what was there before until the new file is in place.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, Weak};
use std::time::SystemTime;

use uuid::Uuid;

use super::recall::{Addition, Draft, Recall};
use crate::atomic_file::{self, Durability, Stamp, is_missing};
use crate::error::{Error, Result};
use crate::file_lock::FileLock;
use crate::search::normalization::Normalization;
use crate::write_queue::WriteQueue;

/// One file, or the memory of one store that has none.
pub struct MemoryFile {
    path: Option<PathBuf>,
    normalization: Normalization,
    /// `None` until the first use, and after a failure in the midst of a change.
    snapshot: RwLock<Option<Snapshot>>,
    /// Held by whoever may replace the snapshot.
    turn: Mutex<()>,
    /// Answered with the ids of the records.
    queue: WriteQueue<Draft, String>,
}

struct Snapshot {
    version: Version,
    recall: Recall,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Version {
    /// `None` if there is no file.
    stamp: Option<Stamp>,
    /// Whether the file cannot change without changing its stamp.
    settled: bool,
}

impl MemoryFile {
    /// Records that live and die with this value.
    pub fn in_memory(normalization: Normalization) -> Arc<Self> {
        Self::new(None, normalization)
    }

    /// The file at `path`, an absolute one; the same value for all that use it at the same time.
    ///
    /// Another spelling of the path, or another normalisation, gives another value, which is as safe as another
    /// process.
    pub fn at(path: &Path, normalization: Normalization) -> Arc<Self> {
        // By the letters of the path: paths that differ in a slash are equal, and may lead to different files.
        type Files = HashMap<(OsString, Normalization), Weak<MemoryFile>>;
        static OPEN: LazyLock<Mutex<Files>> = LazyLock::new(Mutex::default);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (path.as_os_str().to_owned(), normalization);
        if let Some(file) = open.get(&name).and_then(Weak::upgrade) {
            return file;
        }
        open.retain(|_, file| file.strong_count() > 0);
        let file = Self::new(Some(path.to_owned()), normalization);
        open.insert(name, Arc::downgrade(&file));
        file
    }

    fn new(path: Option<PathBuf>, normalization: Normalization) -> Arc<Self> {
        Arc::new(MemoryFile {
            path,
            normalization,
            snapshot: RwLock::new(None),
            turn: Mutex::new(()),
            queue: WriteQueue::default(),
        })
    }

    /// Where the file is, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Calls `use_recall` with the present records.
    ///
    /// # Errors
    /// The file cannot be read, or is not a memory file.
    pub fn with_recall<T>(&self, use_recall: impl FnOnce(&Recall) -> T) -> Result<T> {
        {
            let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(snapshot) = snapshot.as_ref()
                && snapshot.version.settled
                && snapshot.version.stamp == self.stamp()?
            {
                return Ok(use_recall(&snapshot.recall));
            }
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.refresh()?;
        let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
        let snapshot = snapshot.as_ref().expect("refreshed, and nobody else has the turn");
        Ok(use_recall(&snapshot.recall))
    }

    /// The additions that wait.
    pub fn queue(&self) -> &WriteQueue<Draft, String> {
        &self.queue
    }

    /// Writes until nothing waits, unless another thread is at it. May block.
    pub fn write_waiting(&self) {
        self.queue.write_waiting(|drafts| match self.add(drafts) {
            Ok(ids) => ids.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(Arc::new(error)); drafts.len()],
        });
    }

    /// Adds all drafts in one rewrite of the file, and gives the id of each.
    fn add(&self, drafts: &[Draft]) -> Result<Vec<String>> {
        loop {
            let lock = match &self.path {
                Some(path) => FileLock::acquire(path).map_err(|source| self.write_failed(source))?,
                None => None,
            };
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            self.refresh()?;
            self.change(|snapshot| snapshot.recall.lay_out());
            let (addition, version) = {
                let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
                let recall = &snapshot.as_ref().expect("refreshed, and nobody else has the turn").recall;
                let created_at = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
                let addition = recall.plan(drafts, &created_at, || Uuid::now_v7().to_string());
                if addition.text.is_empty() {
                    return Ok(addition.ids);
                }
                match self.write(recall, &addition, lock.as_ref()) {
                    // Another process made the file while there was none to lock.
                    Err(error) if lock.is_none() && error.kind() == io::ErrorKind::AlreadyExists => continue,
                    written => (addition, written.map_err(|source| self.write_failed(source))?),
                }
            };
            self.change(|snapshot| {
                snapshot.recall.append(&addition);
                snapshot.version = version;
            });
            return Ok(addition.ids);
        }
    }

    fn write(&self, recall: &Recall, addition: &Addition, lock: Option<&FileLock>) -> io::Result<Version> {
        let Some(path) = &self.path else { return Ok(Version { stamp: None, settled: true }) };
        let put = if lock.is_some() { atomic_file::replace } else { atomic_file::create };
        let written = put(path, &recall.parts_with(addition), Durability::Cached)?;
        Ok(Version { stamp: written.stamp, settled: written.settled })
    }

    fn write_failed(&self, source: io::Error) -> Error {
        Error::MemoryWrite { path: self.path.clone().unwrap_or_default(), source }
    }

    /// Changes the snapshot in a way that a panic cannot leave half done: it would be gone, and read again.
    fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        let mut guard = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut snapshot) = guard.take() {
            change(&mut snapshot);
            *guard = Some(snapshot);
        }
    }

    /// Makes the snapshot that of the file as it is now. The caller has the turn.
    fn refresh(&self) -> Result<()> {
        let Some(path) = &self.path else {
            let mut snapshot = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
            let version = Version { stamp: None, settled: true };
            snapshot.get_or_insert_with(|| Snapshot { version, recall: Recall::empty(self.normalization) });
            return Ok(());
        };
        let known = {
            let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
            snapshot.as_ref().map(|snapshot| snapshot.version)
        };
        if let Some(version) = known
            && version.settled
            && version.stamp == self.stamp()?
        {
            return Ok(());
        }
        let (bytes, version) = read(path).map_err(|source| Error::MemoryRead { path: path.clone(), source })?;
        let is_known = {
            let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
            let is_same = |snapshot: &Snapshot| match &bytes {
                Some(bytes) => snapshot.version.stamp.is_some() && snapshot.recall.bytes() == bytes.as_slice(),
                None => snapshot.version.stamp.is_none(),
            };
            snapshot.as_ref().is_some_and(is_same)
        };
        if is_known {
            self.change(|snapshot| snapshot.version = version);
            return Ok(());
        }
        let recall = match bytes {
            Some(bytes) => Recall::read(bytes, self.normalization),
            None => Ok(Recall::empty(self.normalization)),
        };
        let mut snapshot = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        match recall {
            Ok(recall) => {
                *snapshot = Some(Snapshot { version, recall });
                Ok(())
            }
            Err(fault) => {
                *snapshot = None;
                Err(fault.in_file(path.clone()))
            }
        }
    }

    fn stamp(&self) -> Result<Option<Stamp>> {
        let Some(path) = &self.path else { return Ok(None) };
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(source) => Err(Error::MemoryRead { path: path.clone(), source }),
        }
    }
}

/// The bytes of a file and their version; no bytes if there is no file.
fn read(path: &Path) -> io::Result<(Option<Vec<u8>>, Version)> {
    /// A file that is written to in place changes while it is read; after so many attempts it is taken as it is.
    const MOST_ATTEMPTS: u32 = 10;

    let gone = Ok((None, Version { stamp: None, settled: true }));
    // What is no file may have no end, or block whoever opens it. A directory says itself that it cannot be read.
    match fs::metadata(path) {
        Err(error) if is_missing(&error) => return gone,
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        _ => {}
    }
    let mut file = match File::open(path) {
        Err(error) if is_missing(&error) => return gone,
        opened => opened?,
    };
    let mut attempts = 0;
    loop {
        attempts += 1;
        // The clock first: what changes after this moment changes the stamp or is not yet settled.
        let read_at = SystemTime::now();
        let stamp = Stamp::of(&file.metadata()?);
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size()).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        let is_same = Stamp::of(&file.metadata()?) == stamp;
        if is_same || attempts == MOST_ATTEMPTS {
            return Ok((Some(bytes), Version { stamp: Some(stamp), settled: is_same && stamp.is_settled(read_at) }));
        }
        io::Seek::rewind(&mut file)?;
    }
}
