//! The index file: a SQLite database in the shape that the Python SDK makes and reads.
//!
//! # Tables
//! `documents` is an FTS5 table of keys and contents, `doc_hashes` has the MD5 of the bytes behind each content. A new
//! `documents` table is that of the Python SDK but for its accents; one that is there is used as it is.
//! `strands_native_versions`, which backfills need, tells which version of an entry a hash is of. `PRAGMA user_version` is
//! 1 while the index lacks entries that it had.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::Duration;

use md5::{Digest, Md5};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior};

use super::transaction::{Reading, Writing};
use crate::atomic_file::same_file;
use crate::error::{Error, Fault};

/// How long another writer may hold the database before waiting for it is a fault.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What a new `documents` table does with words: the default of FTS5, but accents are also taken off letters with several.
const TOKENIZER: &str = "unicode61 remove_diacritics 2";

/// Why a database could not be used.
#[derive(Debug)]
pub enum Trouble {
    /// It is damaged, or not an index: this file will never work.
    Broken(Fault),
    /// It may work at another time.
    Failed(Fault),
    /// It is another file than the one that the work was begun in.
    Replaced,
    /// The storage could not be asked for what was needed.
    Storage(Box<Error>),
}

impl Trouble {
    /// Whether another process holds the database, so that another attempt would wait as long.
    pub fn is_busy(&self) -> bool {
        matches!(self, Trouble::Failed(fault) if fault.code == "SQLITE_BUSY")
    }

    /// What is to be reported of the index.
    pub fn into_fault(self) -> Fault {
        let (code, message) = match self {
            Trouble::Broken(fault) | Trouble::Failed(fault) => return fault,
            Trouble::Replaced => ("SQLITE_READONLY", "the index was replaced meanwhile".to_owned()),
            Trouble::Storage(error) => ("SQLITE_ERROR", error.to_string()),
        };
        Fault { code: code.to_owned(), message, request_id: None }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Storage(Box::new(error))
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        let fault = fault(&error);
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Trouble::Broken(fault),
            _ => Trouble::Failed(fault),
        }
    }
}

/// What every function here returns.
pub type Result<T> = std::result::Result<T, Trouble>;

/// Which tables of an index are there.
struct Tables {
    documents: bool,
    hashes: bool,
}

/// A connection to an index file.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    /// What was at the path when it was opened; `None` if the next one is to look at it anew.
    file: Option<Metadata>,
}

impl Database {
    /// Opens the file at `path` for writing and makes it an index if it is none. `folder` is what it is about: nobody may
    /// read the index who may not list the folder.
    pub fn create(path: &Path, folder: Option<&Path>) -> Result<Self> {
        let is_new = !path.exists();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        if is_new {
            platform::hide_from_others(path, folder);
        }
        let mut database = Database { connection, file: fs::metadata(path).ok() };
        database.become_index()?;
        Ok(database)
    }

    /// Makes an index of which everything is missing, and closes it.
    pub fn begin_incomplete(path: &Path, folder: Option<&Path>) -> Result<()> {
        let mut database = Self::create(path, folder)?;
        let writing = database.begin()?;
        writing.set_incomplete(true)?;
        writing.commit()
    }

    /// Opens the file at `path` for reading; `None` if it holds no index yet.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let open = |path: &Path, flags: OpenFlags| {
            let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            let database = Database { connection, file: fs::metadata(path).ok() };
            let is_index = database.prepare_to_read()?;
            Ok(is_index.then_some(database))
        };
        // Whoever may write may also recover what a killed process left, and read beside other processes.
        match open(path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
            Err(Trouble::Failed(_)) if !platform::is_writable(path) && !has_log(path) => {}
            opened => return opened,
        }
        // Where nobody may write, nobody does: the file is read without the files that SQLite coordinates writers by. What
        // is in a log would be passed over in silence.
        let uri = immutable_uri(path);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let mut opened = open(&uri, flags)?;
        // The next one looks at the file anew.
        opened.iter_mut().for_each(|database| database.file = None);
        Ok(opened)
    }

    /// What was at the path when it was opened.
    pub fn file(&self) -> Option<&Metadata> {
        self.file.as_ref()
    }

    /// Whether `file` is the one that is open.
    pub fn is_of(&self, file: &Metadata) -> bool {
        self.file.as_ref().is_some_and(|open| same_file(open, file))
    }

    fn become_index(&mut self) -> Result<()> {
        // Before anything is changed: it may be a database of somebody else.
        self.connection.busy_timeout(LONGEST_WAIT)?;
        let tables = self.tables()?;
        // Readers and a writer do not wait for each other in this mode. Where others have the file open, it stays as it is.
        self.connection.busy_timeout(Duration::from_millis(200))?;
        match self.connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if !is_busy(&error) => return Err(error.into()),
            _ => {}
        }
        self.connection.busy_timeout(LONGEST_WAIT)?;
        // A power failure may cost the last changes, not the file: it is derived from others.
        self.connection.pragma_update(None, "synchronous", "normal")?;
        self.connection.pragma_update(None, "temp_store", "memory")?;
        if !(tables.documents && tables.hashes) {
            let transaction = self.begin()?;
            transaction.execute_batch(&format!(
                "CREATE VIRTUAL TABLE IF NOT EXISTS documents USING fts5(key, content, tokenize = '{TOKENIZER}');
                 CREATE TABLE IF NOT EXISTS doc_hashes (key TEXT PRIMARY KEY, hash TEXT NOT NULL);"
            ))?;
            transaction.commit()?;
        }
        if tables.documents { self.straighten() } else { Ok(()) }
    }

    /// Takes out what another program has left in one of the tables only, or twice: nobody would replace it. The next
    /// search fills in what is then missing.
    fn straighten(&mut self) -> Result<()> {
        // FTS5 keeps a row here for each document (sqlite.org/fts5.html, "FTS5 data structures").
        let is_straight = "SELECT (SELECT count(*) FROM documents_docsize) = (SELECT count(*) FROM doc_hashes)";
        if self.connection.query_row(is_straight, [], |row| row.get(0))? {
            return Ok(());
        }
        let transaction = self.begin()?;
        transaction.execute_batch(
            "DELETE FROM doc_hashes WHERE key IN (SELECT key FROM documents GROUP BY key HAVING count(*) > 1);
             DELETE FROM documents WHERE key NOT IN (SELECT key FROM doc_hashes);
             DELETE FROM doc_hashes WHERE key NOT IN (SELECT key FROM documents);",
        )?;
        transaction.set_incomplete(true)?;
        transaction.commit()
    }

    fn prepare_to_read(&self) -> Result<bool> {
        self.connection.busy_timeout(LONGEST_WAIT)?;
        self.connection.pragma_update(None, "temp_store", "memory")?;
        // A search needs no hashes.
        Ok(self.tables()?.documents)
    }

    /// Which of the tables are there. The Python SDK makes one after the other, and each may be seen without the other.
    fn tables(&self) -> Result<Tables> {
        // SQLite takes a file of one byte for an empty one.
        const SHORTEST_PAGE: u64 = 512;
        if self.file.as_ref().is_some_and(|file| (1..SHORTEST_PAGE).contains(&file.len())) {
            return Err(foreign("it is shorter than a page"));
        }
        let definition_of = |table: &str| {
            let definition = "SELECT sql FROM sqlite_master WHERE name = ?1";
            self.connection.query_row(definition, [table], |row| row.get::<_, Option<String>>(0)).optional()
        };
        let documents = definition_of("documents")?;
        let hashes = definition_of("doc_hashes")?;
        let is_full_text =
            |sql: &Option<String>| sql.as_ref().is_some_and(|sql| sql.to_ascii_lowercase().contains("fts5"));
        if !documents.as_ref().is_none_or(is_full_text) {
            return Err(foreign("its table 'documents' is no full-text index"));
        }
        let tables = Tables { documents: documents.is_some(), hashes: hashes.is_some() };
        for (is_there, columns) in [
            (tables.documents, "SELECT key, content FROM documents LIMIT 0"),
            (tables.hashes, "SELECT key, hash FROM doc_hashes LIMIT 0"),
        ] {
            match is_there.then(|| self.connection.prepare(columns)).transpose() {
                // A column is missing.
                Err(error) if fault(&error).code == "SQLITE_ERROR" => return Err(foreign(&error.to_string())),
                prepared => drop(prepared?),
            }
        }
        Ok(tables)
    }

    /// Begins to write, once no other process does.
    pub fn begin(&mut self) -> Result<Writing<'_>> {
        // Where the tables were changed by another process since, statements are prepared again by themselves.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        Ok(Writing(transaction))
    }

    /// Whether entries are missing that the index had before it was made anew.
    pub fn is_incomplete(&self) -> Result<bool> {
        let mut version = self.connection.prepare_cached("PRAGMA user_version")?;
        Ok(version.query_row([], |row| row.get::<_, i64>(0))? != 0)
    }

    /// Begins to read one state of the index, whatever others write meanwhile.
    pub fn read(&self) -> Result<Reading<'_>> {
        Ok(Reading(self.connection.unchecked_transaction()?))
    }
}

/// What the index has of the bytes of an entry (the Python SDK's choice).
pub fn hash(data: &[u8]) -> String {
    Md5::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The fault of a file that could not be made or looked at.
pub fn cannot_open(error: &std::io::Error) -> Trouble {
    Trouble::Failed(Fault { code: "SQLITE_CANTOPEN".to_owned(), message: error.to_string(), request_id: None })
}

fn foreign(problem: &str) -> Trouble {
    Trouble::Broken(Fault { code: "SQLITE_NOTADB".to_owned(), message: problem.to_owned(), request_id: None })
}

fn fault(error: &rusqlite::Error) -> Fault {
    /// The result codes of SQLite by number (sqlite.org/rescode.html).
    const NAMES: [&str; 27] = [
        "OK",
        "ERROR",
        "INTERNAL",
        "PERM",
        "ABORT",
        "BUSY",
        "LOCKED",
        "NOMEM",
        "READONLY",
        "INTERRUPT",
        "IOERR",
        "CORRUPT",
        "NOTFOUND",
        "FULL",
        "CANTOPEN",
        "PROTOCOL",
        "EMPTY",
        "SCHEMA",
        "TOOBIG",
        "CONSTRAINT",
        "MISMATCH",
        "MISUSE",
        "NOLFS",
        "AUTH",
        "FORMAT",
        "RANGE",
        "NOTADB",
    ];
    let number = error.sqlite_error().map_or(1, |error| error.extended_code & 0xff);
    let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number)).unwrap_or(&NAMES[1]);
    Fault { code: format!("SQLITE_{name}"), message: error.to_string(), request_id: None }
}

/// Whether changes may be beside the file that are not in it yet.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// The file as one that nobody changes, in SQLite's notation.
fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for char in path.to_string_lossy().chars() {
        match char {
            '%' | '?' | '#' => uri.push_str(&format!("%{:02X}", u32::from(char))),
            _ => uri.push(char),
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

#[cfg(unix)]
mod platform {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    use nix::unistd::{AccessFlags, access};

    /// Takes from the index the rights to read that others do not have on the folder. SQLite gives the files beside the
    /// index the rights of the index.
    pub fn hide_from_others(path: &Path, folder: Option<&Path>) {
        let mode_of = |path: &Path| fs::metadata(path).map(|metadata| metadata.permissions().mode());
        if let (Some(Ok(folder)), Ok(mode)) = (folder.map(mode_of), mode_of(path)) {
            // Who owns neither the file nor the folder's secrets cannot change this, and needs not.
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode & (0o600 | folder)));
        }
    }

    /// Whether this process may write to the file and beside it.
    pub fn is_writable(path: &Path) -> bool {
        let may_write = |path: &Path| access(path, AccessFlags::W_OK).is_ok();
        may_write(path) && path.parent().is_some_and(may_write)
    }
}

#[cfg(not(unix))]
mod platform {
    use super::*;

    /// Here the rights are those of the folder that both are in.
    pub fn hide_from_others(_path: &Path, _folder: Option<&Path>) {}

    pub fn is_writable(path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| !metadata.permissions().readonly())
    }
}
