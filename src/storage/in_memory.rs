//! Values in a map in this process, gone when it ends.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use bytes::Bytes;

use super::key::{Key, Prefix};
use super::{Storage, Version};
use crate::error::Result;

/// An unbounded map from key to bytes, sorted so that a listing is a range.
#[derive(Debug, Default)]
pub struct InMemoryStorage {
    entries: RwLock<BTreeMap<Key, Entry>>,
    /// The revision of the next write.
    next_revision: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    revision: u64,
    data: Bytes,
}

impl InMemoryStorage {
    /// An empty storage.
    pub fn new() -> Self {
        Self::default()
    }

    fn select<T>(&self, prefix: &Prefix, of_entry: impl Fn(&Key, &Entry) -> T) -> Vec<T> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let start = Key::from_listing(prefix.as_str().to_owned());
        let selected = entries.range(start..).take_while(|(key, _)| prefix.matches(key));
        selected.map(|(key, entry)| of_entry(key, entry)).collect()
    }

    /// Removes every entry.
    pub fn clear(&self) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Storage for InMemoryStorage {
    fn write(&self, key: &Key, data: Bytes) -> Result<()> {
        let revision = self.next_revision.fetch_add(1, Ordering::Relaxed);
        self.entries.write().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), Entry { revision, data });
        Ok(())
    }

    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        Ok(self.entries.read().unwrap_or_else(PoisonError::into_inner).get(key).map(|entry| entry.data.clone()))
    }

    fn delete(&self, key: &Key) -> Result<()> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).remove(key);
        Ok(())
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        Ok(self.select(prefix, |key, _| key.clone()))
    }

    fn exists(&self, key: &Key) -> Result<bool> {
        Ok(self.entries.read().unwrap_or_else(PoisonError::into_inner).contains_key(key))
    }

    fn entries(&self, prefix: &Prefix) -> Result<Vec<(Key, Version)>> {
        Ok(self.select(prefix, |key, entry| (key.clone(), Version::Revision(entry.revision))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance;

    #[test]
    fn behaves_as_every_storage_does() {
        conformance::check(&InMemoryStorage::new());
    }

    #[test]
    fn clear_removes_everything() {
        let storage = InMemoryStorage::new();
        storage.write(&Key::parse("a").unwrap(), Bytes::from_static(b"1")).unwrap();
        storage.clear();
        assert!(storage.list(&Prefix::default()).unwrap().is_empty());
    }
}
