//! Keys and prefixes: the only door from a caller's string to a path or an object key.
//!
//! The rules are those of the TypeScript SDK (`storage/storage.js`): split on `/`, drop empty segments, refuse `..`
//! and backslashes. A `.` segment stays as it is.
//!
//! Keys are ordered as JavaScript sorts strings, by UTF-16 code unit. That order differs from the order of UTF-8
//! bytes only where a character above U+FFFF meets one from U+E000 to U+FFFF.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

const BACKSLASH: &str = "backslashes are not allowed";
const PARENT: &str = "'..' path segments are not allowed";

/// A normalised, non-empty key such as `notes/today.md`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// Normalises what a caller wrote.
    ///
    /// # Errors
    /// [`Error::InvalidKey`] for a backslash or a `..` segment, [`Error::EmptyKey`] if no segment is left.
    pub fn parse(key: &str) -> Result<Self> {
        let invalid = |reason| Error::InvalidKey { key: key.to_owned(), reason };
        let normalized = join_segments(key).map_err(invalid)?;
        if normalized.is_empty() { Err(Error::EmptyKey) } else { Ok(Key(normalized.into())) }
    }

    /// A key that a listing produced, which is normalised by construction.
    pub(crate) fn from_listing(key: String) -> Self {
        Key(key.into())
    }

    /// Sorts what has keys by them. Almost always all keys are ASCII, which bytes sort just as well.
    pub fn sort<T>(items: &mut [T], key: impl Fn(&T) -> &Key) {
        if items.iter().all(|item| key(item).0.is_ascii()) {
            items.sort_unstable_by(|left, right| key(left).0.cmp(&key(right).0));
        } else {
            items.sort_unstable_by(|left, right| key(left).cmp(key(right)));
        }
    }

    /// Keys in one text, two slashes between two: no key holds those.
    pub fn join<'a>(keys: impl Iterator<Item = &'a Key> + Clone) -> String {
        let mut joined = String::with_capacity(keys.clone().map(|key| key.0.len() + "//".len()).sum());
        for key in keys {
            if !joined.is_empty() {
                joined.push_str("//");
            }
            joined.push_str(&key.0);
        }
        joined
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key without the extension of its last segment: `notes/today.md` gives `notes/today`, `.env` stays.
    ///
    /// Keyword search scores this part, so that `md` does not match every Markdown file (the Python SDK's rule).
    pub fn without_extension(&self) -> &str {
        let name_start = self.0.rfind('/').map_or(0, |slash| slash + 1);
        match self.0[name_start..].rfind('.') {
            Some(dot) if dot > 0 => &self.0[..name_start + dot],
            _ => &self.0,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_utf16(&self.0, &other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A normalised prefix; the empty one matches every key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix(Box<str>);

impl Prefix {
    /// Normalises what a caller wrote. A trailing slash is kept: `mem/` does not match `memory`.
    ///
    /// # Errors
    /// [`Error::InvalidPrefix`] for a backslash or a `..` segment.
    pub fn parse(prefix: &str) -> Result<Self> {
        let invalid = |reason| Error::InvalidPrefix { prefix: prefix.to_owned(), reason };
        let mut normalized = join_segments(prefix).map_err(invalid)?;
        if prefix.ends_with('/') && !normalized.is_empty() {
            normalized.push('/');
        }
        Ok(Prefix(normalized.into()))
    }

    /// The prefix as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A prefix that was put together from normalised parts.
    pub(crate) fn from_normalized(prefix: String) -> Self {
        Prefix(prefix.into())
    }

    /// Whether `key` begins with this prefix.
    pub fn matches(&self, key: &Key) -> bool {
        self.0.is_empty() || key.as_str().starts_with(self.as_str())
    }
}

fn join_segments(path: &str) -> std::result::Result<String, &'static str> {
    if path.contains('\\') {
        return Err(BACKSLASH);
    }
    let mut joined = String::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if segment == ".." {
            return Err(PARENT);
        }
        if !joined.is_empty() {
            joined.push('/');
        }
        joined.push_str(segment);
    }
    Ok(joined)
}

/// Compares as JavaScript's `<` does. Where two strings first differ, both bytes begin or continue a character; only
/// the lead bytes of U+E000..=U+FFFF (0xEE, 0xEF) and of what lies above (0xF0..) stand in the other order in UTF-16.
fn compare_utf16(left: &str, right: &str) -> Ordering {
    let differing = left.bytes().zip(right.bytes()).find(|(l, r)| l != r);
    match differing {
        None => left.len().cmp(&right.len()),
        Some((l, r)) if l >= 0xee && r >= 0xee && (l >= 0xf0) != (r >= 0xf0) => r.cmp(&l),
        Some((l, r)) => l.cmp(&r),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> String {
        Key::parse(text).expect("valid key").to_string()
    }

    #[test]
    fn slash_runs_collapse_and_outer_slashes_go() {
        assert_eq!(key("//a///b/"), "a/b");
        assert_eq!(key("a/./b"), "a/./b");
        assert_eq!(key("....//x"), "..../x");
    }

    #[test]
    fn empty_parent_and_backslash_keys_are_refused_by_name() {
        assert!(matches!(Key::parse("///"), Err(Error::EmptyKey)));
        let message = |text| Key::parse(text).expect_err("invalid key").to_string();
        assert_eq!(message("a/../b"), "Invalid storage key 'a/../b': '..' path segments are not allowed");
        assert_eq!(message("..\\x"), "Invalid storage key '..\\x': backslashes are not allowed");
    }

    #[test]
    fn a_prefix_keeps_its_trailing_slash() {
        let prefix = |text| Prefix::parse(text).expect("valid prefix").as_str().to_owned();
        assert_eq!(prefix("/a//b/"), "a/b/");
        assert_eq!(prefix("a"), "a");
        assert_eq!(prefix("/"), "");
    }

    #[test]
    fn only_the_last_extension_of_the_last_segment_is_dropped() {
        let stem = |text| Key::parse(text).expect("valid key").without_extension().to_owned();
        assert_eq!(stem("a.b/c.tar.gz"), "a.b/c.tar");
        assert_eq!(stem("a.b/c"), "a.b/c");
        assert_eq!(stem("x/.env"), "x/.env");
    }

    proptest! {
        #[test]
        fn keys_sort_as_utf16_code_units(left in "\\PC{1,6}", right in "\\PC{1,6}") {
            let by_units = left.encode_utf16().cmp(right.encode_utf16());
            prop_assert_eq!(compare_utf16(&left, &right), by_units);
        }

        #[test]
        fn no_key_holds_a_parent_segment_or_an_absolute_path(text in "[./\\\\a-c]{0,12}") {
            if let Ok(key) = Key::parse(&text) {
                prop_assert!(!key.as_str().starts_with('/'));
                prop_assert!(key.as_str().split('/').all(|segment| !segment.is_empty() && segment != ".."));
            }
        }
    }
}
