//! Tokens and stop words.

use napi::JsValue;
use napi::bindgen_prelude::*;

use super::{error, options};
use crate::search::keyword::KeywordHit;
use crate::search::stop_words::STOP_WORDS;
use crate::search::tokenize::TokenSet;

/// The distinct words of a text, lower-cased, in the order in which they first occur: runs of letters, numbers and
/// underscores, `text.toLowerCase().split(/[^\p{L}\p{N}_]+/u)` in JavaScript's terms.
///
/// @throws TypeError if `text` is not a string
#[napi_derive::napi(ts_args_type = "text: string", ts_return_type = "Set<string>", catch_unwind)]
pub fn tokenize<'env>(env: &'env Env, text: Unknown<'env>) -> Result<Unknown<'env>> {
    let text = options::lossy_text(env, "text", text)?;
    new_set(env, TokenSet::of(&text).iter())
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

/// The `Set` that is exported as `STOP_WORDS`.
pub fn stop_words(env: &Env) -> Result<Unknown<'_>> {
    new_set(env, STOP_WORDS.into_iter())
}

/// Results as the SDK's `StorageSearchResult`.
pub fn results_to_js(env: &Env, hits: Vec<KeywordHit>) -> Result<Vec<Object<'static>>> {
    let result = |hit: KeywordHit| {
        let mut result: Object<'static> = Object::new(env)?;
        result.set("key", hit.key.as_str())?;
        result.set("score", hit.score)?;
        result.set("data", Uint8ArraySlice::copy_from(env, hit.data)?)?;
        Ok(result)
    };
    hits.into_iter().map(result).collect()
}

/// One call into JavaScript takes all tokens over: no token holds a space.
fn new_set<'env, 'a>(env: &'env Env, tokens: impl Iterator<Item = &'a str>) -> Result<Unknown<'env>> {
    let joined = tokens.collect::<Vec<_>>().join(" ");
    let elements: Unknown<'_> = if joined.is_empty() {
        env.create_array(0)?.to_unknown()
    } else {
        let joined = env.create_string(&joined)?;
        let split: Function<'_, &str, Unknown<'_>> = joined.coerce_to_object()?.get_named_property("split")?;
        split.apply(joined.to_unknown(), " ")?
    };
    let class: Function<'_, Unknown<'_>, Unknown<'env>> = env.get_global()?.get_named_property("Set")?;
    class.new_instance(elements)
}

fn token_set(env: &Env, set: Unknown<'_>) -> Result<TokenSet> {
    let global = env.get_global()?;
    let class: Function<'_, Unknown<'_>, Unknown<'_>> = global.get_named_property("Set")?;
    if !Object::from_unknown(set)?.instanceof(class)? {
        return Err(error::wrong_type(env, format!("queryTokens must be a Set, not {}", options::description(&set))));
    }
    let array_class: Function<'_, Unknown<'_>, Unknown<'_>> = global.get_named_property("Array")?;
    let from: Function<'_, Unknown<'_>, Vec<Unknown<'_>>> = array_class.get_named_property("from")?;
    // Whatever is not a string is equal to no token.
    Ok(from.call(set)?.into_iter().filter_map(|element| options::lossy_text(env, "token", element).ok()).collect())
}
