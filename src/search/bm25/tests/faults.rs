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
