//! Arguments and option objects to core types. Nothing else converts them.

use bytes::Bytes;
use napi::bindgen_prelude::*;
use napi::{JsString, JsValue, ValueType};

use super::error::{to_js, wrong_type};
use crate::error::Error as CoreError;
use crate::memory::wtf8::Wtf8;
use crate::storage::key::{Key, Prefix};

/// Converts an argument that must be a string. Lone surrogates become U+FFFD.
pub fn text(env: &Env, name: &str, value: Unknown<'_>) -> Result<String> {
    string(env, name, value)?.into_utf8()?.into_owned()
}

/// Converts an argument that must be a string, as it is.
pub fn exact_text(env: &Env, name: &str, value: Unknown<'_>) -> Result<Wtf8<'static>> {
    let string = string(env, name, value)?;
    let text = string.into_utf8()?.into_owned()?;
    // What holds a U+FFFD may have held something else.
    if text.contains('\u{fffd}') { Ok(Wtf8::from_utf16(&Utf16String::from_unknown(value)?)) } else { Ok(text.into()) }
}

/// Converts a storage key.
pub fn key(env: &Env, value: Unknown<'_>) -> Result<Key> {
    well_formed(env, "key", value, |key, reason| CoreError::InvalidKey { key, reason })
        .and_then(|key| Key::parse(&key).map_err(|error| to_js(env, &error)))
}

/// Converts a list or namespace prefix.
pub fn prefix(env: &Env, value: Unknown<'_>) -> Result<Prefix> {
    well_formed(env, "prefix", value, |prefix, reason| CoreError::InvalidPrefix { prefix, reason })
        .and_then(|prefix| Prefix::parse(&prefix).map_err(|error| to_js(env, &error)))
}

/// Copies an argument that must be a `Uint8Array`.
pub fn bytes(env: &Env, name: &str, value: Unknown<'_>) -> Result<Bytes> {
    if value.is_typedarray()?
        && let Ok(array) = Uint8ArraySlice::from_unknown(value)
    {
        return Ok(Bytes::copy_from_slice(&array));
    }
    Err(wrong_type(env, format!("{name} must be a Uint8Array, not {}", description(&value))))
}

/// A property of an object; `None` if it is undefined.
pub fn property<'env>(object: &Object<'env>, name: &str) -> Result<Option<Unknown<'env>>> {
    defined(object.get_named_property(name)?)
}

/// `None` for undefined.
pub fn defined(value: Unknown<'_>) -> Result<Option<Unknown<'_>>> {
    Ok(if value.get_type()? == ValueType::Undefined { None } else { Some(value) })
}

/// Converts an argument that must be an object.
pub fn object<'env>(env: &Env, name: &str, value: Unknown<'env>) -> Result<Object<'env>> {
    match value.get_type()? {
        ValueType::Object | ValueType::Function => Object::from_unknown(value),
        _ => Err(wrong_type(env, format!("{name} must be an object, not {}", description(&value)))),
    }
}

/// What JavaScript takes for true.
pub fn is_truthy(value: Unknown<'_>) -> Result<bool> {
    value.coerce_to_bool()
}

/// A value in an error message: `undefined`, `null`, or its type with an article.
pub fn description(value: &Unknown<'_>) -> &'static str {
    match value.get_type() {
        Ok(ValueType::Undefined) => "undefined",
        Ok(ValueType::Null) => "null",
        Ok(ValueType::Boolean) => "a boolean",
        Ok(ValueType::Number) => "a number",
        Ok(ValueType::String) => "a string",
        Ok(ValueType::Symbol) => "a symbol",
        Ok(ValueType::Function) => "a function",
        Ok(ValueType::BigInt) => "a bigint",
        _ => "an object",
    }
}

fn string<'env>(env: &Env, name: &str, value: Unknown<'env>) -> Result<JsString<'env>> {
    match value.get_type()? {
        ValueType::String => JsString::from_unknown(value),
        _ => Err(wrong_type(env, format!("{name} must be a string, not {}", description(&value)))),
    }
}

/// A lone surrogate has no form in UTF-8, in which files and objects are named: two such keys would become one.
fn well_formed(
    env: &Env,
    name: &str,
    value: Unknown<'_>,
    invalid: fn(String, &'static str) -> CoreError,
) -> Result<String> {
    let text = exact_text(env, name, value)?;
    match text.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            let lossy = text.to_str_lossy().into_owned();
            Err(to_js(env, &invalid(lossy, "lone surrogates are not allowed")))
        }
    }
}
