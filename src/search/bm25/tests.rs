use super::*;
use crate::atomic_file::Durability;
use crate::search::match_query::{Match, match_query};
use crate::storage::in_memory::InMemoryStorage;
use crate::storage::key::Prefix;
use crate::storage::local_file::LocalFileStorage;
use proptest::prelude::*;
use rusqlite::Connection;
use std::sync::mpsc;
use tempfile::TempDir;

mod faults;

/// A storage in a folder, its index beside it, and the two together as a user has them.
struct Indexed {
    directory: TempDir,
    storage: LocalFileStorage,
    index: Arc<Bm25Index>,
}

impl Indexed {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let folder = directory.path().join("memory");
        let storage = LocalFileStorage::new(folder.to_str().unwrap(), Durability::Cached).unwrap();
        let index = Arc::new(Bm25Index::new(index_path(&folder), Some(folder), Normalization::None));
        Indexed { directory, storage, index }
    }

    fn change(&self, change: Change) -> Answer<Vec<SetAside>> {
        let (answers, answer) = mpsc::channel();
        self.index.enqueue(change, Box::new(move |answer| answers.send(answer).unwrap()));
        Batched::write_waiting(&self.index);
        answer.recv().unwrap()
    }

    fn write(&self, key: &str, text: &str) -> Vec<SetAside> {
        self.storage.write(&parsed(key), text.as_bytes().to_vec().into()).unwrap();
        self.change(put(key, text)).unwrap()
    }

    fn delete(&self, key: &str) {
        self.storage.delete(&parsed(key)).unwrap();
        self.change(Change { key: parsed(key), data: None, happened_in: None }).unwrap();
    }

    fn found(&self, question: &str) -> Vec<String> {
        self.found_by(question, Match::Any, usize::MAX)
    }

    fn found_by(&self, question: &str, which: Match, limit: usize) -> Vec<String> {
        let query = Bm25Query::new(question, which, Normalization::None, limit);
        self.index.search(&self.storage, &query).unwrap().into_iter().map(|hit| hit.key.to_string()).collect()
    }

    fn backfill(&self) -> (usize, usize, usize) {
        let Backfilled { indexed, unchanged, removed } = self.index.backfill(&self.storage, &mut |_| Ok(())).unwrap();
        (indexed, unchanged, removed)
    }

    /// The database as anybody else sees it.
    fn database(&self) -> Connection {
        Connection::open(self.index.path()).unwrap()
    }

    fn count(&self, table: &str) -> i64 {
        self.database().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }
}

fn parsed(key: &str) -> Key {
    Key::parse(key).unwrap()
}

fn put(key: &str, text: &str) -> Change {
    Change { key: parsed(key), data: Some(text.as_bytes().to_vec().into()), happened_in: None }
}

#[test]
fn a_change_that_the_storage_has_outlived_is_left_out() {
    let indexed = Indexed::new();
    indexed.write("a", "present");
    let storage: Arc<dyn Storage> = Arc::new(indexed.storage.clone());
    let late = |data: Option<&'static str>| {
        let data = data.map(|text| Bytes::from_static(text.as_bytes()));
        indexed.change(Change { key: parsed("a"), data, happened_in: Some(Arc::clone(&storage)) }).unwrap();
    };
    late(Some("ancient"));
    late(None);
    assert_eq!((indexed.found("ancient"), indexed.found("present")), (vec![], vec!["a".to_owned()]));
    indexed.storage.delete(&parsed("a")).unwrap();
    late(None);
    late(Some("present"));
    assert_eq!(indexed.count("documents"), 0);
}

#[test]
fn what_was_written_is_found_and_an_overwrite_replaces_it() {
    let indexed = Indexed::new();
    indexed.write("a.md", "dark mode is preferred");
    indexed.write("b/c.md", "light mode");
    assert_eq!(indexed.found("Which MODE is dark?"), ["a.md", "b/c.md"]);
    assert_eq!(indexed.found_by("dark mode", Match::All, 9), ["a.md"]);
    indexed.write("a.md", "something else");
    assert_eq!(indexed.found("dark"), [""; 0]);
    assert_eq!(indexed.found("something"), ["a.md"]);
    indexed.delete("a.md");
    assert_eq!(indexed.found("something"), [""; 0]);
    assert_eq!((indexed.count("documents"), indexed.count("doc_hashes")), (1, 1));
}

#[test]
fn without_an_index_nothing_is_found_and_nothing_is_made() {
    let indexed = Indexed::new();
    assert_eq!(indexed.found("anything"), [""; 0]);
    assert_eq!(fs::read_dir(indexed.directory.path()).unwrap().count(), 0);
}

#[test]
fn scores_are_between_0_and_1_and_fall_also_where_every_document_matches() {
    let indexed = Indexed::new();
    indexed.write("one", "term");
    let search = |question: &str| {
        let query = Bm25Query::new(question, Match::Any, Normalization::None, usize::MAX);
        let hits = indexed.index.search(&indexed.storage, &query).unwrap();
        hits.iter().map(|hit| hit.score).collect::<Vec<_>>()
    };
    for (number, text) in ["term term term", "term and many other words", "term in between"].iter().enumerate() {
        let scores = search("term");
        assert_eq!(scores.len(), number + 1);
        assert!(scores.iter().all(|score| *score > 0.0 && *score < 1.0), "{scores:?}");
        assert!(scores.is_sorted_by(|left, right| left >= right), "{scores:?}");
        indexed.write(&format!("more{number}"), text);
    }
}

#[test]
fn a_limit_counts_entries_that_are_still_there() {
    let indexed = Indexed::new();
    for number in 0..20 {
        indexed.write(&format!("{number:02}"), &"word ".repeat(20 - number));
    }
    for number in 0..10 {
        fs::remove_file(indexed.storage.path(&format!("{number:02}"))).unwrap();
    }
    assert_eq!(indexed.found_by("word", Match::Any, 3).len(), 3);
    assert_eq!(indexed.found("word").len(), 10);
    assert!(indexed.found("word").iter().all(|key| key.as_str() >= "10"));
}

#[test]
fn a_backfill_takes_in_what_was_there_takes_out_what_is_gone_and_touches_only_what_changed() {
    let indexed = Indexed::new();
    for number in 0..600 {
        indexed.storage.write(&parsed(&format!("old/{number}")), Bytes::from_static(b"old words")).unwrap();
    }
    indexed.storage.write(&parsed("old/.hidden"), Bytes::from_static(b"old words")).unwrap();
    assert_eq!(indexed.backfill(), (600, 0, 0));
    assert_eq!(indexed.backfill(), (0, 600, 0));
    assert_eq!(indexed.found("old words").len(), 600);

    fs::write(indexed.storage.path("old/0"), "edited by hand").unwrap();
    fs::remove_file(indexed.storage.path("old/1")).unwrap();
    fs::rename(indexed.storage.path("old/2"), indexed.storage.path("old/renamed")).unwrap();
    assert_eq!(indexed.backfill(), (2, 597, 2));
    assert_eq!(indexed.found("edited"), ["old/0"]);
    assert_eq!(indexed.count("documents"), 599);
}

#[test]
fn a_rewrite_of_equal_size_with_an_old_time_stamp_is_seen_by_the_next_backfill() {
    let indexed = Indexed::new();
    indexed.write("a", "first");
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(indexed.backfill(), (0, 1, 0));
    let path = indexed.storage.path("a");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "later").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(indexed.backfill(), (1, 0, 0));
    assert_eq!(indexed.found("later"), ["a"]);
}

/// A storage in which something happens at each reading.
struct Meanwhile<'a, F>(&'a LocalFileStorage, F);

impl<F: Fn(&Key) + Send + Sync> Storage for Meanwhile<'_, F> {
    fn write(&self, key: &Key, data: Bytes) -> Result<()> {
        self.0.write(key, data)
    }
    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        let data = self.0.read(key);
        (self.1)(key);
        data
    }
    fn delete(&self, key: &Key) -> Result<()> {
        self.0.delete(key)
    }
    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.0.list(prefix)
    }
    fn entries(&self, prefix: &Prefix) -> Result<Vec<(Key, crate::storage::Version)>> {
        self.0.entries(prefix)
    }
    fn exists(&self, key: &Key) -> Result<bool> {
        self.0.exists(key)
    }
}

#[test]
fn a_backfill_does_not_put_old_bytes_over_those_that_were_written_meanwhile() {
    let indexed = Indexed::new();
    indexed.storage.write(&parsed("a"), Bytes::from_static(b"ancient")).unwrap();
    let meanwhile = Meanwhile(&indexed.storage, |_: &Key| drop(indexed.write("a", "present")));
    indexed.index.backfill(&meanwhile, &mut |_| Ok(())).unwrap();
    assert_eq!((indexed.found("ancient"), indexed.found("present")), (vec![], vec!["a".to_owned()]));
}

#[test]
fn rows_that_the_python_sdk_numbered_otherwise_are_replaced_and_removed() {
    let indexed = Indexed::new();
    for key in ["x/one.md", "x/two.md", "--", "quote\"d"] {
        indexed.write(key, "first text");
    }
    // What its deletions and insertions can lead to.
    indexed.database().execute_batch("UPDATE doc_hashes SET rowid = rowid + 7").unwrap();
    for key in ["x/one.md", "--", "quote\"d"] {
        indexed.write(key, "second");
    }
    assert_eq!(indexed.found("first"), ["x/two.md"]);
    assert_eq!(indexed.found("second").len(), 3);
    // A new row of the one table has the number of an old one of the other.
    for number in 0..8 {
        indexed.write(&format!("new{number}"), "third");
    }
    for key in ["x/one.md", "x/two.md", "--", "quote\"d", "new0", "new7"] {
        indexed.delete(key);
    }
    assert_eq!((indexed.count("documents"), indexed.count("doc_hashes")), (6, 6));
}

#[test]
fn what_another_program_left_twice_or_without_a_hash_is_straightened() {
    let indexed = Indexed::new();
    for key in ["twice", "unhashed", "hashed", "whole"] {
        indexed.write(key, "word");
    }
    indexed.index.close();
    let spoil = "INSERT INTO documents (key, content) VALUES ('twice', 'wrong');
                 INSERT INTO documents (key, content) VALUES ('more', 'wrong');
                 DELETE FROM doc_hashes WHERE key = 'unhashed';
                 DELETE FROM documents WHERE key = 'hashed'";
    indexed.database().execute_batch(spoil).unwrap();
    indexed.write("new", "word");
    assert_eq!(indexed.found("wrong"), [""; 0]);
    assert_eq!(indexed.found("word").len(), 5);
    assert_eq!((indexed.count("documents"), indexed.count("doc_hashes")), (5, 5));
}

#[test]
fn an_index_that_is_no_index_is_set_aside_whole_and_made_anew_from_the_storage() {
    type Spoil = fn(&Path);
    let garbage: [(&str, Spoil); 5] = [
        ("one byte", |path| fs::write(path, "x").unwrap()),
        ("garbage", |path| fs::write(path, "no database at all, but long enough for a header to be read").unwrap()),
        ("another table", |path| {
            let database = Connection::open(path).unwrap();
            database.execute_batch("CREATE TABLE documents (something); INSERT INTO documents VALUES (1)").unwrap();
        }),
        ("other columns", |path| {
            let database = Connection::open(path).unwrap();
            database.execute_batch("CREATE VIRTUAL TABLE documents USING fts5(title, body)").unwrap();
        }),
        ("cut in half", |path| {
            let length = fs::metadata(path).unwrap().len();
            fs::File::options().write(true).open(path).unwrap().set_len(length / 2 / 4096 * 4096).unwrap();
        }),
    ];
    for (what, spoil) in garbage {
        for search_first in [true, false] {
            let indexed = Indexed::new();
            for number in 0..50 {
                indexed.write(&format!("{number}"), "a word");
            }
            indexed.index.close();
            if what != "cut in half" {
                fs::remove_file(indexed.index.path()).unwrap();
            }
            spoil(indexed.index.path());
            let spoilt = fs::read(indexed.index.path()).unwrap();
            let mut set_aside = if search_first { vec![] } else { indexed.write("new", "a word") };
            let expected = if search_first { 50 } else { 51 };
            assert_eq!(indexed.found("word").len(), expected, "{what}");
            set_aside.extend(indexed.index.take_set_aside());
            assert_eq!(set_aside.len(), 1, "{what}: {set_aside:?}");
            assert!(fs::read(&set_aside[0].now).unwrap() == spoilt, "{what}: the file was changed");
            let name = set_aside[0].now.file_name().unwrap().to_str().unwrap();
            assert!(crate::atomic_file::is_internal_name(name));
        }
    }
}

#[test]
fn a_busy_index_is_not_a_broken_one_and_is_searched_meanwhile() {
    let indexed = Indexed::new();
    indexed.write("a", "word");
    let other = indexed.database();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM doc_hashes").unwrap();
    assert_eq!(indexed.found("word"), ["a"]);
    let writing = {
        let index = Arc::clone(&indexed.index);
        let (answers, answer) = mpsc::channel();
        index.enqueue(put("b", "word"), Box::new(move |outcome| answers.send(outcome.is_ok()).unwrap()));
        indexed.storage.write(&parsed("b"), Bytes::from_static(b"word")).unwrap();
        let thread = std::thread::spawn(move || Batched::write_waiting(&index));
        (thread, answer)
    };
    assert_eq!(indexed.found("word"), ["a"]);
    other.execute_batch("ROLLBACK").unwrap();
    writing.0.join().unwrap();
    assert!(writing.1.recv().unwrap());
    assert_eq!(indexed.found("word").len(), 2);
    assert!(indexed.index.take_set_aside().is_empty());
}

#[test]
fn an_index_that_was_removed_while_it_was_open_is_begun_anew() {
    let indexed = Indexed::new();
    indexed.write("a", "word");
    assert_eq!(indexed.found("word"), ["a"]);
    for suffix in ["", "-wal", "-shm"] {
        let mut path = indexed.index.path().as_os_str().to_owned();
        path.push(suffix);
        let _ = fs::remove_file(path);
    }
    assert_eq!(indexed.found("word"), [""; 0]);
    indexed.write("b", "word");
    assert_eq!(indexed.found("word"), ["b"]);
    indexed.backfill();
    assert_eq!(indexed.found("word").len(), 2);
}

#[test]
fn closing_what_was_replaced_leaves_the_log_of_its_successor() {
    let indexed = Indexed::new();
    indexed.write("a", "word");
    assert_eq!(indexed.found("word"), ["a"]);
    for suffix in ["", "-wal", "-shm"] {
        let mut path = indexed.index.path().as_os_str().to_owned();
        path.push(suffix);
        fs::remove_file(path).unwrap();
    }
    let folder = indexed.directory.path().join("memory");
    let successor = Arc::new(Bm25Index::new(index_path(&folder), Some(folder), Normalization::None));
    let (answers, answer) = mpsc::channel();
    successor.enqueue(put("a", "word"), Box::new(move |outcome| answers.send(outcome.is_ok()).unwrap()));
    Batched::write_waiting(&successor);
    assert!(answer.recv().unwrap());
    indexed.index.close();
    assert_eq!(indexed.found("word"), ["a"]);
}

#[test]
fn a_closed_index_opens_again() {
    let indexed = Indexed::new();
    indexed.write("a", "word");
    indexed.index.close();
    indexed.index.close();
    assert_eq!(
        fs::read_dir(indexed.directory.path()).unwrap().count(),
        2,
        "the folder and the index, nothing beside it"
    );
    assert_eq!(indexed.found("word"), ["a"]);
}

#[test]
fn an_index_file_among_the_entries_is_no_entry() {
    let directory = TempDir::new().unwrap();
    let folder = directory.path().to_owned();
    let storage = LocalFileStorage::new(folder.to_str().unwrap(), Durability::Cached).unwrap();
    storage.write(&parsed("a"), Bytes::from_static(b"word")).unwrap();
    let index = Bm25Index::new(folder.join("index.sqlite"), Some(folder), Normalization::None);
    for _ in 0..2 {
        index.backfill(&storage, &mut |_| Ok(())).unwrap();
    }
    let query = Bm25Query::new("sqlite word", Match::Any, Normalization::None, usize::MAX);
    assert_eq!(index.search(&storage, &query).unwrap().len(), 1);
}

#[test]
fn normalised_questions_find_normalised_entries() {
    let directory = TempDir::new().unwrap();
    let storage = InMemoryStorage::new();
    storage.write(&parsed("wide"), Bytes::from("ｓｅａｔ")).unwrap();
    let index = Bm25Index::new(directory.path().join("index"), None, Normalization::Nfkc);
    index.backfill(&storage, &mut |_| Ok(())).unwrap();
    let query = Bm25Query::new("ＳＥＡＴ seat", Match::All, Normalization::Nfkc, usize::MAX);
    assert_eq!(index.search(&storage, &query).unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn nobody_may_read_the_index_who_may_not_list_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let indexed = Indexed::new();
    let folder = indexed.directory.path().join("memory");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    indexed.write("a", "secret");
    for suffix in ["", "-wal", "-shm"] {
        let mut path = indexed.index.path().as_os_str().to_owned();
        path.push(suffix);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{suffix}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_full_text_search_fail_and_every_word_of_an_entry_finds_it(
        texts in prop::collection::vec("(\\PC|[\"*^():{}+\\-\0 ]|AND |OR |NOT |NEAR\\(|[a-z]{1,6} ){0,30}", 1..4),
        question in "(\\PC|[\"*^():{}+\\-\0 ]|AND |OR |NOT |NEAR\\(|key:){0,40}",
    ) {
        let directory = TempDir::new().unwrap();
        let storage = InMemoryStorage::new();
        for (number, text) in texts.iter().enumerate() {
            storage.write(&parsed(&format!("k{number}")), Bytes::from(text.clone())).unwrap();
        }
        let index = Bm25Index::new(directory.path().join("index"), None, Normalization::None);
        index.backfill(&storage, &mut |_| Ok(())).unwrap();
        for which in [Match::Any, Match::All] {
            let query = Bm25Query::new(&question, which, Normalization::None, usize::MAX);
            let hits = index.search(&storage, &query).unwrap();
            prop_assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score < 1.0));
        }
        for (number, text) in texts.iter().enumerate() {
            for word in text.split(|char: char| !char.is_ascii_alphabetic()).filter(|word| word.len() > 1) {
                let query = Bm25Query::new(word, Match::Any, Normalization::None, usize::MAX);
                let Some(_) = match_query(word, Match::Any, "") else { continue };
                let hits = index.search(&storage, &query).unwrap();
                let key = parsed(&format!("k{number}"));
                // Beside a letter that is not ASCII, it is part of a longer word.
                let is_whole = text.split(' ').any(|whole| whole == word);
                prop_assert!(!is_whole || hits.iter().any(|hit| hit.key == key), "{word:?} in {text:?}");
            }
        }
    }
}
