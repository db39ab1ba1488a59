//! A question in anybody's words to an expression that FTS5 can match. Pure.
//!
//! The terms are the words of the question as `tokenize` has them, but for stop words and single ASCII characters: the
//! rule of the Python SDK's `Bm25SearchStrategy`, which drops every word of one character. One character beyond ASCII is
//! often a whole word and stays.
//!
//! Words hold letters, numbers and underscores. In quotes, each is a string to FTS5 and no text is ever syntax.

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

/// The expression for `question`, in which each term also stands for the words that begin with it. `None` if no term is
/// left, so that nothing can match.
pub fn match_query(question: &str, which: Match) -> Option<String> {
    let tokens = TokenSet::of(question);
    let is_term = |token: &&str| !(token.len() == 1 || is_stop_word(token));
    let mut terms: Vec<&str> = tokens.iter().filter(is_term).collect();
    // As the Python SDK does: scores are sums of floating-point numbers, which depend on the order of the terms.
    terms.sort_unstable();
    let operator = match which {
        Match::Any => " OR ",
        Match::All => " ",
    };
    let prefixes: Vec<String> = terms.into_iter().map(|term| format!("\"{term}\" *")).collect();
    if prefixes.is_empty() { None } else { Some(prefixes.join(operator)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any(question: &str) -> Option<String> {
        match_query(question, Match::Any)
    }

    #[test]
    fn terms_are_sorted_prefixes_without_stop_words_and_single_ascii_characters() {
        assert_eq!(any("What is the user's dark mode?").as_deref(), Some(r#""dark" * OR "mode" * OR "user" *"#));
        assert_eq!(match_query("dark mode", Match::All).as_deref(), Some(r#""dark" * "mode" *"#));
        assert_eq!(any("復 é 5 x").as_deref(), Some(r#""é" * OR "復" *"#));
    }

    #[test]
    fn nothing_matches_a_question_without_terms() {
        for question in ["", "the who", "*", "\"", "C++", "NEAR(", "🦀", "\0"] {
            assert_eq!(any(question).filter(|_| question != "NEAR("), None, "{question:?}");
        }
        assert_eq!(any("NEAR(").as_deref(), Some(r#""near" *"#));
    }

    proptest! {
        #[test]
        fn whatever_is_between_quotes_is_a_word(question in "(\\PC|[\"*^():{}+\\-\0]|AND |OR |NOT |NEAR){0,40}") {
            for which in [Match::Any, Match::All] {
                let Some(expression) = match_query(&question, which) else { continue };
                let mut parts = expression.split('"');
                prop_assert_eq!(parts.next(), Some(""));
                let parts: Vec<&str> = parts.collect();
                for pair in parts.chunks(2) {
                    prop_assert!(!pair[0].is_empty());
                    prop_assert!(TokenSet::of(pair[0]).iter().eq([pair[0]]));
                    prop_assert!([" *", " * ", " * OR "].contains(&pair[1]));
                }
            }
        }
    }
}
