//! Making an index true: what was there before is taken in, and what is gone is taken out.
//!
//! # What costs what
//! An entry is read only if nothing is recorded of its present [`Version`], and changed in the index only if its bytes have
//! another hash. For a storage whose versions mean nothing to other processes, every entry is read.
//!
//! # Beside others
//! Entries may be written and deleted meanwhile, by anybody. An entry that was read is put only if the index still has
//! of it what it had before the reading: otherwise somebody knows better. An entry that the listing lacked is taken out
//! only if it is still gone when nobody else can write to the index: whoever writes an entry indexes it afterwards. Nor is
//! one put that is gone by then. A storage that is not on this machine is not asked while others wait for the index: there
//! an entry is taken out if the storage lacked it just before and the index still has of it what it had before the listing,
//! and one that is put although it is gone stays until the next backfill; no search gives it.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::mem;
use std::path::PathBuf;
use std::time::SystemTime;

use bytes::Bytes;

use super::database::{Trouble, hash};
use super::transaction::Known;
use super::{Bm25Index, database, is_hidden};
use crate::error::Result;
use crate::search::keyword::read_each;
use crate::storage::key::{Key, Prefix};
use crate::storage::{Storage, Version};

/// Entries that are written in one transaction, so that other writers get their turn.
const BATCH_ENTRIES: usize = 256;

/// The same in bytes, so that large entries are not all in memory at once.
const BATCH_BYTES: usize = 8 << 20;

/// How far a backfill has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Entries that are dealt with.
    pub done: usize,
    /// Entries that there are.
    pub total: usize,
}

/// What a backfill did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backfilled {
    /// Entries that were taken in, or taken in anew.
    pub indexed: usize,
    /// Entries that the index had as they are.
    pub unchanged: usize,
    /// Entries that were taken out.
    pub removed: usize,
}

/// An entry that was read.
struct Read<'a> {
    key: &'a Key,
    /// Its version as a text, if it was settled when it was read.
    settled: Option<String>,
    data: Bytes,
    /// What the index had before.
    known: Option<&'a str>,
}

impl Bm25Index {
    /// Makes the index that of the entries of `storage`. Calls `progress` now and then, and in the end. May block.
    ///
    /// # Errors
    /// [`Error::Index`](crate::error::Error::Index), those of [`Storage::entries`], and those of `progress`, which end it.
    /// What has been done by then stays done.
    pub fn backfill(
        &self,
        storage: &dyn Storage,
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Backfilled> {
        /// Who replaces the index again and again is to be told of.
        const ATTEMPTS: usize = 3;

        let mut attempts = 1;
        loop {
            match self.attempt(storage, progress) {
                Err(Trouble::Replaced) if attempts < ATTEMPTS => attempts += 1,
                outcome => return outcome.map_err(|trouble| self.failed("backfill", trouble)),
            }
        }
    }

    /// Makes the index that of the entries, unless it is replaced meanwhile: what the one had is not in the other.
    fn attempt(
        &self,
        storage: &dyn Storage,
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> database::Result<Backfilled> {
        // Before the listing: what is written after it is not known here, and so not taken for gone.
        let (known, file) = self.writing_in(None, |writing| writing.known())?;
        let file = file.as_ref();
        let known: HashMap<String, Known> = known.into_iter().collect();
        let listed_at = SystemTime::now();
        let mut entries = storage.entries(&Prefix::default())?;
        entries.retain(|(key, _)| !is_hidden(key) && !self.is_own_file(key));

        let total = entries.len();
        let is_known = |(key, version): &&(Key, Version)| {
            let recorded = known.get(key.as_str()).and_then(|known| known.version.as_deref());
            recorded.is_some() && version.lasting().as_deref() == recorded
        };
        let changed: Vec<usize> = (0..total).filter(|position| !is_known(&&entries[*position])).collect();
        let mut result = Backfilled { unchanged: total - changed.len(), ..Backfilled::default() };
        for positions in changed.chunks(BATCH_ENTRIES) {
            let mut batch = Vec::new();
            let mut bytes = 0;
            let mut outcome = Ok(());
            read_each(storage, &entries, positions, |position, data, version| {
                let key = &entries[position].0;
                let known = known.get(key.as_str()).map(|known| known.hash.as_str());
                let settled = version.lasting().filter(|_| version.is_settled(listed_at));
                bytes += data.len();
                batch.push(Read { key, settled, data, known });
                if bytes >= BATCH_BYTES && outcome.is_ok() {
                    bytes = 0;
                    outcome = self.take_in(storage, file, &mem::take(&mut batch), &mut result);
                }
            });
            outcome.and_then(|()| self.take_in(storage, file, &batch, &mut result))?;
            let done = result.indexed + result.unchanged;
            if done < total {
                progress(Progress { done, total })?;
            }
        }
        self.take_out(storage, file, &known, &entries, &mut result)?;
        progress(Progress { done: total, total })?;
        Ok(result)
    }

    fn take_in(
        &self,
        storage: &dyn Storage,
        file: Option<&Metadata>,
        batch: &[Read<'_>],
        result: &mut Backfilled,
    ) -> database::Result<()> {
        let (indexed, _) = self.writing_in(file, |writing| {
            let mut indexed = 0;
            for Read { key, settled, data, known } in batch {
                let hash = hash(data);
                let present = writing.hash(key.as_str())?;
                if present.as_ref() != Some(&hash) {
                    if present.as_deref() != *known || storage.is_local() && !storage.exists(key).unwrap_or(true) {
                        continue;
                    }
                    self.put(writing, key, data, &hash)?;
                    indexed += 1;
                }
                if let Some(version) = settled {
                    writing.record(key.as_str(), version, &hash)?;
                }
            }
            Ok(indexed)
        })?;
        result.indexed += indexed;
        result.unchanged += batch.len() - indexed;
        Ok(())
    }

    fn take_out(
        &self,
        storage: &dyn Storage,
        file: Option<&Metadata>,
        known: &HashMap<String, Known>,
        entries: &[(Key, Version)],
        result: &mut Backfilled,
    ) -> database::Result<()> {
        let present: HashSet<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        let gone: Vec<Key> = known
            .keys()
            .filter(|key| !present.contains(key.as_str()))
            .map(|key| Key::from_listing(key.clone()))
            .collect();
        for keys in gone.chunks(BATCH_ENTRIES) {
            // Not in the transaction: whoever is to answer may itself be waiting to write to the index.
            let asked = if storage.is_local() { None } else { Some(storage.existing(keys)?) };
            let (removed, _) = self.writing_in(file, |writing| {
                let mut removed = 0;
                for (place, key) in keys.iter().enumerate() {
                    let exists = match &asked {
                        Some(existing) => {
                            let known = known.get(key.as_str()).map(|known| known.hash.as_str());
                            existing.get(place) != Some(&false) || writing.hash(key.as_str())?.as_deref() != known
                        }
                        // What cannot be looked at may be there.
                        None => storage.exists(key).unwrap_or(true),
                    };
                    if !exists || is_hidden(key) {
                        writing.remove(key.as_str())?;
                        removed += 1;
                    }
                }
                Ok(removed)
            })?;
            result.removed += removed;
        }
        self.writing_in(file, |writing| {
            writing.forget_unknown()?;
            writing.set_incomplete(false)
        })?;
        Ok(())
    }

    /// Whether an entry is this index, which may be anywhere.
    fn is_own_file(&self, key: &Key) -> bool {
        let Some(folder) = &self.folder else { return false };
        let path = folder.join(key.as_str());
        let is_beside = |suffix: &str| path.as_os_str().to_string_lossy().strip_suffix(suffix).map(PathBuf::from);
        ["", "-wal", "-shm"].iter().any(|suffix| is_beside(suffix).is_some_and(|path| path == self.path))
    }
}
