//! Text to tokens: lower-cased runs of letters, numbers and underscores.
//!
//! The rule is that of the TypeScript SDK, `text.toLowerCase().split(/[^\p{L}\p{N}_]+/u)`, token for token: full case
//! mapping with the final sigma, independent of any locale, and combining marks (`\p{M}`) separate words. A lone
//! surrogate separates words too; callers pass it as U+FFFD, which does the same.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

/// Calls `visit` with each token of `text`, in order and as often as it occurs.
pub fn for_each_token(text: &str, mut visit: impl FnMut(&str)) {
    // Only the capital sigma is lowered by what stands around it.
    let lowered = if text.contains('Σ') { text.to_lowercase() } else { text.to_ascii_lowercase() };
    // The beginning of a token with characters beyond ASCII. All others are visited where they stand.
    let mut token = String::new();
    let mut end = |token: &mut String, word: &str| {
        if token.is_empty() {
            if !word.is_empty() {
                visit(word);
            }
        } else {
            token.push_str(word);
            visit(token);
            token.clear();
        }
    };
    let mut rest = lowered.as_str();
    while !rest.is_empty() {
        let length = rest.bytes().position(|byte| !IS_ASCII_WORD[usize::from(byte)]).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let mut chars = after.chars();
        match chars.next() {
            Some(char) if !char.is_ascii() => match lower(char) {
                Lowered::Word(char) => {
                    token.push_str(word);
                    token.push(char);
                }
                Lowered::Separator => end(&mut token, word),
                Lowered::Several => {
                    token.push_str(word);
                    for char in char.to_lowercase() {
                        if is_letter_or_number(char) { token.push(char) } else { end(&mut token, "") }
                    }
                }
            },
            _ => end(&mut token, word),
        }
        rest = chars.as_str();
    }
    end(&mut token, "");
}

/// For each byte, whether it is an ASCII letter, a digit or an underscore.
const IS_ASCII_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128u8 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

/// What a character is once it is lower-cased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lowered {
    Word(char),
    Separator,
    /// More than one character.
    Several,
}

/// Looks a character up in a table, of which each block of 256 characters is made when it is first needed.
fn lower(char: char) -> Lowered {
    const BLOCK: usize = 256;
    static BLOCKS: [OnceLock<Box<[Lowered]>>; 0x11_0000 / BLOCK] = [const { OnceLock::new() }; 0x11_0000 / BLOCK];

    fn look_up(code: usize) -> Lowered {
        let char = u32::try_from(code).ok().and_then(char::from_u32);
        let Some(mut lowered) = char.map(char::to_lowercase) else { return Lowered::Separator };
        match (lowered.next(), lowered.next()) {
            (Some(char), None) if is_letter_or_number(char) => Lowered::Word(char),
            (_, None) => Lowered::Separator,
            (_, Some(_)) => Lowered::Several,
        }
    }
    let code = char as usize;
    let start = code / BLOCK * BLOCK;
    BLOCKS[code / BLOCK].get_or_init(|| (start..start + BLOCK).map(look_up).collect())[code % BLOCK]
}

/// The distinct tokens of a text, in the order in which they first occur.
#[derive(Clone, Debug, Default)]
pub struct TokenSet {
    /// The tokens, a space between two.
    joined: String,
    /// Where each token ends in `joined`.
    ends: Vec<usize>,
    /// The number of each token, by its hash.
    numbers: HashTable<usize>,
    hasher: RandomState,
}

impl TokenSet {
    /// The distinct tokens of `text`.
    pub fn of(text: &str) -> Self {
        let mut tokens = TokenSet::default();
        for_each_token(text, |token| {
            tokens.insert(token);
        });
        tokens
    }

    /// The same tokens without those for which `drop` holds.
    pub fn without(&self, drop: impl Fn(&str) -> bool) -> Self {
        let mut kept = TokenSet::default();
        for token in self.iter().filter(|token| !drop(token)) {
            kept.insert(token);
        }
        kept
    }

    /// The tokens in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.token(number))
    }

    /// The tokens in order, a space between two.
    pub fn joined(&self) -> &str {
        &self.joined
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many of these tokens `content` holds.
    pub fn overlap(&self, content: &str) -> usize {
        let mut is_found = vec![false; self.len()];
        // Most tokens of a text begin as none of a question does, and need not be looked up.
        let mut is_beginning = [false; 256];
        self.iter().filter_map(|token| token.bytes().next()).for_each(|byte| is_beginning[usize::from(byte)] = true);
        for_each_token(content, |token| {
            if is_beginning[usize::from(token.as_bytes()[0])]
                && let Some(number) = self.number(token)
            {
                is_found[number] = true;
            }
        });
        is_found.into_iter().filter(|is_found| *is_found).count()
    }

    fn token(&self, number: usize) -> &str {
        token_at(&self.joined, &self.ends, number)
    }

    /// The place of a token in the order, counted from 0.
    pub fn number(&self, token: &str) -> Option<usize> {
        self.numbers.find(self.hasher.hash_one(token), |number| self.token(*number) == token).copied()
    }

    /// Adds a token, if it is new, and gives its place in the order.
    pub fn insert(&mut self, token: &str) -> usize {
        let TokenSet { joined, ends, numbers, hasher } = self;
        let is_token = |number: &usize| token_at(joined, ends, *number) == token;
        let hash_of = |number: &usize| hasher.hash_one(token_at(joined, ends, *number));
        match numbers.entry(hasher.hash_one(token), is_token, hash_of) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                let number = ends.len();
                place.insert(number);
                if number > 0 {
                    joined.push(' ');
                }
                joined.push_str(token);
                ends.push(joined.len());
                number
            }
        }
    }
}

fn token_at<'a>(joined: &'a str, ends: &[usize], number: usize) -> &'a str {
    let start = if number == 0 { 0 } else { ends[number - 1] + 1 };
    &joined[start..ends[number]]
}

impl FromIterator<String> for TokenSet {
    /// Takes every string for a token, whatever is in it.
    fn from_iter<I: IntoIterator<Item = String>>(tokens: I) -> Self {
        let mut set = TokenSet::default();
        for token in tokens {
            set.insert(&token);
        }
        set
    }
}

/// `[\p{L}\p{N}]`
fn is_letter_or_number(char: char) -> bool {
    const LETTERS_AND_NUMBERS: GeneralCategoryGroup = GeneralCategoryGroup::Letter.union(GeneralCategoryGroup::Number);
    LETTERS_AND_NUMBERS.contains(CodePointMapData::<GeneralCategory>::new().get(char))
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
        let query: TokenSet = ["dark", "mode", "Light"].map(String::from).into_iter().collect();
        assert_eq!(query.overlap("Dark dark MODE light"), 2);
    }

    proptest! {
        #[test]
        fn words_are_the_runs_of_word_characters_in_the_lowered_text(text in "[ -~À-ÿΑ-ωİıẞﬁ²٣\u{301}\u{4e00}]{0,24}") {
            let lowered = text.to_lowercase();
            let is_word = |char| char == '_' || is_letter_or_number(char);
            let expected: Vec<&str> = lowered.split(|char| !is_word(char)).filter(|token| !token.is_empty()).collect();
            let mut found = Vec::new();
            for_each_token(&text, |token| found.push(token.to_owned()));
            prop_assert_eq!(found, expected);
        }
    }
}
