//! `NamespacedStorage`.

use std::sync::Arc;

use napi::bindgen_prelude::*;

use super::{Backend, EPHEMERAL, NAMESPACED, Place, StorageOptions, mark};
use crate::binding::options;
use crate::storage::Storage;
use crate::storage::namespace::Namespace;

/// A view of another storage in which every key carries a prefix that the caller does not see.
#[napi_derive::napi]
pub struct NamespacedStorage {
    view: Namespace<dyn Storage>,
    pub(super) backend: Backend,
    is_ephemeral: bool,
}

#[napi_derive::napi]
impl NamespacedStorage {
    pub(super) fn of(
        env: &Env,
        view: Namespace<dyn Storage>,
        cache_bytes: usize,
        is_ephemeral: bool,
    ) -> Result<Object<'_>> {
        let options = StorageOptions { cache_bytes, ..StorageOptions::default() };
        let backend = Backend::detached(Arc::new(view.clone()), Place::Here, &options);
        let mut view = NamespacedStorage { view, backend, is_ephemeral }.into_instance(env)?.as_object(env);
        mark(env, &mut view, NAMESPACED)?;
        if is_ephemeral {
            mark(env, &mut view, EPHEMERAL)?;
        }
        Ok(view)
    }

    /// Stores a copy of `data` under `key`, replacing any earlier value.
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

    /// The value under `key`, or `null` if there is none.
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.read(env, key)
    }

    /// Removes the value under `key`, if there is one.
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<void>")]
    pub fn delete<'env>(&self, env: &'env Env, this: This<'env>, key: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.delete(env, &this, key)
    }

    /// The keys of this view that begin with `prefix`, sorted as JavaScript sorts strings.
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Promise<string[]>")]
    pub fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.list(env, prefix)
    }

    /// The entries of this view that hold a word of `query`, best first. Keys count without the view's prefix.
    #[napi(ts_args_type = "query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(&self, env: &'env Env, this: This<'env>, query: Unknown<'env>) -> Result<Unknown<'env>> {
        self.backend.search(env, &this, query)
    }

    /// A view within this view.
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Storage")]
    pub fn namespace<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<Object<'env>> {
        let view = self.view.namespace(&options::prefix(env, prefix)?);
        NamespacedStorage::of(env, view, self.backend.keyword.most_bytes(), self.is_ephemeral)
    }
}
