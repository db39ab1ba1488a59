//! Values in files below a folder: the key `a/b.md` is the file `b.md` in the subfolder `a`.
//!
//! # Paths
//! The file is at the text `base/key`: what the operating system makes of a `.` segment or of a symbolic link on the
//! way is what happens, as in both SDKs. A relative base is relative to the current folder at the time of the call.
//!
//! # Listings
//! Folders are walked one at a time, many folders by a few threads, so that any tree needs few open folders. A symbolic link to a folder is listed
//! and not entered, as in the TypeScript SDK. Files that this package keeps for itself are left out; so are names
//! that are not valid Unicode, which no key can spell.

use std::fs::{self, DirEntry};
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use bytes::Bytes;

use super::key::{Key, Prefix};
use super::{Storage, Version};
use crate::atomic_file::{self, Durability, Stamp, is_missing};
use crate::error::{Error, Result};

/// One file per key below a base folder.
#[derive(Clone, Debug)]
pub struct LocalFileStorage {
    base_dir: String,
    durability: Durability,
}

impl LocalFileStorage {
    /// Keeps the text of `base_dir` but for repeated slashes and one at its end. Touches no file.
    ///
    /// # Errors
    /// [`Error::InvalidStorage`] for an empty path, which would mean the root of the file system.
    pub fn new(base_dir: &str, durability: Durability) -> Result<Self> {
        if base_dir.is_empty() {
            return Err(Error::InvalidStorage(
                "LocalFileStorage: baseDir must not be empty. Pass './' for the current directory.".to_owned(),
            ));
        }
        let mut collapsed = String::with_capacity(base_dir.len());
        for char in base_dir.chars() {
            if char != '/' || !collapsed.ends_with('/') {
                collapsed.push(char);
            }
        }
        if collapsed.len() > 1 && collapsed.ends_with('/') {
            collapsed.pop();
        }
        Ok(LocalFileStorage { base_dir: collapsed, durability })
    }

    /// The folder under which the files are.
    pub fn base_dir(&self) -> &str {
        &self.base_dir
    }

    /// The same kind of storage, rooted at a subfolder.
    pub fn namespace(&self, prefix: &Prefix) -> Self {
        match prefix.as_str().trim_end_matches('/') {
            "" => self.clone(),
            path => LocalFileStorage { base_dir: self.path(path), durability: self.durability },
        }
    }

    /// The deepest folder that `prefix` spells out, as a path and as the beginning of keys.
    pub fn start_of_walk<'a>(&self, prefix: &'a Prefix) -> (String, &'a str) {
        match prefix.as_str().rsplit_once('/') {
            Some((folder, _)) => (self.path(folder), folder),
            None => (self.base_dir.clone(), ""),
        }
    }

    /// What `visit` makes of each file whose key begins with `prefix`, in no order.
    fn walk<T: Send>(&self, prefix: &Prefix, visit: impl Fn(Key, &DirEntry) -> Option<T> + Sync) -> Result<Vec<T>> {
        let (start, folder) = self.start_of_walk(prefix);
        let walk = Walk { prefix, visit };
        let mut found = Vec::new();
        let mut folders = vec![Folder { path: start.into(), key: folder.to_owned() }];
        // One folder after another, until there are enough for several threads.
        while folders.len() < WORTH_THREADS {
            let Some(folder) = folders.pop() else { return Ok(found) };
            walk.read(&folder, &mut found, &mut folders)?;
        }
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        thread::scope(|scope| {
            let mut running = Vec::new();
            for share in folders.chunks(folders.len().div_ceil(threads)) {
                let work = || walk.read_all(share);
                match thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(thread) => running.push(thread),
                    Err(_) => found.extend(walk.read_all(share)?),
                }
            }
            for thread in running {
                found.extend(thread.join().unwrap_or_else(|panic| Err(Error::from_panic(panic.as_ref())))?);
            }
            Ok(found)
        })
    }

    /// The path of the file with this key, or of the folder with this beginning of keys.
    pub fn path(&self, key: &str) -> String {
        format!("{}/{key}", self.base_dir.trim_end_matches('/'))
    }
}

/// So many folders are walked by several threads.
const WORTH_THREADS: usize = 16;

/// Each thread holds one folder open.
const MOST_THREADS: usize = 4;

/// A folder, as a path and as the beginning of keys.
struct Folder {
    path: PathBuf,
    key: String,
}

struct Walk<'a, V> {
    prefix: &'a Prefix,
    visit: V,
}

impl<V> Walk<'_, V> {
    /// The files in these folders and below them.
    fn read_all<T>(&self, folders: &[Folder]) -> Result<Vec<T>>
    where
        V: Fn(Key, &DirEntry) -> Option<T>,
    {
        let mut found = Vec::new();
        let mut unvisited = Vec::new();
        for folder in folders {
            self.read(folder, &mut found, &mut unvisited)?;
            while let Some(folder) = unvisited.pop() {
                self.read(&folder, &mut found, &mut unvisited)?;
            }
        }
        Ok(found)
    }

    fn read<T>(&self, folder: &Folder, found: &mut Vec<T>, folders: &mut Vec<Folder>) -> Result<()>
    where
        V: Fn(Key, &DirEntry) -> Option<T>,
    {
        let failed = |source| Error::List { prefix: folder.key.clone(), source };
        let entries = match fs::read_dir(&folder.path) {
            Err(error) if is_missing(&error) => return Ok(()),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let key = if folder.key.is_empty() { name.clone() } else { [&folder.key, "/", &name].concat() };
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(Folder { path: entry.path(), key });
            } else if atomic_file::is_internal_name(&name) {
                atomic_file::sweep(&entry.path());
            } else {
                let key = Key::from_listing(key);
                if self.prefix.matches(&key) {
                    found.extend((self.visit)(key, &entry));
                }
            }
        }
        Ok(())
    }
}

/// Whether no file can be at a path: it is too long, holds a NUL, or is a link to itself.
fn cannot_be(error: &io::Error) -> bool {
    #[cfg(unix)]
    let is_loop = error.raw_os_error() == Some(nix::errno::Errno::ELOOP as i32);
    #[cfg(not(unix))]
    let is_loop = false;
    is_loop || matches!(error.kind(), io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput)
}

impl Storage for LocalFileStorage {
    fn write(&self, key: &Key, data: Bytes) -> Result<()> {
        atomic_file::replace(Path::new(&self.path(key.as_str())), &[&data], self.durability)
            .map(drop)
            .map_err(|source| Error::Write { key: key.to_string(), source })
    }

    fn read(&self, key: &Key) -> Result<Option<Bytes>> {
        match fs::read(self.path(key.as_str())) {
            Ok(data) => Ok(Some(data.into())),
            Err(error) if is_missing(&error) => Ok(None),
            Err(source) => Err(Error::Read { key: key.to_string(), source }),
        }
    }

    fn delete(&self, key: &Key) -> Result<()> {
        match fs::remove_file(self.path(key.as_str())) {
            Err(source) if !is_missing(&source) => Err(Error::Delete { key: key.to_string(), source }),
            _ => Ok(()),
        }
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        let mut keys = self.walk(prefix, |key, _| Some(key))?;
        Key::sort(&mut keys, |key| key);
        Ok(keys)
    }

    fn exists(&self, key: &Key) -> Result<bool> {
        match fs::metadata(self.path(key.as_str())) {
            Ok(metadata) => Ok(metadata.is_file()),
            Err(error) if is_missing(&error) || cannot_be(&error) => Ok(false),
            Err(source) => Err(Error::Read { key: key.to_string(), source }),
        }
    }

    fn existing(&self, keys: &[Key]) -> Result<Vec<bool>> {
        /// Fewer are looked at before a thread has started.
        const WORTH_A_THREAD: usize = 2048;

        let exist = |keys: &[Key]| keys.iter().map(|key| self.exists(key)).collect::<Result<Vec<bool>>>();
        if keys.len() < WORTH_A_THREAD {
            return exist(keys);
        }
        let (near, far) = keys.split_at(keys.len() / 2);
        thread::scope(|scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, || exist(far));
            let mut existing = exist(near)?;
            existing.extend(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| Err(Error::from_panic(panic.as_ref())))?,
                Err(_) => exist(far)?,
            });
            Ok(existing)
        })
    }

    fn entries(&self, prefix: &Prefix) -> Result<Vec<(Key, Version)>> {
        let mut entries = self.walk(prefix, |key, entry| {
            let metadata = match entry.metadata() {
                Ok(metadata) if metadata.is_symlink() => fs::metadata(entry.path()),
                metadata => metadata,
            };
            // What has gone since, and a link that leads to no file, cannot be read either.
            let metadata = metadata.ok().filter(fs::Metadata::is_file)?;
            Some((key, Version::File(Stamp::of(&metadata))))
        })?;
        Key::sort(&mut entries, |(key, _)| key);
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance;
    use tempfile::TempDir;

    fn storage(folder: &TempDir) -> LocalFileStorage {
        LocalFileStorage::new(folder.path().to_str().unwrap(), Durability::Cached).unwrap()
    }

    fn key(text: &str) -> Key {
        Key::parse(text).unwrap()
    }

    #[test]
    fn behaves_as_every_storage_does() {
        conformance::check(&storage(&TempDir::new().unwrap()));
        let folder = TempDir::new().unwrap();
        conformance::check(&storage(&folder).namespace(&Prefix::parse("a/b/").unwrap()));
    }

    #[test]
    fn the_base_folder_keeps_its_text() {
        let base = |text| LocalFileStorage::new(text, Durability::Cached).unwrap().base_dir().to_owned();
        assert_eq!(base("./memory//notes/"), "./memory/notes");
        assert_eq!(base("//"), "/");
        assert!(LocalFileStorage::new("", Durability::Cached).is_err());
    }

    #[test]
    fn many_folders_are_listed_whole_and_sorted() {
        let folder = TempDir::new().unwrap();
        let storage = storage(&folder);
        let mut keys: Vec<Key> = (0..200).map(|n| key(&format!("{}/{}/{n}", n % 40, n % 3))).collect();
        keys.push(key("at the top"));
        for key in &keys {
            storage.write(key, Bytes::new()).unwrap();
        }
        keys.sort();
        assert_eq!(storage.list(&Prefix::default()).unwrap(), keys);
        assert_eq!(storage.list(&Prefix::parse("1").unwrap()).unwrap().len(), 55);
        let entries = storage.entries(&Prefix::default()).unwrap();
        assert_eq!(entries.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), keys);
    }

    #[test]
    fn internal_files_are_not_listed_and_dot_files_are() {
        let folder = TempDir::new().unwrap();
        for name in [".env", ".__strands_tmp_1", "k.md.__strands_tmp_2", ".__strands_x-fts5.sqlite"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let keys = storage(&folder).list(&Prefix::default()).unwrap();
        assert_eq!(keys, [key(".env")]);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_exists_where_no_file_can_be() {
        let folder = TempDir::new().unwrap();
        let storage = storage(&folder);
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        let keys = ["loop".to_owned(), "n".repeat(300), "nul\0".to_owned(), "loop/below".to_owned()];
        assert_eq!(storage.existing(&keys.map(|text| key(&text))).unwrap(), [false; 4]);
    }

    #[test]
    fn a_failed_write_names_the_key_and_keeps_the_cause() {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("taken")).unwrap();
        let error = storage(&folder).write(&key("taken"), Bytes::from_static(b"x")).unwrap_err();
        assert_eq!(error.to_string(), "Failed to write 'taken' to local storage");
        assert!(matches!(error, Error::Write { source, .. } if source.kind() == io::ErrorKind::IsADirectory));
    }
}
