//! One writer at a time for a file that is replaced, across processes.
//!
//! The lock is an advisory one on the file itself, so it leaves nothing behind, whatever becomes of the process, and
//! files do not wait for each other. Replacing the file ends the lock's meaning: the new file is another one. Whoever
//! got the lock therefore looks whether the file is still the one at the path, and starts anew if it is not.
//!
//! A file that does not exist cannot be locked. It is to be created by a call that fails if another process was faster
//! ([`crate::atomic_file::Creation`]).

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::atomic_file::{is_missing, same_file};

/// How long another writer may hold the lock before waiting for it is an error.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Pauses between attempts grow from the first to the second of these.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));

/// The right to replace a file, until it is dropped.
#[derive(Debug)]
pub struct FileLock {
    _locked: File,
}

impl FileLock {
    /// Waits for the right to replace the file at `path`; `None` if there is none.
    ///
    /// On a file system that knows no locks the right is given to everyone.
    ///
    /// # Errors
    /// `TimedOut` if others held the lock for 30 seconds; otherwise what the operating system says.
    pub fn acquire(path: &Path) -> io::Result<Option<Self>> {
        let started = Instant::now();
        let mut pause = PAUSES.0;
        loop {
            let file = match open(path) {
                Err(error) if is_missing(&error) => return Ok(None),
                opened => opened?,
            };
            loop {
                match file.try_lock() {
                    Ok(()) => break,
                    Err(TryLockError::Error(error)) if platform::knows_no_locks(&error) => break,
                    Err(TryLockError::Error(error)) => return Err(error),
                    Err(TryLockError::WouldBlock) if started.elapsed() > LONGEST_WAIT => return Err(timed_out()),
                    Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
                }
                pause = (pause * 2).min(PAUSES.1);
            }
            match fs::metadata(path) {
                Ok(metadata) if same_file(&metadata, &file.metadata()?) => return Ok(Some(FileLock { _locked: file })),
                Err(error) if !is_missing(&error) => return Err(error),
                // Replaced or removed by whoever had the lock.
                _ => {}
            }
        }
    }
}

/// Some network file systems lock only what is open for writing.
fn open(path: &Path) -> io::Result<File> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if is_missing(&error) => Err(error),
        Err(_) => File::open(path),
        opened => opened,
    }
}

fn timed_out() -> io::Error {
    let seconds = LONGEST_WAIT.as_secs();
    io::Error::new(io::ErrorKind::TimedOut, format!("another process has held the file's lock for {seconds} seconds"))
}

#[cfg(unix)]
mod platform {
    use nix::errno::Errno;
    use std::io;

    pub fn knows_no_locks(error: &io::Error) -> bool {
        let number = error.raw_os_error().map(Errno::from_raw);
        matches!(number, Some(Errno::ENOLCK | Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EINVAL | Errno::EBADF))
    }
}

#[cfg(not(unix))]
mod platform {
    use std::io;

    pub fn knows_no_locks(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::Unsupported
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use tempfile::TempDir;

    fn acquire(path: &Path) -> FileLock {
        FileLock::acquire(path).unwrap().expect("there is a file")
    }

    #[test]
    fn a_second_writer_waits_for_the_first_and_then_locks_what_replaced_the_file() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "old").unwrap();
        let first = acquire(&path);
        let (sender, receiver) = mpsc::channel();
        let second = thread::spawn({
            let path = path.clone();
            move || {
                let lock = acquire(&path);
                sender.send(fs::read_to_string(&path).unwrap()).unwrap();
                let is_locked = File::open(&path).unwrap().try_lock().is_err();
                drop(lock);
                is_locked
            }
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        fs::write(folder.path().join("g"), "new").unwrap();
        fs::rename(folder.path().join("g"), &path).unwrap();
        drop(first);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)).expect("the lock was given back"), "new");
        assert!(second.join().unwrap());
    }

    #[test]
    fn files_of_one_folder_do_not_wait_for_each_other() {
        let folder = TempDir::new().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        fs::write(&one, "").unwrap();
        fs::write(&two, "").unwrap();
        let _locks = (acquire(&one), acquire(&two));
    }

    #[test]
    fn a_missing_file_has_no_lock() {
        let folder = TempDir::new().unwrap();
        assert!(FileLock::acquire(&folder.path().join("none")).unwrap().is_none());
        fs::write(folder.path().join("f"), "").unwrap();
        assert!(FileLock::acquire(&folder.path().join("f/below")).unwrap().is_none());
    }
}
