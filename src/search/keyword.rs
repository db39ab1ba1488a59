//! Keyword search: entries ranked by how many words of the query they hold.
//!
//! The rules are those of the Python SDK's `KeywordSearchStrategy`: stop words leave the query, the key counts without
//! its extension, entries that cannot be read are left out, and entries of one score keep the order of the listing.
//!
//! # What is kept
//! [`KeywordSearch`] keeps the bytes and the tokens of the entries that it has read, and trusts them for as long as a
//! listing shows the same settled [`Version`]: a repeated search costs a listing and reads what has changed. A bound
//! is set to the bytes; the tokens take about as much again. What does not fit is read and scored at each search.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::SystemTime;

use bytes::Bytes;

use super::normalization::Normalization;
use super::stop_words::is_stop_word;
use super::token_index::{Document, TokenIndex};
use super::tokenize::TokenSet;
use crate::error::Result;
use crate::storage::key::{Key, Prefix};
use crate::storage::{Storage, Version};

/// How many bytes of entries a search keeps if nobody says.
pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;

/// An entry that holds words of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeywordHit {
    /// The key of the entry.
    pub key: Key,
    /// How many distinct words of the query it holds.
    pub score: u32,
    /// The bytes that were searched.
    pub data: Bytes,
}

/// The words of a query that count.
#[derive(Clone, Debug)]
pub struct KeywordQuery {
    tokens: TokenSet,
    normalization: Normalization,
}

impl KeywordQuery {
    /// The words of `query` but for stop words.
    pub fn new(query: &str, normalization: Normalization) -> Self {
        KeywordQuery { tokens: TokenSet::of(&normalization.apply(query)).without(is_stop_word), normalization }
    }

    /// Whether no word counts, so that nothing can be found.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// How many distinct words of the query an entry holds.
    pub fn score(&self, key: &Key, data: &[u8]) -> u32 {
        let found = self.tokens.overlap(&self.normalization.apply(&searchable_text(key, data)));
        u32::try_from(found).unwrap_or(u32::MAX)
    }
}

/// Searches one storage, again and again.
#[derive(Debug)]
pub struct KeywordSearch {
    most_bytes: usize,
    /// For each way to normalise, since each has other tokens.
    kept: Mutex<HashMap<Normalization, Kept>>,
}

impl KeywordSearch {
    /// A search that keeps at most `most_bytes` bytes of entries, for each normalisation that is used.
    pub fn new(most_bytes: usize) -> Self {
        KeywordSearch { most_bytes, kept: Mutex::default() }
    }

    /// The bound that was set.
    pub fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// All entries of `storage`, the same one at each call, that hold a word of `query`, best first.
    ///
    /// # Errors
    /// Those of [`Storage::entries`].
    pub fn search(&self, storage: &dyn Storage, query: &KeywordQuery) -> Result<Vec<KeywordHit>> {
        if query.is_empty() {
            return Ok(Vec::new());
        }
        // What was settled before the listing began cannot have changed after it without showing in the next one.
        let listed_at = SystemTime::now();
        let listing = storage.entries(&Prefix::default())?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.entry(query.normalization).or_default();
        kept.listings += 1;
        let changed: Vec<usize> = (0..listing.len()).filter(|position| !kept.has(&listing[*position])).collect();
        let mut passing = Vec::new();
        read_each(storage, &listing, &changed, |position, data, version| {
            let key = &listing[position].0;
            if kept.bytes_without(key) + data.len() <= self.most_bytes {
                let is_settled = version.is_settled(listed_at);
                kept.keep(key, version, is_settled, data, query.normalization);
            } else {
                // One that holds no word is left in its place, so that what is kept of it from before does not show.
                let score = query.score(key, &data);
                passing.push((position, score, if score > 0 { data } else { Bytes::new() }));
            }
        });
        passing.sort_unstable_by_key(|(position, ..)| *position);
        kept.forget_unlisted(query.normalization);
        Ok(kept.hits(listing, passing, &query.tokens))
    }
}

/// Reads the entries at these positions of a listing, several at a time, and calls `take` with what was read, in no
/// order. What has gone since it was listed, or cannot be read, is left out: one bad entry must not fail a search.
pub(super) fn read_each(
    storage: &dyn Storage,
    listing: &[(Key, Version)],
    positions: &[usize],
    mut take: impl FnMut(usize, Bytes, Version),
) {
    let readers = storage.readers_for(positions.len());
    let next = AtomicUsize::new(0);
    let read_next = || {
        let position = *positions.get(next.fetch_add(1, Ordering::Relaxed))?;
        let (key, version) = &listing[position];
        let read = storage.read_listed(key, version).ok().flatten();
        Some(read.map(|(data, version)| (position, data, version)))
    };
    thread::scope(|scope| {
        // Few wait to be taken, so that what does not fit into memory is not all there at once.
        let (sender, receiver) = mpsc::sync_channel(readers);
        for _ in 0..readers {
            let sender = sender.clone();
            let reader = move || {
                while let Some(read) = read_next() {
                    // The receiver outlives the readers.
                    let _ = read.map(|read| sender.send(read));
                }
            };
            // Where there are no more threads to be had, there are fewer readers.
            let _ = thread::Builder::new().spawn_scoped(scope, reader);
        }
        drop(sender);
        receiver.iter().for_each(|(position, data, version)| take(position, data, version));
        // Whatever no reader has read: all of it, if there are few entries or no threads.
        while let Some(read) = read_next() {
            read.into_iter().for_each(|(position, data, version)| take(position, data, version));
        }
    });
}

/// Entries that were read, and their tokens.
#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<Key, KeptEntry, foldhash::fast::RandomState>,
    tokens: TokenIndex,
    bytes: usize,
    /// How many listings there have been.
    listings: u64,
}

#[derive(Debug)]
struct KeptEntry {
    version: Version,
    is_settled: bool,
    document: Document,
    data: Bytes,
    /// The last listing that had it.
    listing: u64,
}

impl Kept {
    /// Whether the present value of an entry is kept.
    fn has(&mut self, (key, version): &(Key, Version)) -> bool {
        match self.entries.get_mut(key) {
            Some(entry) if entry.is_settled && entry.version == *version => {
                entry.listing = self.listings;
                true
            }
            _ => false,
        }
    }

    /// How many bytes are kept for other keys.
    fn bytes_without(&self, key: &Key) -> usize {
        self.bytes - self.entries.get(key).map_or(0, |entry| entry.data.len())
    }

    fn keep(&mut self, key: &Key, version: Version, is_settled: bool, data: Bytes, normalization: Normalization) {
        let listing = self.listings;
        if let Some(entry) = self.entries.get_mut(key)
            && entry.data == data
        {
            *entry = KeptEntry { version, is_settled, listing, document: entry.document, data };
            return;
        }
        let document = self.tokens.push(&normalization.apply(&searchable_text(key, &data)));
        self.bytes += data.len();
        if let Some(old) = self.entries.insert(key.clone(), KeptEntry { version, is_settled, document, data, listing })
        {
            self.bytes -= old.data.len();
        }
    }

    fn forget_unlisted(&mut self, normalization: Normalization) {
        let listing = self.listings;
        self.entries.retain(|_, entry| entry.listing == listing);
        self.bytes = self.entries.values().map(|entry| entry.data.len()).sum();
        // The token index only grows: once most of its documents are gone, it is made anew.
        const FEW: usize = 1024;
        if self.tokens.len() as usize > 2 * self.entries.len() + FEW {
            self.tokens = TokenIndex::default();
            for (key, entry) in &mut self.entries {
                entry.document = self.tokens.push(&normalization.apply(&searchable_text(key, &entry.data)));
            }
        }
    }

    /// The hits among the kept entries and those that were `passing`, best first, else in the order of the listing.
    fn hits(
        &self,
        listing: Vec<(Key, Version)>,
        passing: Vec<(usize, u32, Bytes)>,
        query: &TokenSet,
    ) -> Vec<KeywordHit> {
        let scores = self.tokens.scores(query);
        let mut passing = passing.into_iter().peekable();
        let mut hits = Vec::new();
        for (position, (key, _)) in listing.into_iter().enumerate() {
            let scored = match passing.next_if(|(passing, ..)| *passing == position) {
                Some((_, score, data)) => Some((score, data)),
                None => self.entries.get(&key).map(|entry| (scores[entry.document as usize], entry.data.clone())),
            };
            if let Some((score @ 1.., data)) = scored {
                hits.push(KeywordHit { key, score, data });
            }
        }
        hits.sort_by_key(|hit| Reverse(hit.score));
        hits
    }
}

/// The text of an entry that counts. Bytes that are not UTF-8 separate words.
fn searchable_text(key: &Key, data: &[u8]) -> String {
    format!("{} {}", key.without_extension(), String::from_utf8_lossy(data))
}

#[cfg(test)]
mod tests;
