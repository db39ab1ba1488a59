//! Questions to an index, and the entries that answer them.

use std::mem;

use super::database;
use super::transaction::{Ranked, Reading};
use crate::error::Result;
use crate::search::match_query::{Match, MatchQuery, match_query};
use crate::search::normalization::Normalization;
use crate::storage::Storage;
use crate::storage::key::Key;

/// An entry that matches a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Bm25Hit {
    /// The key of the entry.
    pub key: Key,
    /// How well it matches, between 0 and 1: |b| / (1 + |b|), where b is FTS5's `bm25()` (the Python SDK's scale).
    pub score: f64,
}

/// A question, and how to answer it.
#[derive(Clone, Debug)]
pub struct Bm25Query {
    /// `None` if no term is left of it.
    pub(super) matched: Option<MatchQuery>,
    limit: usize,
    /// What the keys begin with, and are given without.
    within: String,
}

impl Bm25Query {
    /// At most `limit` entries that match `question`.
    pub fn new(question: &str, which: Match, normalization: Normalization, limit: usize) -> Self {
        Self::within("", question, which, normalization, limit)
    }

    /// The same in a view of the storage: of the entries whose keys begin with `prefix`, which are given without it.
    pub fn within(prefix: &str, question: &str, which: Match, normalization: Normalization, limit: usize) -> Self {
        let matched = match_query(&normalization.apply(question), which, prefix);
        Bm25Query { matched, limit, within: prefix.to_owned() }
    }
}

/// The best matches that are still in the storage.
pub fn live_hits(
    reading: &Reading<'_>,
    storage: &dyn Storage,
    matched: &MatchQuery,
    query: &Bm25Query,
) -> database::Result<Vec<Bm25Hit>> {
    let mut hits = live_hits_of(&matched.expression, reading, storage, query)?;
    if let (true, Some(otherwise)) = (hits.is_empty(), &matched.otherwise) {
        hits = live_hits_of(otherwise, reading, storage, query)?;
    }
    Ok(hits)
}

fn live_hits_of(
    expression: &str,
    reading: &Reading<'_>,
    storage: &dyn Storage,
    Bm25Query { limit, within, .. }: &Bm25Query,
) -> database::Result<Vec<Bm25Hit>> {
    /// Of the entries of a view, nobody knows how many are among the next ones.
    const FEWEST_WITHIN: usize = 256;

    let ranking = reading.ranking(expression)?;
    let mut hits = Vec::with_capacity(ranking.len().min(*limit));
    let mut rest = ranking.as_slice();
    let mut candidates: Vec<(Key, &Ranked)> = Vec::new();
    // All at once, unless some have gone.
    while hits.len() < *limit {
        let missing = limit - hits.len();
        while candidates.len() < missing && !rest.is_empty() {
            let next = if within.is_empty() { missing } else { missing.max(FEWEST_WITHIN) };
            let (next, later) = rest.split_at(rest.len().min(next));
            rest = later;
            let ranked = reading.keys(next)?.into_iter().zip(next);
            let own = ranked.filter(|(key, _)| key.starts_with(within.as_str()));
            candidates.extend(own.map(|(key, ranked)| (Key::from_listing(key), ranked)));
        }
        if candidates.is_empty() {
            break;
        }
        let later = candidates.split_off(candidates.len().min(missing));
        let (keys, ranked): (Vec<Key>, Vec<&Ranked>) = mem::replace(&mut candidates, later).into_iter().unzip();
        let existing = visible(storage, &keys)?;
        let live = keys.into_iter().zip(ranked).zip(existing).filter(|(_, exists)| *exists);
        hits.extend(live.map(|((key, ranked), _)| {
            let key = if within.is_empty() { key } else { Key::from_listing(key.as_str()[within.len()..].to_owned()) };
            Bm25Hit { key, score: score(ranked.rank) }
        }));
    }
    Ok(hits)
}

/// Whether there is a value under each of these keys that this process can see. One bad entry on this machine must not
/// make a search fail; a service that does not answer must.
fn visible(storage: &dyn Storage, keys: &[Key]) -> Result<Vec<bool>> {
    match storage.existing(keys) {
        Err(_) if storage.is_local() => Ok(keys.iter().map(|key| storage.exists(key).unwrap_or(false)).collect()),
        existing => existing,
    }
}

/// A rank on the scale of the Python SDK.
fn score(rank: f64) -> f64 {
    rank.abs() / (1.0 + rank.abs())
}
