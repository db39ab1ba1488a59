//! What is read and written of an index in one go.
//!
//! # Finding the row of a key
//! The Python SDK goes through all of `documents` for it. Here an entry has the same row number in both tables, so that
//! the index of `doc_hashes` finds it. Rows that Python wrote need not agree: the key in the row decides, and where it is
//! another, the full-text index finds the key by its words.

use rusqlite::{OptionalExtension, Transaction, params};

use super::database::Result;

/// An entry as the index has it.
#[derive(Debug)]
pub struct Known {
    /// The MD5 of its bytes.
    pub hash: String,
    /// The version that its bytes had, if that was recorded.
    pub version: Option<String>,
}

/// The row of a document, and how well it matches: the more negative, the better.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    row: i64,
    /// What FTS5's `bm25()` gives.
    pub rank: f64,
}

/// A transaction that reads. One for many statements spares each the locks of its own.
pub struct Reading<'a>(pub(super) Transaction<'a>);

impl Reading<'_> {
    /// All documents that match, best first, and those of one rank in the order of their rows.
    pub fn ranking(&self, expression: &str) -> Result<Vec<Ranked>> {
        let mut matching = self.0.prepare_cached("SELECT rowid, rank FROM documents WHERE documents MATCH ?1")?;
        let ranked = matching.query_map([expression], |row| Ok(Ranked { row: row.get(0)?, rank: row.get(1)? }))?;
        let mut ranking = ranked.collect::<rusqlite::Result<Vec<_>>>()?;
        ranking.sort_by(|left, right| left.rank.total_cmp(&right.rank));
        Ok(ranking)
    }

    /// The keys of documents.
    pub fn keys(&self, ranked: &[Ranked]) -> Result<Vec<String>> {
        let mut key = self.0.prepare_cached("SELECT key FROM documents WHERE rowid = ?1")?;
        // In the order of the rows each page is read once.
        let mut by_row: Vec<usize> = (0..ranked.len()).collect();
        by_row.sort_unstable_by_key(|place| ranked[*place].row);
        let mut keys = vec![String::new(); ranked.len()];
        for place in by_row {
            keys[place] = key.query_row([ranked[place].row], |row| row.get(0))?;
        }
        Ok(keys)
    }
}

/// A transaction that writes. It is undone where it is not committed.
pub struct Writing<'a>(pub(super) Transaction<'a>);

impl Writing<'_> {
    /// Makes what was written last.
    pub fn commit(self) -> Result<()> {
        Ok(self.0.commit()?)
    }

    /// Executes statements that give nothing.
    pub fn execute_batch(&self, statements: &str) -> Result<()> {
        Ok(self.0.execute_batch(statements)?)
    }

    /// Takes an entry in, in place of what the index has of it. Costs one look-up if that has the same hash.
    pub fn put(&self, key: &str, hash: &str, content: impl FnOnce() -> String) -> Result<()> {
        match self.hash_and_row(key)? {
            Some((known, _)) if known == hash => {}
            Some((_, row)) => {
                match self.rows(key, row)?.split_first() {
                    Some((row, others)) => {
                        others.iter().try_for_each(|row| self.delete_row(*row))?;
                        let mut update = self.0.prepare_cached("UPDATE documents SET content = ?2 WHERE rowid = ?1")?;
                        update.execute(params![row, content()])?;
                    }
                    None => {
                        self.insert(key, &content())?;
                    }
                }
                let mut update = self.0.prepare_cached("UPDATE doc_hashes SET hash = ?2 WHERE key = ?1")?;
                update.execute(params![key, hash])?;
            }
            None => {
                let row = self.insert(key, &content())?;
                let mut insert =
                    self.0.prepare_cached("INSERT OR IGNORE INTO doc_hashes (rowid, key, hash) VALUES (?1, ?2, ?3)")?;
                if insert.execute(params![row, key, hash])? == 0 {
                    // The number is that of another entry.
                    let mut insert = self.0.prepare_cached("INSERT INTO doc_hashes (key, hash) VALUES (?1, ?2)")?;
                    insert.execute(params![key, hash])?;
                }
            }
        }
        Ok(())
    }

    /// Takes an entry out, if it is there.
    pub fn remove(&self, key: &str) -> Result<()> {
        let Some((_, row)) = self.hash_and_row(key)? else { return Ok(()) };
        self.rows(key, row)?.into_iter().try_for_each(|row| self.delete_row(row))?;
        self.0.prepare_cached("DELETE FROM doc_hashes WHERE key = ?1")?.execute([key])?;
        Ok(())
    }

    /// The hash of an entry, if it is there.
    pub fn hash(&self, key: &str) -> Result<Option<String>> {
        Ok(self.hash_and_row(key)?.map(|(hash, _)| hash))
    }

    /// Every key in the index with what is known of it. Makes room for versions.
    pub fn known(&self) -> Result<Vec<(String, Known)>> {
        self.execute_batch(
            "CREATE TABLE IF NOT EXISTS strands_native_versions
             (key TEXT PRIMARY KEY, version TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;",
        )?;
        let known = "SELECT doc_hashes.key, doc_hashes.hash, versions.version FROM doc_hashes
                     LEFT JOIN strands_native_versions AS versions
                     ON versions.key = doc_hashes.key AND versions.hash = doc_hashes.hash";
        let mut known = self.0.prepare(known)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, Known { hash: row.get(1)?, version: row.get(2)? }));
        Ok(known.query_map([], row)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Records that an entry had this hash when it had this version.
    pub fn record(&self, key: &str, version: &str, hash: &str) -> Result<()> {
        let record = "INSERT OR REPLACE INTO strands_native_versions (key, version, hash) VALUES (?1, ?2, ?3)";
        self.0.prepare_cached(record)?.execute([key, version, hash])?;
        Ok(())
    }

    /// Forgets what is recorded of entries that have gone.
    pub fn forget_unknown(&self) -> Result<()> {
        self.execute_batch("DELETE FROM strands_native_versions WHERE key NOT IN (SELECT key FROM doc_hashes)")
    }

    /// Says whether entries are missing that the index had.
    pub fn set_incomplete(&self, is_incomplete: bool) -> Result<()> {
        Ok(self.0.pragma_update(None, "user_version", i64::from(is_incomplete))?)
    }

    fn hash_and_row(&self, key: &str) -> Result<Option<(String, i64)>> {
        let mut known = self.0.prepare_cached("SELECT hash, rowid FROM doc_hashes WHERE key = ?1")?;
        Ok(known.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    fn insert(&self, key: &str, content: &str) -> Result<i64> {
        let mut insert = self.0.prepare_cached("INSERT INTO documents (key, content) VALUES (?1, ?2)")?;
        Ok(insert.insert([key, content])?)
    }

    fn delete_row(&self, row: i64) -> Result<()> {
        self.0.prepare_cached("DELETE FROM documents WHERE rowid = ?1")?.execute([row])?;
        Ok(())
    }

    /// The rows of `key` in `documents`, of which there should be one: the `likely` one.
    fn rows(&self, key: &str, likely: i64) -> Result<Vec<i64>> {
        let mut is_likely = self.0.prepare_cached("SELECT 1 FROM documents WHERE rowid = ?1 AND key = ?2")?;
        if is_likely.exists(params![likely, key])? {
            return Ok(vec![likely]);
        }
        // An expression ends at its first NUL.
        if !key.contains('\0') {
            let phrase = format!("key : \"{}\"", key.replace('"', "\"\""));
            let mut by_words =
                self.0.prepare_cached("SELECT rowid FROM documents WHERE documents MATCH ?1 AND key = ?2")?;
            let rows = by_words.query_map([&phrase, key], |row| row.get(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
            if !rows.is_empty() {
                return Ok(rows);
            }
        }
        // A key without words.
        let mut by_scan = self.0.prepare_cached("SELECT rowid FROM documents WHERE key = ?1")?;
        Ok(by_scan.query_map([key], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
    }
}
