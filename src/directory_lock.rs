//! One writer at a time in a directory, across processes.
//!
//! The lock is an advisory one on the directory itself, so it leaves nothing behind, whatever becomes of the process.
//! Where a directory cannot be locked (Windows, some network file systems, a directory without read permission) the
//! lock is on a file in the system's temporary folder, named after the directory: it then holds on this machine only.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use uuid::Uuid;

/// How long another writer may hold the lock before waiting for it is an error.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Pauses between attempts grow from the first to the second of these.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));

/// The right to write in a directory, until it is dropped.
#[derive(Debug)]
pub struct DirectoryLock {
    _locked: File,
}

impl DirectoryLock {
    /// Waits for the right to write in `directory`, which is created if need be.
    ///
    /// # Errors
    /// `TimedOut` if another process held the lock for 30 seconds; otherwise what the operating system says.
    pub fn acquire(directory: &Path) -> io::Result<Self> {
        match open(directory).and_then(wait_for) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(error),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(directory)?;
                open(directory).and_then(wait_for)
            }
            Err(_) => open_stand_in(&stand_in(directory)?).and_then(wait_for),
            locked => locked,
        }
    }
}

fn open(directory: &Path) -> io::Result<File> {
    File::open(directory)
}

fn wait_for(file: File) -> io::Result<DirectoryLock> {
    let started = Instant::now();
    let mut pause = PAUSES.0;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(DirectoryLock { _locked: file }),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if started.elapsed() > LONGEST_WAIT => {
                let seconds = LONGEST_WAIT.as_secs();
                let message = format!("another process has been writing in this directory for {seconds} seconds");
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// The file that is locked in place of a directory that cannot be.
fn stand_in(directory: &Path) -> io::Result<PathBuf> {
    let name = fs::canonicalize(directory)?;
    let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_os_str().as_encoded_bytes());
    Ok(std::env::temp_dir().join(format!("strands-native-{}.lock", id.simple())))
}

/// One that another user created can be opened for reading only, which is enough to lock it.
fn open_stand_in(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path).or_else(|_| File::open(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use tempfile::TempDir;

    #[test]
    fn a_second_writer_waits_for_the_first() {
        let folder = TempDir::new().unwrap();
        let first = DirectoryLock::acquire(folder.path()).unwrap();
        let (sender, receiver) = mpsc::channel();
        let path = folder.path().to_owned();
        let second = thread::spawn(move || {
            let lock = DirectoryLock::acquire(&path).unwrap();
            sender.send(()).unwrap();
            drop(lock);
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(first);
        receiver.recv_timeout(Duration::from_secs(10)).expect("the lock was given back");
        second.join().unwrap();
    }

    #[test]
    fn a_missing_directory_is_made_and_nothing_else_is_left_in_it() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a/b");
        drop(DirectoryLock::acquire(&path).unwrap());
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn the_stand_in_is_the_same_for_every_spelling_of_a_directory() {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        assert_eq!(stand_in(folder.path()).unwrap(), stand_in(&folder.path().join("a/..")).unwrap());
        assert_ne!(stand_in(folder.path()).unwrap(), stand_in(&folder.path().join("a")).unwrap());
    }
}
