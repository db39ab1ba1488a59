//! Tokens and stop words.

use napi::JsValue;
use napi::bindgen_prelude::*;

use super::storage::Backend;
use super::{error, foreign, options};
use crate::search::keyword::{KeywordHit, KeywordQuery};
use crate::search::normalization::Normalization;
use crate::search::stop_words::STOP_WORDS;
use crate::search::tokenize::TokenSet;
use crate::storage::key::Key;

/// The distinct words of a text, lower-cased, in the order in which they first occur: runs of letters, numbers and
/// underscores, `text.toLowerCase().split(/[^\p{L}\p{N}_]+/u)` in JavaScript's terms.
///
/// @param options.normalize - the Unicode form that the text is brought into first; none if not given
/// @throws TypeError if `text` is not a string
#[napi_derive::napi(
    ts_args_type = "text: string, options?: NormalizeOptions | undefined",
    ts_return_type = "Set<string>",
    catch_unwind
)]
pub fn tokenize<'env>(env: &'env Env, text: Unknown<'env>, options: Unknown<'env>) -> Result<Unknown<'env>> {
    let normalization = options::normalization(env, options)?;
    let text = options::lossy_text(env, "text", text)?;
    set_of(env, TokenSet::of(&normalization.apply(&text)).joined())
}

/// How many of the distinct words of `content` are in `queryTokens`. 0 if there are none.
///
/// @throws TypeError if an argument has another type
#[napi_derive::napi(ts_args_type = "queryTokens: Set<string>, content: string", catch_unwind)]
pub fn token_overlap_score<'env>(env: &'env Env, query_tokens: Unknown<'env>, content: Unknown<'env>) -> Result<u32> {
    let query = token_set(env, query_tokens)?;
    let content = options::lossy_text(env, "content", content)?;
    Ok(u32::try_from(query.overlap(&content)).unwrap_or(u32::MAX))
}

/// Finds entries by the words they share with a query: the default of every storage.
///
/// Stop words do not count, and neither does the extension of a key. The storages of this package are searched without
/// going through JavaScript, unless a subclass overrides one of their methods; any other object with `list` and `read`
/// is read through those, at most 8 entries at a time. The class itself serves as a strategy too.
#[napi_derive::napi]
pub struct KeywordSearchStrategy {
    normalization: Normalization,
}

#[napi_derive::napi]
impl KeywordSearchStrategy {
    /// @param options.normalize - the Unicode form that queries and entries are brought into first; none if not given
    /// @throws TypeError if `normalize` is something else than `'NFC'` or `'NFKC'`
    #[napi(constructor, ts_args_type = "options?: NormalizeOptions | undefined")]
    pub fn new(env: Env, this: This<'_>, options: Unknown<'_>) -> Result<Self> {
        foreign::check_constructed(&env, this.to_unknown(), "KeywordSearchStrategy")?;
        Ok(KeywordSearchStrategy { normalization: options::normalization(&env, options)? })
    }

    /// All entries of `storage` that hold a word of `query`, those with most of its words first, else in the order of
    /// the listing. `score` is the number of words, `data` what was read. An entry whose `read` rejects with a
    /// `StorageError` is left out; any other rejection is handed on.
    #[napi(ts_args_type = "storage: Storage, query: string", ts_return_type = "Promise<StorageSearchResult[]>")]
    pub fn search<'env>(&self, env: &'env Env, storage: Unknown<'env>, query: Unknown<'env>) -> Result<Unknown<'env>> {
        keyword_search(env, storage, query, self.normalization)
    }

    /// The same as the method of an instance without options.
    #[napi(
        js_name = "search",
        ts_args_type = "storage: Storage, query: string",
        ts_return_type = "Promise<StorageSearchResult[]>"
    )]
    pub fn search_by_default<'env>(
        env: &'env Env,
        storage: Unknown<'env>,
        query: Unknown<'env>,
    ) -> Result<Unknown<'env>> {
        keyword_search(env, storage, query, Normalization::None)
    }
}

/// The results of a keyword search in whatever `storage` is.
pub fn keyword_search<'env>(
    env: &'env Env,
    storage: Unknown<'env>,
    query: Unknown<'env>,
    normalization: Normalization,
) -> Result<Unknown<'env>> {
    let query = options::lossy_text(env, "query", query).map(|query| KeywordQuery::new(&query, normalization));
    if let Some(backend) = Backend::of_plain(env, storage)? {
        return backend.keyword_search(env, query);
    }
    let query = match query {
        Ok(query) if !query.is_empty() => query,
        Ok(_) => return Ok(PromiseRaw::resolve(env, env.create_array(0)?)?.to_unknown()),
        Err(error) => return Ok(PromiseRaw::<()>::reject(env, error)?.to_unknown()),
    };
    let score = move |context: FunctionCallContext<'_>| {
        let keys: Vec<Unknown<'_>> = context.get(0)?;
        let values: Vec<Unknown<'_>> = context.get(1)?;
        let score = |(key, value): (Unknown<'_>, Unknown<'_>)| {
            if !options::is_truthy(value)? {
                return Ok(0);
            }
            let key = Key::from_listing(options::lossy_text(context.env, "key", key)?);
            options::with_bytes(context.env, "data", value, |data| query.score(&key, data))
        };
        keys.into_iter().zip(values).map(score).collect::<Result<Vec<u32>>>()
    };
    let score = env.create_function_from_closure::<(), _, _>("score", score)?;
    foreign::call(env, "scan", (storage, score))
}

/// The `Set` that is exported as `STOP_WORDS`.
pub fn stop_words(env: &Env) -> Result<Unknown<'_>> {
    set_of(env, &STOP_WORDS.join(" "))
}

/// Results as the SDK's `StorageSearchResult`. They cross in four values, however many they are.
pub fn results_to_js(env: &Env, hits: Vec<KeywordHit>) -> Result<Unknown<'static>> {
    let keys = Key::join(hits.iter().map(|hit| &hit.key));
    let scores: Vec<u32> = hits.iter().map(|hit| hit.score).collect();
    let lengths: Vec<f64> = hits.iter().map(|hit| hit.data.len() as f64).collect();
    let mut data = Vec::with_capacity(hits.iter().map(|hit| hit.data.len()).sum());
    hits.iter().for_each(|hit| data.extend_from_slice(&hit.data));
    drop(hits);
    let (scores, lengths) = (Uint32ArraySlice::copy_from(env, scores)?, Float64ArraySlice::copy_from(env, lengths)?);
    foreign::call(env, "results", (keys, scores, lengths, Uint8ArraySlice::copy_from(env, data)?))
}

/// The set of words that a space separates, as one string: V8 cuts it up faster than it takes each word over.
fn set_of<'env>(env: &'env Env, joined: &str) -> Result<Unknown<'env>> {
    if joined.is_ascii() {
        return foreign::call(env, "setOf", (joined,));
    }
    // V8 decodes UTF-8 more slowly than we do.
    foreign::call(env, "setOf", (env.create_string_utf16(joined.encode_utf16().collect::<Vec<_>>())?.to_unknown(),))
}

fn token_set(env: &Env, set: Unknown<'_>) -> Result<TokenSet> {
    let Some(elements) = foreign::call::<_, Option<Vec<Unknown<'_>>>>(env, "elementsOf", (set,))? else {
        return Err(error::wrong_type(env, format!("queryTokens must be a Set, not {}", options::description(&set))));
    };
    // Whatever is not a string is equal to no token.
    Ok(elements.into_iter().filter_map(|element| options::lossy_text(env, "token", element).ok()).collect())
}
