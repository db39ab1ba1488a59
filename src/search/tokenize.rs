//! Text to tokens: lower-cased runs of letters, numbers and underscores.
//!
//! The rule is that of the TypeScript SDK, `text.toLowerCase().split(/[^\p{L}\p{N}_]+/u)`, token for token: full case
//! mapping with the final sigma, independent of any locale, and combining marks (`\p{M}`) separate words. A lone
//! surrogate separates words too; callers pass it as U+FFFD, which does the same.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Calls `visit` with each token of `text`, in order and as often as it occurs.
pub fn for_each_token(text: &str, mut visit: impl FnMut(&str)) {
    if text.is_ascii() {
        let mut lowered = [0; ASCII_TOKEN_BUFFER];
        for token in text.as_bytes().split(|byte| !is_ascii_word(*byte)).filter(|token| !token.is_empty()) {
            match lowered.get_mut(..token.len()) {
                Some(buffer) => {
                    buffer.copy_from_slice(token);
                    buffer.make_ascii_lowercase();
                    visit(ascii_str(buffer));
                }
                None => visit(ascii_str(&token.to_ascii_lowercase())),
            }
        }
    } else {
        let lowered = text.to_lowercase();
        lowered.split(|char| !is_word(char)).filter(|token| !token.is_empty()).for_each(visit);
    }
}

/// Tokens longer than this are lower-cased on the heap.
const ASCII_TOKEN_BUFFER: usize = 64;

fn ascii_str(token: &[u8]) -> &str {
    std::str::from_utf8(token).expect("a piece of an ASCII string is ASCII")
}

/// The distinct tokens of a text, in the order in which they first occur.
#[derive(Clone, Debug, Default)]
pub struct TokenSet {
    ordered: Vec<Box<str>>,
}

impl TokenSet {
    /// The distinct tokens of `text`.
    pub fn of(text: &str) -> Self {
        let mut seen: HashSet<Box<str>> = HashSet::new();
        let mut ordered = Vec::new();
        for_each_token(text, |token| {
            if !seen.contains(token) {
                seen.insert(token.into());
                ordered.push(token.into());
            }
        });
        TokenSet { ordered }
    }

    /// The same tokens without those for which `drop` holds.
    pub fn without(mut self, drop: impl Fn(&str) -> bool) -> Self {
        self.ordered.retain(|token| !drop(token));
        self
    }

    /// The tokens in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.ordered.iter().map(AsRef::as_ref)
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.ordered.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.ordered.is_empty()
    }
}

/// How many of the distinct tokens of `content` are in `query`.
pub fn token_overlap_score(query: &HashSet<Cow<'_, str>>, content: &str) -> usize {
    let mut found: HashSet<&str> = HashSet::new();
    for_each_token(content, |token| {
        if let Some(token) = query.get(token) {
            found.insert(token);
        }
    });
    found.len()
}

fn is_ascii_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_word(char: char) -> bool {
    match u8::try_from(char) {
        Ok(byte) if byte.is_ascii() => is_ascii_word(byte),
        _ => WORD_CHARACTERS.contains(char),
    }
}

/// `[\p{L}\p{N}]`, from the Unicode tables of `regex-syntax`.
static WORD_CHARACTERS: LazyLock<CharacterSet> = LazyLock::new(|| CharacterSet::of_class(r"[\p{L}\p{N}]"));

/// A bitmap over all code points in blocks, of which equal ones are kept once.
struct CharacterSet {
    /// For each block of 256 code points, which entry of `blocks` it is.
    block_of: Vec<u8>,
    blocks: Vec<[u64; 4]>,
}

impl CharacterSet {
    fn of_class(class: &str) -> Self {
        let hir = regex_syntax::parse(class).expect("the class is a constant");
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = hir.kind() else {
            unreachable!("a bracket expression is a class")
        };
        let mut bits = vec![[0u64; 4]; (char::MAX as usize >> 8) + 1];
        for range in class.iter() {
            for code in range.start() as usize..=range.end() as usize {
                bits[code >> 8][(code & 0xff) >> 6] |= 1 << (code & 0x3f);
            }
        }
        let mut blocks: Vec<[u64; 4]> = Vec::new();
        let block_of = bits.iter().map(|block| {
            let index = blocks.iter().position(|known| known == block).unwrap_or_else(|| {
                blocks.push(*block);
                blocks.len() - 1
            });
            u8::try_from(index).expect("Unicode has fewer than 256 different blocks of letters and numbers")
        });
        CharacterSet { block_of: block_of.collect(), blocks }
    }

    fn contains(&self, char: char) -> bool {
        let code = char as usize;
        self.blocks[usize::from(self.block_of[code >> 8])][(code & 0xff) >> 6] >> (code & 0x3f) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(text: &str) -> Vec<String> {
        TokenSet::of(text).iter().map(str::to_owned).collect()
    }

    #[test]
    fn words_are_lowered_and_kept_once_in_order() {
        assert_eq!(tokens("Dark-mode, DARK theme_2!"), ["dark", "mode", "theme_2"]);
        assert_eq!(tokens(" ,;\u{FFFD}"), [""; 0]);
    }

    #[test]
    fn case_is_mapped_fully_and_without_a_locale() {
        assert_eq!(tokens("İ"), ["i"], "the dot above is a mark and separates");
        assert_eq!(tokens("ΟΔΟΣ ΣΑ"), ["οδος", "σα"]);
        assert_eq!(tokens("ẞ ß"), ["ß"]);
        assert_eq!(tokens("\u{212A}"), ["k"]);
    }

    #[test]
    fn marks_separate_and_every_kind_of_number_is_a_word() {
        assert_eq!(tokens("हिन्दी"), ["ह", "न", "द"]);
        assert_eq!(tokens("Ⅷ ² ½ ٣ ①"), ["ⅷ", "²", "½", "٣", "①"]);
    }

    #[test]
    fn long_ascii_words_are_lowered_too() {
        assert_eq!(tokens(&"A".repeat(200)), ["a".repeat(200)]);
    }

    #[test]
    fn overlap_counts_distinct_words() {
        let query = ["dark", "mode", "Light"].map(Cow::Borrowed).into();
        assert_eq!(token_overlap_score(&query, "Dark dark MODE light"), 2);
    }

    proptest! {
        #[test]
        fn the_ascii_path_agrees_with_the_general_one(text in "[ -~]{0,80}") {
            let mut general = Vec::new();
            for_each_token(&format!("{text} \u{2014}"), |token| general.push(token.to_owned()));
            let mut ascii = Vec::new();
            for_each_token(&text, |token| ascii.push(token.to_owned()));
            prop_assert_eq!(ascii, general);
        }

        #[test]
        fn tokens_are_runs_of_lowered_word_characters(text in "\\PC{0,40}") {
            for_each_token(&text, |token| {
                assert!(!token.is_empty());
                assert!(token.chars().all(is_word));
            });
        }
    }
}
