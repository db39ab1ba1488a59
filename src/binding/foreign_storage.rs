//! A storage written in JavaScript, used by a thread of ours as any storage of the core. Read only: writing is JavaScript's.
//!
//! Each call asks the JavaScript thread and waits for its answer: never call one on that thread.

use bytes::Bytes;
use napi::bindgen_prelude::*;

use super::options;
use super::questions::{Asked, Asker, Detail, Question};
use crate::error::{Error as CoreError, Result as CoreResult};
use crate::search::bm25::Progress;
use crate::storage::key::{Key, Prefix};
use crate::storage::{Storage, Version};

/// A storage to be asked through the script, which keeps what JavaScript throws meanwhile.
pub struct ForeignStorage(Asker);

impl ForeignStorage {
    /// The storage behind a function of the script.
    pub fn new(function: &Asked<'_>) -> Result<Self> {
        Ok(ForeignStorage(Asker::new(function)?))
    }

    /// Tells JavaScript how far a backfill is.
    pub fn report(&self, progress: Progress) -> CoreResult<()> {
        let Progress { done, total } = progress;
        self.ask("progress", done.to_string(), Some(Detail::Text(total.to_string())), |_, _| Ok(()))
    }

    fn ask<T: Send + 'static>(
        &self,
        what: &'static str,
        name: String,
        detail: Option<Detail>,
        read: fn(&Env, Unknown<'_>) -> Result<T>,
    ) -> CoreResult<T> {
        let read_reply = move |env: &Env, answer: &Object<'_>| read(env, options::raw_property(env, answer, "reply")?);
        self.0.ask_and_wait(Question { what, name, detail }, read_reply).map_err(|_| CoreError::Foreign)
    }
}

impl Storage for ForeignStorage {
    fn write(&self, _key: &Key, _data: Bytes) -> CoreResult<()> {
        Err(CoreError::Foreign)
    }

    fn read(&self, key: &Key) -> CoreResult<Option<Bytes>> {
        self.ask("read", key.to_string(), None, |env, value| {
            if !options::is_truthy(value)? {
                return Ok(None);
            }
            options::bytes(env, "data", value).map(Some)
        })
    }

    fn delete(&self, _key: &Key) -> CoreResult<()> {
        Err(CoreError::Foreign)
    }

    fn list(&self, prefix: &Prefix) -> CoreResult<Vec<Key>> {
        let keys = self.ask("list", String::new(), None, |_, keys| Vec::<String>::from_unknown(keys))?;
        Ok(keys.into_iter().map(Key::from_listing).filter(|key| prefix.matches(key)).collect())
    }

    fn entries(&self, prefix: &Prefix) -> CoreResult<Vec<(Key, Version)>> {
        Ok(self.list(prefix)?.into_iter().map(|key| (key, Version::Unknown)).collect())
    }

    fn exists(&self, key: &Key) -> CoreResult<bool> {
        Ok(self.existing(std::slice::from_ref(key))? == [true])
    }

    fn is_local(&self) -> bool {
        false
    }

    fn existing(&self, keys: &[Key]) -> CoreResult<Vec<bool>> {
        let detail = Detail::Texts(keys.iter().map(Key::to_string).collect());
        self.ask("existing", String::new(), Some(detail), |_, existing| Vec::from_unknown(existing))
    }
}
