//! The storage backends.
//!
//! A storage without a strategy or a sandbox stays in Rust. With one, the script of `foreign.rs` calls it: these methods
//! then convert the arguments, do what is ours to do, and hand over.

use std::sync::Arc;

use bytes::Bytes;
use napi::bindgen_prelude::*;
use napi::{PropertyAttributes, ValueType};

use super::error::{to_js, wrong_type};
use super::{foreign, inline, off_thread, options, search};
use crate::atomic_file::Durability;
use crate::error::{Error as CoreError, Result as CoreResult};
use crate::search::keyword::{DEFAULT_CACHE_BYTES, KeywordQuery, KeywordSearch};
use crate::search::normalization::Normalization;
use crate::storage::Storage;
use crate::storage::in_memory::InMemoryStorage as CoreInMemoryStorage;
use crate::storage::key::{Key, Prefix};
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
        let backend = Backend::new(&env, &this, storage.clone(), true, &options)?;
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
    /// @param sandbox - where files are read and written instead of the host, if given; or all options in one object
    /// @param searchStrategy - how to search; by keywords if not given
    /// @param options.fsync - whether a write is on the disk before its promise resolves, and not only in the cache of
    /// the operating system; off if not given
    /// @param options.searchCacheBytes - how many bytes of files keyword search keeps; 64 MiB if not given
    /// @throws StorageError if `baseDir` is empty, or if the strategy needs the host's files, which a sandbox hides
    #[napi(
        constructor,
        ts_args_type = "baseDir?: string | undefined, sandbox?: Sandbox | LocalFileStorageOptions | undefined, \
                        searchStrategy?: SearchStrategy<LocalFileStorage> | undefined"
    )]
    pub fn new(
        env: Env,
        this: This<'_>,
        base_dir: Unknown<'_>,
        sandbox: Unknown<'_>,
        search_strategy: Unknown<'_>,
    ) -> Result<Self> {
        foreign::check_constructed(&env, this.to_unknown(), "LocalFileStorage")?;
        let base_dir = match options::defined(base_dir)? {
            Some(value) => options::lossy_text(&env, "baseDir", value)?,
            None => DEFAULT_BASE_DIR.to_owned(),
        };
        let options = StorageOptions::of(&env, sandbox, Some(search_strategy))?;
        if let (Some(_), Some(strategy)) = (&options.sandbox, &options.strategy)
            && requires_host_fs(&env, strategy)?
        {
            const MESSAGE: &str = "LocalFileStorage: the search strategy requires access to the host's file system and \
                                   cannot be used with a sandbox. Leave it out to search by keywords.";
            return Err(to_js(&env, &CoreError::InvalidStorage(MESSAGE.to_owned())));
        }
        let storage = CoreLocalFileStorage::new(&base_dir, options.durability).map_err(|error| to_js(&env, &error))?;
        Self::of(&env, &this, storage, &options)
    }

    fn of(env: &Env, this: &Object<'_>, storage: CoreLocalFileStorage, options: &StorageOptions<'_>) -> Result<Self> {
        let backend = Backend::new(env, this, Arc::new(storage.clone()), false, options)?;
        Ok(LocalFileStorage { backend, storage })
    }

    /// Another instance, with what `this` was given, but for what `change` makes of it.
    fn derive<'env>(
        &self,
        env: &'env Env,
        this: &Object<'env>,
        storage: CoreLocalFileStorage,
        change: impl FnOnce(&mut StorageOptions<'env>) -> Result<()>,
    ) -> Result<Object<'env>> {
        let mut options = StorageOptions {
            strategy: foreign::attached(env, "strategyOf", this)?,
            sandbox: foreign::attached(env, "sandboxOf", this)?,
            durability: Durability::default(),
            cache_bytes: self.backend.keyword.most_bytes(),
        };
        change(&mut options)?;
        let backend = Backend::detached(Arc::new(storage.clone()), false, &options);
        let instance = LocalFileStorage { backend, storage }.into_instance(env)?.as_object(env);
        options.attach_to(env, &instance)?;
        Ok(instance)
    }

    /// The same storage with its files in `sandbox`: every byte goes through its `readFile`, `writeFile`, `removeFile`
    /// and `listFiles`. A storage that has a sandbox already gives itself. A strategy that needs the host's files is
    /// dropped, with a process warning.
    #[napi(ts_args_type = "sandbox: Sandbox", ts_return_type = "LocalFileStorage")]
    pub fn for_sandbox<'env>(&self, env: &'env Env, this: This<'env>, sandbox: Unknown<'env>) -> Result<Object<'env>> {
        if self.backend.has_sandbox {
            return Ok(*this);
        }
        let sandbox = options::object(env, "sandbox", sandbox)?;
        let mut instance = self.derive(env, &this, self.storage.clone(), |options| {
            options.sandbox = Some(sandbox);
            if let Some(strategy) = &options.strategy
                && requires_host_fs(env, strategy)?
            {
                foreign::call::<_, ()>(env, "warnOfDroppedStrategy", (*strategy,))?;
                options.strategy = None;
            }
            Ok(())
        })?;
        let namespaced = Symbol::for_desc(NAMESPACED).into_js_symbol(env)?;
        if options::is_truthy(this.get_property_unchecked(namespaced)?)? {
            mark(env, &mut instance, NAMESPACED)?;
        }
        Ok(instance)
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
    pub fn write<'env>(
        &self,
        env: &'env Env,
        this: This<'env>,
        key: Unknown<'_>,
        data: Unknown<'_>,
    ) -> Result<Unknown<'env>> {
        if self.backend.has_sandbox {
            let arguments = options::key(env, key).and_then(|key| Ok((key, options::bytes(env, "data", data)?)));
            return self.sandboxed(env, arguments, |(key, data)| {
                let data = Uint8ArraySlice::copy_from(env, data)?;
                foreign::call(env, "sandboxWrite", (*this, self.storage.path(key.as_str()), key.as_str(), data))
            });
        }
        self.backend.write(env, &this, key, data)
    }

    /// The value under `key`, or `null` if there is none.
    ///
    /// @throws StorageError if the key is not valid or the file cannot be read
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env, this: This<'env>, key: Unknown<'_>) -> Result<Unknown<'env>> {
        if self.backend.has_sandbox {
            return self.sandboxed(env, options::key(env, key), |key| {
                foreign::call(env, "sandboxRead", (*this, self.storage.path(key.as_str()), key.as_str()))
            });
        }
        self.backend.read(env, key)
    }

    /// Removes the value under `key`, if there is one.
    ///
    /// @throws StorageError if the key is not valid or the file cannot be removed
    #[napi(ts_args_type = "key: string", ts_return_type = "Promise<void>")]
    pub fn delete<'env>(&self, env: &'env Env, this: This<'env>, key: Unknown<'_>) -> Result<Unknown<'env>> {
        if self.backend.has_sandbox {
            return self.sandboxed(env, options::key(env, key), |key| {
                foreign::call(env, "sandboxDelete", (*this, self.storage.path(key.as_str()), key.as_str()))
            });
        }
        self.backend.delete(env, &this, key)
    }

    /// The keys that begin with `prefix`, sorted as JavaScript sorts strings. An empty prefix matches every key.
    ///
    /// Files whose names begin with `.__strands_` are the package's own and left out, and so are names that are not
    /// valid Unicode, which no key can spell.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash, or if a folder cannot be read
    #[napi(ts_args_type = "prefix: string", ts_return_type = "Promise<string[]>")]
    pub fn list<'env>(&self, env: &'env Env, this: This<'env>, prefix: Unknown<'_>) -> Result<Unknown<'env>> {
        if self.backend.has_sandbox {
            return self.sandboxed(env, options::prefix(env, prefix), |prefix| {
                let (start, folder) = self.storage.start_of_walk(&prefix);
                foreign::call(env, "sandboxList", (*this, start, folder, prefix.as_str()))
            });
        }
        self.backend.list(env, prefix)
    }

    /// All entries that hold a word of `query`, those with most of its words first. Stop words do not count, and
    /// neither does the extension of a key; `score` is the number of words, `data` the entry's bytes.
    ///
    /// @throws StorageError if a folder cannot be read
    #[napi(ts_args_type = "query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(&self, env: &'env Env, this: This<'env>, query: Unknown<'env>) -> Result<Unknown<'env>> {
        self.backend.search(env, &this, query)
    }

    /// The storage of the subfolder `prefix`.
    ///
    /// @throws StorageError if the prefix holds a `..` segment or a backslash
    #[napi(ts_args_type = "prefix: string", ts_return_type = "LocalFileStorage")]
    pub fn namespace<'env>(&self, env: &'env Env, this: This<'env>, prefix: Unknown<'_>) -> Result<Object<'env>> {
        let storage = self.storage.namespace(&options::prefix(env, prefix)?);
        let mut instance = self.derive(env, &this, storage, |_| Ok(()))?;
        mark(env, &mut instance, NAMESPACED)?;
        Ok(instance)
    }

    /// The path for a call that goes to the sandbox.
    fn sandboxed<'env, A>(
        &self,
        env: &'env Env,
        arguments: Result<A>,
        call: impl FnOnce(A) -> Result<Unknown<'env>>,
    ) -> Result<Unknown<'env>> {
        match arguments {
            Ok(arguments) => call(arguments),
            Err(error) => rejected(env, error),
        }
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
    fn of(env: &Env, view: Namespace<dyn Storage>, cache_bytes: usize, is_ephemeral: bool) -> Result<Object<'_>> {
        let options = StorageOptions { cache_bytes, ..StorageOptions::default() };
        let backend = Backend::detached(Arc::new(view.clone()), true, &options);
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
        let view = self.view.namespace(&options::prefix(env, prefix)?).map_err(|error| to_js(env, &error))?;
        NamespacedStorage::of(env, view, self.backend.keyword.most_bytes(), self.is_ephemeral)
    }
}

/// A value that was read, or `null`.
type Value = Either<Uint8ArraySlice<'static>, Null>;

/// What the constructors take apart from where the values are.
struct StorageOptions<'env> {
    strategy: Option<Object<'env>>,
    sandbox: Option<Object<'env>>,
    durability: Durability,
    cache_bytes: usize,
}

impl Default for StorageOptions<'_> {
    fn default() -> Self {
        StorageOptions {
            strategy: None,
            sandbox: None,
            durability: Durability::Cached,
            cache_bytes: DEFAULT_CACHE_BYTES,
        }
    }
}

impl<'env> StorageOptions<'env> {
    /// Tells by their shape what the arguments are: a sandbox reads files, a strategy searches, and what does neither
    /// is an object of options.
    fn of(env: &Env, first: Unknown<'env>, strategy: Option<Unknown<'env>>) -> Result<Self> {
        let mut options = StorageOptions::default();
        if let Some(object) = options::given(env, "options", first)? {
            if options::has_method(env, &object, "readFile")? {
                options.sandbox = Some(object);
            } else if options::has_method(env, &object, "search")? {
                options.strategy = Some(object);
            } else {
                options.read(env, &object)?;
            }
        }
        if let Some(strategy) = strategy
            && let Some(strategy) = options::given(env, "searchStrategy", strategy)?
        {
            options.strategy = Some(strategy);
        }
        for (name, given, method) in
            [("searchStrategy", &options.strategy, "search"), ("sandbox", &options.sandbox, "readFile")]
        {
            if let Some(object) = given
                && !options::has_method(env, object, method)?
            {
                return Err(wrong_type(env, format!("{name} must have a method '{method}'")));
            }
        }
        Ok(options)
    }

    fn read(&mut self, env: &Env, object: &Object<'env>) -> Result<()> {
        let given = |name| options::given(env, name, options::raw_property(env, object, name)?);
        self.strategy = given("searchStrategy")?;
        self.sandbox = given("sandbox")?;
        if options::property(env, object, "fsync")?.map_or(Ok(false), options::is_truthy)? {
            self.durability = Durability::Synced;
        }
        if let Some(bytes) = options::property(env, object, "searchCacheBytes")? {
            self.cache_bytes = options::size(env, "searchCacheBytes", bytes)?;
        }
        Ok(())
    }

    /// Lets `storage` hold what is not ours, where the garbage collector sees it.
    fn attach_to(&self, env: &Env, storage: &Object<'_>) -> Result<()> {
        if self.strategy.is_some() || self.sandbox.is_some() {
            foreign::call::<_, ()>(env, "attach", (*storage, self.strategy, self.sandbox))?;
        }
        Ok(())
    }
}

fn requires_host_fs(env: &Env, strategy: &Object<'_>) -> Result<bool> {
    match options::property(env, strategy, "requiresHostFs")? {
        Some(value) if value.get_type()? == ValueType::Boolean => options::is_truthy(value),
        _ => Ok(false),
    }
}

/// What the classes share: a storage, how to search it, and whether its calls are too short to be worth another thread.
pub struct Backend {
    storage: Arc<dyn Storage>,
    keyword: Arc<KeywordSearch>,
    is_immediate: bool,
    has_strategy: bool,
    has_sandbox: bool,
}

impl Backend {
    fn new(
        env: &Env,
        this: &Object<'_>,
        storage: Arc<dyn Storage>,
        is_immediate: bool,
        options: &StorageOptions<'_>,
    ) -> Result<Self> {
        options.attach_to(env, this)?;
        Ok(Self::detached(storage, is_immediate, options))
    }

    /// A backend whose object is yet to be given what is in `options`.
    fn detached(storage: Arc<dyn Storage>, is_immediate: bool, options: &StorageOptions<'_>) -> Self {
        Backend {
            storage,
            keyword: Arc::new(KeywordSearch::new(options.cache_bytes)),
            is_immediate,
            has_strategy: options.strategy.is_some(),
            has_sandbox: options.sandbox.is_some(),
        }
    }

    /// The backend of one of our storages, if it can be searched without asking JavaScript.
    pub fn of_plain<'env>(env: &Env, storage: Unknown<'env>) -> Result<Option<&'env Backend>> {
        if !foreign::call::<_, bool>(env, "isPlain", (storage,))? {
            return Ok(None);
        }
        let backend = if let Ok(storage) = <&InMemoryStorage>::from_unknown(storage) {
            &storage.backend
        } else if let Ok(storage) = <&LocalFileStorage>::from_unknown(storage) {
            &storage.backend
        } else if let Ok(storage) = <&NamespacedStorage>::from_unknown(storage) {
            &storage.backend
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
        let promise = if self.is_immediate {
            let run = || work(self.storage.as_ref(), arguments?).map_err(|error| to_js(env, &error));
            inline(env, run, into_js)?
        } else {
            let storage = Arc::clone(&self.storage);
            off_thread(env, arguments, move |arguments| work(storage.as_ref(), arguments), into_js)?
        };
        Ok(promise.to_unknown())
    }

    fn write<'env>(
        &self,
        env: &'env Env,
        this: &Object<'env>,
        key: Unknown<'_>,
        data: Unknown<'_>,
    ) -> Result<Unknown<'env>> {
        let arguments = options::key(env, key).and_then(|key| Ok((key, options::bytes(env, "data", data)?)));
        let indexed = match &arguments {
            Ok((key, data)) if self.has_strategy => Some((key.to_string(), data.clone())),
            _ => None,
        };
        let write = |storage: &dyn Storage, (key, data): (Key, Bytes)| storage.write(&key, data);
        let written = self.run(env, arguments, write, |_, ()| Ok(()))?;
        match indexed {
            Some((key, data)) => {
                foreign::call(env, "index", (*this, written, key, Uint8ArraySlice::copy_from(env, data)?))
            }
            None => Ok(written),
        }
    }

    fn read<'env>(&self, env: &'env Env, key: Unknown<'_>) -> Result<Unknown<'env>> {
        let into_js = |env: &Env, value: Option<Bytes>| match value {
            Some(data) => Ok(Value::A(Uint8ArraySlice::copy_from(env, data)?)),
            None => Ok(Value::B(Null)),
        };
        self.run(env, options::key(env, key), |storage, key| storage.read(&key), into_js)
    }

    fn delete<'env>(&self, env: &'env Env, this: &Object<'env>, key: Unknown<'_>) -> Result<Unknown<'env>> {
        let key = options::key(env, key);
        let removed = key.as_ref().ok().filter(|_| self.has_strategy).map(Key::to_string);
        let deleted = self.run(env, key, |storage, key| storage.delete(&key), |_, ()| Ok(()))?;
        match removed {
            Some(key) => foreign::call(env, "remove", (*this, deleted, key)),
            None => Ok(deleted),
        }
    }

    fn list<'env>(&self, env: &'env Env, prefix: Unknown<'_>) -> Result<Unknown<'env>> {
        let list = |storage: &dyn Storage, prefix: Prefix| storage.list(&prefix);
        let into_js = |_: &Env, keys: Vec<Key>| Ok(keys.into_iter().map(String::from).collect::<Vec<_>>());
        self.run(env, options::prefix(env, prefix), list, into_js)
    }

    fn search<'env>(&self, env: &'env Env, this: &Object<'env>, query: Unknown<'env>) -> Result<Unknown<'env>> {
        if self.has_strategy {
            return foreign::call(env, "search", (*this, query));
        }
        search::keyword_search(env, this.to_unknown(), query, Normalization::None)
    }

    /// The results of a keyword search that stays in Rust.
    pub fn keyword_search<'env>(&self, env: &'env Env, query: Result<KeywordQuery>) -> Result<Unknown<'env>> {
        let (storage, keyword) = (Arc::clone(&self.storage), Arc::clone(&self.keyword));
        let work = move |query| keyword.search(storage.as_ref(), &query);
        Ok(off_thread(env, query, work, search::results_to_js)?.to_unknown())
    }
}

/// A promise that is rejected at once.
fn rejected(env: &Env, error: Error) -> Result<Unknown<'_>> {
    Ok(PromiseRaw::<()>::reject(env, error)?.to_unknown())
}

/// Gives `object` a property that the SDK looks for with `in`.
fn mark(env: &Env, object: &mut Object<'_>, symbol: &str) -> Result<()> {
    let property = Property::new()
        .with_name(env, Symbol::for_desc(symbol))?
        .with_value(&true.into_unknown(env)?)
        .with_property_attributes(PropertyAttributes::Default);
    object.define_properties(&[property])
}
