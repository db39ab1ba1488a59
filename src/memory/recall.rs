//! A memory file held in memory, indexed for recall and ready to be written with more records at its end.
//!
//! It holds the text of the file once; records are offsets into it and are read again when they are found. With the
//! token index, that costs about twice the size of the file.
//!
//! The first search after a file was read goes through the contents, which is half the work of indexing them: many a
//! process asks once. The second one makes the index, and who only adds never does.

use std::cmp;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use foldhash::fast::RandomState;

use super::json;
use super::records::{self, Fault, Record};
use crate::error::Error;
use crate::search::normalization::Normalization;
use crate::search::token_index::{Document, Hit, TokenIndex, rank};
use crate::search::tokenize::TokenSet;
use crate::wtf8::Wtf8;

/// The records of a memory file.
#[derive(Debug)]
pub struct Recall {
    normalization: Normalization,
    text: String,
    /// Whether `text` is laid out as we write it, so that a record can be put at its end.
    is_laid_out: bool,
    /// Where each record is in `text`.
    spans: Vec<Range<usize>>,
    /// Where the content of each record is in `text`.
    content_spans: Vec<Range<usize>>,
    was_searched: AtomicBool,
    index: OnceLock<TokenIndex>,
    /// For the hash of each trimmed content, the first record that has it. Made for the first addition.
    contents: OnceLock<HashMap<u64, u32>>,
    hasher: RandomState,
    recency: Recency,
}

/// In which order records of equal score stand.
#[derive(Debug)]
enum Recency {
    /// No record is older than one before it in the file. Holds the latest creation time.
    FileOrder(Vec<u8>),
    /// Record numbers from the newest to the oldest.
    Sorted(Vec<u32>),
}

/// A record to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    content: Wtf8<'static>,
    metadata: Option<String>,
}

impl Draft {
    /// A record with this content, and with the JSON text of a metadata object.
    ///
    /// # Errors
    /// [`Error::Memory`] for content of nothing but white space, [`Error::MemoryMetadata`] for other metadata.
    pub fn new(content: Wtf8<'static>, metadata: Option<String>) -> Result<Self, Error> {
        if content.trim().as_bytes().is_empty() {
            return Err(Error::Memory("content must not be empty."));
        }
        if let Some(metadata) = &metadata {
            records::check_metadata(metadata).map_err(|problem| Error::MemoryMetadata { problem })?;
        }
        Ok(Draft { content, metadata })
    }
}

/// What becomes of some drafts.
#[derive(Debug)]
pub struct Addition {
    /// For each draft the id of the record that holds its content, new or not.
    pub ids: Vec<String>,
    /// The JSON text of the new records, empty if there are none.
    pub text: String,
}

const END: &str = "\n]";

impl Recall {
    /// The records of a file that does not exist.
    pub fn empty(normalization: Normalization) -> Self {
        Recall {
            normalization,
            text: "[]".to_owned(),
            is_laid_out: true,
            spans: Vec::new(),
            content_spans: Vec::new(),
            was_searched: AtomicBool::new(false),
            index: OnceLock::new(),
            contents: OnceLock::new(),
            hasher: RandomState::default(),
            recency: Recency::FileOrder(Vec::new()),
        }
    }

    /// Reads the bytes of a memory file.
    ///
    /// # Errors
    /// A [`Fault`] if they are not a memory file.
    pub fn read(bytes: Vec<u8>, normalization: Normalization) -> Result<Self, Fault> {
        let text = String::from_utf8(bytes).map_err(|error| {
            records::text_of(error.as_bytes()).expect_err("the conversion failed for the same reason")
        })?;
        let mut recall = Recall { is_laid_out: false, ..Recall::empty(normalization) };
        records::parse(&text, |record| recall.take_note(&record, 0))?;
        recall.text = text;
        recall.text.shrink_to_fit();
        recall.sort_if_needed();
        Ok(recall)
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The best `limit` records for `query`: most words first, then the newest, then the last in the file.
    pub fn search(&self, query: &str, limit: usize) -> Vec<(Record<'_>, u32)> {
        let query = &TokenSet::of(&self.normalization.apply(query));
        let scores = match self.index.get() {
            Some(index) => index.scores(query),
            None if !self.was_searched.swap(true, Ordering::Relaxed) => self.scores_by_reading(query),
            None => self.index.get_or_init(|| self.new_index()).scores(query),
        };
        let hits = match &self.recency {
            Recency::FileOrder(_) => rank(&scores, query.len(), limit, self.documents().rev()),
            Recency::Sorted(newest_first) => rank(&scores, query.len(), limit, newest_first.iter().copied()),
        };
        hits.iter().map(|Hit { document, score }| (self.record(*document), *score)).collect()
    }

    fn scores_by_reading(&self, query: &TokenSet) -> Vec<u32> {
        let score = |document| self.with_searchable_text(document, |text| query.overlap(text));
        self.documents().map(|document| u32::try_from(score(document)).unwrap_or(u32::MAX)).collect()
    }

    fn new_index(&self) -> TokenIndex {
        let mut index = TokenIndex::default();
        for document in self.documents() {
            self.with_searchable_text(document, |text| index.push(text));
        }
        index
    }

    /// What adding `drafts` one after another would do: a draft whose trimmed content is already there, or in an
    /// earlier draft, adds nothing. Every new record gets an id from `new_id` and the time `created_at`.
    pub fn plan(&self, drafts: &[Draft], created_at: &str, mut new_id: impl FnMut() -> String) -> Addition {
        let mut addition = Addition { ids: Vec::with_capacity(drafts.len()), text: String::new() };
        let mut planned: HashMap<Wtf8<'_>, String> = HashMap::new();
        for draft in drafts {
            let content = draft.content.trim();
            let id = self.id_of(&content).or_else(|| planned.get(&content).cloned()).unwrap_or_else(|| {
                let id = new_id();
                let is_first = self.spans.is_empty() && planned.is_empty();
                let metadata = draft.metadata.as_deref();
                records::write_record(&mut addition.text, is_first, &id, &draft.content, created_at, metadata);
                planned.insert(content, id.clone());
                id
            });
            addition.ids.push(id);
        }
        addition
    }

    /// Makes the text one to which records can be added, keeping every record as it is.
    pub fn lay_out(&mut self) {
        if self.is_laid_out {
            return;
        }
        let text = json::lay_out(&self.text);
        if text != self.text {
            self.spans.clear();
            self.content_spans.clear();
            let note = |record: Record<'_>| {
                self.spans.push(record.span);
                self.content_spans.push(record.content_span);
            };
            records::parse(&text, note).expect("a new layout changes no token");
            self.text = text;
        }
        self.is_laid_out = true;
    }

    /// The parts of the file with `addition` at its end, once the text is [laid out](Self::lay_out).
    pub fn parts_with<'a>(&'a self, addition: &'a Addition) -> [&'a [u8]; 3] {
        [&self.text.as_bytes()[..self.end_of_records()], addition.text.as_bytes(), END.as_bytes()]
    }

    /// Takes up what has been written.
    pub fn append(&mut self, addition: &Addition) {
        if addition.text.is_empty() {
            return;
        }
        let start = self.end_of_records();
        self.text.truncate(start);
        let needed = addition.text.len() + END.len();
        if self.text.capacity() < start + needed {
            // Growing by an eighth keeps appending linear and the unused part small.
            self.text.reserve_exact(needed.max(start / 8));
        }
        self.text.push_str(&addition.text);
        self.text.push_str(END);
        // Each record begins after what separates it from the one before: "\n  " or ",\n  ".
        let mut at = 0;
        while at < addition.text.len() {
            let brace = at + addition.text[at..].find('{').expect("a record begins with a brace");
            let record = records::record_at(&addition.text[brace..]);
            at = brace + record.span.end;
            self.take_note(&record, start + brace);
        }
        self.sort_if_needed();
    }

    fn end_of_records(&self) -> usize {
        if self.spans.is_empty() { 1 } else { self.text.len() - END.len() }
    }

    /// The numbers of the records, in the order of the file.
    fn documents(&self) -> Range<Document> {
        0..Document::try_from(self.spans.len()).expect("a file of 4 billion records does not fit into memory")
    }

    fn record(&self, document: Document) -> Record<'_> {
        records::record_at(&self.text[self.spans[document as usize].clone()])
    }

    fn content(&self, document: Document) -> Wtf8<'_> {
        Wtf8::from_json(&self.text[self.content_spans[document as usize].clone()])
    }

    fn with_searchable_text<T>(&self, document: Document, use_text: impl FnOnce(&str) -> T) -> T {
        use_text(&self.normalization.apply(&self.content(document).to_str_lossy()))
    }

    /// `offset` is where the text that `record` was found in begins in ours.
    fn take_note(&mut self, record: &Record<'_>, offset: usize) {
        let document = self.documents().end;
        let shifted = |span: &Range<usize>| span.start + offset..span.end + offset;
        self.spans.push(shifted(&record.span));
        self.content_spans.push(shifted(&record.content_span));
        if let Some(index) = self.index.get_mut() {
            index.push(&self.normalization.apply(&record.content.to_str_lossy()));
        }
        let hash = self.contents.get().map(|_| self.hash(&record.content.trim()));
        if let (Some(hash), Some(contents)) = (hash, self.contents.get_mut()) {
            contents.entry(hash).or_insert(document);
        }
        let created_at = record.created_at.as_bytes();
        match &mut self.recency {
            Recency::FileOrder(latest) if latest.as_slice() <= created_at => {
                latest.clear();
                latest.extend_from_slice(created_at);
            }
            out_of_order => *out_of_order = Recency::Sorted(Vec::new()),
        }
    }

    fn sort_if_needed(&mut self) {
        if matches!(&self.recency, Recency::Sorted(order) if order.len() != self.spans.len()) {
            let times: Vec<Wtf8<'_>> = self.documents().map(|document| self.record(document).created_at).collect();
            let time = |document: &u32| times[*document as usize].as_bytes();
            let newest_first = |a: &u32, b: &u32| -> cmp::Ordering { time(b).cmp(time(a)).then(b.cmp(a)) };
            let mut order: Vec<u32> = self.documents().collect();
            order.sort_unstable_by(newest_first);
            self.recency = Recency::Sorted(order);
        }
    }

    fn id_of(&self, content: &Wtf8<'_>) -> Option<String> {
        let same = |document: Document| {
            let is_same = self.content(document).trim() == *content;
            is_same.then(|| self.record(document).id.to_str_lossy().into_owned())
        };
        let contents = self.contents.get_or_init(|| {
            let mut contents = HashMap::with_capacity(self.spans.len());
            for document in self.documents() {
                contents.entry(self.hash(&self.content(document).trim())).or_insert(document);
            }
            contents
        });
        let first = *contents.get(&self.hash(content))?;
        // Two contents may share a hash; then only looking at all of them tells.
        same(first).or_else(|| self.documents().find_map(same))
    }

    fn hash(&self, content: &Wtf8<'_>) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(content.as_bytes());
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn draft(content: &str) -> Draft {
        Draft::new(content.to_owned().into(), None).unwrap()
    }

    fn add(recall: &mut Recall, contents: &[&str], created_at: &str) -> Vec<String> {
        let drafts: Vec<Draft> = contents.iter().map(|content| draft(content)).collect();
        recall.lay_out();
        let mut next = recall.spans.len();
        let addition = recall.plan(&drafts, created_at, || {
            next += 1;
            format!("id{next}")
        });
        let written = recall.parts_with(&addition).concat();
        recall.append(&addition);
        if !addition.text.is_empty() {
            assert_eq!(recall.bytes(), written);
        }
        addition.ids
    }

    fn found(recall: &Recall, query: &str, limit: usize) -> Vec<String> {
        let hits = recall.search(query, limit);
        hits.iter().map(|(record, _)| record.content.to_str_lossy().into_owned()).collect()
    }

    #[test]
    fn contents_that_differ_in_outer_white_space_are_one_record() {
        let mut recall = Recall::empty(Normalization::None);
        assert_eq!(add(&mut recall, &["a b", " a b\u{feff}", "c"], "t"), ["id1", "id1", "id2"]);
        assert_eq!(add(&mut recall, &["c\n", "a b"], "t"), ["id2", "id1"]);
    }

    #[test]
    fn ties_go_to_the_newest_then_to_the_last_in_the_file() {
        let mut recall = Recall::empty(Normalization::None);
        add(&mut recall, &["x one", "x two"], "2025");
        add(&mut recall, &["x old"], "2024");
        add(&mut recall, &["x new", "y x both"], "2026");
        assert_eq!(found(&recall, "x", 9), ["y x both", "x new", "x two", "x one", "x old"]);
        assert_eq!(found(&recall, "x y", 2), ["y x both", "x new"]);
    }

    #[test]
    fn a_foreign_layout_is_replaced_and_its_records_stay_findable() {
        let foreign = "\u{feff}[{\"id\":\"1\",\"content\":\"kept\",\"createdAt\":\"t\",\"n\":1.0}]\r\n";
        let mut recall = Recall::read(foreign.into(), Normalization::None).unwrap();
        assert_eq!(recall.bytes(), foreign.as_bytes());
        add(&mut recall, &["added"], "u");
        assert_eq!(found(&recall, "kept", 9), ["kept"]);
        assert_eq!(found(&recall, "added", 9), ["added"]);
        let text = std::str::from_utf8(recall.bytes()).unwrap();
        assert!(text.starts_with("[\n  {\n    \"id\": \"1\","));
        assert!(text.contains("\"n\": 1.0\n  },\n  {"));
    }

    proptest! {
        #[test]
        fn growing_by_parts_equals_reading_the_whole(batches in prop::collection::vec(
            (prop::collection::vec("[a-c {}\"\\\\é]{1,6}", 1..4), "202[3-6]"), 0..6,
        )) {
            let mut grown = Recall::empty(Normalization::None);
            for (contents, created_at) in &batches {
                let contents: Vec<&str> =
                    contents.iter().map(String::as_str).filter(|content| !content.trim().is_empty()).collect();
                add(&mut grown, &contents, created_at);
            }
            let read = Recall::read(grown.bytes().to_vec(), Normalization::None).unwrap();
            prop_assert_eq!(&read.spans, &grown.spans);
            prop_assert_eq!(&read.content_spans, &grown.content_spans);
            // The first search reads the contents, the others ask the index.
            for query in ["a b c", "a", "a b c", "é"] {
                prop_assert_eq!(found(&read, query, 5), found(&grown, query, 5));
            }
            let mut laid_out = Recall::read(grown.bytes().to_vec(), Normalization::None).unwrap();
            laid_out.lay_out();
            prop_assert_eq!(laid_out.bytes(), grown.bytes());
        }
    }
}
