//! Tokens are lower-case words, each of which is its own only token.
#![no_main]

use libfuzzer_sys::fuzz_target;
use strands_native::search::tokenize::TokenSet;

fuzz_target!(|text: &str| {
    for token in TokenSet::of(text).iter() {
        assert!(!token.is_empty());
        assert!(token.chars().all(|char| char == '_' || !char.is_ascii_punctuation() && !char.is_whitespace()));
        assert!(TokenSet::of(token).iter().eq([token]), "{token:?}");
    }
});
