//! The memory store.

use napi::ValueType;
use napi::bindgen_prelude::*;

use super::batches::{Answered, Batches};
use super::error::{to_js, wrong_type};
use super::{foreign, off_thread, options};
use crate::error::Error as CoreError;
use crate::memory::json::Value;
use crate::memory::test_memory_store::{
    DEFAULT_MAX_SEARCH_RESULTS, Draft, Location, Memory, OpenStore, TestMemoryStore as CoreTestMemoryStore,
};
use crate::wtf8::Wtf8;

/// The key under which a found memory tells how many words it shares with the query (both SDKs).
const RELEVANCE_SCORE: &str = "_relevanceScore";

/// Memories in one JSON file, found by the words they share with a question.
///
/// The file is that of the SDKs, `~/.strands/memory/<name>.json` unless `path` says otherwise, and may be shared with
/// them. Any number of stores, threads and processes that use this package may write one file at the same time without
/// losing a memory. What was read is kept, and read again only when the file has changed.
#[napi_derive::napi]
pub struct TestMemoryStore {
    inner: CoreTestMemoryStore,
    additions: Batches<OpenStore>,
}

impl Answered for OpenStore {
    const BEGIN_TURN: &'static str = "beginMicroTurn";
    const ANSWER: &'static str = "added";
    type Js = String;

    fn into_js(id: String) -> Option<String> {
        Some(id)
    }
}

#[napi_derive::napi]
impl TestMemoryStore {
    /// Touches no file.
    ///
    /// @throws Error if `name` or `path` is empty, or `maxSearchResults` below 1
    /// @throws TypeError if an option has another type
    #[napi(constructor, ts_args_type = "options: TestMemoryStoreConfig")]
    pub fn new(env: Env, mut this: This<'_>, options: Unknown<'_>) -> Result<Self> {
        foreign::check_constructed(&env, this.to_unknown(), "TestMemoryStore")?;
        let options = options::object(&env, "TestMemoryStore: options", options)?;
        let non_empty = |option: &'static str, value: Unknown<'_>, message: &'static str| {
            let text = options::lossy_text(&env, &format!("TestMemoryStore: {option}"), value)?;
            let is_empty = Wtf8::from(text.as_str()).trim().as_bytes().is_empty();
            if is_empty { Err(to_js(&env, &CoreError::Memory(message))) } else { Ok(text) }
        };
        let name = non_empty("name", options::raw_property(&env, &options, "name")?, "name must not be empty.")?;
        let path = match options::property(&env, &options, "path")? {
            Some(value) => Some(non_empty("path", value, "path must not be empty.")?),
            None => None,
        };
        options::property(&env, &options, "maxSearchResults")?.map(|value| limit(&env, value)).transpose()?;
        let is_on = |name| match options::property(&env, &options, name)? {
            Some(value) if value.get_type()? != ValueType::Null => options::is_truthy(value),
            _ => Ok(true),
        };
        let location = match path {
            _ if !is_on("persist")? => Location::InMemory,
            Some(path) => Location::File(path.into()),
            None => Location::default_for(&name),
        };
        // The properties of the SDK's class, in its order. They are read again at each call, as there.
        for option in ["name", "description", "maxSearchResults"] {
            this.set(option, options::raw_property(&env, &options, option)?)?;
        }
        this.set("writable", is_on("writable")?)?;
        this.set("extraction", options::raw_property(&env, &options, "extraction")?)?;
        let normalization = options::normalization(&env, options.to_unknown())?;
        Ok(TestMemoryStore { inner: CoreTestMemoryStore::new(location, normalization), additions: Batches::default() })
    }

    /// The memories that share words with `query`: those with most of its words first, then the newest, then those
    /// last in the file. `metadata._relevanceScore` is the number of words. A query without words finds nothing.
    ///
    /// @throws Error if `maxSearchResults` is below 1, or if the file is not a memory file; the message names the file
    /// and the place in it
    /// @throws StorageError if the file cannot be read
    #[napi(ts_args_type = "query: string, options?: SearchOptions", ts_return_type = "Promise<MemoryEntry[]>")]
    pub fn search<'env>(
        &self,
        env: &'env Env,
        this: This<'_, Object<'_>>,
        query: Unknown<'_>,
        options: Unknown<'_>,
    ) -> Result<PromiseRaw<'env, Vec<Object<'static>>>> {
        let arguments = (|| {
            let asked = max_search_results(env, options)?;
            // The store's own was checked when it was made; what was set since counts if it is a limit at all.
            let own = options::raw_property(env, &this, "maxSearchResults")?;
            let own = limit(env, own).unwrap_or(None);
            let limit = asked.or(own).unwrap_or(DEFAULT_MAX_SEARCH_RESULTS);
            let query = options::lossy_text(env, "TestMemoryStore: query", query)?;
            Ok((self.inner.open().map_err(|error| to_js(env, &error))?, query, limit))
        })();
        off_thread(env, arguments, |(store, query, limit)| store.search(&query, limit), memories_to_js)
    }

    /// Stores a memory and gives its id. Content that is already there, white space at its ends aside, is not stored
    /// again: the id is then that of the memory that has it, whose metadata stays as it is.
    ///
    /// Metadata is stored as `JSON.stringify` gives it at the time of the call.
    ///
    /// @throws Error if the store is not writable, if `content` is empty, or if the file is not a memory file, which is
    /// then left as it is
    /// @throws StorageError if the file cannot be written; it is then as it was
    #[napi(
        ts_args_type = "content: string, metadata?: Record<string, JSONValue>",
        ts_return_type = "Promise<TestMemoryAddResult>"
    )]
    pub fn add<'env>(
        &self,
        env: &'env Env,
        this: This<'_, Object<'_>>,
        content: Unknown<'_>,
        metadata: Unknown<'_>,
    ) -> Result<PromiseRaw<'env, Object<'static>>> {
        let arguments = (|| {
            if !options::is_truthy(options::raw_property(env, &this, "writable")?)? {
                return Err(to_js(env, &CoreError::Memory(NOT_WRITABLE)));
            }
            let content = options::text(env, "TestMemoryStore: content", content)?;
            let metadata = stringify(env, metadata)?;
            let draft = Draft::new(content, metadata).and_then(|draft| Ok((self.inner.open()?, draft)));
            draft.map_err(|error| to_js(env, &error))
        })();
        match arguments {
            Ok((store, draft)) => self.additions.add(env, &this, &store, draft),
            Err(error) => PromiseRaw::reject(env, error),
        }
    }
}

const NOT_WRITABLE: &str = "store is not writable. Set writable: true in config to enable add().";

fn max_search_results(env: &Env, options: Unknown<'_>) -> Result<Option<usize>> {
    match options.get_type()? {
        ValueType::Undefined | ValueType::Null => Ok(None),
        _ => {
            let options = options::object(env, "TestMemoryStore: options", options)?;
            options::property(env, &options, "maxSearchResults")?.map_or(Ok(None), |value| limit(env, value))
        }
    }
}

/// A limit as JavaScript's `slice` takes it: rounded down. NaN means that there is none here.
fn limit(env: &Env, value: Unknown<'_>) -> Result<Option<usize>> {
    if value.get_type()? != ValueType::Number {
        let description = options::description(&value);
        return Err(wrong_type(env, format!("TestMemoryStore: maxSearchResults must be a number, not {description}")));
    }
    let limit = f64::from_unknown(value)?;
    if limit < 1.0 {
        return Err(to_js(env, &CoreError::Memory("maxSearchResults must be at least 1.")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates: infinity is no limit")]
    Ok(if limit.is_nan() { None } else { Some(limit as usize) })
}

/// What `JSON.stringify` makes of a record's `metadata`; `None` if it would leave the field out.
fn stringify(env: &Env, metadata: Unknown<'_>) -> Result<Option<String>> {
    if metadata.get_type()? == ValueType::Undefined {
        return Ok(None);
    }
    let outcome = foreign::function::<Unknown<'_>, Object<'_>>(env, "stringify")?.call(metadata)?;
    match options::property(env, &outcome, "text")? {
        Some(text) => {
            let record = options::lossy_text(env, "metadata", text)?;
            Ok(record.strip_prefix("{\"metadata\":").and_then(|text| text.strip_suffix('}')).map(str::to_owned))
        }
        None => Err(Error::from_unknown_without_coercion(outcome.get_named_property_unchecked("thrown")?)),
    }
}

fn memories_to_js(env: &Env, memories: Vec<Memory>) -> Result<Vec<Object<'static>>> {
    let entry = |memory: Memory| {
        let mut metadata = Object::new(env)?;
        for (key, value) in &memory.metadata {
            define(env, &mut metadata, key, value_to_js(env, value)?)?;
        }
        metadata.set(RELEVANCE_SCORE, memory.score)?;
        let mut entry: Object<'static> = Object::new(env)?;
        entry.set("content", text_to_js(env, &memory.content)?)?;
        entry.set("metadata", metadata)?;
        Ok(entry)
    };
    memories.into_iter().map(entry).collect()
}

fn value_to_js<'env>(env: &'env Env, value: &Value) -> Result<Unknown<'env>> {
    match value {
        Value::Null => Null.into_unknown(env),
        Value::Bool(value) => value.into_unknown(env),
        Value::Number(number) => number.into_unknown(env),
        Value::String(text) => text_to_js(env, text),
        Value::Array(elements) => {
            let mut array = env.create_array(u32::try_from(elements.len()).unwrap_or(u32::MAX))?;
            for (index, element) in (0..).zip(elements) {
                array.set(index, value_to_js(env, element)?)?;
            }
            array.into_unknown(env)
        }
        Value::Object(entries) => {
            let mut object = Object::new(env)?;
            for (key, value) in entries {
                define(env, &mut object, key, value_to_js(env, value)?)?;
            }
            object.into_unknown(env)
        }
    }
}

/// Adds a property as `JSON.parse` does, which does not take `__proto__` for the prototype.
fn define(env: &Env, object: &mut Object<'_>, key: &Wtf8<'_>, value: Unknown<'_>) -> Result<()> {
    let is_prototype = key.as_bytes() == b"__proto__";
    let key = text_to_js(env, key)?;
    if !is_prototype {
        return object.set_property(key, value);
    }
    object.define_properties(&[Property::new().with_name(env, key)?.with_value(&value)])
}

fn text_to_js<'env>(env: &'env Env, text: &Wtf8<'_>) -> Result<Unknown<'env>> {
    match text.as_str() {
        Some(text) => text.into_unknown(env),
        None => Utf16String::from(text.to_utf16()).into_unknown(env),
    }
}
