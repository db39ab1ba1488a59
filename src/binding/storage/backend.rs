//! What the storage classes have in common.

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use napi::bindgen_prelude::*;

use super::StorageOptions;
use super::in_memory::InMemoryStorage;
use super::local_file::LocalFileStorage;
use super::namespaced::NamespacedStorage;
use super::s3::S3Storage;
use crate::binding::error::to_js;
use crate::binding::{foreign, inline, off_thread, options, remote, search};
use crate::error::Result as CoreResult;
use crate::search::keyword::{KeywordQuery, KeywordSearch};
use crate::search::normalization::Normalization;
use crate::storage::Storage;
use crate::storage::key::{Key, Prefix};

/// A value that was read, or `null`.
type Value = Either<Uint8ArraySlice<'static>, Null>;

/// Where the calls of a storage are run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where they were made: they are too short to be worth another thread.
    Here,
    /// On Node's own threads.
    NodesThreads,
    /// On threads that may wait for a network.
    WaitingThreads,
}

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
        work: impl FnOnce(&dyn Storage, A) -> CoreResult<T> + Send + 'static,
        into_js: fn(&Env, T) -> Result<V>,
    ) -> Result<Unknown<'env>> {
        if self.place == Place::Here {
            let run = || work(self.storage.as_ref(), arguments?).map_err(|error| to_js(env, &error));
            return Ok(inline(env, run, into_js)?.to_unknown());
        }
        let storage = Arc::clone(&self.storage);
        self.run_elsewhere(env, arguments, move |arguments| work(storage.as_ref(), arguments), into_js)
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
            Place::WaitingThreads => remote(env, arguments, work, into_js),
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
        let write = |storage: &dyn Storage, (key, data): (Key, Bytes)| storage.write(&key, data);
        match arguments {
            Ok((key, data)) if self.has_strategy => {
                let indexed = Uint8ArraySlice::copy_from(env, data.as_ref())?;
                let name = key.to_string();
                let write = self.later(env, (key, data), write)?;
                foreign::call(env, "index", (*this, write, name, indexed))
            }
            arguments => self.run(env, arguments, write, |_, ()| Ok(())),
        }
    }

    /// A function that does a change, once.
    fn later<'env, A: Send + 'static>(
        &self,
        env: &'env Env,
        arguments: A,
        work: fn(&dyn Storage, A) -> CoreResult<()>,
    ) -> Result<Function<'env, (), sys::napi_value>> {
        let (backend, arguments) = (self.clone(), Cell::new(Some(arguments)));
        env.create_function_from_closure("change", move |context: FunctionCallContext<'_>| {
            let arguments = arguments.take().ok_or_else(|| Error::from_reason("it is done once"));
            Ok(backend.run(context.env, arguments, work, |_, ()| Ok(()))?.raw())
        })
    }

    pub fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<Unknown<'env>> {
        let into_js = |env: &Env, value: Option<Bytes>| match value {
            Some(data) => Ok(Value::A(Uint8ArraySlice::copy_from(env, data)?)),
            None => Ok(Value::B(Null)),
        };
        self.run(env, options::key(env, key), |storage, key| storage.read(&key), into_js)
    }

    pub fn delete<'env>(&self, env: &'env Env, this: &Object<'env>, key: Unknown<'_>) -> Result<Unknown<'env>> {
        let delete = |storage: &dyn Storage, key: Key| storage.delete(&key);
        match options::key(env, key) {
            Ok(key) if self.has_strategy => {
                let name = key.to_string();
                foreign::call(env, "remove", (*this, self.later(env, key, delete)?, name))
            }
            key => self.run(env, key, delete, |_, ()| Ok(())),
        }
    }

    pub fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<Unknown<'env>> {
        let list = |storage: &dyn Storage, prefix: Prefix| storage.list(&prefix);
        let into_js = |env: &Env, keys: Vec<Key>| foreign::call(env, "keysOf", (Key::join(keys.iter()),));
        self.run::<_, _, Unknown<'static>>(env, options::prefix(env, prefix), list, into_js)
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
