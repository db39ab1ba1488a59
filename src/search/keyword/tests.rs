use super::*;
use crate::atomic_file::Durability;
use crate::storage::in_memory::InMemoryStorage;
use crate::storage::local_file::LocalFileStorage;
use proptest::prelude::*;
use std::fs::{self, File, FileTimes};
use tempfile::TempDir;

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn search(search: &KeywordSearch, storage: &dyn Storage, query: &str) -> Vec<(String, u32)> {
    let hits = search.search(storage, &KeywordQuery::new(query, Normalization::None)).unwrap();
    hits.into_iter().map(|hit| (hit.key.to_string(), hit.score)).collect()
}

fn search_in(entries: &[(&str, &str)], query: &str) -> Vec<(String, u32)> {
    let storage = InMemoryStorage::new();
    for (name, text) in entries {
        storage.write(&key(name), Bytes::from((*text).to_owned())).unwrap();
    }
    search(&KeywordSearch::new(DEFAULT_CACHE_BYTES), &storage, query)
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
    storage.write(&key("k"), Bytes::from_static(b"dark\xff mode")).unwrap();
    let hits = KeywordSearch::new(0).search(&storage, &KeywordQuery::new("mode", Normalization::None)).unwrap();
    assert_eq!((hits[0].score, hits[0].data.as_ref()), (1, b"dark\xff mode".as_slice()));
}

#[test]
fn each_normalisation_has_tokens_of_its_own() {
    let storage = InMemoryStorage::new();
    storage.write(&key("k"), Bytes::from("cafe\u{301}")).unwrap();
    let search = KeywordSearch::new(DEFAULT_CACHE_BYTES);
    for (normalization, hits) in [(Normalization::None, 0), (Normalization::Nfc, 1), (Normalization::None, 0)] {
        assert_eq!(search.search(&storage, &KeywordQuery::new("café", normalization)).unwrap().len(), hits);
    }
}

#[test]
fn what_is_kept_stays_within_its_bound_and_everything_is_found_all_the_same() {
    let storage = InMemoryStorage::new();
    for number in 0..50 {
        storage.write(&key(&format!("k{number:02}")), Bytes::from(format!("dark {}", "x".repeat(number)))).unwrap();
    }
    let search = KeywordSearch::new(500);
    let query = KeywordQuery::new("dark", Normalization::None);
    for _ in 0..3 {
        let hits = search.search(&storage, &query).unwrap();
        assert!(hits.iter().map(|hit| hit.key.as_str()).is_sorted());
        assert_eq!(hits.len(), 50);
        assert!(search.kept.lock().unwrap()[&Normalization::None].bytes <= 500);
    }
}

#[test]
fn entries_that_were_replaced_leave_no_trace() {
    let storage = InMemoryStorage::new();
    let keyword = KeywordSearch::new(DEFAULT_CACHE_BYTES);
    for round in 0..5_000 {
        storage.write(&key("k"), Bytes::from(format!("word{round}"))).unwrap();
        assert_eq!(search(&keyword, &storage, &format!("word{round} word{}", round - 1)), [("k".to_owned(), 1)]);
    }
    assert!(keyword.kept.lock().unwrap()[&Normalization::None].tokens.len() < 3_000);
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize, String),
    WriteInPlace(usize, String, bool),
    Rename(usize, usize),
    Delete(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    // Few words of one length: a rewrite often has the size of what was there.
    let word = prop::sample::select(vec!["dark", "mode", "pale", ""]).prop_map(str::to_owned);
    prop_oneof![
        (0usize..4, word.clone()).prop_map(|(key, text)| Step::Write(key, text)),
        (0usize..4, word, any::<bool>()).prop_map(|(key, text, keep_time)| Step::WriteInPlace(key, text, keep_time)),
        (0usize..4, 0usize..4).prop_map(|(from, to)| Step::Rename(from, to)),
        (0usize..4).prop_map(Step::Delete),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn files_changed_behind_our_back_are_never_found_as_they_were(
        steps in prop::collection::vec(any_step(), 1..25),
        most_bytes in prop::sample::select(vec![0, 6, DEFAULT_CACHE_BYTES]),
    ) {
        const KEYS: [&str; 4] = ["a.md", "b/c.md", "b/d", "e"];
        let folder = TempDir::new().unwrap();
        let storage = LocalFileStorage::new(folder.path().to_str().unwrap(), Durability::Cached).unwrap();
        let keyword = KeywordSearch::new(most_bytes);
        let path = |index: usize| folder.path().join(KEYS[index]);
        fs::create_dir(folder.path().join("b")).unwrap();
        for step in steps {
            match &step {
                Step::Write(index, text) => storage.write(&key(KEYS[*index]), Bytes::from(text.clone())).unwrap(),
                Step::WriteInPlace(index, text, keep_time) => {
                    let before = fs::metadata(path(*index)).and_then(|metadata| metadata.modified());
                    fs::write(path(*index), text).unwrap();
                    if let (true, Ok(before)) = (*keep_time, before) {
                        let file = File::options().write(true).open(path(*index)).unwrap();
                        file.set_times(FileTimes::new().set_modified(before)).unwrap();
                    }
                }
                // Both may fail for want of a file, which is one more state to search in.
                Step::Rename(from, to) => drop(fs::rename(path(*from), path(*to))),
                Step::Delete(index) => drop(fs::remove_file(path(*index))),
            }
            let found = search(&keyword, &storage, "dark mode");
            let expected: Vec<(String, u32)> = KEYS
                .iter()
                .filter(|name| {
                    let text = fs::read_to_string(folder.path().join(name)).unwrap_or_default();
                    text == "dark" || text == "mode"
                })
                .map(|name| ((*name).to_owned(), 1))
                .collect();
            prop_assert_eq!(found, expected, "after {:?}", step);
        }
    }
}
