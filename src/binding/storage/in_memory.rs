//! `InMemoryStorage`.

use std::sync::Arc;

use napi::bindgen_prelude::*;

use super::namespaced::NamespacedStorage;
use super::{Backend, EPHEMERAL, Place, StorageOptions, mark};
use crate::binding::{foreign, options};
use crate::storage::Storage;
use crate::storage::in_memory::InMemoryStorage as CoreInMemoryStorage;
use crate::storage::namespace::Namespace;

/// Keeps values in this process: they are gone when it ends. Unbounded.
///
/// Keys are split at `/`; empty segments are dropped.
#[napi_derive::napi]
pub struct InMemoryStorage {
    storage: Arc<CoreInMemoryStorage>,
    pub(super) backend: Backend,
}

#[napi_derive::napi]
impl InMemoryStorage {
    /// @param searchStrategy - how to search; by keywords if not given
    /// @param options.searchCacheBytes - how many bytes of entries keyword search keeps; 64 MiB if not given
    #[napi(
        constructor,
        ts_args_type = "searchStrategy?: SearchStrategy<InMemoryStorage> | InMemoryStorageOptions | undefined"
    )]
    pub fn new(env: Env, mut this: This<'_>, options: Unknown<'_>) -> Result<Self> {
        foreign::check_constructed(&env, this.to_unknown(), "InMemoryStorage")?;
        mark(&env, &mut this, EPHEMERAL)?;
        let options = StorageOptions::of(&env, options, None)?;
        let storage = Arc::new(CoreInMemoryStorage::new());
        let backend = Backend::new(&env, &this, storage.clone(), Place::Here, &options)?;
        Ok(InMemoryStorage { storage, backend })
    }

    /// Stores a copy of `data` under `key`, replacing any earlier value.
    ///
    /// @throws StorageError if the key is empty or holds a `..` segment or a backslash
    #[napi(ts_args_type = "key: string, data: Uint8Array", ts_return_type = "Promise<void>")]
    pub fn write<'env>(
        &self,
        env: &'env Env,
        this: This<'env>,
        key: Unknown<'_>,
        data: Unknown<'_>,
    ) -> Result<Unknown<'env>> {
        self.backend.write(env, &this, key, data)
    }

    /// A copy of the value under `key`, or `null` if there is none.
    ///
    /// @throws StorageError if the key is not valid
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.read(env, key)
    }

    /// Removes the value under `key`, if there is one.
    ///
    /// @throws StorageError if the key is not valid
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<void>")]
    pub fn delete<'env>(&self, env: &'env Env, this: This<'env>, key: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.delete(env, &this, key)
    }

    /// The keys that begin with `prefix`, sorted as JavaScript sorts strings. An empty prefix matches every key.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Promise<string[]>")]
    pub fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.list(env, prefix)
    }

    /// All entries that hold a word of `query`, those with most of its words first. Stop words do not count, and
    /// neither does the extension of a key; `score` is the number of words, `data` the entry's bytes.
    #[napi(ts_args_type = "query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(&self, env: &'env Env, this: This<'env>, query: Unknown<'env>) -> Result<Unknown<'env>> {
        self.backend.search(env, &this, query)
    }

    /// A view of the entries whose keys begin with `prefix` and a slash, under keys without them.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Storage")]
    pub fn namespace<'env>(&self, env: &'env Env, this: This<'env>, prefix: Unknown<'_>) -> Result<Object<'env>> {
        let prefix = options::prefix(env, prefix)?;
        if self.backend.has_strategy || !foreign::call::<_, bool>(env, "isPlain", (*this,))? {
            return foreign::call(env, "view", (*this, Namespace::<dyn Storage>::prefix_of(&prefix)));
        }
        let storage: Arc<dyn Storage> = self.storage.clone();
        NamespacedStorage::of(env, Namespace::new(storage, &prefix), self.backend.keyword.most_bytes(), true)
    }

    /// Removes every entry.
    #[napi]
    pub fn clear(&self) {
        self.storage.clear();
    }
}
