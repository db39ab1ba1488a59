//! What JavaScript does for a storage in S3: requests through a client of the caller's, and credentials from a function.

use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;
use napi::bindgen_prelude::*;

use crate::binding::questions::{Asker, Detail, Question};
use crate::binding::{foreign, options};
use crate::storage::s3::aws::{AccessKeys, CredentialsSource};
use crate::storage::s3::{Answer, Content, Object as S3Object, Page, Requests};

/// A client of the AWS SDK for JavaScript.
pub struct JavaScriptClient(Asker);

impl JavaScriptClient {
    pub fn new(env: &Env, client: Object<'_>, bucket: &str) -> Result<Self> {
        Ok(JavaScriptClient(Asker::new(&foreign::call(env, "askS3", (client, bucket))?)?))
    }

    fn ask<T: Send + 'static>(
        &self,
        what: &'static str,
        name: &str,
        detail: Option<Detail>,
        read: fn(&Env, &Object<'_>) -> Result<T>,
    ) -> Answer<T> {
        self.0.ask(Question { what, name: name.to_owned(), detail }, read)
    }
}

impl Requests for JavaScriptClient {
    fn put(&self, object: &str, data: Bytes) -> Answer<()> {
        self.ask("put", object, Some(Detail::Bytes(data)), |_, _| Ok(()))
    }

    fn get(&self, object: &str) -> Answer<Content> {
        self.ask("get", object, None, |env, answer| {
            let content: Object<'_> = answer.get_named_property("reply")?;
            let data = options::bytes(env, "the body of an object", options::raw_property(env, &content, "data")?)?;
            Ok(Content { data, etag: content.get_named_property("etag")? })
        })
    }

    fn head(&self, object: &str) -> Answer<()> {
        self.ask("head", object, None, |_, _| Ok(()))
    }

    fn delete(&self, object: &str) -> Answer<()> {
        self.ask("delete", object, None, |_, _| Ok(()))
    }

    fn list(&self, prefix: &str, page: Option<&str>) -> Answer<Page> {
        self.ask("list", prefix, page.map(|page| Detail::Text(page.to_owned())), |_, answer| {
            let page: Object<'_> = answer.get_named_property("reply")?;
            let names: Vec<String> = page.get_named_property("names")?;
            let etags: Vec<String> = page.get_named_property("etags")?;
            let objects = names.into_iter().zip(etags).map(|(name, etag)| S3Object { name, etag }).collect();
            let is_encoded = page.get_named_property("isEncoded")?;
            Ok(Page { objects, is_encoded, next: page.get_named_property("next")? })
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
    fn credentials(&self) -> Answer<AccessKeys> {
        self.0.ask(Question::default(), |env, answer| {
            let keys = options::object(env, "credentials", options::raw_property(env, answer, "reply")?)?;
            access_keys(env, &keys)
        })
    }
}

/// Converts credentials.
pub fn access_keys(env: &Env, keys: &Object<'_>) -> Result<AccessKeys> {
    let text = |name| options::lossy_text(env, name, options::raw_property(env, keys, name)?);
    let session_token = match options::property(env, keys, "sessionToken")? {
        Some(token) => Some(options::lossy_text(env, "sessionToken", token)?),
        None => None,
    };
    let expires_at = match options::property(env, keys, "expiresAtMs")? {
        Some(time) => Some(SystemTime::UNIX_EPOCH + options::milliseconds(env, "expiration", time)?),
        None => None,
    };
    Ok(AccessKeys {
        access_key_id: text("accessKeyId")?,
        secret_access_key: text("secretAccessKey")?,
        session_token,
        expires_at,
    })
}
