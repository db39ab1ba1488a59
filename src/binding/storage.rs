//! The storage backends.

use std::sync::Arc;

use napi::PropertyAttributes;
use napi::bindgen_prelude::*;

use super::{foreign, inline, off_thread, options, search};
use crate::atomic_file::Durability;
use crate::error::{Error as CoreError, Result as CoreResult};
use crate::search::keyword;
use crate::storage::Storage;
use crate::storage::in_memory::InMemoryStorage as CoreInMemoryStorage;
use crate::storage::key::Key;
use crate::storage::local_file::LocalFileStorage as CoreLocalFileStorage;
use crate::storage::namespace::Namespace;

/// The symbols by which the SDK knows a view, and a backend that forgets.
const NAMESPACED: &str = "strands.storage.namespaced";
const EPHEMERAL: &str = "strands.storage.ephemeral";

/// Where both SDKs keep files if nobody says.
const DEFAULT_BASE_DIR: &str = "./.strands/";

/// Keeps values in this process: they are gone when it ends. Unbounded.
///
/// Keys are split at `/`; empty segments are dropped.
#[napi_derive::napi]
pub struct InMemoryStorage {
    storage: Arc<CoreInMemoryStorage>,
    backend: Backend,
}

#[napi_derive::napi]
impl InMemoryStorage {
    #[napi(constructor)]
    pub fn new(env: Env, mut this: This<'_>) -> Result<Self> {
        foreign::check_constructed(&env, this.to_unknown(), "InMemoryStorage")?;
        mark(&env, &mut this, EPHEMERAL)?;
        let storage = Arc::new(CoreInMemoryStorage::new());
        Ok(InMemoryStorage { backend: Backend::immediate(storage.clone()), storage })
    }

    /// Stores a copy of `data` under `key`, replacing any earlier value.
    ///
    /// @throws StorageError if the key is empty or holds a `..` segment or a backslash
    #[napi(ts_args_type = "key: string, data: Uint8Array", ts_return_type = "Promise<void>")]
    pub fn write<'env>(&self, env: &'env Env, key: Unknown<'_>, data: Unknown<'_>) -> Result<PromiseRaw<'env, ()>> {
        self.backend.write(env, key, data)
    }

    /// A copy of the value under `key`, or `null` if there is none.
    ///
    /// @throws StorageError if the key is not valid
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<PromiseRaw<'env, Value>> {
        self.backend.read(env, key)
    }

    /// Removes the value under `key`, if there is one.
    ///
    /// @throws StorageError if the key is not valid
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<void>")]
    pub fn delete<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<PromiseRaw<'env, ()>> {
        self.backend.delete(env, key)
    }

    /// The keys that begin with `prefix`, sorted as JavaScript sorts strings. An empty prefix matches every key.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Promise<string[]>")]
    pub fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<PromiseRaw<'env, Keys>> {
        self.backend.list(env, prefix)
    }

    /// All entries that hold a word of `query`, those with most of its words first. Stop words do not count, and
    /// neither does the extension of a key; `score` is the number of words, `data` the entry's bytes.
    #[napi(ts_args_type = "query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(&self, env: &'env Env, query: Unknown<'_>) -> Result<PromiseRaw<'env, Vec<Object<'static>>>> {
        self.backend.search(env, query)
    }

    /// A view of the entries whose keys begin with `prefix` and a slash, under keys without them.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash
    #[napi(ts_args_type = "prefix: string")]
    pub fn namespace<'env>(
        &self,
        env: &'env Env,
        prefix: Unknown<'_>,
    ) -> Result<ClassInstance<'env, NamespacedStorage>> {
        let storage: Arc<dyn Storage> = self.storage.clone();
        NamespacedStorage::of(env, Namespace::new(storage, &options::prefix(env, prefix)?), true)
    }

    /// Removes every entry.
    #[napi]
    pub fn clear(&self) {
        self.storage.clear();
    }
}

/// Keeps each value in a file below a folder: the key `a/b.md` is the file `b.md` in its subfolder `a`.
///
/// A write replaces the file as a whole, so that a reader finds the old value or the new one. Symbolic links are
/// written through, and an existing file keeps its permissions.
#[napi_derive::napi]
pub struct LocalFileStorage {
    storage: CoreLocalFileStorage,
    backend: Backend,
}

#[napi_derive::napi]
impl LocalFileStorage {
    /// Touches no file. A relative folder is relative to the current directory at the time of each call.
    ///
    /// @param baseDir - the folder, `./.strands/` if not given
    /// @param options.fsync - whether a write is on the disk before its promise resolves, and not only in the cache of
    /// the operating system; off if not given
    /// @throws StorageError if `baseDir` is empty
    #[napi(constructor, ts_args_type = "baseDir?: string, options?: { fsync?: boolean }")]
    pub fn new(env: Env, this: This<'_>, base_dir: Unknown<'_>, options: Unknown<'_>) -> Result<Self> {
        foreign::check_constructed(&env, this.to_unknown(), "LocalFileStorage")?;
        let base_dir = match options::defined(base_dir)? {
            Some(value) => options::lossy_text(&env, "baseDir", value)?,
            None => DEFAULT_BASE_DIR.to_owned(),
        };
        let mut durability = Durability::Cached;
        if let Some(value) = options::defined(options)? {
            let object = options::object(&env, "options", value)?;
            if let Some(fsync) = options::property(&env, &object, "fsync")?
                && options::is_truthy(fsync)?
            {
                durability = Durability::Synced;
            }
        }
        let storage = CoreLocalFileStorage::new(&base_dir, durability);
        storage.map(Self::of).map_err(|error| super::error::to_js(&env, &error))
    }

    fn of(storage: CoreLocalFileStorage) -> Self {
        LocalFileStorage { backend: Backend::blocking(Arc::new(storage.clone())), storage }
    }

    /// The folder under which the files are.
    #[napi(getter)]
    pub fn base_dir(&self) -> &str {
        self.storage.base_dir()
    }

    /// Stores `data` under `key`, replacing any earlier value. The bytes are those at the time of the call.
    ///
    /// @throws StorageError if the key is empty or holds a `..` segment or a backslash, or if the file cannot be
    /// written; `cause.code` is then that of the operating system, such as `ENOSPC`, and the old value is still there
    #[napi(ts_args_type = "key: string, data: Uint8Array", ts_return_type = "Promise<void>")]
    pub fn write<'env>(&self, env: &'env Env, key: Unknown<'_>, data: Unknown<'_>) -> Result<PromiseRaw<'env, ()>> {
        self.backend.write(env, key, data)
    }

    /// The value under `key`, or `null` if there is none.
    ///
    /// @throws StorageError if the key is not valid or the file cannot be read
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<PromiseRaw<'env, Value>> {
        self.backend.read(env, key)
    }

    /// Removes the value under `key`, if there is one.
    ///
    /// @throws StorageError if the key is not valid or the file cannot be removed
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<void>")]
    pub fn delete<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<PromiseRaw<'env, ()>> {
        self.backend.delete(env, key)
    }

    /// The keys that begin with `prefix`, sorted as JavaScript sorts strings. An empty prefix matches every key.
    ///
    /// Files whose names begin with `.__strands_` are the package's own and left out, and so are names that are not
    /// valid Unicode, which no key can spell.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash, or if a folder cannot be read
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Promise<string[]>")]
    pub fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<PromiseRaw<'env, Keys>> {
        self.backend.list(env, prefix)
    }

    /// All entries that hold a word of `query`, those with most of its words first. Stop words do not count, and
    /// neither does the extension of a key; `score` is the number of words, `data` the entry's bytes.
    ///
    /// @throws StorageError if a folder cannot be read
    #[napi(ts_args_type = "query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(&self, env: &'env Env, query: Unknown<'_>) -> Result<PromiseRaw<'env, Vec<Object<'static>>>> {
        self.backend.search(env, query)
    }

    /// The storage of the subfolder `prefix`.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash
    #[napi(ts_args_type = "prefix: string")]
    pub fn namespace<'env>(
        &self,
        env: &'env Env,
        prefix: Unknown<'_>,
    ) -> Result<ClassInstance<'env, LocalFileStorage>> {
        let storage = self.storage.namespace(&options::prefix(env, prefix)?);
        let instance = Self::of(storage).into_instance(env)?;
        mark(env, &mut instance.as_object(env), NAMESPACED)?;
        Ok(instance)
    }
}

/// A view of another storage in which every key carries a prefix that the caller does not see.
#[napi_derive::napi]
pub struct NamespacedStorage {
    view: Namespace<dyn Storage>,
    backend: Backend,
    is_ephemeral: bool,
}

#[napi_derive::napi]
impl NamespacedStorage {
    fn of(env: &Env, view: Namespace<dyn Storage>, is_ephemeral: bool) -> Result<ClassInstance<'_, NamespacedStorage>> {
        let backend = Backend::immediate(Arc::new(view.clone()));
        let instance = NamespacedStorage { view, backend, is_ephemeral }.into_instance(env)?;
        let mut object = instance.as_object(env);
        mark(env, &mut object, NAMESPACED)?;
        if is_ephemeral {
            mark(env, &mut object, EPHEMERAL)?;
        }
        Ok(instance)
    }

    /// Stores a copy of `data` under `key`, replacing any earlier value.
    #[napi(ts_args_type = "key: string, data: Uint8Array", ts_return_type = "Promise<void>")]
    pub fn write<'env>(&self, env: &'env Env, key: Unknown<'_>, data: Unknown<'_>) -> Result<PromiseRaw<'env, ()>> {
        self.backend.write(env, key, data)
    }

    /// The value under `key`, or `null` if there is none.
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<PromiseRaw<'env, Value>> {
        self.backend.read(env, key)
    }

    /// Removes the value under `key`, if there is one.
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<void>")]
    pub fn delete<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<PromiseRaw<'env, ()>> {
        self.backend.delete(env, key)
    }

    /// The keys of this view that begin with `prefix`, sorted as JavaScript sorts strings.
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Promise<string[]>")]
    pub fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<PromiseRaw<'env, Keys>> {
        self.backend.list(env, prefix)
    }

    /// The entries of this view that hold a word of `query`, best first. Keys count without the view's prefix.
    #[napi(ts_args_type = "query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(&self, env: &'env Env, query: Unknown<'_>) -> Result<PromiseRaw<'env, Vec<Object<'static>>>> {
        self.backend.search(env, query)
    }

    /// A view within this view.
    #[napi(ts_args_type = "prefix: string")]
    pub fn namespace<'env>(
        &self,
        env: &'env Env,
        prefix: Unknown<'_>,
    ) -> Result<ClassInstance<'env, NamespacedStorage>> {
        let view = self.view.namespace(&options::prefix(env, prefix)?);
        let view = view.map_err(|error| super::error::to_js(env, &error))?;
        NamespacedStorage::of(env, view, self.is_ephemeral)
    }
}

/// A value that was read, or `null`.
type Value = Either<Uint8ArraySlice<'static>, Null>;

/// The keys of a listing.
type Keys = Vec<String>;

/// What the classes share: a storage, and whether its calls are too short to be worth another thread.
struct Backend {
    storage: Arc<dyn Storage>,
    is_immediate: bool,
}

impl Backend {
    fn immediate(storage: Arc<dyn Storage>) -> Self {
        Backend { storage, is_immediate: true }
    }

    fn blocking(storage: Arc<dyn Storage>) -> Self {
        Backend { storage, is_immediate: false }
    }

    fn run<'env, A: Send + 'static, T: Send + 'static, V: ToNapiValue + TypeName + 'static>(
        &self,
        env: &'env Env,
        arguments: Result<A>,
        work: impl FnOnce(&dyn Storage, A) -> CoreResult<T> + Send + 'static,
        into_js: fn(&Env, T) -> Result<V>,
    ) -> Result<PromiseRaw<'env, V>> {
        if self.is_immediate {
            let to_js = |error: CoreError| super::error::to_js(env, &error);
            return inline(env, || work(self.storage.as_ref(), arguments?).map_err(to_js), into_js);
        }
        let storage = Arc::clone(&self.storage);
        off_thread(env, arguments, move |arguments| work(storage.as_ref(), arguments), into_js)
    }

    fn write<'env>(&self, env: &'env Env, key: Unknown<'_>, data: Unknown<'_>) -> Result<PromiseRaw<'env, ()>> {
        let arguments = options::key(env, key).and_then(|key| Ok((key, options::bytes(env, "data", data)?)));
        self.run(env, arguments, |storage, (key, data)| storage.write(&key, data), |_, ()| Ok(()))
    }

    fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<PromiseRaw<'env, Value>> {
        let into_js = |env: &Env, value: Option<bytes::Bytes>| match value {
            Some(data) => Ok(Either::A(Uint8ArraySlice::copy_from(env, data)?)),
            None => Ok(Either::B(Null)),
        };
        self.run(env, options::key(env, key), |storage, key| storage.read(&key), into_js)
    }

    fn delete<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<PromiseRaw<'env, ()>> {
        self.run(env, options::key(env, key), |storage, key| storage.delete(&key), |_, ()| Ok(()))
    }

    fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<PromiseRaw<'env, Keys>> {
        let into_js = |_: &Env, keys: Vec<Key>| Ok(keys.into_iter().map(String::from).collect());
        self.run(env, options::prefix(env, prefix), |storage, prefix| storage.list(&prefix), into_js)
    }

    fn search<'env>(&self, env: &'env Env, query: Unknown<'_>) -> Result<PromiseRaw<'env, Vec<Object<'static>>>> {
        let storage = Arc::clone(&self.storage);
        let work = move |query: String| keyword::search(storage.as_ref(), &query);
        off_thread(env, options::lossy_text(env, "query", query), work, search::results_to_js)
    }
}

/// Gives `object` a property that the SDK looks for with `in`.
fn mark(env: &Env, object: &mut Object<'_>, symbol: &str) -> Result<()> {
    let property = Property::new()
        .with_name(env, Symbol::for_desc(symbol))?
        .with_value(&true.into_unknown(env)?)
        .with_property_attributes(PropertyAttributes::Default);
    object.define_properties(&[property])
}
