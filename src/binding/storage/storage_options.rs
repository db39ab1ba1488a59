//! What the constructors of storages take.

use napi::bindgen_prelude::*;

use crate::atomic_file::Durability;
use crate::binding::error::wrong_type;
use crate::binding::{foreign, options};
use crate::search::keyword::DEFAULT_CACHE_BYTES;

/// What the constructors take apart from where the values are.
pub struct StorageOptions<'env> {
    pub strategy: Option<Object<'env>>,
    pub sandbox: Option<Object<'env>>,
    /// What requests are made of: a client of S3, or a function for credentials.
    pub asked: Option<Object<'env>>,
    pub durability: Durability,
    pub cache_bytes: usize,
}

impl Default for StorageOptions<'_> {
    fn default() -> Self {
        StorageOptions {
            strategy: None,
            sandbox: None,
            asked: None,
            durability: Durability::Cached,
            cache_bytes: DEFAULT_CACHE_BYTES,
        }
    }
}

impl<'env> StorageOptions<'env> {
    /// Tells by their shape what the arguments are: a sandbox reads files, a strategy searches, and what does neither
    /// is an object of options.
    pub fn of(env: &Env, first: Unknown<'env>, strategy: Option<Unknown<'env>>) -> Result<Self> {
        let mut options = StorageOptions::default();
        if let Some(object) = options::given(env, "options", first)? {
            // An in-memory storage takes one argument, and has no use for a sandbox.
            if strategy.is_some() && options::has_method(env, &object, "readFile")? {
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
    pub fn attach_to(&self, env: &Env, storage: &Object<'_>) -> Result<()> {
        if self.strategy.is_some() || self.sandbox.is_some() || self.asked.is_some() {
            foreign::call::<_, ()>(env, "attach", (*storage, self.strategy, self.sandbox, self.asked))?;
        }
        Ok(())
    }
}
