//! A question in anybody's words to an expression that FTS5 can match. Pure.
//!
//! The terms are the words of the question as `tokenize` has them, but for stop words and single ASCII characters: the
//! rule of the Python SDK's `Bm25SearchStrategy`, which drops every word of one character. One character beyond ASCII is
//! often a whole word and stays.
//!
//! # Any term
//! A question rarely has the very words of its answer. Each term stands for itself and for the words that begin with its
//! stem: "moving" finds "moved". The word itself counts twice, so that it outranks those. An index of the Python SDK is
//! searched as well as one of ours, since nothing of this is in the index.
//!
//! A single term, or all terms, are matched as the Python SDK does it, by the words that begin with them, and so give its
//! scores.
//!
//! # No text is syntax
//! Words hold letters, numbers and underscores. In quotes, each is a string to FTS5.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::normalization::Normalization;
use super::stop_words::is_stop_word;
use super::tokenize::TokenSet;

/// Which entries match a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Match {
    /// Those that hold any of its terms.
    #[default]
    Any,
    /// Those that hold all of its terms: the Python SDK's rule.
    All,
}

/// An expression, and another for the case that it finds nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchQuery {
    /// What FTS5 is to match.
    pub expression: String,
    /// What it is to match if that finds nothing.
    pub otherwise: Option<String>,
}

/// What to match for `question` in entries whose keys begin with `within`; `None` if no term is left, so that nothing can
/// match.
pub fn match_query(question: &str, which: Match, within: &str) -> Option<MatchQuery> {
    let tokens = TokenSet::of(&without_accents(question));
    let is_term = |token: &&str| !(token.len() == 1 || is_stop_word(token));
    let mut terms: Vec<&str> = tokens.iter().filter(is_term).collect();
    // As the Python SDK does: scores are sums of floating-point numbers, which depend on the order of the terms.
    terms.sort_unstable();
    let common = TokenSet::of(&folded(within));
    // What every key has in common says nothing of an entry: such words are looked for in contents only.
    let unless_common = |beginning: &str, expression: String| {
        let beginning = folded(beginning);
        if common.iter().any(|word| word.starts_with(&beginning)) {
            format!("content : ({expression})")
        } else {
            expression
        }
    };
    let begins_with = |term: &str| unless_common(term, prefix(term));
    match (terms.as_slice(), which) {
        ([], _) => None,
        ([term], Match::Any) => {
            let stem = beginning(term);
            let otherwise = (stem != *term).then(|| begins_with(stem));
            Some(MatchQuery { expression: begins_with(term), otherwise })
        }
        (terms, Match::Any) => {
            let alternatives = terms.iter().map(|term| {
                let stem = beginning(term);
                unless_common(stem, format!("\"{term}\" OR {}", prefix(stem)))
            });
            Some(MatchQuery { expression: alternatives.collect::<Vec<_>>().join(" OR "), otherwise: None })
        }
        (terms, Match::All) => {
            // Two terms side by side must both match, but not where one of them is in parentheses.
            let prefixes: Vec<_> = terms.iter().map(|term| begins_with(term)).collect();
            let and = if within.is_empty() { " " } else { " AND " };
            Some(MatchQuery { expression: prefixes.join(and), otherwise: None })
        }
    }
}

/// A text as FTS5 compares it, without any accent.
fn folded(text: &str) -> String {
    text.to_lowercase().nfd().filter(|char| !is_passed_over(*char)).collect()
}

/// `question` without the accents that are characters of their own, where they are none. FTS5 passes over them within a
/// word, and `tokenize` takes them for its end: the "é" of two characters, or the "i̇" that "İ" is in lower case.
fn without_accents(question: &str) -> Cow<'_, str> {
    if question.is_ascii() {
        return Cow::Borrowed(question);
    }
    let composed = Normalization::Nfc.apply(question).to_lowercase();
    composed.chars().filter(|char| !is_passed_over(*char)).collect()
}

/// Whether FTS5 takes a character for an accent: `sqlite3Fts5UnicodeIsdiacritic`, which leaves some between these out.
fn is_passed_over(char: char) -> bool {
    const FIRST: u32 = 0x300;
    /// One bit for each character from the first.
    const ACCENTS: u64 = 0x0003_61F8_0802_9FDF;

    let place = u32::from(char).checked_sub(FIRST);
    place.is_some_and(|place| place < u64::BITS && ACCENTS >> place & 1 == 1)
}

fn prefix(term: &str) -> String {
    format!("\"{term}\" *")
}

/// What a term has in common with its stem: the beginning of its other forms. The term itself, if that is too short to say
/// anything.
fn beginning(term: &str) -> &str {
    /// "us", of "using" and "use", begins too many words.
    const SHORTEST: usize = 3;

    if !term.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return term;
    }
    let stem = Stemmer::create(Algorithm::English).stem(term);
    let common = term.bytes().zip(stem.bytes()).take_while(|(left, right)| left == right).count();
    if common < SHORTEST { term } else { &term[..common] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any(question: &str) -> Option<String> {
        match_query(question, Match::Any, "").map(|query| query.expression)
    }

    fn all(question: &str) -> Option<String> {
        match_query(question, Match::All, "").map(|query| query.expression)
    }

    #[test]
    fn all_terms_are_sorted_prefixes_without_stop_words_and_single_ascii_characters() {
        assert_eq!(all("What is the user's dark mode?").as_deref(), Some(r#""dark" * "mode" * "user" *"#));
        assert_eq!(all("復 é 5 x").as_deref(), Some(r#""é" * "復" *"#));
    }

    #[test]
    fn any_term_stands_for_itself_and_for_what_begins_with_its_stem() {
        assert_eq!(any("moving houses").as_deref(), Some(r#""houses" OR "hous" * OR "moving" OR "mov" *"#));
        assert_eq!(any("activities 復").as_deref(), Some(r#""activities" OR "activ" * OR "復" OR "復" *"#));
    }

    #[test]
    fn a_single_term_is_matched_as_the_python_sdk_does_and_by_its_stem_if_that_finds_nothing() {
        let query = match_query("Moving?", Match::Any, "");
        let expected = MatchQuery { expression: r#""moving" *"#.to_owned(), otherwise: Some(r#""mov" *"#.to_owned()) };
        assert_eq!(query, Some(expected));
        assert_eq!(match_query("dark", Match::Any, "").and_then(|query| query.otherwise), None);
        assert_eq!(match_query("Moving?", Match::All, "").and_then(|query| query.otherwise), None);
    }

    #[test]
    fn an_accent_of_its_own_does_not_end_a_word() {
        assert_eq!(all("e\u{301}le\u{300}ve").as_deref(), Some(r#""élève" *"#));
        assert_eq!(all("İstanbul").as_deref(), Some(r#""istanbul" *"#));
        assert_eq!(all("x\u{30c}yz").as_deref(), Some(r#""xyz" *"#));
    }

    #[test]
    fn what_full_text_search_passes_over_is_no_end_of_a_word_and_nothing_else_is() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        database.execute_batch("CREATE VIRTUAL TABLE documents USING fts5(content)").unwrap();
        let text = |char: char| format!("q{char}q");
        let chars = '\u{2f0}'..='\u{36f}';
        for char in chars.clone() {
            let insert = "INSERT INTO documents (rowid, content) VALUES (?1, ?2)";
            database.execute(insert, rusqlite::params![u32::from(char), text(char)]).unwrap();
        }
        let mut whole = database.prepare("SELECT rowid FROM documents WHERE documents MATCH 'qq'").unwrap();
        let passed_over: Vec<u32> =
            whole.query_map([], |row| row.get(0)).unwrap().map(rusqlite::Result::unwrap).collect();
        // What is another character in the composed form is searched for as that.
        let same = chars.filter(|char| !(0x340..=0x344).contains(&u32::from(*char)));
        let ours: Vec<u32> = same.filter(|char| without_accents(&text(*char)) == "qq").map(u32::from).collect();
        assert_eq!(ours, passed_over);
        assert_eq!(all("sam\u{310}skara").as_deref(), Some(r#""sam" * "skara" *"#));
    }

    #[test]
    fn a_word_that_all_keys_have_in_common_is_looked_for_in_contents_only() {
        let within = |question, which| match_query(question, which, "Agents/Café/").unwrap();
        assert_eq!(within("agent", Match::Any).expression, r#"content : ("agent" *)"#);
        assert_eq!(
            within("agents mode", Match::Any).expression,
            r#"content : ("agents" OR "agent" *) OR "mode" OR "mode" *"#
        );
        assert_eq!(within("mode cafe", Match::All).expression, r#"content : ("cafe" *) AND "mode" *"#);
    }

    #[test]
    fn a_beginning_that_says_nothing_is_not_searched_for() {
        for (term, expected) in [("using", "using"), ("dying", "dying"), ("x_ing", "x_ing"), ("cafés", "cafés")] {
            assert_eq!(beginning(term), expected);
        }
    }

    #[test]
    fn nothing_matches_a_question_without_terms() {
        for question in ["", "the who", "*", "\"", "C++", "🦀", "\0"] {
            assert_eq!(any(question), None, "{question:?}");
        }
        assert_eq!(any("NEAR(").as_deref(), Some(r#""near" *"#));
    }

    proptest! {
        #[test]
        fn whatever_is_between_quotes_is_a_word(question in "(\\PC|[\"*^():{}+\\-\0]|AND |OR |NOT |NEAR){0,40}") {
            for which in [Match::Any, Match::All] {
                let Some(query) = match_query(&question, which, "") else { continue };
                let mut parts = query.expression.split('"');
                prop_assert_eq!(parts.next(), Some(""));
                let parts: Vec<&str> = parts.collect();
                for pair in parts.chunks(2) {
                    prop_assert!(!pair[0].is_empty());
                    prop_assert!(TokenSet::of(pair[0]).iter().eq([pair[0]]));
                    prop_assert!([" *", " * ", " * OR ", " OR "].contains(&pair[1]));
                }
            }
        }
    }
}
