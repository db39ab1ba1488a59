//! What other programs, other storages and the file system may do to an index.

use super::*;

#[test]
fn an_index_in_the_making_is_searched_as_it_is_and_completed_by_writers() {
    let documents = "CREATE VIRTUAL TABLE documents USING fts5(key, content)";
    let states =
        ["", "PRAGMA user_version = 0; VACUUM", documents, "CREATE TABLE doc_hashes (key TEXT PRIMARY KEY, hash)"];
    for state in states {
        for search_first in [true, false] {
            let indexed = Indexed::new();
            let other = indexed.database();
            other.execute_batch(state).unwrap();
            if search_first {
                assert_eq!(indexed.found("word"), [""; 0], "{state}");
            }
            assert!(indexed.write("a", "word").is_empty(), "{state}");
            assert_eq!(indexed.found("word"), ["a"], "{state}");
            // The other program goes on.
            other
                .execute_batch("CREATE TABLE IF NOT EXISTS doc_hashes (key TEXT PRIMARY KEY, hash TEXT NOT NULL)")
                .unwrap();
            assert!(indexed.index.take_set_aside().is_empty(), "{state}");
            assert_eq!((indexed.count("documents"), indexed.count("doc_hashes")), (1, 1), "{state}");
        }
    }
}

#[test]
fn a_table_of_hashes_with_other_columns_is_that_of_another_program() {
    let indexed = Indexed::new();
    indexed.database().execute_batch("CREATE TABLE doc_hashes (something)").unwrap();
    assert_eq!(indexed.write("a", "word").len(), 1);
    assert_eq!(indexed.found("word"), ["a"]);
}

/// A storage that is not on this machine, in which something happens whenever it is asked what it has.
struct Elsewhere<'a, F>(&'a LocalFileStorage, F);

impl<F: Fn() -> Result<()> + Send + Sync> Storage for Elsewhere<'_, F> {
    fn write(&self, key: &Key, data: Bytes) -> Result<()> {
        self.0.write(key, data)
    }
    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        self.0.read(key)
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
        Ok(self.existing(std::slice::from_ref(key))? == [true])
    }
    fn existing(&self, keys: &[Key]) -> Result<Vec<bool>> {
        let existing = self.0.existing(keys)?;
        (self.1)()?;
        Ok(existing)
    }
    fn is_local(&self) -> bool {
        false
    }
}

#[test]
fn a_storage_elsewhere_may_write_to_the_index_before_it_says_what_it_has() {
    let indexed = Indexed::new();
    for key in ["gone", "gone and back", "here"] {
        indexed.write(key, "word");
    }
    for key in ["gone", "gone and back"] {
        fs::remove_file(indexed.storage.path(key)).unwrap();
    }
    let writes = || {
        indexed.write("gone and back", "another word");
        Ok(())
    };
    let done = indexed.index.backfill(&Elsewhere(&indexed.storage, writes), &mut |_| Ok(())).unwrap();
    assert_eq!(done.removed, 1);
    assert_eq!(indexed.count("documents"), 2);
    assert_eq!(indexed.found("another"), ["gone and back"]);
}

#[test]
fn a_storage_elsewhere_that_does_not_answer_makes_a_search_fail() {
    let indexed = Indexed::new();
    indexed.write("a", "word");
    let refused = || Err(Error::InvalidStorage("refused".to_owned()));
    let query = Bm25Query::new("word", Match::Any, Normalization::None, usize::MAX);
    assert!(indexed.index.search(&Elsewhere(&indexed.storage, refused), &query).is_err());
}

#[cfg(unix)]
#[test]
fn an_entry_that_cannot_be_looked_at_is_no_hit_and_goes_with_the_next_backfill() {
    let indexed = Indexed::new();
    for key in ["a", "loop"] {
        indexed.write(key, "word");
    }
    fs::remove_file(indexed.storage.path("loop")).unwrap();
    std::os::unix::fs::symlink("loop", indexed.storage.path("loop")).unwrap();
    for key in ["nul\0", &"n".repeat(300)] {
        indexed.change(put(key, "word")).unwrap();
    }
    assert_eq!(indexed.found("word"), ["a"]);
    assert_eq!(indexed.count("documents"), 4);
    assert_eq!(indexed.backfill(), (0, 1, 3));
    assert_eq!((indexed.found("word"), indexed.count("documents")), (vec!["a".to_owned()], 1));
}

/// A storage on this machine that may not look at one of its entries.
struct Forbidden<'a>(&'a LocalFileStorage, &'a str);

impl Storage for Forbidden<'_> {
    fn write(&self, key: &Key, data: Bytes) -> Result<()> {
        self.0.write(key, data)
    }
    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        self.0.read(key)
    }
    fn delete(&self, key: &Key) -> Result<()> {
        self.0.delete(key)
    }
    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.0.list(prefix)
    }
    fn entries(&self, prefix: &Prefix) -> Result<Vec<(Key, crate::storage::Version)>> {
        let mut entries = self.0.entries(prefix)?;
        entries.retain(|(key, _)| key.as_str() != self.1);
        Ok(entries)
    }
    fn exists(&self, key: &Key) -> Result<bool> {
        if key.as_str() == self.1 {
            return Err(Error::Read { key: key.to_string(), source: ErrorKind::PermissionDenied.into() });
        }
        self.0.exists(key)
    }
}

#[test]
fn an_entry_that_may_not_be_looked_at_is_no_hit_and_stays_in_the_index() {
    let indexed = Indexed::new();
    for key in ["gone", "here", "private"] {
        indexed.write(key, "word");
    }
    indexed.storage.delete(&parsed("gone")).unwrap();
    let forbidden = Forbidden(&indexed.storage, "private");
    let query = Bm25Query::new("word", Match::Any, Normalization::None, usize::MAX);
    let hits = indexed.index.search(&forbidden, &query).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.key.as_str()).collect::<Vec<_>>(), ["here"]);
    assert_eq!(indexed.index.backfill(&forbidden, &mut |_| Ok(())).unwrap().removed, 1);
    assert_eq!(indexed.found("word").len(), 2);
}

#[test]
fn other_forms_of_a_word_are_looked_for_where_all_entries_that_hold_it_have_gone() {
    let indexed = Indexed::new();
    indexed.write("a", "moving house");
    indexed.write("b", "moved away");
    assert_eq!(indexed.found("moving"), ["a"]);
    fs::remove_file(indexed.storage.path("a")).unwrap();
    assert_eq!(indexed.found("moving"), ["b"]);
}

#[test]
fn a_backfill_whose_index_is_replaced_midway_starts_over() {
    type Spoil = fn(&Indexed);
    let spoils: [Spoil; 2] = [
        |indexed| {
            for suffix in ["", "-wal", "-shm"] {
                let _ = fs::remove_file(with_suffix(indexed.index.path(), suffix));
            }
        },
        |indexed| {
            indexed.index.close();
            fs::write(indexed.index.path(), "no database at all").unwrap();
        },
    ];
    for (case, spoil) in spoils.into_iter().enumerate() {
        let indexed = Indexed::new();
        for number in 0..600 {
            indexed.storage.write(&parsed(&format!("{number}")), Bytes::from_static(b"word")).unwrap();
        }
        // All but some of them are known, and would be thought to be in the successor.
        indexed.backfill();
        for number in 0..300 {
            fs::write(indexed.storage.path(&format!("{number}")), "other words").unwrap();
        }
        let mut calls = 0;
        let mut progress = |_| {
            calls += 1;
            if calls == 1 {
                spoil(&indexed);
            }
            Ok(())
        };
        let done = indexed.index.backfill(&indexed.storage, &mut progress).unwrap();
        assert_eq!(done, Backfilled { indexed: 600, unchanged: 0, removed: 0 });
        assert_eq!(indexed.found("word").len(), 600, "{case}");
        assert_eq!(indexed.index.take_set_aside().len(), case);
        assert!(!indexed.database().query_row("PRAGMA user_version", [], |row| row.get::<_, bool>(0)).unwrap());
    }
}

#[test]
fn a_backfill_whose_index_is_replaced_again_and_again_reports_it() {
    let indexed = Indexed::new();
    for number in 0..600 {
        indexed.storage.write(&parsed(&format!("{number}")), Bytes::from_static(b"word")).unwrap();
    }
    let mut progress =
        |_| fs::remove_file(indexed.index.path()).map_err(|source| Error::List { prefix: String::new(), source });
    let error = indexed.index.backfill(&indexed.storage, &mut progress).unwrap_err();
    assert!(matches!(error, Error::Index { .. }), "{error}");
}

#[test]
fn a_view_is_searched_for_its_own_entries_as_if_its_keys_had_no_prefix() {
    let indexed = Indexed::new();
    for number in 0..300 {
        indexed.write(&format!("agents/b/{number:03}"), "word word");
    }
    indexed.write("agents/a/gone", "word word word");
    indexed.write("agents/a/note", "a word");
    indexed.write("agents/a/other", "no agent but another word among many");
    fs::remove_file(indexed.storage.path("agents/a/gone")).unwrap();
    let found = |question: &str, which, limit| {
        let query = Bm25Query::within("agents/a/", question, which, Normalization::None, limit);
        let hits = indexed.index.search(&indexed.storage, &query).unwrap();
        hits.into_iter().map(|hit| hit.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found("word", Match::Any, 1), ["note"]);
    assert_eq!(found("word", Match::Any, 9), ["note", "other"]);
    assert_eq!(found("note", Match::Any, 9), ["note"]);
    for which in [Match::Any, Match::All] {
        assert_eq!(found("agent", which, 9), ["other"]);
    }
    assert_eq!(found("agents word", Match::All, 9), [""; 0]);
    assert_eq!(found("agent another", Match::All, 9), ["other"]);
}

#[test]
fn damage_that_only_a_search_comes_upon_costs_it_no_hits() {
    for table in ["documents_data", "documents_idx", "documents_docsize", "documents_content"] {
        let indexed = Indexed::new();
        for number in 0..40 {
            indexed.write(&number.to_string(), &format!("word and {number}{}", " more".repeat(200)));
        }
        indexed.index.close();
        let root_page = "SELECT rootpage FROM sqlite_master WHERE name = ?1";
        let page: u32 = indexed.database().query_row(root_page, [table], |row| row.get(0)).unwrap();
        let page = page as usize;
        let mut bytes = fs::read(indexed.index.path()).unwrap();
        bytes[(page - 1) * 4096..page * 4096].fill(0xa5);
        fs::write(indexed.index.path(), bytes).unwrap();
        assert_eq!(indexed.found("word").len(), 40, "{table}");
        assert_eq!(indexed.index.take_set_aside().len(), 1, "{table}");
    }
}
