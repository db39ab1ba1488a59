//! Values in objects of an S3 bucket: the key `a/b.md` is the object `a/b.md` below a prefix of the storage's own.
//!
//! # Requests
//! One for each call, but a listing takes one for each 1,000 objects. [`Requests`] makes them: [`aws::Client`] itself, or
//! a client that the caller brought along. Everything else is here, and the same for both. A request holds no thread
//! while it waits; whoever calls a method of [`Storage`] does.
//!
//! # Versions
//! A listing tells the ETag of each object, so that keyword search gets only what is new or changed. So does a GET: an
//! object may have been replaced since it was listed.
//!
//! # Keys
//! Other programs may have put objects there that no key can spell, such as the markers that end in a slash by which
//! some of them make folders. Those are left out of listings.

pub mod aws;
pub mod runtime;

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

use super::key::{Key, Prefix};
use super::namespace::Namespace;
use super::{Storage, Version};
use crate::error::{Error, Fault, Result};
use runtime::wait;

/// What a request gives.
pub type Answer<T> = std::result::Result<T, Fault>;

/// What a request will give.
pub type Pending<T> = Pin<Box<dyn Future<Output = Answer<T>> + Send>>;

/// The requests that a storage makes of its bucket. They run in the [`runtime`].
pub trait Requests: Send + Sync {
    /// Makes or replaces an object.
    fn put(&self, object: String, data: Bytes) -> Pending<()>;

    /// The bytes of an object, and its ETag.
    fn get(&self, object: String) -> Pending<Content>;

    /// Asks for an object without its bytes.
    fn head(&self, object: String) -> Pending<()>;

    /// Removes an object, if there is one.
    fn delete(&self, object: String) -> Pending<()>;

    /// A page of the objects whose names begin with `prefix`: the first one, or the one that another page named.
    fn list(&self, prefix: String, page: Option<String>) -> Pending<Page>;
}

/// What an object holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// All of its bytes.
    pub data: Bytes,
    /// What changes with them.
    pub etag: String,
}

/// A part of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// There may be none on a page that has another after it.
    pub objects: Vec<Object>,
    /// Whether the names are percent-encoded, since XML cannot hold every character.
    pub is_encoded: bool,
    /// Whether there is another page after it.
    pub is_truncated: bool,
    /// The name of that page.
    pub next: Option<String>,
}

/// An object in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name within the bucket.
    pub name: String,
    /// What changes with its bytes.
    pub etag: String,
}

/// One object per key below a prefix.
#[derive(Clone)]
pub struct S3Storage {
    bucket: Arc<str>,
    /// Empty, or ending in a slash.
    prefix: Arc<str>,
    requests: Arc<dyn Requests>,
}

impl S3Storage {
    /// The objects of `bucket` below `prefix`, which is cut up at slashes and loses its empty parts, as in the SDK.
    pub fn new(bucket: &str, prefix: &str, requests: Arc<dyn Requests>) -> Self {
        let parts: Vec<&str> = prefix.split('/').filter(|part| !part.is_empty()).collect();
        let prefix = if prefix.is_empty() { String::new() } else { parts.join("/") + "/" };
        S3Storage { bucket: bucket.into(), prefix: prefix.into(), requests }
    }

    /// The same storage, below a longer prefix.
    pub fn namespace(&self, prefix: &Prefix) -> Self {
        let inner = Namespace::<dyn Storage>::prefix_of(prefix);
        S3Storage { prefix: format!("{}{inner}", self.prefix).into(), ..self.clone() }
    }

    fn object(&self, key: &Key) -> String {
        format!("{}{key}", self.prefix)
    }

    /// As [`Storage::write`].
    pub async fn put(&self, key: &Key, data: Bytes) -> Result<()> {
        let failed = |source| Error::S3Write { key: key.to_string(), bucket: self.bucket.to_string(), source };
        self.requests.put(self.object(key), data).await.map_err(failed)
    }

    /// As [`Storage::read`], with the ETag.
    pub async fn get(&self, key: &Key) -> Result<Option<Content>> {
        found(self.requests.get(self.object(key)).await).map_err(self.failed_to_read(key))
    }

    /// As [`Storage::delete`].
    pub async fn remove(&self, key: &Key) -> Result<()> {
        let failed = |source| Error::S3Delete { key: key.to_string(), bucket: self.bucket.to_string(), source };
        found(self.requests.delete(self.object(key)).await).map_err(failed)?;
        Ok(())
    }

    /// As [`Storage::exists`].
    pub async fn has(&self, key: &Key) -> Result<bool> {
        Ok(found(self.requests.head(self.object(key)).await).map_err(self.failed_to_read(key))?.is_some())
    }

    /// As [`Storage::list`].
    pub async fn keys(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        Ok(self.listing(prefix).await?.into_iter().map(|(key, _)| key).collect())
    }

    /// Whether there is an object for each of a few keys, asked one by one and together.
    async fn have(&self, keys: &[Key]) -> Result<Vec<bool>> {
        let ask = |key: &Key| {
            let (storage, key) = (self.clone(), key.clone());
            tokio::spawn(async move { storage.has(&key).await })
        };
        let questions: Vec<_> = keys.iter().map(ask).collect();
        let mut existing = Vec::with_capacity(keys.len());
        for question in questions {
            existing.push(question.await.map_err(|error| Error::Internal(error.to_string()))??);
        }
        if let Some(key) = keys.first()
            && !existing.contains(&true)
        {
            // An answer without a body does not say whether it is the bucket that is missing. One to this does.
            self.requests.list(self.object(key), None).await.map_err(self.failed_to_read(key))?;
        }
        Ok(existing)
    }

    fn failed_to_read(&self, key: &Key) -> impl Fn(Fault) -> Error {
        move |source| Error::S3Read { key: key.to_string(), bucket: self.bucket.to_string(), source }
    }

    /// All objects whose keys begin with `prefix`, sorted by key.
    async fn listing(&self, prefix: &Prefix) -> Result<Vec<(Key, Object)>> {
        let beginning = format!("{}{}", self.prefix, prefix.as_str());
        let failed =
            |source| Error::S3List { prefix: prefix.as_str().to_owned(), bucket: self.bucket.to_string(), source };
        let mut listing = Vec::new();
        let mut next = None;
        loop {
            let page = self.requests.list(beginning.clone(), next.clone()).await.map_err(failed)?;
            for mut object in page.objects {
                if page.is_encoded {
                    object.name = decode(&object.name);
                }
                listing.extend(self.key_of(&object.name).map(|key| (key, object)));
            }
            if !page.is_truncated {
                break;
            }
            if page.next.is_none() || page.next == next {
                // A part of a listing must not pass for all of it: an index would drop the rest.
                return Err(failed(incomplete()));
            }
            next = page.next;
        }
        Key::sort(&mut listing, |(key, _)| key);
        Ok(listing)
    }

    /// The key of an object, if there is one that names it.
    fn key_of(&self, object: &str) -> Option<Key> {
        let name = object.strip_prefix(&*self.prefix)?;
        Key::parse(name).ok().filter(|key| key.as_str() == name)
    }
}

impl Storage for S3Storage {
    fn write(&self, key: &Key, data: Bytes) -> Result<()> {
        wait(self.put(key, data))
    }

    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        Ok(wait(self.get(key))?.map(|content| content.data))
    }

    fn read_listed(&self, key: &Key, _: &Version) -> Result<Option<(Bytes, Version)>> {
        Ok(wait(self.get(key))?.map(|Content { data, etag }| (data, version(&etag))))
    }

    fn exists(&self, key: &Key) -> Result<bool> {
        wait(self.has(key))
    }

    fn existing(&self, keys: &[Key]) -> Result<Vec<bool>> {
        /// One request for each takes less than those for a listing of all, of which there may be many.
        const FEW: usize = 256;

        if keys.len() <= FEW {
            return wait(self.have(keys));
        }
        let present: HashSet<Key> = self.list(&Prefix::default())?.into_iter().collect();
        Ok(keys.iter().map(|key| present.contains(key)).collect())
    }

    fn delete(&self, key: &Key) -> Result<()> {
        wait(self.remove(key))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        wait(self.keys(prefix))
    }

    fn entries(&self, prefix: &Prefix) -> Result<Vec<(Key, Version)>> {
        let listing = wait(self.listing(prefix))?;
        Ok(listing.into_iter().map(|(key, object)| (key, version(&object.etag))).collect())
    }

    fn is_local(&self) -> bool {
        false
    }

    /// Each read waits for a server, which can serve many.
    fn readers_for(&self, values: usize) -> usize {
        const MOST_READERS: usize = 32;
        values.min(MOST_READERS)
    }
}

/// A server that knows another way of listing only, or none.
fn incomplete() -> Fault {
    let message = "the server says that there are more objects, and names no next page of them";
    Fault { code: "IncompleteListing".to_owned(), message: message.to_owned(), request_id: None }
}

/// The version that an ETag tells, in the one form for all of those in which servers write it.
fn version(etag: &str) -> Version {
    Version::ETag(etag.trim_start_matches("W/").trim_matches('"').into())
}

/// `None` where the fault is that the object is not there. That its bucket is not there is another fault.
fn found<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(fault) if fault.code == "NoSuchKey" || fault.code == "NotFound" => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// The name that a server percent-encoded. Some write a space as a plus sign, and all of them a plus sign as `%2B`.
fn decode(encoded: &str) -> String {
    let mut decoded = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match tail {
            [high, low, ..] if *first == b'%' => hex_digit(*high).zip(hex_digit(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                decoded.push(high << 4 | low);
                rest = &tail[2..];
            }
            None => {
                decoded.push(if *first == b'+' { b' ' } else { *first });
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests;
