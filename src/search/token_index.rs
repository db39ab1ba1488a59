//! Which documents hold which tokens, and how many tokens of a query each document holds.
//!
//! Documents are numbered as they are added. For each token the index keeps the ascending numbers of the documents
//! that hold it: about 4 bytes for each distinct word of a document, and about 80 bytes for each distinct word of all.

use super::tokenize::{TokenSet, for_each_token};

/// The number of a document, counted from 0 in the order of addition.
pub type Document = u32;

/// A document and how many distinct tokens of the query it holds, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The document.
    pub document: Document,
    /// How many tokens of the query it holds.
    pub score: u32,
}

/// An inverted index that grows at its end.
#[derive(Debug, Default)]
pub struct TokenIndex {
    tokens: TokenSet,
    /// For each token the documents that hold it.
    postings: Vec<Vec<Document>>,
    documents: Document,
}

impl TokenIndex {
    /// Adds a document that holds the tokens of `text`.
    pub fn push(&mut self, text: &str) -> Document {
        let document = self.documents;
        self.documents += 1;
        for_each_token(text, |token| {
            let number = self.tokens.insert(token);
            match self.postings.get_mut(number) {
                Some(posting) if posting.last() == Some(&document) => {}
                Some(posting) => posting.push(document),
                None => self.postings.push(vec![document]),
            }
        });
        document
    }

    /// How many documents there are.
    pub fn len(&self) -> Document {
        self.documents
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// For each document, how many tokens of `query` it holds.
    pub fn scores(&self, query: &TokenSet) -> Vec<u32> {
        let mut scores = vec![0; self.documents as usize];
        for number in query.iter().filter_map(|token| self.tokens.number(token)) {
            for document in &self.postings[number] {
                scores[*document as usize] += 1;
            }
        }
        scores
    }
}

/// The best `limit` of the documents in `order`, highest score first, equal scores as `order` has them. `scores` has one
/// for each document, at most `highest`; a document with none is no hit.
pub fn rank(scores: &[u32], highest: usize, limit: usize, order: impl Iterator<Item = Document> + Clone) -> Vec<Hit> {
    let score_of = |document: Document| scores[document as usize];
    // A counting sort: the documents of one score follow those of all higher ones.
    let mut next_place = vec![0usize; highest + 1];
    for document in order.clone() {
        next_place[score_of(document) as usize] += 1;
    }
    let mut hits_above = 0;
    for count in next_place.iter_mut().skip(1).rev() {
        (*count, hits_above) = (hits_above, hits_above + *count);
    }
    let mut hits = vec![Hit { document: 0, score: 0 }; hits_above.min(limit)];
    let mut missing = hits.len();
    for document in order {
        if missing == 0 {
            break;
        }
        let score = score_of(document);
        if score > 0 {
            let place = &mut next_place[score as usize];
            if let Some(hit) = hits.get_mut(*place) {
                *hit = Hit { document, score };
                missing -= 1;
            }
            *place += 1;
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranked(texts: &[String], query: &str, limit: usize) -> Vec<(u32, u32)> {
        let mut index = TokenIndex::default();
        for text in texts {
            index.push(text);
        }
        let query = TokenSet::of(query);
        let hits = rank(&index.scores(&query), query.len(), limit, (0..index.len()).rev());
        hits.iter().map(|hit| (hit.document, hit.score)).collect()
    }

    #[test]
    fn more_words_rank_higher_and_ties_follow_the_given_order() {
        let texts = ["dark mode", "light mode", "dark dark", "none"].map(String::from);
        assert_eq!(ranked(&texts, "dark mode", 10), [(0, 2), (2, 1), (1, 1)]);
        assert_eq!(ranked(&texts, "dark mode", 2), [(0, 2), (2, 1)]);
        assert_eq!(ranked(&texts, "absent", 10), []);
        assert_eq!(ranked(&[], "dark", 10), []);
    }

    proptest! {
        #[test]
        fn ranking_agrees_with_sorting_every_score(
            texts in prop::collection::vec("[a-e ]{0,9}", 0..30),
            query in "[a-f ]{0,9}",
            limit in 0usize..40,
        ) {
            let query_tokens = TokenSet::of(&query);
            let mut expected: Vec<(u32, u32)> = texts.iter().enumerate().rev().map(|(document, text)| {
                let tokens = TokenSet::of(text);
                let score = query_tokens.iter().filter(|token| tokens.iter().any(|other| other == *token)).count();
                (u32::try_from(document).unwrap(), u32::try_from(score).unwrap())
            }).filter(|(_, score)| *score > 0).collect();
            expected.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
            expected.truncate(limit);
            prop_assert_eq!(ranked(&texts, &query, limit), expected);
        }
    }
}
