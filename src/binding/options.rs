//! Arguments and option objects to core types. Nothing else converts them.

use std::time::Duration;

use bytes::Bytes;
use napi::bindgen_prelude::*;
use napi::{JsValue, ValueType};

use super::error::{to_js, wrong_type};
use super::foreign::caught;
use crate::error::Error as CoreError;
use crate::search::normalization::Normalization;
use crate::storage::key::{Key, Prefix};
use crate::wtf8::Wtf8;

/// Converts an argument that must be a string.
pub fn text(env: &Env, name: &str, value: Unknown<'_>) -> Result<Wtf8<'static>> {
    match value.get_type()? {
        // Sixteen bits a unit is how V8 hands out any string fastest, and the only way that keeps lone surrogates.
        ValueType::String => Ok(Wtf8::from_utf16(&Utf16String::from_unknown(value)?)),
        _ => Err(wrong_type(env, format!("{name} must be a string, not {}", description(&value)))),
    }
}

/// Converts an argument that must be a string. Lone surrogates become U+FFFD.
pub fn lossy_text(env: &Env, name: &str, value: Unknown<'_>) -> Result<String> {
    text(env, name, value).map(Wtf8::into_string_lossy)
}

/// Converts an argument that must be a string without lone surrogates.
pub fn well_formed_text(env: &Env, name: &str, value: Unknown<'_>) -> Result<String> {
    let text = text(env, name, value)?;
    let text = text.as_str().map(str::to_owned);
    text.ok_or_else(|| wrong_type(env, format!("{name} must not hold lone surrogates")))
}

/// Converts a storage key.
pub fn key(env: &Env, value: Unknown<'_>) -> Result<Key> {
    well_formed(env, "key", value, |key, reason| CoreError::InvalidKey { key, reason })
        .and_then(|key| Key::parse(&key).map_err(|error| to_js(env, &error)))
}

/// Converts the key of a storage with rules of its own.
pub fn foreign_key(env: &Env, value: Unknown<'_>) -> Result<Key> {
    well_formed(env, "key", value, |key, reason| CoreError::InvalidKey { key, reason }).map(Key::from_listing)
}

/// Converts a list or namespace prefix.
pub fn prefix(env: &Env, value: Unknown<'_>) -> Result<Prefix> {
    well_formed(env, "prefix", value, |prefix, reason| CoreError::InvalidPrefix { prefix, reason })
        .and_then(|prefix| Prefix::parse(&prefix).map_err(|error| to_js(env, &error)))
}

/// Copies an argument that must be a `Uint8Array`.
pub fn bytes(env: &Env, name: &str, value: Unknown<'_>) -> Result<Bytes> {
    with_bytes(env, name, value, Bytes::copy_from_slice)
}

/// Looks at an argument that must be a `Uint8Array`, without copying it.
pub fn with_bytes<T>(env: &Env, name: &str, value: Unknown<'_>, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
    if value.is_typedarray()?
        && let Ok(array) = Uint8ArraySlice::from_unknown(value)
    {
        return Ok(look(&array));
    }
    Err(wrong_type(env, format!("{name} must be a Uint8Array, not {}", description(&value))))
}

/// A property of an object; `None` if it is undefined.
pub fn property<'env>(env: &Env, object: &Object<'env>, name: &str) -> Result<Option<Unknown<'env>>> {
    defined(raw_property(env, object, name)?)
}

/// A property of an object, which may be undefined, or the exception of its getter.
pub fn raw_property<'env>(env: &Env, object: &Object<'env>, name: &str) -> Result<Unknown<'env>> {
    caught(env, object.get_named_property_unchecked(name))
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

/// An argument that must be an object or a function; `None` if it is undefined or null.
pub fn given<'env>(env: &Env, name: &str, value: Unknown<'env>) -> Result<Option<Object<'env>>> {
    match value.get_type()? {
        ValueType::Undefined | ValueType::Null => Ok(None),
        _ => object(env, name, value).map(Some),
    }
}

/// Whether an object has a function of this name.
pub fn has_method(env: &Env, object: &Object<'_>, name: &str) -> Result<bool> {
    Ok(raw_property(env, object, name)?.get_type()? == ValueType::Function)
}

/// Converts a number of bytes, from 0 to infinity.
pub fn size(env: &Env, name: &str, value: Unknown<'_>) -> Result<usize> {
    let size = if value.get_type()? == ValueType::Number { f64::from_unknown(value)? } else { f64::NAN };
    if size.is_nan() || size < 0.0 {
        return Err(wrong_type(env, format!("{name} must be a number of bytes, 0 or more")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates: infinity is no limit")]
    Ok(size as usize)
}

/// Converts a number of milliseconds. Nothing takes longer than a century.
pub fn milliseconds(env: &Env, name: &str, value: Unknown<'_>) -> Result<Duration> {
    let number = if value.get_type()? == ValueType::Number { f64::from_unknown(value)? } else { f64::NAN };
    const CENTURY: f64 = 100.0 * 365.25 * 86_400.0;
    let duration = Duration::try_from_secs_f64((number / 1000.0).clamp(f64::MIN, CENTURY));
    duration.map_err(|_| wrong_type(env, format!("{name} must be a number of milliseconds, 0 or more")))
}

/// Converts a whole number, 1 or more.
pub fn count(env: &Env, name: &str, value: Unknown<'_>) -> Result<usize> {
    let number = if value.get_type()? == ValueType::Number { f64::from_unknown(value)? } else { f64::NAN };
    if number.is_nan() || number < 1.0 || number.fract() != 0.0 {
        return Err(wrong_type(env, format!("{name} must be a whole number, 1 or more")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    Ok(number as usize)
}

/// Converts the option `normalize` of an object that may be undefined.
pub fn normalization(env: &Env, options: Unknown<'_>) -> Result<Normalization> {
    let Some(options) = given(env, "options", options)? else { return Ok(Normalization::None) };
    let Some(value) = property(env, &options, "normalize")? else { return Ok(Normalization::None) };
    match lossy_text(env, "normalize", value)?.as_str() {
        "NFC" => Ok(Normalization::Nfc),
        "NFKC" => Ok(Normalization::Nfkc),
        other => Err(wrong_type(env, format!("normalize must be 'NFC' or 'NFKC', not '{other}'"))),
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

/// A lone surrogate has no form in UTF-8, in which files and objects are named: two such keys would become one.
fn well_formed(
    env: &Env,
    name: &str,
    value: Unknown<'_>,
    invalid: fn(String, &'static str) -> CoreError,
) -> Result<String> {
    let text = text(env, name, value)?;
    match text.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(to_js(env, &invalid(text.into_string_lossy(), "lone surrogates are not allowed"))),
    }
}
