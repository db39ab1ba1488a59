//! What JavaScript does for a storage in S3: requests through a client of the caller's, credentials from a function, and
//! the variables of its environment.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use napi::ValueType;
use napi::bindgen_prelude::*;

use crate::binding::questions::{Asker, Detail, Question};
use crate::binding::{foreign, options};
use crate::storage::s3::aws::{AccessKeys, CredentialsSource, Variables, VariablesSource};
use crate::storage::s3::{Content, Object as S3Object, Page, Pending, Requests};

/// A client of the AWS SDK for JavaScript.
pub struct JavaScriptClient(Asker);

impl JavaScriptClient {
    pub fn new(env: &Env, client: Object<'_>, bucket: &str) -> Result<Self> {
        Ok(JavaScriptClient(Asker::new(&foreign::call(env, "askS3", (client, bucket))?)?))
    }

    fn ask<T: Send + 'static>(
        &self,
        what: &'static str,
        name: String,
        detail: Option<Detail>,
        read: fn(&Env, &Object<'_>) -> Result<T>,
    ) -> Pending<T> {
        Box::pin(self.0.ask(Question { what, name, detail }, read))
    }
}

impl Requests for JavaScriptClient {
    fn put(&self, object: String, data: Bytes) -> Pending<()> {
        self.ask("put", object, Some(Detail::Bytes(data)), |_, _| Ok(()))
    }

    fn get(&self, object: String) -> Pending<Content> {
        self.ask("get", object, None, |env, answer| {
            let content: Object<'_> = answer.get_named_property("reply")?;
            let data = options::bytes(env, "the body of an object", options::raw_property(env, &content, "data")?)?;
            Ok(Content { data, etag: content.get_named_property("etag")? })
        })
    }

    fn head(&self, object: String) -> Pending<()> {
        self.ask("head", object, None, |_, _| Ok(()))
    }

    fn delete(&self, object: String) -> Pending<()> {
        self.ask("delete", object, None, |_, _| Ok(()))
    }

    fn list(&self, prefix: String, page: Option<String>) -> Pending<Page> {
        self.ask("list", prefix, page.map(Detail::Text), |_, answer| {
            let page: Object<'_> = answer.get_named_property("reply")?;
            let names: Vec<String> = page.get_named_property("names")?;
            let etags: Vec<String> = page.get_named_property("etags")?;
            let objects = names.into_iter().zip(etags).map(|(name, etag)| S3Object { name, etag }).collect();
            let is_encoded = page.get_named_property("isEncoded")?;
            let is_truncated = page.get_named_property("isTruncated")?;
            Ok(Page { objects, is_encoded, is_truncated, next: page.get_named_property("next")? })
        })
    }
}

/// A function that gives credentials.
pub struct CredentialsFunction(Asker);

impl CredentialsFunction {
    pub fn new(env: &Env, function: Object<'_>) -> Result<Self> {
        Ok(CredentialsFunction(Asker::new(&foreign::call(env, "askForCredentials", (function,))?)?))
    }
}

impl fmt::Debug for CredentialsFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialsFunction")
    }
}

impl CredentialsSource for CredentialsFunction {
    fn credentials(&self) -> Pending<AccessKeys> {
        Box::pin(self.0.ask(Question::default(), |env, answer| {
            let keys = options::object(env, "credentials", options::raw_property(env, answer, "reply")?)?;
            let expires_at = match options::property(env, &keys, "expiresAtMs")? {
                Some(time) => Some(SystemTime::UNIX_EPOCH + options::milliseconds(env, "expiration", time)?),
                None => None,
            };
            Ok(AccessKeys { expires_at, ..access_keys(env, &keys)? })
        }))
    }
}

/// The environment of JavaScript, which is another in each worker thread.
#[derive(Clone)]
pub struct JavaScriptEnvironment(Arc<Asker>);

impl JavaScriptEnvironment {
    pub fn new(env: &Env) -> Result<Self> {
        Ok(JavaScriptEnvironment(Arc::new(Asker::new(&foreign::function(env, "environment")?)?)))
    }
}

impl fmt::Debug for JavaScriptEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JavaScriptEnvironment")
    }
}

impl VariablesSource for JavaScriptEnvironment {
    fn variables(&self) -> Pending<Variables> {
        Box::pin(self.0.ask(Question::default(), |_, answer| {
            let reply: Object<'_> = answer.get_named_property("reply")?;
            let names: Vec<String> = reply.get_named_property("names")?;
            let values: Vec<String> = reply.get_named_property("values")?;
            Ok(names.into_iter().zip(values).collect())
        }))
    }
}

/// Converts credentials, without the time when they expire.
pub fn access_keys(env: &Env, keys: &Object<'_>) -> Result<AccessKeys> {
    let text = |name| options::lossy_text(env, name, options::raw_property(env, keys, name)?);
    let token = options::raw_property(env, keys, "sessionToken")?;
    let session_token = match token.get_type()? {
        ValueType::Undefined | ValueType::Null => None,
        _ => Some(options::lossy_text(env, "sessionToken", token)?).filter(|token| !token.is_empty()),
    };
    let (access_key_id, secret_access_key) = (text("accessKeyId")?, text("secretAccessKey")?);
    Ok(AccessKeys { access_key_id, secret_access_key, session_token, expires_at: None })
}
