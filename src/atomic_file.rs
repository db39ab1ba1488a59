//! Replacing a file so that readers see the old bytes or the new ones, never a mix.
//!
//! # Scratch files
//! The new bytes go into a scratch file in the directory of the target, which is then renamed over it. Both SDKs hide
//! files whose names begin with [`SCRATCH_PREFIX`] from their listings. A scratch file that a killed process left
//! behind is removed once it is an hour old: by the first replacement in its directory, and by listings that meet it.
//!
//! # What survives a replacement
//! A symbolic link is written through, a dangling one too. An existing file keeps its permission bits and, where the
//! process may give files away, its owner; a new file gets what the umask leaves of 0666.
//!
//! # New files
//! [`create`] fails if there is a file already, so that of two processes that both found none, one learns of the other.
//!
//! # Stamps
//! [`Stamp`] is what tells one version of a file from another without reading it. Kernels take the times of a file
//! from a clock that stands still for some milliseconds, so two changes within one tick may look alike (git calls such
//! a file "racily clean"). [`replace`] therefore gives the file it writes a modification time of its own, to the
//! nanosecond: any later change within the tick replaces it by the tick's time and shows.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How names of scratch files begin. Part of the on-disk contract of both SDKs.
pub const SCRATCH_PREFIX: &str = ".__strands_tmp_";

/// Age at which a scratch file can no longer belong to a write that is under way.
const ORPHAN_AGE: Duration = Duration::from_secs(60 * 60);

/// Longest time for which the clock that stamps files is taken to stand still: three ticks of the slowest usual
/// kernel clock (100 Hz).
const CLOCK_GRAIN: Duration = Duration::from_millis(30);

/// The same where a file system keeps whole seconds (FAT keeps every other one).
const COARSE_CLOCK_GRAIN: Duration = Duration::from_secs(2);

/// Identity, size and times of a file: equal stamps that are [settled](Stamp::is_settled) mean equal bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    identity: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
    /// When its metadata last changed, where the system tells: nobody can set this time.
    changed: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of the file that `metadata` was read from.
    pub fn of(metadata: &Metadata) -> Self {
        Stamp {
            identity: platform::identity(metadata),
            size: metadata.len(),
            modified: metadata.modified().ok(),
            changed: platform::change_time(metadata),
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether a file that bore this stamp when it was read at `read_at` cannot change without changing its stamp: it
    /// last changed longer ago than the clock's grain. Nobody can set the time of that change, so where there is one, it
    /// decides. `read_at` is by this machine's clock; that of a network file system must not be far behind.
    pub fn is_settled(&self, read_at: SystemTime) -> bool {
        let Some(changed) = self.changed.or(self.modified) else { return false };
        let since_epoch = changed.duration_since(SystemTime::UNIX_EPOCH);
        let is_whole_second = since_epoch.is_ok_and(|since| since.subsec_nanos() == 0);
        let grain = if is_whole_second { COARSE_CLOCK_GRAIN } else { CLOCK_GRAIN };
        read_at.duration_since(changed).is_ok_and(|age| age > grain)
    }
}

/// Everything in it, to the nanosecond.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, file) = self.identity;
        write!(f, "{device}:{file}:{}", self.size)?;
        for time in [self.modified, self.changed] {
            let since_epoch = time.map_or(Ok(Duration::ZERO), |time| time.duration_since(SystemTime::UNIX_EPOCH));
            match since_epoch {
                Ok(after) => write!(f, ":{}", after.as_nanos())?,
                Err(before) => write!(f, ":-{}", before.duration().as_nanos())?,
            }
        }
        Ok(())
    }
}

/// What [`replace`] and [`create`] left behind.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The stamp of the new file; `None` if it was gone or changed before it could be looked at.
    pub stamp: Option<Stamp>,
    /// Whether any later change will change the stamp, however soon it comes.
    pub settled: bool,
}

/// Whether bytes must be on the disk, not only in the system's cache, before a replacement is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// As both SDKs do: a crash of the process loses nothing, a power failure may.
    #[default]
    Cached,
    /// The file and its directory are synced.
    Synced,
}

/// Makes the file at `path` the concatenation of `parts`, creating its directory if need be.
///
/// # Errors
/// Whatever the operating system says. The old file is then whole and the scratch file gone; only if the directory could
/// not be synced in the end, the new file is in place and may not survive a power failure.
pub fn replace(path: &Path, parts: &[&[u8]], durability: Durability) -> io::Result<Written> {
    write(path, parts, durability, platform::rename)
}

/// The same for a file that must not exist yet.
///
/// # Errors
/// `AlreadyExists` if it does, or another process was faster; otherwise as [`replace`].
pub fn create(path: &Path, parts: &[&[u8]], durability: Durability) -> io::Result<Written> {
    write(path, parts, durability, rename_to_new)
}

fn write(
    path: &Path,
    parts: &[&[u8]],
    durability: Durability,
    put_in_place: fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<Written> {
    let target = resolve(path)?;
    if target.existing.as_ref().is_some_and(Metadata::is_dir) {
        return Err(platform::is_a_directory());
    }
    let directory = directory_of(&target.path);
    sweep_now_and_then(directory);
    let scratch = Scratch::create(directory, target.existing.as_ref())?;
    let modified = SystemTime::now();
    let (written, open_directory) = scratch.or_discard(|file| {
        reach(Step::Write)?;
        write_all(file, parts)?;
        reach(Step::SetTimes)?;
        file.set_times(FileTimes::new().set_modified(modified))?;
        let mut open_directory = None;
        if durability == Durability::Synced {
            reach(Step::Sync)?;
            file.sync_all()?;
            // Opened now, so that a directory which cannot be fails while the old file is still in place.
            open_directory = platform::open_directory(directory)?;
        }
        Ok((Stamp::of(&file.metadata()?), open_directory))
    })?;
    scratch.close_and(|scratch| put_in_place(scratch, &target.path))?;
    if let Some(directory) = open_directory {
        directory.sync_all()?;
    }
    // Putting it in place changed its change time. All else is as it was, or somebody else has been here.
    let stamp = fs::metadata(&target.path).ok().map(|metadata| Stamp::of(&metadata));
    let stamp = stamp.filter(|stamp| Stamp { changed: written.changed, ..*stamp } == written);
    Ok(Written { stamp, settled: stamp.is_some_and(|stamp| stamp.modified == Some(modified)) })
}

/// Renames where the new name must be free.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        // A second name of the file, which the next sweep finds if this one does not remove it.
        Ok(()) => fs::remove_file(from).or(Ok(())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without hard links: between these two calls another process may be faster.
        Err(_) if to.try_exists()? => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => platform::rename(from, to),
    }
}

/// Nothing there, or a file where the path has a directory.
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether both were read from one and the same file.
pub fn same_file(left: &Metadata, right: &Metadata) -> bool {
    platform::identity(left) == platform::identity(right)
}

/// Whether a listing must leave out a file of this name: a scratch file of this package or of either SDK, or any
/// other file that this package keeps for itself.
pub fn is_internal_name(name: &str) -> bool {
    name.starts_with(".__strands_") || name.contains(".__strands_tmp")
}

/// Removes the file at `path` if it is a scratch file that no living write can own. Failure leaves it for later.
pub fn sweep(path: &Path) {
    // Ours and the Python SDK's are named after a UUID, the TypeScript SDK's after their target and a UUID.
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_scratch = name.rsplit_once(SCRATCH_PREFIX).is_some_and(|(_, id)| uuid::Uuid::try_parse(id).is_ok());
    let is_orphan = || {
        let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
        modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > ORPHAN_AGE))
    };
    if is_scratch && is_orphan() {
        // A directory that cannot be written to keeps its orphan; nothing else depends on it.
        let _ = fs::remove_file(path);
    }
}

/// Sweeps `directory` when this process replaces a file in it for the first time, and then once an hour.
fn sweep_now_and_then(directory: &Path) {
    static SWEPT: LazyLock<Mutex<HashMap<PathBuf, Instant>>> = LazyLock::new(Mutex::default);
    /// Bounds the memory of the map; forgetting it costs one more look at each directory.
    const MOST_REMEMBERED: usize = 10_000;

    let Ok(directory) = std::path::absolute(directory) else { return };
    {
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.get(&directory).is_some_and(|at| at.elapsed() < ORPHAN_AGE) {
            return;
        }
        if swept.len() >= MOST_REMEMBERED {
            swept.clear();
        }
        swept.insert(directory.clone(), Instant::now());
    }
    for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
        sweep(&entry.path());
    }
}

/// The file that `path` leads to through symbolic links, whether it exists or not.
struct Target {
    path: PathBuf,
    existing: Option<Metadata>,
}

/// As many links in a row as Linux follows.
const MOST_LINKS: usize = 40;

fn resolve(path: &Path) -> io::Result<Target> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => path = directory_of(&path).join(fs::read_link(&path)?),
            Ok(metadata) => {
                return Ok(Target { path, existing: Some(metadata) });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Target { path, existing: None }),
            Err(error) => return Err(error),
        }
    }
    Err(platform::too_many_links())
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

struct Scratch {
    path: PathBuf,
    file: File,
}

impl Scratch {
    /// A file that nobody may read who may not read `existing`, from its first byte on.
    fn create(directory: &Path, existing: Option<&Metadata>) -> io::Result<Self> {
        let path = directory.join(format!("{SCRATCH_PREFIX}{}", uuid::Uuid::new_v4().simple()));
        reach(Step::Create)?;
        let create = || platform::create_new(&path, existing.is_some());
        let file = match create() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(directory)?;
                create()?
            }
            other => other?,
        };
        let scratch = Scratch { path, file };
        if let Some(existing) = existing {
            scratch.or_discard(|file| {
                reach(Step::KeepAccess)?;
                platform::keep_access(file, existing)
            })?;
        }
        Ok(scratch)
    }

    fn or_discard<T>(&self, step: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        step(&self.file).inspect_err(|_| discard(&self.path))
    }

    /// Some file systems tell only at the end that there was no room.
    fn close_and(self, finish: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let Scratch { path, file } = self;
        reach(Step::Close)
            .and_then(|()| platform::close(file))
            .and_then(|()| reach(Step::Rename))
            .and_then(|()| finish(&path))
            .inspect_err(|_| discard(&path))
    }
}

/// The write has failed already; that failure is the one to report.
fn discard(scratch: &Path) {
    let _ = fs::remove_file(scratch);
}

fn write_all(mut file: &File, parts: &[&[u8]]) -> io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut rest = slices.as_mut_slice();
    // Empty slices at the front would end the loop with nothing written.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match file.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The steps of a replacement, at each of which the tests let it fail once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Create,
    Write,
    KeepAccess,
    SetTimes,
    Sync,
    Close,
    Rename,
}

#[cfg(not(all(test, unix)))]
#[inline(always)]
fn reach(_step: Step) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
use tests::reach;

#[cfg(unix)]
mod platform {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};

    pub fn identity(metadata: &Metadata) -> (u64, u64) {
        (metadata.dev(), metadata.ino())
    }

    pub fn change_time(metadata: &Metadata) -> Option<SystemTime> {
        let seconds = u64::try_from(metadata.ctime()).ok()?;
        let nanoseconds = u32::try_from(metadata.ctime_nsec()).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
    }

    /// For a while only its owner may read what is to replace another file.
    pub fn create_new(path: &Path, is_replacement: bool) -> io::Result<File> {
        let mode = if is_replacement { 0o600 } else { 0o666 };
        OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
    }

    /// The owner first: giving a file away clears some of its permission bits. Only root may give files to others;
    /// members may give them to their group. What cannot be given to the group, the group may not use.
    pub fn keep_access(file: &File, existing: &Metadata) -> io::Result<()> {
        let (uid, gid) = (existing.uid(), existing.gid());
        let created = file.metadata()?;
        let has_group = created.gid() == gid || fchown(file, None, Some(gid)).is_ok();
        if created.uid() != uid {
            // The file becomes this user's, as it does with both SDKs.
            let _ = fchown(file, Some(uid), None);
        }
        let mode = existing.permissions().mode();
        let for_others = mode & 0o007;
        let mode = if has_group { mode } else { mode & !0o070 | for_others << 3 };
        file.set_permissions(Permissions::from_mode(mode))
    }

    pub fn close(file: File) -> io::Result<()> {
        Ok(nix::unistd::close(file)?)
    }

    pub fn open_directory(directory: &Path) -> io::Result<Option<File>> {
        File::open(directory).map(Some)
    }

    pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    pub fn is_a_directory() -> io::Error {
        io::Error::from_raw_os_error(nix::errno::Errno::EISDIR as i32)
    }

    pub fn too_many_links() -> io::Error {
        io::Error::from_raw_os_error(nix::errno::Errno::ELOOP as i32)
    }
}

#[cfg(not(unix))]
mod platform {
    use super::*;

    /// The standard library does not give the identity of a file here; size and times, which this file system keeps
    /// to 100 ns, must do.
    pub fn identity(_metadata: &Metadata) -> (u64, u64) {
        (0, 0)
    }

    pub fn change_time(_metadata: &Metadata) -> Option<SystemTime> {
        None
    }

    pub fn create_new(path: &Path, _is_replacement: bool) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    pub fn keep_access(file: &File, existing: &Metadata) -> io::Result<()> {
        if existing.permissions().readonly() { file.set_permissions(existing.permissions()) } else { Ok(()) }
    }

    /// The standard library does not give what closing says here.
    pub fn close(file: File) -> io::Result<()> {
        drop(file);
        Ok(())
    }

    /// Directories cannot be synced here; the file system journals the rename itself.
    pub fn open_directory(_directory: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Virus scanners and indexers hold files open for moments, during which a rename over them is refused.
    pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
        const PAUSES_MS: [u64; 7] = [1, 5, 20, 50, 100, 200, 400];
        for pause in PAUSES_MS {
            match fs::rename(from, to) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    std::thread::sleep(Duration::from_millis(pause));
                }
                other => return other,
            }
        }
        fs::rename(from, to)
    }

    pub fn is_a_directory() -> io::Error {
        io::ErrorKind::IsADirectory.into()
    }

    pub fn too_many_links() -> io::Error {
        io::Error::other("too many symbolic links")
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use tempfile::TempDir;

    thread_local! {
        static FAILING: Cell<Option<Step>> = const { Cell::new(None) };
    }

    pub(super) fn reach(step: Step) -> io::Result<()> {
        if FAILING.get() == Some(step) { Err(io::Error::other("injected")) } else { Ok(()) }
    }

    fn write(path: &Path, text: &str) -> Written {
        replace(path, &[text.as_bytes()], Durability::Cached).expect("replace")
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("read_dir");
        entries.map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8")).collect()
    }

    fn age(path: &Path, by: Duration) {
        let time = SystemTime::now() - by;
        File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    }

    #[test]
    fn a_failure_at_any_step_leaves_the_old_file_and_no_scratch_file() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("f");
        write(&path, "old");
        let steps =
            [Step::Create, Step::KeepAccess, Step::Write, Step::SetTimes, Step::Sync, Step::Close, Step::Rename];
        for step in steps {
            FAILING.set(Some(step));
            let outcome = replace(&path, &[b"new"], Durability::Synced);
            FAILING.set(None);
            assert!(outcome.is_err(), "{step:?} did not fail");
            assert_eq!(fs::read_to_string(&path).unwrap(), "old", "after a failing {step:?}");
            assert_eq!(names(folder.path()), ["f"], "after a failing {step:?}");
        }
    }

    #[test]
    fn parts_are_joined_and_missing_folders_made() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a/b/f");
        replace(&path, &[b"one", b"", b"two"], Durability::Synced).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "onetwo");
        replace(&path, &[b""], Durability::Cached).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }

    #[test]
    fn permission_bits_of_an_existing_file_stay() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("f");
        write(&path, "old");
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write(&path, "new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
    }

    #[test]
    fn links_are_written_through_dangling_ones_too() {
        let folder = TempDir::new().unwrap();
        let (link, inner, target) = (folder.path().join("l"), folder.path().join("m"), folder.path().join("d/t"));
        fs::create_dir(folder.path().join("d")).unwrap();
        symlink("m", &link).unwrap();
        symlink(&target, &inner).unwrap();
        for text in ["through a dangling link", "through a live one"] {
            write(&link, text);
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
    }

    #[test]
    fn only_one_can_create_a_file() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("f");
        assert!(create(&path, &[b"first"], Durability::Cached).unwrap().settled);
        let error = create(&path, &[b"second"], Durability::Cached).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(names(folder.path()), ["f"]);
    }

    #[test]
    fn a_time_in_the_future_keeps_no_file_unsettled() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "x").unwrap();
        let time = SystemTime::now() + Duration::from_secs(1000);
        File::options().write(true).open(&path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        let stamp = Stamp::of(&fs::metadata(&path).unwrap());
        assert!(stamp.is_settled(SystemTime::now() + Duration::from_secs(1)));
    }

    #[test]
    fn what_replaces_a_private_file_is_private_from_its_first_byte() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("f");
        write(&path, "old");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let existing = fs::metadata(&path).unwrap();
        FAILING.set(Some(Step::KeepAccess));
        assert!(Scratch::create(folder.path(), Some(&existing)).is_err());
        FAILING.set(None);
        let scratch = Scratch::create(folder.path(), Some(&existing)).unwrap();
        assert_eq!(scratch.file.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(
            platform::create_new(&folder.path().join("g"), true).unwrap().metadata().unwrap().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn a_loop_of_links_is_an_error() {
        let folder = TempDir::new().unwrap();
        let link = folder.path().join("l");
        symlink("l", &link).unwrap();
        assert!(replace(&link, &[b"x"], Durability::Cached).is_err());
    }

    #[test]
    fn a_change_of_equal_size_within_the_same_tick_changes_a_settled_stamp() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("f");
        for round in 0..200 {
            let ours = write(&path, "aaaa");
            assert!(ours.settled);
            fs::write(&path, "bbbb").unwrap();
            assert_ne!(Some(Stamp::of(&fs::metadata(&path).unwrap())), ours.stamp, "round {round}");
        }
    }

    #[test]
    fn a_stamp_read_within_the_grain_of_the_clock_is_not_settled() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "x").unwrap();
        let stamp = Stamp::of(&fs::metadata(&path).unwrap());
        let now = SystemTime::now();
        assert!(!stamp.is_settled(now));
        assert!(stamp.is_settled(now + Duration::from_secs(1)));
        age(&path, Duration::from_secs(100));
        let backdated = Stamp::of(&fs::metadata(&path).unwrap());
        assert!(!backdated.is_settled(SystemTime::now()), "the change time tells");
    }

    #[test]
    fn old_orphans_are_swept_once_and_young_ones_left() {
        let folder = TempDir::new().unwrap();
        let scratch = |before: &str, id: String| folder.path().join(format!("{before}{SCRATCH_PREFIX}{id}"));
        let new_id = || uuid::Uuid::new_v4();
        let old = [scratch("", new_id().simple().to_string()), scratch("key.md", new_id().to_string())];
        let young = scratch("", new_id().simple().to_string());
        let named_alike = [scratch("", "notes".to_owned()), folder.path().join("notes.__strands_tmp")];
        for path in old.iter().chain([&young]).chain(&named_alike) {
            fs::write(path, "x").unwrap();
            age(path, ORPHAN_AGE + Duration::from_secs(1));
        }
        age(&young, ORPHAN_AGE - Duration::from_secs(60));
        write(&folder.path().join("f"), "x");
        assert!(old.iter().all(|path| !path.exists()));
        assert!(young.exists());
        assert!(named_alike.iter().all(|path| path.exists()), "a user's file is never swept");
    }
}
