//! `S3Storage`.

use std::sync::Arc;

use napi::bindgen_prelude::*;

use super::{Backend, NAMESPACED, Place, StorageOptions, mark, s3_options};
use crate::binding::{foreign, options};
use crate::storage::Storage;
use crate::storage::namespace::Namespace;
use crate::storage::s3::S3Storage as CoreS3Storage;

/// Keeps each value in an object of an S3 bucket, on AWS or on a server that speaks its language.
///
/// Settings that are not given are looked for at the first call, where the tools of AWS look for them: environment
/// (`AWS_PROFILE` and `AWS_ENDPOINT_URL_S3` among others), profiles, single sign-on, web identity, and the roles of
/// containers and instances. At most 128 requests of a storage and its views are under way at the
/// same time, unless an `s3Client` makes them.
#[napi_derive::napi]
pub struct S3Storage {
    storage: CoreS3Storage,
    pub(super) backend: Backend,
}

#[napi_derive::napi]
impl S3Storage {
    /// Loads nothing, and connects to nothing.
    ///
    /// @param bucket - the name of the bucket
    /// @param options.prefix - what the names of all objects begin with, before a slash; nothing if not given
    /// @param options.s3Client - makes the requests, with its middleware, endpoint and credentials
    /// @throws StorageError if `s3Client` is given and something that it has already, such as `region`
    #[napi(constructor, ts_args_type = "bucket: string, options?: S3StorageOptions | undefined")]
    pub fn new(env: Env, this: This<'_>, bucket: Unknown<'_>, options: Unknown<'_>) -> Result<Self> {
        foreign::check_constructed(&env, this.to_unknown(), "S3Storage")?;
        let bucket = options::well_formed_text(&env, "bucket", bucket)?;
        let (storage, options) = s3_options::open(&env, &bucket, options)?;
        let backend = Backend::new(&env, &this, Arc::new(storage.clone()), Place::S3(storage.clone()), &options)?;
        Ok(S3Storage { storage, backend })
    }

    /// Stores `data` under `key`, replacing any earlier value. The bytes are those at the time of the call.
    ///
    /// @throws StorageError if the key is empty or holds a `..` segment or a backslash, or if the request fails; `cause`
    /// then has the service's `code`, such as `AccessDenied`, and the `requestId`
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
    ///
    /// @throws StorageError if the key is not valid or the request fails, also for want of the bucket
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.read(env, key)
    }

    /// Removes the value under `key`, if there is one.
    ///
    /// @throws StorageError if the key is not valid or the request fails
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<void>")]
    pub fn delete<'env>(&self, env: &'env Env, this: This<'env>, key: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.delete(env, &this, key)
    }

    /// The keys that begin with `prefix`, sorted as JavaScript sorts strings. An empty prefix matches every key. Takes
    /// one request for each 1,000 keys.
    ///
    /// Objects that no key can name are left out, such as the markers that end in a slash by which some programs make
    /// folders.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash, or if a request fails
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Promise<string[]>")]
    pub fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<Unknown<'env>> {
        self.backend.list(env, prefix)
    }

    /// All entries that hold a word of `query`, those with most of its words first. Stop words do not count, and
    /// neither does the extension of a key; `score` is the number of words, `data` the entry's bytes.
    ///
    /// Lists all entries each time, and gets those that are new or have changed since the last time.
    ///
    /// @throws StorageError if the entries cannot be listed
    #[napi(ts_args_type = "query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(&self, env: &'env Env, this: This<'env>, query: Unknown<'env>) -> Result<Unknown<'env>> {
        self.backend.search(env, &this, query)
    }

    /// A view of the entries whose keys begin with `prefix` and a slash, under keys without them. Shares the client, and
    /// searches only its own entries.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Storage")]
    pub fn namespace<'env>(&self, env: &'env Env, this: This<'env>, prefix: Unknown<'_>) -> Result<Object<'env>> {
        let prefix = options::prefix(env, prefix)?;
        let searches_by_keywords = !self.backend.has_strategy || foreign::call(env, "searchesByKeywords", (*this,))?;
        if !searches_by_keywords || !foreign::call::<_, bool>(env, "isPlain", (*this,))? {
            return foreign::call(env, "view", (*this, Namespace::<dyn Storage>::prefix_of(&prefix)));
        }
        let options = StorageOptions {
            strategy: foreign::attached(env, "strategyOf", &this)?,
            asked: foreign::attached(env, "askedOf", &this)?,
            cache_bytes: self.backend.keyword.most_bytes(),
            ..StorageOptions::default()
        };
        let storage = self.storage.namespace(&prefix);
        let backend = Backend::detached(Arc::new(storage.clone()), Place::S3(storage.clone()), &options);
        let mut view = S3Storage { storage, backend }.into_instance(env)?.as_object(env);
        options.attach_to(env, &view)?;
        mark(env, &mut view, NAMESPACED)?;
        Ok(view)
    }
}
