//! A view of another storage in which every key carries a prefix that the caller does not see.

use std::sync::Arc;

use bytes::Bytes;

use super::key::{Key, Prefix};
use super::{Storage, Version};
use crate::error::Result;

/// The entries of a storage whose keys begin with `prefix/`, under keys without it.
pub struct Namespace<S: ?Sized> {
    /// Empty, or ending in a slash, so that `mem` never reaches into `memory`.
    prefix: String,
    storage: Arc<S>,
}

impl<S: ?Sized> Clone for Namespace<S> {
    fn clone(&self) -> Self {
        Namespace { prefix: self.prefix.clone(), storage: Arc::clone(&self.storage) }
    }
}

impl<S: Storage + ?Sized> Namespace<S> {
    /// A view of `storage` under `prefix`.
    pub fn new(storage: Arc<S>, prefix: &Prefix) -> Self {
        Namespace { prefix: Self::prefix_of(prefix), storage }
    }

    /// What stands before the keys of a view under `prefix`: nothing, or the prefix and one slash.
    pub fn prefix_of(prefix: &Prefix) -> String {
        match prefix.as_str().trim_end_matches('/') {
            "" => String::new(),
            path => format!("{path}/"),
        }
    }

    /// A view within this view.
    pub fn namespace(&self, prefix: &Prefix) -> Self {
        Namespace::new(Arc::clone(&self.storage), &self.outer_prefix(prefix))
    }

    fn outer_key(&self, key: &Key) -> Key {
        Key::from_listing(format!("{}{key}", self.prefix))
    }

    fn inner_key(&self, key: &Key) -> Key {
        Key::from_listing(key.as_str()[self.prefix.len()..].to_owned())
    }

    fn outer_prefix(&self, prefix: &Prefix) -> Prefix {
        Prefix::from_normalized(format!("{}{}", self.prefix, prefix.as_str()))
    }
}

impl<S: Storage + ?Sized> Storage for Namespace<S> {
    fn write(&self, key: &Key, data: Bytes) -> Result<()> {
        self.storage.write(&self.outer_key(key), data)
    }

    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        self.storage.read(&self.outer_key(key))
    }

    fn exists(&self, key: &Key) -> Result<bool> {
        self.storage.exists(&self.outer_key(key))
    }

    fn delete(&self, key: &Key) -> Result<()> {
        self.storage.delete(&self.outer_key(key))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let keys = self.storage.list(&self.outer_prefix(prefix))?;
        Ok(keys.iter().map(|key| self.inner_key(key)).collect())
    }

    fn existing(&self, keys: &[Key]) -> Result<Vec<bool>> {
        self.storage.existing(&keys.iter().map(|key| self.outer_key(key)).collect::<Vec<_>>())
    }

    fn entries(&self, prefix: &Prefix) -> Result<Vec<(Key, Version)>> {
        let entries = self.storage.entries(&self.outer_prefix(prefix))?;
        Ok(entries.iter().map(|(key, version)| (self.inner_key(key), version.clone())).collect())
    }

    fn read_listed(&self, key: &Key, listed: &Version) -> Result<Option<(Bytes, Version)>> {
        self.storage.read_listed(&self.outer_key(key), listed)
    }

    fn is_local(&self) -> bool {
        self.storage.is_local()
    }

    fn readers_for(&self, values: usize) -> usize {
        self.storage.readers_for(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance;
    use crate::storage::in_memory::InMemoryStorage;

    fn prefix(text: &str) -> Prefix {
        Prefix::parse(text).unwrap()
    }

    #[test]
    fn behaves_as_every_storage_does_even_nested() {
        let storage = Arc::new(InMemoryStorage::new());
        storage.write(&Key::parse("outside").unwrap(), Bytes::from_static(b"left alone")).unwrap();
        let view = Namespace::new(Arc::clone(&storage), &prefix("a/")).namespace(&prefix("b"));
        conformance::check(&view);
        view.write(&Key::parse("k").unwrap(), Bytes::from_static(b"1")).unwrap();
        assert!(storage.read(&Key::parse("a/b/k").unwrap()).unwrap().is_some());
    }

    #[test]
    fn a_name_that_begins_alike_is_another_namespace() {
        let storage = Arc::new(InMemoryStorage::new());
        Namespace::new(Arc::clone(&storage), &prefix("memory"))
            .write(&Key::parse("k").unwrap(), Bytes::from_static(b"1"))
            .unwrap();
        let view = Namespace::new(storage, &prefix("mem"));
        assert!(view.list(&Prefix::default()).unwrap().is_empty());
    }
}
