//! Core errors to JavaScript errors. Nobody else builds one.

use std::error::Error as _;
use std::io;

use napi::bindgen_prelude::*;

use super::foreign;
use crate::error::{Error as CoreError, Fault};

/// Message and options, as the constructors of all errors take them.
type ErrorArguments = FnArgs<(String, Object<'static>)>;

/// The JavaScript error for `error`: a `StorageError` for what a storage reports, an `Error` for the rest.
pub fn to_js(env: &Env, error: &CoreError) -> Error {
    let class = match error {
        CoreError::Memory(_)
        | CoreError::MemoryMetadata { .. }
        | CoreError::MemoryJson { .. }
        | CoreError::MemoryRecords { .. }
        | CoreError::Internal(_) => global_class(env, "Error"),
        _ => foreign::function(env, "StorageError"),
    };
    let cause = error.source().map(|source| cause(env, source)).transpose();
    let error = cause.and_then(|cause| instance(env, &class?, error.to_string(), cause.flatten()));
    error.unwrap_or_else(|fault| fault)
}

/// The JavaScript `TypeError` for an argument of the wrong type.
pub fn wrong_type(env: &Env, message: String) -> Error {
    global_class(env, "TypeError").and_then(|class| instance(env, &class, message, None)).unwrap_or_else(|fault| fault)
}

fn global_class<'env>(env: &'env Env, name: &str) -> Result<Function<'env, ErrorArguments, Unknown<'static>>> {
    env.get_global()?.get_named_property(name)
}

fn instance(
    env: &Env,
    class: &Function<'_, ErrorArguments, Unknown<'static>>,
    message: String,
    cause: Option<Object<'static>>,
) -> Result<Error> {
    let mut options = Object::new(env)?;
    if let Some(cause) = cause {
        options.set("cause", cause)?;
    }
    Ok(Error::from(class.new_instance((message, options).into())?))
}

/// The JavaScript error for what is below an error, if it came from elsewhere.
fn cause(env: &Env, source: &(dyn std::error::Error + 'static)) -> Result<Option<Object<'static>>> {
    if let Some(error) = source.downcast_ref::<io::Error>() {
        return system_error(env, error).map(Some);
    }
    source.downcast_ref::<Fault>().map(|fault| reported_error(env, fault)).transpose()
}

/// What another system reported: its `code`, which is also the `name`, as in its own SDKs, and the `requestId`.
fn reported_error(env: &Env, fault: &Fault) -> Result<Object<'static>> {
    let mut object = plain_error(env, fault.message.clone())?;
    object.set("name", &fault.code)?;
    object.set("code", &fault.code)?;
    if let Some(request_id) = &fault.request_id {
        object.set("requestId", request_id)?;
    }
    Ok(object)
}

fn plain_error(env: &Env, message: String) -> Result<Object<'static>> {
    Object::from_unknown(global_class(env, "Error")?.new_instance((message, Object::new(env)?).into())?)
}

/// An error of the operating system as Node gives it: `code` such as `ENOSPC`, and `errno`, negative.
fn system_error(env: &Env, error: &io::Error) -> Result<Object<'static>> {
    let code = error_code(error);
    let message = match &code {
        Some(code) => format!("{code}: {error}"),
        None => error.to_string(),
    };
    let mut object = plain_error(env, message)?;
    if let Some(code) = code {
        object.set("code", code)?;
    }
    if let Some(number) = error.raw_os_error() {
        object.set("errno", -number)?;
    }
    Ok(object)
}

fn error_code(error: &io::Error) -> Option<String> {
    #[cfg(unix)]
    if let Some(number) = error.raw_os_error() {
        return Some(format!("{:?}", nix::errno::Errno::from_raw(number)));
    }
    let code = match error.kind() {
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::IsADirectory => "EISDIR",
        io::ErrorKind::NotADirectory => "ENOTDIR",
        io::ErrorKind::ReadOnlyFilesystem => "EROFS",
        io::ErrorKind::StorageFull => "ENOSPC",
        io::ErrorKind::FileTooLarge => "EFBIG",
        io::ErrorKind::InvalidFilename => "ENAMETOOLONG",
        io::ErrorKind::InvalidInput => "EINVAL",
        io::ErrorKind::TimedOut => "ETIMEDOUT",
        io::ErrorKind::AlreadyExists => "EEXIST",
        io::ErrorKind::OutOfMemory => "ENOMEM",
        _ => return None,
    };
    Some(code.to_owned())
}
