//! What every backend and every view must do, run by the tests of each.

use bytes::Bytes;

use super::Storage;
use super::key::{Key, Prefix};

fn key(text: &str) -> Key {
    Key::parse(text).expect("the suite uses valid keys")
}

fn listing(storage: &dyn Storage, prefix: &str) -> Vec<String> {
    let prefix = Prefix::parse(prefix).expect("the suite uses valid prefixes");
    storage.list(&prefix).expect("list").iter().map(Key::to_string).collect()
}

/// Expects `storage` to be empty and leaves it so.
pub(crate) fn check(storage: &dyn Storage) {
    values_come_back_as_written(storage);
    listings_are_sorted_and_prefixed(storage);
    deletion_is_idempotent(storage);
    versions_change_with_values(storage);
}

fn values_come_back_as_written(storage: &dyn Storage) {
    assert_eq!(storage.read(&key("missing")).expect("read"), None);
    assert!(!storage.exists(&key("missing")).expect("exists"));
    let every_byte: Vec<u8> = (0..=255).collect();
    for value in [every_byte.as_slice(), b"", b"again"] {
        storage.write(&key("folder/value"), Bytes::copy_from_slice(value)).expect("write");
        assert_eq!(storage.read(&key("folder/value")).expect("read").as_deref(), Some(value));
        assert!(storage.exists(&key("folder/value")).expect("exists"));
    }
    assert_eq!(storage.read(&key("folder/value/below")).expect("a value is no folder"), None);
    storage.delete(&key("folder/value")).expect("delete");
}

fn listings_are_sorted_and_prefixed(storage: &dyn Storage) {
    // U+FF5E sorts after U+1F600 in UTF-16 and before it in UTF-8.
    let keys = ["a b", "a/b.md", "a/c/d", "ab", "b", "\u{1F600}", "\u{FF5E}"];
    for name in keys.iter().rev() {
        storage.write(&key(name), Bytes::from(name.to_owned())).expect("write");
    }
    assert_eq!(listing(storage, ""), keys);
    let keys_and_another: Vec<Key> = keys.iter().chain(&["a/c"]).map(|name| key(name)).collect();
    let is_there: Vec<bool> = keys_and_another.iter().map(|key| key.as_str() != "a/c").collect();
    assert_eq!(storage.existing(&keys_and_another).expect("existing"), is_there);
    let entries = storage.entries(&Prefix::default()).expect("entries");
    assert_eq!(entries.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), keys);
    assert_eq!(listing(storage, "a"), ["a b", "a/b.md", "a/c/d", "ab"]);
    assert_eq!(listing(storage, "a/"), ["a/b.md", "a/c/d"]);
    assert_eq!(listing(storage, "a/c"), ["a/c/d"]);
    assert_eq!(listing(storage, "nothing/here"), [""; 0]);
    for name in listing(storage, "") {
        assert_eq!(storage.read(&key(&name)).expect("read").as_deref(), Some(name.as_bytes()));
        storage.delete(&key(&name)).expect("delete");
    }
    assert_eq!(listing(storage, ""), [""; 0]);
}

fn versions_change_with_values(storage: &dyn Storage) {
    let version = || {
        let entries = storage.entries(&Prefix::parse("versioned").expect("valid")).expect("entries");
        entries.into_iter().next().expect("one entry").1
    };
    let mut seen = Vec::new();
    for value in ["one", "two", "three"] {
        storage.write(&key("versioned"), Bytes::from(value)).expect("write");
        assert!(!seen.contains(&version()), "another value has another version");
        assert_eq!(version(), version(), "reading changes nothing");
        seen.push(version());
    }
    storage.delete(&key("versioned")).expect("delete");
    assert!(storage.entries(&Prefix::default()).expect("entries").is_empty());
}

fn deletion_is_idempotent(storage: &dyn Storage) {
    storage.write(&key("once"), Bytes::from_static(b"1")).expect("write");
    storage.delete(&key("once")).expect("delete");
    storage.delete(&key("once")).expect("delete again");
    assert_eq!(storage.read(&key("once")).expect("read"), None);
}
