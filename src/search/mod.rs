//! Finding entries by what they say.

pub mod keyword;
pub mod normalization;
pub mod stop_words;
pub mod token_index;
pub mod tokenize;
