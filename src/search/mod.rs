//! Finding entries by what they say.

pub mod bm25;
pub mod keyword;
pub mod match_query;
pub mod normalization;
pub mod stop_words;
pub mod token_index;
pub mod tokenize;
