//! `Bm25SearchStrategy`.

use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use napi::bindgen_prelude::*;
use napi::{JsValue, ValueType};

use super::batches::{Answered, Batches};
use super::error::{to_js, wrong_type};
use super::foreign_storage::ForeignStorage;
use super::questions::Asked;
use super::storage::Backend;
use super::{foreign, options, remote};
use crate::error::{Error as CoreError, Result as CoreResult};
use crate::search::bm25::{
    Backfilled, Bm25Hit, Bm25Index, Bm25Query, Change, Indexes, SetAside, index_path, is_hidden,
};
use crate::search::match_query::Match;
use crate::search::normalization::Normalization;
use crate::storage::Storage;
use crate::storage::key::Key;

/// Finds entries by the words of a question, ranked by BM25, in an index that is kept up to date by each write.
///
/// The index is a SQLite file that the Python SDK's `Bm25SearchStrategy` makes and reads too: beside the folder of the
/// storage, `.__strands_<folder>-fts5.sqlite`, or at `dbPath`. Any number of processes and threads may use it at the same
/// time. One strategy serves any number of folders, each with an index of its own.
#[napi_derive::napi]
pub struct Bm25SearchStrategy {
    db_path: Option<PathBuf>,
    which: Match,
    limit: usize,
    normalization: Normalization,
    indexes: RefCell<Indexes>,
    changes: Batches<Arc<Bm25Index>>,
}

impl Answered for Arc<Bm25Index> {
    const BEGIN_TURN: &'static str = "beginLoopTurn";
    const ANSWER: &'static str = "indexed";
    type Js = Vec<String>;

    fn into_js(set_aside: Vec<SetAside>) -> Option<Vec<String>> {
        (!set_aside.is_empty()).then(|| set_aside.iter().map(SetAside::to_string).collect())
    }
}

/// What a search gives, and the index, which may have something to tell.
type Found = (Vec<Bm25Hit>, Arc<Bm25Index>);

#[napi_derive::napi]
impl Bm25SearchStrategy {
    /// Opens nothing.
    ///
    /// @param options.dbPath - the index file, for one storage of any kind; if not given, beside the folder of each storage
    /// @param options.match - whether an entry must hold `'any'` term of the question or `'all'`; any if not given
    /// @param options.limit - how many results a search gives at most; all if not given
    /// @param options.normalize - the Unicode form that questions and entries are brought into first; none if not given
    /// @throws TypeError if an option is something else
    #[napi(constructor, ts_args_type = "options?: Bm25SearchStrategyOptions | undefined")]
    pub fn new(env: Env, this: This<'_>, options: Unknown<'_>) -> Result<Self> {
        foreign::check_constructed(&env, this.to_unknown(), "Bm25SearchStrategy")?;
        let mut strategy = Bm25SearchStrategy {
            db_path: None,
            which: Match::default(),
            limit: usize::MAX,
            normalization: options::normalization(&env, options)?,
            indexes: RefCell::default(),
            changes: Batches::default(),
        };
        let Some(options) = options::given(&env, "options", options)? else { return Ok(strategy) };
        if let Some(path) = options::property(&env, &options, "dbPath")? {
            let path = options::lossy_text(&env, "dbPath", path)?;
            if path.is_empty() || path == ":memory:" || path.contains('\0') {
                return Err(wrong_type(&env, format!("dbPath must be the path of a file, not '{path}'")));
            }
            strategy.db_path = Some(path.into());
        }
        if let Some(which) = options::property(&env, &options, "match")? {
            strategy.which = match options::lossy_text(&env, "match", which)?.as_str() {
                "any" => Match::Any,
                "all" => Match::All,
                other => return Err(wrong_type(&env, format!("match must be 'any' or 'all', not '{other}'"))),
            };
        }
        if let Some(limit) = options::property(&env, &options, "limit")? {
            strategy.limit = options::count(&env, "limit", limit)?;
        }
        Ok(strategy)
    }

    /// The index is a file of the host: the strategy is of no use with a sandbox.
    #[napi(getter, ts_return_type = "true")]
    pub fn requires_host_fs(&self) -> bool {
        true
    }

    /// Takes an entry into the index, in place of what the index has of it. The storages call this for each write. Entries
    /// whose names begin with a dot are left out.
    ///
    /// @throws StorageError if the index cannot be written; the entry is then stored and not indexed
    #[napi(ts_args_type = "storage: Storage, key: string, data: Uint8Array", ts_return_type = "Promise<void>")]
    pub fn index<'env>(
        &self,
        env: &'env Env,
        this: This<'env>,
        storage: Unknown<'env>,
        key: Unknown<'_>,
        data: Unknown<'_>,
        by_storage: Unknown<'_>,
    ) -> Result<Unknown<'env>> {
        let data = options::bytes(env, "data", data).map(Some);
        self.change(env, &this, storage, key, data, by_storage)
    }

    /// Takes an entry out of the index. The storages of this package call this for each deletion.
    ///
    /// @throws StorageError if the index cannot be written; searches leave the entry out all the same
    #[napi(ts_args_type = "storage: Storage, key: string", ts_return_type = "Promise<void>")]
    pub fn remove<'env>(
        &self,
        env: &'env Env,
        this: This<'env>,
        storage: Unknown<'env>,
        key: Unknown<'_>,
        by_storage: Unknown<'_>,
    ) -> Result<Unknown<'env>> {
        self.change(env, &this, storage, key, Ok(None), by_storage)
    }

    /// The entries of `storage` that hold a term of `query`, or a word that begins with one, best first. `score` is
    /// between 0 and 1. Stop words and single ASCII characters are no terms. What is not indexed is not found.
    ///
    /// @throws StorageError if the index cannot be read
    #[napi(ts_args_type = "storage: Storage, query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(
        &self,
        env: &'env Env,
        this: This<'env>,
        storage: Unknown<'env>,
        query: Unknown<'_>,
        within: Unknown<'_>,
    ) -> Result<Unknown<'env>> {
        let arguments = (|| {
            let query = options::lossy_text(env, "query", query)?;
            // What the keys of a view begin with: only the script says so.
            let within = match within.get_type()? {
                ValueType::String => options::lossy_text(env, "within", within)?,
                _ => String::new(),
            };
            let query = Bm25Query::within(&within, &query, self.which, self.normalization, self.limit);
            Ok((self.index_of(env, &this, storage)?, query))
        })();
        let search = |storage: &dyn Storage, (index, query): (Arc<Bm25Index>, Bm25Query)| {
            Ok((index.search(storage, &query)?, index))
        };
        match Backend::of_plain(env, storage)? {
            Some(backend) => {
                let storage = Arc::clone(&backend.storage);
                backend.run_elsewhere(env, arguments, move |arguments| search(storage.as_ref(), arguments), found_to_js)
            }
            None => lend(
                env,
                storage,
                ().into_unknown(env)?,
                arguments,
                move |storage, arguments| search(storage, arguments),
                found_to_js,
            ),
        }
    }

    /// Makes the index that of the entries of `storage`: takes in what was there before, takes out what is gone, and touches
    /// only what has changed.
    ///
    /// @param options.onProgress - called now and then, and in the end, with the number of entries that are `done` and
    /// their `total`
    /// @throws StorageError if the storage cannot be listed or the index cannot be written
    #[napi(
        ts_args_type = "storage: Storage, options?: Bm25BackfillOptions | undefined",
        ts_return_type = "Promise<Bm25BackfillResult>"
    )]
    pub fn backfill<'env>(
        &self,
        env: &'env Env,
        this: This<'env>,
        storage: Unknown<'env>,
        options: Unknown<'env>,
    ) -> Result<Unknown<'env>> {
        let on_progress = (|| {
            let Some(options) = options::given(env, "options", options)? else { return Ok(None) };
            let Some(on_progress) = options::property(env, &options, "onProgress")? else { return Ok(None) };
            match on_progress.get_type()? {
                ValueType::Function => Ok(Some(on_progress)),
                _ => {
                    let description = options::description(&on_progress);
                    Err(wrong_type(env, format!("onProgress must be a function, not {description}")))
                }
            }
        })();
        let (on_progress, index) = match on_progress.and_then(|call| Ok((call, self.index_of(env, &this, storage)?))) {
            Ok(arguments) => arguments,
            Err(error) => return Ok(PromiseRaw::<()>::reject(env, error)?.to_unknown()),
        };
        let own = Backend::of_plain(env, storage)?.map(|backend| backend.storage);
        let on_progress = match on_progress {
            Some(on_progress) => on_progress,
            None => ().into_unknown(env)?,
        };
        let work = move |foreign: &ForeignStorage, index: Arc<Bm25Index>| {
            let storage: &dyn Storage = match &own {
                Some(own) => own.as_ref(),
                None => foreign,
            };
            Ok((index.backfill(storage, &mut |progress| foreign.report(progress))?, index))
        };
        lend(env, storage, on_progress, Ok(index), work, backfilled_to_js)
    }

    /// Closes every index, once what waits is written. A later call opens them again; nothing has to be closed for a process
    /// to end.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env, this: This<'env>) -> Result<Unknown<'env>> {
        foreign::call::<_, bool>(env, "unclaim", (*this,))?;
        let indexes = self.indexes.borrow_mut().take_all();
        let close_all = move |()| {
            indexes.iter().for_each(|index| index.close());
            Ok(())
        };
        remote(env, Ok(()), close_all, |_, ()| Ok(()))
    }
}

impl Bm25SearchStrategy {
    fn change<'env>(
        &self,
        env: &'env Env,
        this: &Object<'env>,
        storage: Unknown<'env>,
        key: Unknown<'_>,
        data: Result<Option<Bytes>>,
        by_storage: Unknown<'_>,
    ) -> Result<Unknown<'env>> {
        let arguments = data.and_then(|data| {
            let key = key_of(env, storage, key)?;
            // What a caller indexes itself may be other than what is stored.
            let own = if options::is_truthy(by_storage)? { Backend::of_plain(env, storage)? } else { None };
            let change = Change { key, data, happened_in: own.map(|backend| backend.storage) };
            Ok((self.index_of(env, this, storage)?, change))
        });
        match arguments {
            Ok((_, change)) if is_hidden(&change.key) => Ok(PromiseRaw::resolve(env, ())?.to_unknown()),
            Ok((index, change)) => Ok(self.changes.add::<()>(env, this, &index, change)?.to_unknown()),
            Err(error) => Ok(PromiseRaw::<()>::reject(env, error)?.to_unknown()),
        }
    }

    /// The index of a storage.
    fn index_of(&self, env: &Env, this: &Object<'_>, storage: Unknown<'_>) -> Result<Arc<Bm25Index>> {
        let refused =
            |message: String| to_js(env, &CoreError::InvalidStorage(format!("Bm25SearchStrategy: {message}")));
        let storage = options::object(env, "storage", storage)?;
        if foreign::call(env, "isSandboxed", (storage,))? {
            return Err(refused(
                "the storage is in a sandbox, and the index would be outside. Search it by keywords.".into(),
            ));
        }
        let folder = match options::property(env, &storage, "baseDir")? {
            Some(folder) if folder.get_type()? == ValueType::String => {
                let folder = options::lossy_text(env, "baseDir", folder)?;
                Some(
                    absolute(Path::new(&folder))
                        .map_err(|source| to_js(env, &CoreError::List { prefix: String::new(), source }))?,
                )
            }
            _ => None,
        };
        let path = match (&self.db_path, &folder) {
            (Some(path), _) => {
                let text = folder.as_deref().map(Path::to_string_lossy);
                let text = text.as_deref().map_or(Either::B(Null), Either::A);
                if let Some(storages) = foreign::call::<_, Option<Vec<String>>>(env, "claim", (*this, storage, text))? {
                    return Err(refused(format!(
                        "dbPath '{}' is the index of {} and cannot also be that of {}. Leave dbPath out for an index beside \
                         each folder, or use a strategy for each storage.",
                        path.display(),
                        storages[0],
                        storages[1],
                    )));
                }
                absolute(path).map_err(|source| to_js(env, &CoreError::List { prefix: String::new(), source }))?
            }
            (None, Some(folder)) => index_path(folder),
            (None, None) => {
                return Err(refused(
                    "the storage has no baseDir beside which an index could be. Pass a dbPath.".into(),
                ));
            }
        };
        let (index, superfluous) = {
            let mut indexes = self.indexes.borrow_mut();
            let index = indexes.get_or_make(path, |path| Bm25Index::new(path, folder, self.normalization));
            (index, indexes.take_superfluous())
        };
        let_go(env, superfluous)?;
        Ok(index)
    }
}

/// Closes indexes that nobody uses, on another thread: there may be something to write for it.
fn let_go(env: &Env, indexes: Vec<Arc<Bm25Index>>) -> Result<()> {
    if indexes.is_empty() {
        return Ok(());
    }
    indexes.iter().try_for_each(|index| tell(env, index))?;
    // Without a thread they are closed here.
    let thread = thread::Builder::new().name("strands-native closer".into());
    drop(thread.spawn(move || drop(indexes)));
    Ok(())
}

/// Does `work` on another thread with a storage that is not ours, and with a callback for progress.
fn lend<'env, A: Send + 'static, T: Send + 'static, V: ToNapiValue + 'static>(
    env: &'env Env,
    storage: Unknown<'env>,
    on_progress: Unknown<'env>,
    arguments: Result<A>,
    work: impl FnOnce(&ForeignStorage, A) -> CoreResult<T> + Send + 'static,
    into_js: fn(&Env, T) -> Result<V>,
) -> Result<Unknown<'env>> {
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(error) => return Ok(PromiseRaw::<()>::reject(env, error)?.to_unknown()),
    };
    let work = RefCell::new(Some((work, arguments)));
    let start = move |context: FunctionCallContext<'_>| {
        let ask: Asked<'_> = context.get(0)?;
        let storage = ForeignStorage::new(&ask)?;
        let (work, arguments) = work.take().ok_or_else(|| Error::from_reason("it is done once"))?;
        Ok(remote(context.env, Ok(()), move |()| work(&storage, arguments), into_js)?.raw())
    };
    let start = env.create_function_from_closure::<(), _, _>("start", start)?;
    foreign::call(env, "lend", (storage, on_progress, start))
}

/// The key of an entry: one of ours by the rules of our storages, that of another storage as it is.
fn key_of(env: &Env, storage: Unknown<'_>, key: Unknown<'_>) -> Result<Key> {
    if foreign::call(env, "isOurs", (storage,))? {
        return options::key(env, key);
    }
    options::foreign_key(env, key)
}

fn found_to_js(env: &Env, (hits, index): Found) -> Result<Unknown<'static>> {
    tell(env, &index)?;
    let scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
    let scores = Float64ArraySlice::copy_from(env, scores)?;
    // Keys of other storages may be anything, also what cannot be told from the slashes between two.
    let is_inseparable = |key: &str| key.is_empty() || key.starts_with('/') || key.ends_with('/') || key.contains("//");
    if hits.iter().any(|hit| is_inseparable(hit.key.as_str())) {
        let keys: Vec<&str> = hits.iter().map(|hit| hit.key.as_str()).collect();
        return foreign::call(env, "ranked", (keys, scores));
    }
    let keys: Unknown<'_> = foreign::call(env, "keysOf", (Key::join(hits.iter().map(|hit| &hit.key)),))?;
    foreign::call(env, "ranked", (keys, scores))
}

fn backfilled_to_js(env: &Env, (result, index): (Backfilled, Arc<Bm25Index>)) -> Result<Object<'static>> {
    tell(env, &index)?;
    let mut object: Object<'static> = Object::new(env)?;
    object.set("indexed", result.indexed as f64)?;
    object.set("unchanged", result.unchanged as f64)?;
    object.set("removed", result.removed as f64)?;
    Ok(object)
}

/// Tells of index files that were set aside.
fn tell(env: &Env, index: &Bm25Index) -> Result<()> {
    index.take_set_aside().iter().try_for_each(|file| foreign::call(env, "warn", (file.to_string(),)))
}

/// The path from the root, without `.` and `..`, by its text alone (as Python's `os.path.abspath`).
fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    let mut absolute = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::ParentDir => {
                absolute.pop();
            }
            component => absolute.push(component),
        }
    }
    Ok(absolute)
}
