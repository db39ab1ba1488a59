//! Bytes under keys.
//!
//! A [`Storage`] keeps one value per [`Key`] and returns exactly the bytes it was given. A write replaces the whole
//! value: a reader sees the old one or the new one. Deleting what is not there succeeds; reading it gives `None`.
//! Listings are sorted by UTF-16 code unit and hold keys that `read` and `delete` accept.
//!
//! Whoever keeps something derived from a value keeps its [`Version`] with it and asks for [`Storage::entries`] later:
//! while the version is the same and was [settled](Version::is_settled), so is the value.
//!
//! All calls may block. The binding decides on which thread they run.

pub mod in_memory;
pub mod key;
pub mod local_file;
pub mod namespace;
pub mod s3;

#[cfg(test)]
mod conformance;

use std::time::SystemTime;

use bytes::Bytes;

use crate::atomic_file::Stamp;
use crate::error::Result;
use key::{Key, Prefix};

/// A backend, or a view of one.
pub trait Storage: Send + Sync {
    /// Stores `data` under `key`, replacing any earlier value.
    fn write(&self, key: &Key, data: Bytes) -> Result<()>;

    /// The value under `key`, or `None` if there is none.
    fn read(&self, key: &Key) -> Result<Option<Bytes>>;

    /// Whether there is a value under `key`.
    fn exists(&self, key: &Key) -> Result<bool>;

    /// Removes the value under `key`, if there is one.
    fn delete(&self, key: &Key) -> Result<()>;

    /// The keys that begin with `prefix`, sorted.
    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>>;

    /// The same keys, each with the version of its value. What vanishes meanwhile is left out.
    fn entries(&self, prefix: &Prefix) -> Result<Vec<(Key, Version)>>;

    /// Whether there is a value under each of these keys.
    fn existing(&self, keys: &[Key]) -> Result<Vec<bool>> {
        keys.iter().map(|key| self.exists(key)).collect()
    }

    /// The value under a key of such a list, and its version: the listed one, or that of a newer value, where the storage
    /// tells it along with the bytes.
    fn read_listed(&self, key: &Key, listed: &Version) -> Result<Option<(Bytes, Version)>> {
        Ok(self.read(key)?.map(|data| (data, listed.clone())))
    }

    /// Whether the values are on this machine, so that looking at one costs little.
    fn is_local(&self) -> bool {
        true
    }

    /// How many threads read so many values best, beside the one that asks.
    fn readers_for(&self, values: usize) -> usize {
        /// As many at a time as the SDKs read.
        const MOST_READERS: usize = 8;
        /// Fewer values than this are read before a thread has started.
        const WORTH_A_THREAD: usize = 64;
        (values / WORTH_A_THREAD).min(MOST_READERS)
    }
}

/// What tells a value from those before and after it under the same key, without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// A number that no other value of the storage has had.
    Revision(u64),
    /// Identity, size and times of a file.
    File(Stamp),
    /// Nothing is known.
    Unknown,
    /// What S3 derives from the bytes, or makes up at each write. Empty where a server does not tell it.
    ETag(Box<str>),
}

impl Version {
    /// Whether a value that was read at `read_at` or later, and had this version then or before, cannot change without
    /// changing its version.
    pub fn is_settled(&self, read_at: SystemTime) -> bool {
        match self {
            Version::Revision(_) => true,
            Version::File(stamp) => stamp.is_settled(read_at),
            Version::ETag(etag) => !etag.is_empty(),
            Version::Unknown => false,
        }
    }

    /// The version as a text that means the same in other processes, if it does.
    pub fn lasting(&self) -> Option<String> {
        match self {
            Version::File(stamp) => Some(stamp.to_string()),
            Version::ETag(etag) if !etag.is_empty() => Some(etag.to_string()),
            Version::Revision(_) | Version::ETag(_) | Version::Unknown => None,
        }
    }
}
