use super::*;
use proptest::prelude::*;
use std::fs::{self, File, FileTimes};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn store_at(path: &Path) -> TestMemoryStore {
    TestMemoryStore::new(Location::File(path.to_owned()), Normalization::None)
}

fn draft(content: &str) -> Draft {
    Draft::new(content.to_owned().into(), None).unwrap()
}

fn add(store: &TestMemoryStore, content: &str) -> std::result::Result<String, String> {
    let (sender, receiver) = mpsc::channel();
    let done = Box::new(move |outcome| sender.send(outcome).expect("the receiver waits"));
    let draft = Draft::new(content.to_owned().into(), None).map_err(|error| error.to_string())?;
    let open = store.open().map_err(|error| error.to_string())?;
    open.enqueue(draft, done);
    open.write_waiting();
    receiver.recv().expect("every addition is answered").map_err(|error| error.to_string())
}

fn found(store: &TestMemoryStore, query: &str) -> std::result::Result<Vec<String>, String> {
    let memories = store.open().and_then(|open| open.search(query, 1000)).map_err(|error| error.to_string())?;
    Ok(memories.into_iter().map(|memory| memory.content.to_str_lossy().into_owned()).collect())
}

fn record(id: &str, content: &str) -> String {
    format!("{{\"id\":\"{id}\",\"content\":\"{content}\",\"createdAt\":\"2026\"}}")
}

#[test]
fn what_was_added_is_found_again_by_another_store() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made/for/it/notes.json");
    let id = add(&store_at(&path), "dark mode").unwrap();
    assert_eq!(add(&store_at(&path), " dark mode\n").unwrap(), id);
    assert_eq!(found(&store_at(&path), "the Mode?").unwrap(), ["dark mode"]);
    assert_eq!(found(&store_at(&path), "?!").unwrap(), [""; 0]);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn an_in_memory_store_keeps_its_memories_to_itself() {
    let store = TestMemoryStore::new(Location::InMemory, Normalization::None);
    add(&store, "dark mode").unwrap();
    assert_eq!(found(&store, "dark").unwrap(), ["dark mode"]);
    assert_eq!(found(&TestMemoryStore::new(Location::InMemory, Normalization::None), "dark").unwrap(), [""; 0]);
}

#[test]
fn stores_of_one_file_may_compare_words_in_different_forms() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.json");
    let store = |normalization| TestMemoryStore::new(Location::File(path.clone()), normalization);
    add(&store(Normalization::None), "cafe\u{301}").unwrap();
    add(&store(Normalization::Nfkc), "Ｎａｍｅ").unwrap();
    assert_eq!(found(&store(Normalization::None), "café name").unwrap(), [""; 0]);
    assert_eq!(found(&store(Normalization::Nfc), "café name").unwrap(), ["cafe\u{301}"]);
    assert_eq!(found(&store(Normalization::Nfkc), "café name").unwrap().len(), 2);
}

#[test]
fn a_bad_file_refuses_search_and_add_and_keeps_its_bytes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bad.json");
    for bytes in
        [&b"[{\"id\":\"1\""[..], b"", b"  \n", b"{}", b"null", b"[] []", b"\xff\xfe[\0]\0", b"[{\"id\":\"1\"}]"]
    {
        fs::write(&path, bytes).unwrap();
        let store = store_at(&path);
        for message in [found(&store, "x").unwrap_err(), add(&store, "x").unwrap_err()] {
            assert!(message.starts_with("TestMemoryStore: invalid "), "{message}");
            assert!(message.contains(path.to_str().unwrap()), "{message}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn empty_content_and_unusable_metadata_are_refused_before_anything_is_read() {
    let store = store_at(Path::new("/nonexistent/x.json"));
    assert_eq!(add(&store, " \u{feff}\n").unwrap_err(), "TestMemoryStore: content must not be empty.");
    let error = Draft::new("x".to_owned().into(), Some("[1]".to_owned())).unwrap_err();
    assert_eq!(error.to_string(), "TestMemoryStore: metadata cannot be stored: it must be a JSON object.");
}

#[test]
fn any_change_by_another_program_is_seen_by_the_next_search() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.json");
    let other = folder.path().join("other");
    let store = store_at(&path);
    let text = |word: &str| format!("[{}]", record("1", word));
    let mut seen = Vec::new();
    for round in 0..50 {
        // Same size each time, in place and by rename, in the same tick of the clock, and back in time.
        for (word, by_rename, restore) in [("aaaa", false, false), ("bbbb", true, false), ("cccc", false, true)] {
            let before = fs::metadata(&path).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::now());
            if by_rename {
                fs::write(&other, text(word)).unwrap();
                fs::rename(&other, &path).unwrap();
            } else {
                fs::write(&path, text(word)).unwrap();
            }
            if restore {
                File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_times(FileTimes::new().set_modified(before))
                    .unwrap();
            }
            seen = found(&store, "aaaa bbbb cccc").unwrap();
            assert_eq!(seen, [word], "round {round}");
        }
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(found(&store, &seen[0]).unwrap(), [""; 0]);
}

#[test]
fn an_addition_keeps_what_another_program_wrote_in_the_meantime() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.json");
    let store = store_at(&path);
    for round in 0..50 {
        add(&store, &format!("ours {round}")).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let theirs = text.replacen('[', &format!("[{},", record("x", &format!("theirs {round}"))), 1);
        fs::write(&path, theirs).unwrap();
    }
    add(&store, "last").unwrap();
    assert_eq!(found(&store, "ours").unwrap().len(), 50);
    assert_eq!(found(&store, "theirs").unwrap().len(), 50);
}

#[test]
fn many_threads_and_spellings_of_one_file_lose_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.json");
    std::os::unix::fs::symlink(&path, folder.path().join("link.json")).unwrap();
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let path = folder.path().join(if thread % 2 == 0 { "notes.json" } else { "link.json" });
            thread::spawn(move || {
                let store = store_at(&path);
                for number in 0..25 {
                    let content = format!("thread{thread} number{number}");
                    add(&store, &content).unwrap();
                    assert!(found(&store, &content).unwrap().contains(&content), "an added memory is found at once");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(serde_json::from_str::<Vec<serde_json::Value>>(&text).unwrap().len(), 200);
}

#[test]
fn additions_that_wait_are_written_together() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.json");
    let open = store_at(&path).open().unwrap();
    let (sender, receiver) = mpsc::channel();
    for number in 0..100 {
        let sender = sender.clone();
        let done = Box::new(move |outcome: std::result::Result<String, _>| sender.send(outcome.is_ok()).unwrap());
        open.enqueue(draft(&format!("number{number}")), done);
    }
    let before = fs::read_dir(folder.path()).unwrap().count();
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| open.write_waiting()))));
    assert_eq!(before, 0, "nothing was written before");
    assert_eq!(receiver.try_iter().filter(|added| *added).count(), 100);
}

#[test]
fn what_nobody_can_write_fails_and_the_store_stays_usable() {
    let folder = TempDir::new().unwrap();
    let store = store_at(&folder.path().join("notes.json"));
    let (sender, receiver) = mpsc::channel();
    let open = store.open().unwrap();
    open.enqueue(draft("never"), Box::new(move |outcome| sender.send(outcome.is_err()).unwrap()));
    open.give_up(Error::Internal("no thread".to_owned()));
    assert!(receiver.recv().unwrap());
    add(&store, "later").unwrap();
    assert_eq!(found(&store, "never later").unwrap(), ["later"]);
}

#[test]
fn a_slash_at_the_end_of_a_path_means_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.json");
    add(&store_at(&path), "dark mode").unwrap();
    let slashed = store_at(Path::new(&format!("{}/", path.display())));
    assert_eq!(found(&slashed, "dark").unwrap(), ["dark mode"]);
    add(&slashed, "light mode").unwrap();
    assert_eq!(found(&store_at(&path), "mode").unwrap().len(), 2);
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let store = store_at(Path::new("/dev/zero"));
    assert!(found(&store, "x").unwrap_err().contains("/dev/zero"));
    assert!(add(&store, "x").is_err());
}

#[test]
fn default_file_names_are_those_of_the_typescript_sdk() {
    let name = |name| match Location::default_for(name) {
        Location::Default(file_name) => file_name,
        _ => panic!("a default location"),
    };
    assert_eq!(name("notes"), "notes.json");
    assert_eq!(name("../../etc"), "____etc.json");
    assert_eq!(name("a/b\\c d"), "a_b_c_d.json");
    assert_eq!(name("."), "..json");
    assert_eq!(name("..."), "_..json");
    assert_eq!(name("\u{1F600}é"), "___.json");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_store_behaves_as_a_list_of_contents(contents in prop::collection::vec("[a-c ]{0,4}", 0..20)) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("notes.json");
        let mut model: Vec<String> = Vec::new();
        for content in &contents {
            let outcome = add(&store_at(&path), content);
            if content.trim().is_empty() {
                prop_assert!(outcome.is_err());
            } else if !model.iter().any(|known| known.trim() == content.trim()) {
                model.push(content.clone());
            }
        }
        let mut everything = found(&store_at(&path), "a b c aa ab ac ba bb bc ca cb cc").unwrap();
        everything.retain(|content| model.contains(content));
        everything.dedup();
        prop_assert!(everything.len() <= model.len());
        let text = fs::read_to_string(&path).unwrap_or("[]".to_owned());
        let written: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        let written: Vec<&str> = written.iter().map(|record| record["content"].as_str().unwrap()).collect();
        prop_assert_eq!(written, model);
    }
}

#[test]
fn a_search_is_not_held_up_by_a_writer_that_waits_for_another_process() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("notes.json");
    let store = store_at(&path);
    add(&store, "already there").unwrap();
    let lock = crate::file_lock::FileLock::acquire(&path).unwrap().expect("there is a file");
    let (sender, receiver) = mpsc::channel();
    let open = store.open().unwrap();
    open.enqueue(draft("later"), Box::new(move |_| sender.send(()).unwrap()));
    let writing = thread::spawn(move || open.write_waiting());
    assert_eq!(found(&store, "already later").unwrap(), ["already there"]);
    assert!(receiver.recv_timeout(Duration::from_millis(30)).is_err());
    drop(lock);
    writing.join().unwrap();
    assert_eq!(found(&store, "already later").unwrap().len(), 2);
}
