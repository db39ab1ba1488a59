//! Keyword search: entries ranked by how many words of the query they hold.
//!
//! The rules are those of the Python SDK's `KeywordSearchStrategy`: stop words leave the query, the key counts without
//! its extension, entries that cannot be read are left out, and entries of one score keep the order of the listing.

use bytes::Bytes;

use super::stop_words::is_stop_word;
use super::token_index::TokenIndex;
use super::tokenize::TokenSet;
use crate::error::Result;
use crate::storage::Storage;
use crate::storage::key::{Key, Prefix};

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

/// All entries of `storage` that hold a word of `query`, best first.
///
/// # Errors
/// Those of [`Storage::list`].
pub fn search(storage: &dyn Storage, query: &str) -> Result<Vec<KeywordHit>> {
    let query = TokenSet::of(query).without(is_stop_word);
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let mut index = TokenIndex::default();
    let mut entries = Vec::new();
    for key in storage.list(&Prefix::default())? {
        // Gone since it was listed, or unreadable: one bad entry must not fail the search.
        let Ok(Some(data)) = storage.read(&key) else { continue };
        index.push(&format!("{} {}", key.without_extension(), String::from_utf8_lossy(&data)));
        entries.push((key, data));
    }
    let hits = index.rank(&query, usize::MAX, 0..index.len());
    let entry = |document: u32| entries[document as usize].clone();
    Ok(hits
        .iter()
        .map(|hit| {
            let (key, data) = entry(hit.document);
            KeywordHit { key, score: hit.score, data }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::in_memory::InMemoryStorage;

    fn search_in(entries: &[(&str, &str)], query: &str) -> Vec<(String, u32)> {
        let storage = InMemoryStorage::new();
        for (key, text) in entries {
            storage.write(&Key::parse(key).unwrap(), text.to_string().into()).unwrap();
        }
        search(&storage, query).unwrap().into_iter().map(|hit| (hit.key.to_string(), hit.score)).collect()
    }

    #[test]
    fn stop_words_do_not_count_and_ties_keep_list_order() {
        let entries = [("b", "the dark mode"), ("a", "the mode"), ("c", "the")];
        assert_eq!(search_in(&entries, "what is the dark mode"), [("b".to_owned(), 2), ("a".to_owned(), 1)]);
        assert_eq!(search_in(&entries, "the who"), []);
    }

    #[test]
    fn the_key_counts_and_its_extension_does_not() {
        let entries = [("notes/travel.md", ""), ("md", "")];
        assert_eq!(search_in(&entries, "md"), [("md".to_owned(), 1)]);
        assert_eq!(search_in(&entries, "travel notes"), [("notes/travel.md".to_owned(), 2)]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_searched_all_the_same() {
        let storage = InMemoryStorage::new();
        storage.write(&Key::parse("k").unwrap(), Bytes::from_static(b"dark\xff mode")).unwrap();
        let hits = search(&storage, "mode").unwrap();
        assert_eq!((hits[0].score, hits[0].data.as_ref()), (1, b"dark\xff mode".as_slice()));
    }
}
