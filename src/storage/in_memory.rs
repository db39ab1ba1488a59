//! Values in a map in this process, gone when it ends.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use bytes::Bytes;

use super::Storage;
use super::key::{Key, Prefix};
use crate::error::Result;

/// An unbounded map from key to bytes, sorted so that a listing is a range.
#[derive(Debug, Default)]
pub struct InMemoryStorage {
    entries: RwLock<BTreeMap<Key, Bytes>>,
}

impl InMemoryStorage {
    /// An empty storage.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes every entry.
    pub fn clear(&self) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Storage for InMemoryStorage {
    fn write(&self, key: &Key, data: Bytes) -> Result<()> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), data);
        Ok(())
    }

    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        Ok(self.entries.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    }

    fn delete(&self, key: &Key) -> Result<()> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).remove(key);
        Ok(())
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let start = Key::from_listing(prefix.as_str().to_owned());
        Ok(entries.range(start..).map(|(key, _)| key).take_while(|key| prefix.matches(key)).cloned().collect())
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
