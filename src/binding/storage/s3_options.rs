//! What the constructor of `S3Storage` takes.

use std::sync::Arc;

use napi::ValueType;
use napi::bindgen_prelude::*;

use super::StorageOptions;
use super::s3_client::{CredentialsFunction, JavaScriptClient, JavaScriptEnvironment, access_keys};
use crate::binding::error::to_js;
use crate::binding::options;
use crate::error::Error as CoreError;
use crate::storage::s3::aws::{Client, CredentialsSource, Settings};
use crate::storage::s3::{Requests, S3Storage};

/// The storage in `bucket` that `object` describes, and how to search it.
pub fn open<'env>(env: &'env Env, bucket: &str, object: Unknown<'env>) -> Result<(S3Storage, StorageOptions<'env>)> {
    let mut general = StorageOptions::of(env, object, None)?;
    general.sandbox = None;
    let Some(options) = options::given(env, "options", object)? else {
        let settings = Settings { variables: Some(Arc::new(JavaScriptEnvironment::new(env)?)), ..Settings::default() };
        let requests = Arc::new(Client::new(bucket, settings));
        return Ok((S3Storage::new(bucket, "", requests), general));
    };
    let prefix = text(env, &options, "prefix")?.unwrap_or_default();
    let settings = settings(env, &options)?;
    let client = options::given(env, "s3Client", options::raw_property(env, &options, "s3Client")?)?;
    let requests: Arc<dyn Requests> = match client {
        Some(client) => {
            refuse_beside_client(env, &options)?;
            general.asked = Some(client);
            Arc::new(JavaScriptClient::new(env, client, bucket)?)
        }
        None => {
            general.asked = options::given(env, "credentials", options::raw_property(env, &options, "credentials")?)?;
            Arc::new(Client::new(bucket, settings))
        }
    };
    Ok((S3Storage::new(bucket, &prefix, requests), general))
}

fn settings(env: &Env, options: &Object<'_>) -> Result<Settings> {
    let duration = |name| match options::property(env, options, name)? {
        Some(value) => options::milliseconds(env, name, value).map(Some),
        None => Ok(None),
    };
    let max_attempts = match options::property(env, options, "maxAttempts")? {
        Some(value) => Some(u32::try_from(options::count(env, "maxAttempts", value)?).unwrap_or(u32::MAX)),
        None => None,
    };
    Ok(Settings {
        region: text(env, options, "region")?.filter(|region| !region.is_empty()),
        endpoint: text(env, options, "endpoint")?.filter(|endpoint| !endpoint.is_empty()),
        force_path_style: options::property(env, options, "forcePathStyle")?.map_or(Ok(false), options::is_truthy)?,
        credentials: credentials(env, options)?,
        variables: Some(Arc::new(JavaScriptEnvironment::new(env)?)),
        max_attempts,
        request_timeout: duration("requestTimeoutMs")?,
        connect_timeout: duration("connectTimeoutMs")?,
    })
}

fn credentials(env: &Env, options: &Object<'_>) -> Result<Option<Arc<dyn CredentialsSource>>> {
    let Some(value) = options::property(env, options, "credentials")? else { return Ok(None) };
    let object = options::object(env, "credentials", value)?;
    Ok(Some(if value.get_type()? == ValueType::Function {
        Arc::new(CredentialsFunction::new(env, object)?)
    } else {
        Arc::new(access_keys(env, &object)?)
    }))
}

/// A client has all of these already.
fn refuse_beside_client(env: &Env, options: &Object<'_>) -> Result<()> {
    const SETTINGS: [&str; 7] =
        ["region", "endpoint", "forcePathStyle", "credentials", "maxAttempts", "requestTimeoutMs", "connectTimeoutMs"];
    for name in SETTINGS {
        if options::property(env, options, name)?.map_or(Ok(false), options::is_truthy)? {
            return Err(to_js(
                env,
                &CoreError::InvalidStorage(format!(
                    "Cannot specify both s3Client and {name}. Configure the {name} on the S3Client instead."
                )),
            ));
        }
    }
    Ok(())
}

fn text(env: &Env, options: &Object<'_>, name: &str) -> Result<Option<String>> {
    match options::property(env, options, name)? {
        Some(value) => options::well_formed_text(env, name, value).map(Some),
        None => Ok(None),
    }
}
