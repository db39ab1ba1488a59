//! Values in objects of an S3 bucket: the key `a/b.md` is the object `a/b.md` below a prefix of the storage's own.
//!
//! # Requests
//! One for each call, but a listing takes one for each 1,000 objects. [`Requests`] makes them: [`aws::Client`] itself, or
//! a client that the caller brought along. Everything else is here, and the same for both.
//!
//! # Versions
//! A listing tells the ETag of each object, so that keyword search gets only what is new or changed. So does a GET: an
//! object may have been replaced since it was listed.
//!
//! # Keys
//! Other programs may have put objects there that no key can spell, such as the markers that end in a slash by which
//! some of them make folders. Those are left out of listings.

pub mod aws;

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;

use bytes::Bytes;

use super::key::{Key, Prefix};
use super::namespace::Namespace;
use super::{Storage, Version};
use crate::error::{Error, Fault, Result};

/// What a request gives.
pub type Answer<T> = std::result::Result<T, Fault>;

/// The requests that a storage makes of its bucket. They block.
pub trait Requests: Send + Sync {
    /// Makes or replaces an object.
    fn put(&self, object: &str, data: Bytes) -> Answer<()>;

    /// The bytes of an object, and its ETag.
    fn get(&self, object: &str) -> Answer<Content>;

    /// Asks for an object without its bytes.
    fn head(&self, object: &str) -> Answer<()>;

    /// Removes an object, if there is one.
    fn delete(&self, object: &str) -> Answer<()>;

    /// A page of the objects whose names begin with `prefix`: the first one, or the one that another page named.
    fn list(&self, prefix: &str, page: Option<&str>) -> Answer<Page>;
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
    /// The name of the next page, if there is one.
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

    fn content(&self, key: &Key) -> Result<Option<Content>> {
        let failed = |source| Error::S3Read { key: key.to_string(), bucket: self.bucket.to_string(), source };
        found(self.requests.get(&self.object(key))).map_err(failed)
    }

    /// All objects whose keys begin with `prefix`, sorted by key.
    fn listing(&self, prefix: &Prefix) -> Result<Vec<(Key, Object)>> {
        let beginning = format!("{}{}", self.prefix, prefix.as_str());
        let failed =
            |source| Error::S3List { prefix: prefix.as_str().to_owned(), bucket: self.bucket.to_string(), source };
        let mut listing = Vec::new();
        let mut next = None;
        loop {
            let page = self.requests.list(&beginning, next.as_deref()).map_err(failed)?;
            for mut object in page.objects {
                if page.is_encoded {
                    object.name = decode(&object.name);
                }
                listing.extend(self.key_of(&object.name).map(|key| (key, object)));
            }
            next = page.next;
            if next.is_none() {
                break;
            }
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
        let failed = |source| Error::S3Write { key: key.to_string(), bucket: self.bucket.to_string(), source };
        self.requests.put(&self.object(key), data).map_err(failed)
    }

    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        Ok(self.content(key)?.map(|content| content.data))
    }

    fn read_listed(&self, key: &Key, _: &Version) -> Result<Option<(Bytes, Version)>> {
        Ok(self.content(key)?.map(|Content { data, etag }| (data, Version::ETag(etag.into()))))
    }

    fn exists(&self, key: &Key) -> Result<bool> {
        let failed = |source| Error::S3Read { key: key.to_string(), bucket: self.bucket.to_string(), source };
        Ok(found(self.requests.head(&self.object(key))).map_err(failed)?.is_some())
    }

    fn existing(&self, keys: &[Key]) -> Result<Vec<bool>> {
        /// One request for each takes less than those for a listing of all, of which there may be many.
        const FEW: usize = 256;

        if keys.len() > FEW {
            let present: HashSet<Key> = self.list(&Prefix::default())?.into_iter().collect();
            return Ok(keys.iter().map(|key| present.contains(key)).collect());
        }
        let share = keys.len().div_ceil(self.readers_for(keys.len()).max(1)).max(1);
        thread::scope(|scope| {
            let exist = |keys: &[Key]| keys.iter().map(|key| self.exists(key)).collect::<Result<Vec<bool>>>();
            let shares: Vec<_> = keys
                .chunks(share)
                .map(|keys| (keys, thread::Builder::new().spawn_scoped(scope, move || exist(keys))))
                .collect();
            let mut existing = Vec::with_capacity(keys.len());
            for (keys, thread) in shares {
                existing.extend(match thread {
                    Ok(thread) => thread.join().unwrap_or_else(|panic| Err(Error::from_panic(panic.as_ref())))?,
                    Err(_) => exist(keys)?,
                });
            }
            Ok(existing)
        })
    }

    fn delete(&self, key: &Key) -> Result<()> {
        let failed = |source| Error::S3Delete { key: key.to_string(), bucket: self.bucket.to_string(), source };
        found(self.requests.delete(&self.object(key))).map_err(failed)?;
        Ok(())
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        Ok(self.listing(prefix)?.into_iter().map(|(key, _)| key).collect())
    }

    fn entries(&self, prefix: &Prefix) -> Result<Vec<(Key, Version)>> {
        let listing = self.listing(prefix)?;
        Ok(listing.into_iter().map(|(key, object)| (key, Version::ETag(object.etag.into()))).collect())
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
