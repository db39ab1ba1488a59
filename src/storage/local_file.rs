//! Values in files below a folder: the key `a/b.md` is the file `b.md` in the subfolder `a`.
//!
//! # Paths
//! The file is at the text `base/key`: what the operating system makes of a `.` segment or of a symbolic link on the
//! way is what happens, as in both SDKs. A relative base is relative to the current folder at the time of the call.
//!
//! # Listings
//! Folders are walked one at a time, so that a deep tree needs one open folder. A symbolic link to a folder is listed
//! and not entered, as in the TypeScript SDK. Files that this package keeps for itself are left out; so are names
//! that are not valid Unicode, which no key can spell.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

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
    fn walk<T>(&self, prefix: &Prefix, mut visit: impl FnMut(Key, &DirEntry) -> Option<T>) -> Result<Vec<T>> {
        let mut found = Vec::new();
        let (start, folder) = self.start_of_walk(prefix);
        let mut unvisited = vec![(PathBuf::from(start), folder.to_owned())];
        while let Some((path, folder)) = unvisited.pop() {
            let failed = |source| Error::List { prefix: folder.clone(), source };
            let entries = match fs::read_dir(&path) {
                Err(error) if is_missing(&error) => continue,
                entries => entries.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let key = if folder.is_empty() { name.clone() } else { [&folder, "/", &name].concat() };
                if entry.file_type().map_err(failed)?.is_dir() {
                    unvisited.push((entry.path(), key));
                } else if atomic_file::is_internal_name(&name) {
                    atomic_file::sweep(&entry.path());
                } else {
                    let key = Key::from_listing(key);
                    if prefix.matches(&key) {
                        found.extend(visit(key, &entry));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The path of the file with this key, or of the folder with this beginning of keys.
    pub fn path(&self, key: &str) -> String {
        format!("{}/{key}", self.base_dir.trim_end_matches('/'))
    }
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
        keys.sort_unstable();
        Ok(keys)
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
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance;
    use std::io;
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
    fn internal_files_are_not_listed_and_dot_files_are() {
        let folder = TempDir::new().unwrap();
        for name in [".env", ".__strands_tmp_1", "k.md.__strands_tmp_2", ".__strands_x-fts5.sqlite"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let keys = storage(&folder).list(&Prefix::default()).unwrap();
        assert_eq!(keys, [key(".env")]);
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
