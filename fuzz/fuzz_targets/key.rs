//! No key leads out of the folder of a storage, and a normalised key is its own normal form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use strands_native::storage::key::{Key, Prefix};

fuzz_target!(|text: &str| {
    if let Ok(key) = Key::parse(text) {
        let key = key.as_str();
        assert!(key.split('/').all(|segment| !segment.is_empty() && segment != ".."));
        assert!(!key.contains('\\'));
        assert_eq!(Key::parse(key).expect("a normal form").as_str(), key);
    }
    if let Ok(prefix) = Prefix::parse(text) {
        assert_eq!(&Prefix::parse(prefix.as_str()).expect("a normal form"), &prefix);
    }
});
