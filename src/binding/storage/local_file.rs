//! `LocalFileStorage`.

use std::sync::Arc;

use napi::ValueType;
use napi::bindgen_prelude::*;

use super::{Backend, NAMESPACED, Place, StorageOptions, mark};
use crate::binding::error::to_js;
use crate::binding::{foreign, options};
use crate::error::Error as CoreError;
use crate::storage::local_file::LocalFileStorage as CoreLocalFileStorage;

/// Where both SDKs keep files if nobody says.
const DEFAULT_BASE_DIR: &str = "./.strands/";

/// Keeps each value in a file below a folder: the key `a/b.md` is the file `b.md` in its subfolder `a`.
///
/// A write replaces the file as a whole, so that a reader finds the old value or the new one. Symbolic links are
/// written through, and an existing file keeps its permissions.
#[napi_derive::napi]
pub struct LocalFileStorage {
    storage: CoreLocalFileStorage,
    pub(super) backend: Backend,
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
        let backend = Backend::new(env, this, Arc::new(storage.clone()), Place::NodesThreads, options)?;
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
            cache_bytes: self.backend.keyword.most_bytes(),
            ..StorageOptions::default()
        };
        change(&mut options)?;
        let backend = Backend::detached(Arc::new(storage.clone()), Place::NodesThreads, &options);
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
            return in_sandbox(env, arguments, |(key, data)| {
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
            return in_sandbox(env, options::key(env, key), |key| {
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
            return in_sandbox(env, options::key(env, key), |key| {
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
            return in_sandbox(env, options::prefix(env, prefix), |prefix| {
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
}

fn requires_host_fs(env: &Env, strategy: &Object<'_>) -> Result<bool> {
    match options::property(env, strategy, "requiresHostFs")? {
        Some(value) if value.get_type()? == ValueType::Boolean => options::is_truthy(value),
        _ => Ok(false),
    }
}

/// What `call` gives for the arguments, or a promise that is rejected for what is wrong with them.
fn in_sandbox<'env, A>(
    env: &'env Env,
    arguments: Result<A>,
    call: impl FnOnce(A) -> Result<Unknown<'env>>,
) -> Result<Unknown<'env>> {
    match arguments {
        Ok(arguments) => call(arguments),
        Err(error) => Ok(PromiseRaw::<()>::reject(env, error)?.to_unknown()),
    }
}
