//! Bytes under keys.
//!
//! A [`Storage`] keeps one value per [`Key`] and returns exactly the bytes it was given. A write replaces the whole
//! value: a reader sees the old one or the new one. Deleting what is not there succeeds; reading it gives `None`.
//! Listings are sorted by UTF-16 code unit and hold keys that `read` and `delete` accept.
//!
//! All calls may block. The binding decides on which thread they run.

pub mod in_memory;
pub mod key;
pub mod local_file;
pub mod namespace;

#[cfg(test)]
mod conformance;

use bytes::Bytes;

use crate::error::Result;
use key::{Key, Prefix};

/// A backend, or a view of one.
pub trait Storage: Send + Sync {
    /// Stores `data` under `key`, replacing any earlier value.
    fn write(&self, key: &Key, data: Bytes) -> Result<()>;

    /// The value under `key`, or `None` if there is none.
    fn read(&self, key: &Key) -> Result<Option<Bytes>>;

    /// Removes the value under `key`, if there is one.
    fn delete(&self, key: &Key) -> Result<()>;

    /// The keys that begin with `prefix`, sorted.
    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>>;
}
