//! No text makes full-text search fail: it is asked of a real index, once for any and once for all of its words.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use strands_native::search::bm25::{Bm25Index, Bm25Query};
use strands_native::search::match_query::Match;
use strands_native::search::normalization::Normalization;
use strands_native::storage::Storage;
use strands_native::storage::in_memory::InMemoryStorage;
use strands_native::storage::key::Key;
use tempfile::TempDir;

static INDEXED: LazyLock<(TempDir, InMemoryStorage, Bm25Index)> = LazyLock::new(|| {
    let directory = TempDir::new().expect("a folder");
    let storage = InMemoryStorage::new();
    for (key, text) in [("a.md", "near and not or key content"), ("b/c", "say \"hi\" (x) * ^y {z}: 復元 café")] {
        storage.write(&Key::parse(key).expect("a key"), text.into()).expect("a write");
    }
    let index = Bm25Index::new(directory.path().join("index"), None, Normalization::None);
    index.backfill(&storage, &mut |_| Ok(())).expect("a backfill");
    (directory, storage, index)
});

fuzz_target!(|question: &str| {
    let (_, storage, index) = &*INDEXED;
    for which in [Match::Any, Match::All] {
        for normalization in [Normalization::None, Normalization::Nfkc] {
            let query = Bm25Query::new(question, which, normalization, usize::MAX);
            let hits = index.search(storage, &query).expect("a search");
            assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score < 1.0));
        }
    }
});
