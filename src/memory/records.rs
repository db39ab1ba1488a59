//! The format of a memory file: a JSON array of records, laid out as `JSON.stringify(records, null, 2)` does.
//!
//! # What is kept
//! Reading splits the text into records and never turns a value into a number or a map, so whatever another program
//! wrote survives a rewrite: 64-bit integers, `1.0`, unknown fields, their order, repeated keys, escapes. Only the
//! white space between tokens becomes ours.

use std::ops::Range;
use std::path::PathBuf;

use super::json::{Scanner, SyntaxError, lay_out_at, position};
use crate::error::Error;
use crate::wtf8::Wtf8;

/// Why a text is not a memory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not JSON.
    Json(SyntaxError),
    /// JSON, or not even text, but not an array of records.
    Records(String),
}

impl Fault {
    /// The error for a fault of the file at `path`.
    pub(super) fn in_file(self, path: PathBuf) -> Error {
        match self {
            Fault::Json(SyntaxError { position, problem }) => Error::MemoryJson { path, position, problem },
            Fault::Records(problem) => Error::MemoryRecords { path, problem },
        }
    }
}

impl From<SyntaxError> for Fault {
    fn from(error: SyntaxError) -> Self {
        Fault::Json(error)
    }
}

/// A record as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Where the record begins and ends.
    pub span: Range<usize>,
    /// Where its content stands, without the quotes.
    pub content_span: Range<usize>,
    /// A UUID, if one of the SDKs or this package wrote it.
    pub id: Wtf8<'a>,
    /// What is to be remembered.
    pub content: Wtf8<'a>,
    /// When it was added, as `toISOString` writes it, if one of the SDKs or this package wrote it.
    pub created_at: Wtf8<'a>,
    /// The JSON text of the metadata object, if there is one.
    pub metadata: Option<&'a str>,
}

/// Checks that `bytes` are UTF-8.
///
/// # Errors
/// [`Fault::Records`] with the place of the first byte that is not.
pub fn text_of(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|error| {
        let problem = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16, not UTF-8. Save it as UTF-8".to_owned(),
            _ => format!("byte {} is not UTF-8", error.valid_up_to() + 1),
        };
        Fault::Records(problem)
    })
}

/// Calls `visit` with each record of `text`, in order.
///
/// # Errors
/// A [`Fault`] if the text is not JSON to its very end, not an array, or holds something other than records. Records
/// before it may have been visited.
pub fn parse<'a>(text: &'a str, mut visit: impl FnMut(Record<'a>)) -> Result<(), Fault> {
    let mut scanner = Scanner::new(text);
    let mut misfit = None;
    scanner.skip_blanks();
    if scanner.peek() == Some(b'[') {
        scanner.at += 1;
        let mut number = 0;
        if !scanner.closes(b']') {
            loop {
                number += 1;
                scanner.skip_blanks();
                match read_record(&mut scanner)? {
                    Ok(record) => visit(record),
                    Err((start, problem)) => {
                        misfit.get_or_insert_with(|| format!("{problem} (record {number}, {})", position(text, start)));
                    }
                }
                if !scanner.goes_on(b']', "expected ',' or ']' after a record")? {
                    break;
                }
            }
        }
    } else {
        scanner.value()?;
        misfit = Some("expected a JSON array of records".to_owned());
    }
    scanner.skip_blanks();
    if scanner.at < text.len() {
        return Err(scanner.fault("unexpected text after the end of the JSON value").into());
    }
    misfit.map_or(Ok(()), |problem| Err(Fault::Records(problem)))
}

/// The record at the beginning of `text`, which an earlier [`parse`] found there.
pub fn record_at(text: &str) -> Record<'_> {
    let found = read_record(&mut Scanner::new(text));
    found.expect("the text was parsed before").expect("the record was checked before")
}

/// Checks that `json` is one JSON object that a record can hold as metadata.
///
/// # Errors
/// Why it is not, as a phrase.
pub fn check_metadata(json: &str) -> Result<(), &'static str> {
    let mut scanner = Scanner::new(json);
    scanner.depth_before = 2;
    match scanner.value() {
        Err(SyntaxError { problem, .. }) => Err(problem),
        _ if json.starts_with('{') || json == "null" => Ok(()),
        _ => Err("it must be a JSON object"),
    }
}

/// Appends a new record, preceded by what separates it from an earlier one.
pub fn write_record(
    json: &mut String,
    is_first: bool,
    id: &str,
    content: &Wtf8<'_>,
    created_at: &str,
    metadata: Option<&str>,
) {
    json.push_str(if is_first { "\n  {\n    \"id\": \"" } else { ",\n  {\n    \"id\": \"" });
    json.push_str(id);
    json.push_str("\",\n    \"content\": ");
    content.write_json(json);
    json.push_str(",\n    \"createdAt\": \"");
    json.push_str(created_at);
    json.push('"');
    if let Some(metadata) = metadata {
        json.push_str(",\n    \"metadata\": ");
        lay_out_at(metadata, 2, json);
    }
    json.push_str("\n  }");
}

/// The record that comes next, or where and why the value that does is none.
fn read_record<'a>(scanner: &mut Scanner<'a>) -> Result<Result<Record<'a>, (usize, &'static str)>, SyntaxError> {
    let start = scanner.at;
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(Err((start, "each record must be a JSON object")));
    }
    scanner.at += 1;
    let (mut id, mut content, mut created_at, mut metadata) = (None, None, None, None);
    let mut content_span = 0..0;
    if !scanner.closes(b'}') {
        loop {
            let key = scanner.key()?;
            scanner.skip_blanks();
            let value = scanner.value_at_depth(2)?;
            match Wtf8::from_json(key).as_bytes() {
                b"id" => id = Some(value),
                b"content" => {
                    content_span = (scanner.at + 1).saturating_sub(value.len())..scanner.at - 1;
                    content = Some(value);
                }
                b"createdAt" => created_at = Some(value),
                b"metadata" => metadata = Some(value),
                _ => {}
            }
            if !scanner.goes_on(b'}', "expected ',' or '}' after a value")? {
                break;
            }
        }
    }
    let string = |value: Option<&'a str>| {
        value.and_then(|json| json.strip_prefix('"')).and_then(|json| json.strip_suffix('"')).map(Wtf8::from_json)
    };
    let (Some(id), Some(content), Some(created_at)) = (string(id), string(content), string(created_at)) else {
        return Ok(Err((start, "each record must have string 'id', 'content', and 'createdAt' fields")));
    };
    let metadata = metadata.filter(|json| *json != "null");
    if metadata.is_some_and(|json| !json.starts_with('{')) {
        return Ok(Err((start, "a record's 'metadata', when present, must be a JSON object")));
    }
    Ok(Ok(Record { span: start..scanner.at, content_span, id, content, created_at, metadata }))
}

#[cfg(test)]
mod tests;
