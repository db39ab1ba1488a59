//! Words that carry no meaning in a question.

/// Common English words that leave a query before it is matched, in the order and number of both SDKs
/// (`STOP_WORDS` in `storage/search/keyword`).
#[rustfmt::skip]
pub const STOP_WORDS: [&str; 122] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "have", "has", "had", "do", "does",
    "did", "will", "would", "could", "should", "may", "might", "shall", "can", "need", "dare", "ought", "used",
    "to", "of", "in", "for", "on", "with", "at", "by", "from", "as", "into", "through", "during", "before",
    "after", "above", "below", "between", "out", "off", "over", "under", "again", "further", "then", "once",
    "and", "but", "or", "nor", "not", "so", "yet", "both", "either", "neither", "each", "every", "all", "any",
    "few", "more", "most", "other", "some", "such", "no", "only", "own", "same", "than", "too", "very", "just",
    "because", "about", "up", "its", "it", "he", "she", "they", "we", "you", "i", "me", "him", "her", "us",
    "them", "my", "your", "his", "our", "their", "this", "that", "these", "those", "what", "which", "who",
    "whom", "when", "where", "why", "how", "if", "while", "although", "though", "unless", "until", "since",
];

/// Whether `token` is one of [`STOP_WORDS`].
pub fn is_stop_word(token: &str) -> bool {
    STOP_WORDS.contains(&token)
}
