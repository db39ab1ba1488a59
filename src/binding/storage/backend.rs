//! What the storage classes have in common.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use napi::bindgen_prelude::*;

use super::StorageOptions;
use super::in_memory::InMemoryStorage;
use super::local_file::LocalFileStorage;
use super::namespaced::NamespacedStorage;
use super::s3::S3Storage;
use crate::binding::error::to_js;
use crate::binding::{awaited, foreign, inline, off_thread, options, remote, search};
use crate::error::Result as CoreResult;
use crate::search::keyword::{KeywordQuery, KeywordSearch};
use crate::search::normalization::Normalization;
use crate::storage::Storage;
use crate::storage::key::{Key, Prefix};
use crate::storage::s3::S3Storage as S3Client;

/// A value that was read, or `null`.
type Value = Either<Uint8ArraySlice<'static>, Null>;

/// Where the calls of a storage are run.
#[derive(Clone)]
pub enum Place {
    /// Where they were made: they are too short to be worth another thread.
    Here,
    /// On Node's own threads.
    NodesThreads,
    /// Elsewhere: they are requests to S3.
    S3(S3Client),
}

/// What a call does with a storage, and how that is asked of S3.
struct Work<A, T> {
    local: fn(&dyn Storage, A) -> CoreResult<T>,
    s3: fn(S3Client, A) -> Requested<T>,
}

type Requested<T> = Pin<Box<dyn Future<Output = CoreResult<T>> + Send>>;

const WRITE: Work<(Key, Bytes), ()> = Work {
    local: |storage, (key, data)| storage.write(&key, data),
    s3: |s3, (key, data)| Box::pin(async move { s3.put(&key, data).await }),
};

const READ: Work<Key, Option<Bytes>> = Work {
    local: |storage, key| storage.read(&key),
    s3: |s3, key| Box::pin(async move { Ok(s3.get(&key).await?.map(|content| content.data)) }),
};

const DELETE: Work<Key, ()> =
    Work { local: |storage, key| storage.delete(&key), s3: |s3, key| Box::pin(async move { s3.remove(&key).await }) };

const LIST: Work<Prefix, Vec<Key>> = Work {
    local: |storage, prefix| storage.list(&prefix),
    s3: |s3, prefix| Box::pin(async move { s3.keys(&prefix).await }),
};

/// What the classes share: a storage, how to search it, and where its calls are run.
#[derive(Clone)]
pub struct Backend {
    pub storage: Arc<dyn Storage>,
    pub(super) keyword: Arc<KeywordSearch>,
    place: Place,
    pub(super) has_strategy: bool,
    pub(super) has_sandbox: bool,
}

impl Backend {
    pub fn new(
        env: &Env,
        this: &Object<'_>,
        storage: Arc<dyn Storage>,
        place: Place,
        options: &StorageOptions<'_>,
    ) -> Result<Self> {
        options.attach_to(env, this)?;
        Ok(Self::detached(storage, place, options))
    }

    /// A backend whose object is yet to be given what is in `options`.
    pub fn detached(storage: Arc<dyn Storage>, place: Place, options: &StorageOptions<'_>) -> Self {
        Backend {
            storage,
            keyword: Arc::new(KeywordSearch::new(options.cache_bytes)),
            place,
            has_strategy: options.strategy.is_some(),
            has_sandbox: options.sandbox.is_some(),
        }
    }

    /// The backend of one of our storages, if it can be searched without asking JavaScript.
    pub fn of_plain(env: &Env, storage: Unknown<'_>) -> Result<Option<Backend>> {
        if !foreign::call::<_, bool>(env, "isPlain", (storage,))? {
            return Ok(None);
        }
        let backend = if let Ok(storage) = ClassInstance::<InMemoryStorage>::from_unknown(storage) {
            storage.backend.clone()
        } else if let Ok(storage) = ClassInstance::<LocalFileStorage>::from_unknown(storage) {
            storage.backend.clone()
        } else if let Ok(storage) = ClassInstance::<S3Storage>::from_unknown(storage) {
            storage.backend.clone()
        } else if let Ok(storage) = ClassInstance::<NamespacedStorage>::from_unknown(storage) {
            storage.backend.clone()
        } else {
            return Ok(None);
        };
        Ok(if backend.has_sandbox { None } else { Some(backend) })
    }

    fn run<'env, A: Send + 'static, T: Send + 'static, V: ToNapiValue + TypeName + 'static>(
        &self,
        env: &'env Env,
        arguments: Result<A>,
        Work { local, s3 }: Work<A, T>,
        into_js: fn(&Env, T) -> Result<V>,
    ) -> Result<Unknown<'env>> {
        match &self.place {
            Place::Here => {
                let run = || local(self.storage.as_ref(), arguments?).map_err(|error| to_js(env, &error));
                Ok(inline(env, run, into_js)?.to_unknown())
            }
            Place::NodesThreads => {
                let storage = Arc::clone(&self.storage);
                let run = move |arguments| local(storage.as_ref(), arguments);
                Ok(off_thread(env, arguments, run, into_js)?.to_unknown())
            }
            Place::S3(storage) => awaited(env, arguments, |arguments| s3(storage.clone(), arguments), into_js),
        }
    }

    /// What `work` gives, on another thread in any case.
    pub fn run_elsewhere<'env, A: Send + 'static, T: Send + 'static, V: ToNapiValue + TypeName + 'static>(
        &self,
        env: &'env Env,
        arguments: Result<A>,
        work: impl FnOnce(A) -> CoreResult<T> + Send + 'static,
        into_js: fn(&Env, T) -> Result<V>,
    ) -> Result<Unknown<'env>> {
        match self.place {
            Place::S3(_) => remote(env, arguments, work, into_js),
            Place::Here | Place::NodesThreads => Ok(off_thread(env, arguments, work, into_js)?.to_unknown()),
        }
    }

    pub fn write<'env>(
        &self,
        env: &'env Env,
        this: &Object<'env>,
        key: Unknown<'_>,
        data: Unknown<'_>,
    ) -> Result<Unknown<'env>> {
        let arguments = options::key(env, key).and_then(|key| Ok((key, options::bytes(env, "data", data)?)));
        match arguments {
            Ok((key, data)) if self.has_strategy => {
                let indexed = Uint8ArraySlice::copy_from(env, data.as_ref())?;
                let name = key.to_string();
                let write = self.later(env, (key, data), WRITE)?;
                foreign::call(env, "index", (*this, write, name, indexed))
            }
            arguments => self.run(env, arguments, WRITE, |_, ()| Ok(())),
        }
    }

    /// A function that does a change, once.
    fn later<'env, A: Send + 'static>(
        &self,
        env: &'env Env,
        arguments: A,
        work: Work<A, ()>,
    ) -> Result<Function<'env, (), sys::napi_value>> {
        let (backend, change) = (self.clone(), Cell::new(Some((arguments, work))));
        env.create_function_from_closure("change", move |context: FunctionCallContext<'_>| {
            let (arguments, work) = change.take().ok_or_else(|| Error::from_reason("it is done once"))?;
            Ok(backend.run(context.env, Ok(arguments), work, |_, ()| Ok(()))?.raw())
        })
    }

    pub fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<Unknown<'env>> {
        let into_js = |env: &Env, value: Option<Bytes>| match value {
            Some(data) => Ok(Value::A(Uint8ArraySlice::copy_from(env, data)?)),
            None => Ok(Value::B(Null)),
        };
        self.run(env, options::key(env, key), READ, into_js)
    }

    pub fn delete<'env>(&self, env: &'env Env, this: &Object<'env>, key: Unknown<'_>) -> Result<Unknown<'env>> {
        match options::key(env, key) {
            Ok(key) if self.has_strategy => {
                let name = key.to_string();
                foreign::call(env, "remove", (*this, self.later(env, key, DELETE)?, name))
            }
            key => self.run(env, key, DELETE, |_, ()| Ok(())),
        }
    }

    pub fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<Unknown<'env>> {
        let into_js = |env: &Env, keys: Vec<Key>| foreign::call(env, "keysOf", (Key::join(keys.iter()),));
        self.run::<_, _, Unknown<'static>>(env, options::prefix(env, prefix), LIST, into_js)
    }

    pub fn search<'env>(&self, env: &'env Env, this: &Object<'env>, query: Unknown<'env>) -> Result<Unknown<'env>> {
        if self.has_strategy {
            return foreign::call(env, "search", (*this, query));
        }
        search::keyword_search(env, this.to_unknown(), query, Normalization::None)
    }

    /// The results of a keyword search that stays in Rust.
    pub fn keyword_search<'env>(&self, env: &'env Env, query: Result<KeywordQuery>) -> Result<Unknown<'env>> {
        let (storage, keyword) = (Arc::clone(&self.storage), Arc::clone(&self.keyword));
        let work = move |query| keyword.search(storage.as_ref(), &query);
        self.run_elsewhere(env, query, work, search::results_to_js)
    }
}
