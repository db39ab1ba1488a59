//! The format of a memory file: a JSON array of records, laid out as `JSON.stringify(records, null, 2)` does.
//!
//! # What is kept
//! Reading splits the text into records and never turns a value into a number or a map, so whatever another program
//! wrote survives a rewrite: 64-bit integers, `1.0`, unknown fields, their order, repeated keys, escapes. Only the
//! white space between tokens becomes ours.
//!
//! # What is accepted
//! JSON (RFC 8259) in UTF-8, with or without a byte order mark, and the bare words `NaN`, `Infinity` and `-Infinity`,
//! which Python's `json` writes.

use std::fmt;
use std::ops::Range;

use super::wtf8::Wtf8;

/// Deepest nesting of a record that is read or written. Python's `json` gives up near 1,000 levels, those of its
/// caller included, and then cannot read the file at all.
pub const MAX_DEPTH: usize = 900;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A place in a text, counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Lines end in a line feed.
    pub line: usize,
    /// A byte order mark does not count.
    pub column: usize,
}

impl Position {
    fn of(text: &str, offset: usize) -> Self {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_text = before[line_start..].trim_start_matches(BYTE_ORDER_MARK);
        Position {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: line_text.chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a text is not a memory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not JSON.
    Json {
        /// Where reading it had to end.
        position: Position,
        /// Why, as a phrase.
        problem: &'static str,
    },
    /// JSON, or not even text, but not an array of records.
    Records(String),
}

/// A record as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Where the record begins and ends.
    pub span: Range<usize>,
    /// A UUID, if one of the SDKs or this package wrote it.
    pub id: Wtf8<'a>,
    /// What is to be remembered.
    pub content: Wtf8<'a>,
    /// When it was added, as `toISOString` writes it, if one of the SDKs or this package wrote it.
    pub created_at: Wtf8<'a>,
    /// The JSON text of the metadata object, if there is one.
    pub metadata: Option<&'a str>,
}

/// A JSON value, for those who must build one of their own kind from it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// As JavaScript reads it: the nearest double.
    Number(f64),
    /// A string, which may hold lone surrogates.
    String(Wtf8<'static>),
    /// The elements in order.
    Array(Vec<Value>),
    /// In order; a key may be repeated, and then its last value counts.
    Object(Vec<(Wtf8<'static>, Value)>),
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
                match scanner.record()? {
                    Ok(record) => visit(record),
                    Err((start, problem)) => {
                        misfit.get_or_insert_with(|| {
                            format!("{problem} (record {number}, {})", Position::of(text, start))
                        });
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
        return Err(scanner.fault("unexpected text after the end of the JSON value"));
    }
    misfit.map_or(Ok(()), |problem| Err(Fault::Records(problem)))
}

/// The record at the beginning of `text`, which an earlier [`parse`] found there.
pub fn record_at(text: &str) -> Record<'_> {
    let found = Scanner::new(text).record();
    found.expect("the text was parsed before").expect("the record was checked before")
}

/// The value of `json`, which is known to be valid.
pub fn value_of(json: &str) -> Value {
    ValueReader { scanner: Scanner::new(json) }.value()
}

/// Checks that `json` is one JSON object that a record can hold as metadata.
///
/// # Errors
/// Why it is not, as a phrase.
pub fn check_metadata(json: &str) -> Result<(), &'static str> {
    let mut scanner = Scanner::new(json);
    scanner.depth_before = 2;
    match scanner.value() {
        Err(Fault::Json { problem, .. }) => Err(problem),
        _ if json.starts_with('{') || json == "null" => Ok(()),
        _ => Err("it must be a JSON object"),
    }
}

/// `text` laid out as `JSON.stringify(value, null, 2)` lays it out, token for token. `text` is known to be valid.
pub fn lay_out(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    lay_out_at(text.trim_start_matches(BYTE_ORDER_MARK), 0, &mut json);
    json
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

fn lay_out_at(text: &str, mut depth: usize, json: &mut String) {
    fn new_line(json: &mut String, depth: usize) {
        json.push('\n');
        (0..depth).for_each(|_| json.push_str("  "));
    }
    let mut scanner = Scanner::new(text);
    loop {
        scanner.skip_blanks();
        let Some(byte) = scanner.peek() else { break };
        match byte {
            b'{' | b'[' => {
                scanner.at += 1;
                json.push(byte.into());
                // The closing brackets of ASCII follow their opening ones by two.
                if scanner.closes(byte + 2) {
                    json.push((byte + 2).into());
                } else {
                    depth += 1;
                    new_line(json, depth);
                }
                continue;
            }
            b'}' | b']' => {
                depth -= 1;
                new_line(json, depth);
                json.push(byte.into());
            }
            b',' => {
                json.push(',');
                new_line(json, depth);
            }
            b':' => json.push_str(": "),
            _ => {
                let start = scanner.at;
                scanner.scalar().expect("the text is valid");
                json.push_str(&text[start..scanner.at]);
                continue;
            }
        }
        scanner.at += 1;
    }
}

/// Steps through a JSON text.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Levels around the text that is scanned.
    depth_before: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Scanner { text, at, depth_before: 0 }
    }

    fn fault(&self, problem: &'static str) -> Fault {
        Fault::Json { position: Position::of(self.text, self.at), problem }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Steps over `bracket` if it comes next.
    fn closes(&mut self, bracket: u8) -> bool {
        self.skip_blanks();
        let closes = self.peek() == Some(bracket);
        self.at += usize::from(closes);
        closes
    }

    /// Steps over a comma, which means that another element follows, or over `bracket`, which ends them.
    fn goes_on(&mut self, bracket: u8, problem: &'static str) -> Result<bool, Fault> {
        self.skip_blanks();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.fault(problem)),
        }
    }

    /// A record, or where and why the value is none.
    fn record(&mut self) -> Result<Result<Record<'a>, (usize, &'static str)>, Fault> {
        let start = self.at;
        if self.peek() != Some(b'{') {
            self.value()?;
            return Ok(Err((start, "each record must be a JSON object")));
        }
        self.at += 1;
        let (mut id, mut content, mut created_at, mut metadata) = (None, None, None, None);
        if !self.closes(b'}') {
            loop {
                let key = self.key()?;
                self.skip_blanks();
                let value = self.value_at_depth(2)?;
                match Wtf8::from_json(key).as_bytes() {
                    b"id" => id = Some(value),
                    b"content" => content = Some(value),
                    b"createdAt" => created_at = Some(value),
                    b"metadata" => metadata = Some(value),
                    _ => {}
                }
                if !self.goes_on(b'}', "expected ',' or '}' after a value")? {
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
        Ok(Ok(Record { span: start..self.at, id, content, created_at, metadata }))
    }

    fn value(&mut self) -> Result<&'a str, Fault> {
        self.value_at_depth(self.depth_before)
    }

    /// Steps over a value whatever its depth, without recursion, and gives its text.
    fn value_at_depth(&mut self, depth: usize) -> Result<&'a str, Fault> {
        let start = self.at;
        let mut open: Vec<u8> = Vec::new();
        'value: loop {
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    if depth + open.len() >= MAX_DEPTH {
                        return Err(self.fault("the value is nested too deep; at most 900 levels are allowed"));
                    }
                    self.at += 1;
                    if !self.closes(bracket + 2) {
                        open.push(bracket + 2);
                        if bracket == b'{' {
                            self.key()?;
                        }
                        self.skip_blanks();
                        continue 'value;
                    }
                }
                _ => self.scalar()?,
            }
            while let Some(bracket) = open.last().copied() {
                let problem = match bracket {
                    b'}' => "expected ',' or '}' after a value",
                    _ => "expected ',' or ']' after a value",
                };
                if self.goes_on(bracket, problem)? {
                    if bracket == b'}' {
                        self.key()?;
                    }
                    self.skip_blanks();
                    continue 'value;
                }
                open.pop();
            }
            return Ok(&self.text[start..self.at]);
        }
    }

    /// A key with its colon; gives the text between the quotes.
    fn key(&mut self) -> Result<&'a str, Fault> {
        self.skip_blanks();
        if self.peek() != Some(b'"') {
            return Err(self.fault("expected a key in double quotes"));
        }
        let start = self.at + 1;
        self.scalar()?;
        let key = &self.text[start..self.at - 1];
        self.skip_blanks();
        if self.peek() != Some(b':') {
            return Err(self.fault("expected ':' after a key"));
        }
        self.at += 1;
        Ok(key)
    }

    /// Steps over a string, number or word.
    fn scalar(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => {
                const WORDS: [&str; 5] = ["true", "false", "null", "NaN", "Infinity"];
                let rest = &self.text[self.at..];
                let word = WORDS.iter().find(|word| rest.starts_with(**word));
                self.at += word.ok_or_else(|| self.fault("expected a JSON value"))?.len();
                Ok(())
            }
            None => Err(self.fault("unexpected end of the file")),
        }
    }

    fn string(&mut self) -> Result<(), Fault> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let digits = match bytes.get(self.at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
                        Some(b'u') => 4,
                        _ => return Err(self.fault("invalid escape in a string")),
                    };
                    let escaped = bytes.get(self.at + 2..self.at + 2 + digits);
                    if !escaped.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                        return Err(self.fault("invalid escape in a string"));
                    }
                    self.at += 2 + digits;
                }
                Some(0..=0x1f) => return Err(self.fault("a control character in a string must be escaped")),
                Some(_) => self.at += 1,
                None => return Err(self.fault("unexpected end of the file in a string")),
            }
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        const PROBLEM: &str = "invalid number";
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            Some(b'I') if self.text[self.at..].starts_with("Infinity") => {
                self.at += "Infinity".len();
                return Ok(());
            }
            _ => return Err(self.fault(PROBLEM)),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits(PROBLEM)?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.some_digits(PROBLEM)?;
        }
        match self.peek() {
            Some(b'0'..=b'9') => Err(self.fault(PROBLEM)),
            _ => Ok(()),
        }
    }

    fn some_digits(&mut self, problem: &'static str) -> Result<(), Fault> {
        let start = self.at;
        self.digits();
        if self.at == start { Err(self.fault(problem)) } else { Ok(()) }
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }
}

/// Builds values from a text that is known to be valid. Recursion is bounded by [`MAX_DEPTH`].
struct ValueReader<'a> {
    scanner: Scanner<'a>,
}

impl ValueReader<'_> {
    fn value(&mut self) -> Value {
        const VALID: &str = "the text is valid";
        let scanner = &mut self.scanner;
        scanner.skip_blanks();
        match scanner.peek() {
            Some(b'{') => {
                scanner.at += 1;
                let mut entries = Vec::new();
                if !scanner.closes(b'}') {
                    loop {
                        let key = Wtf8::from_json(self.scanner.key().expect(VALID)).into_owned();
                        entries.push((key, self.value()));
                        if !self.scanner.goes_on(b'}', VALID).expect(VALID) {
                            break;
                        }
                    }
                }
                Value::Object(entries)
            }
            Some(b'[') => {
                scanner.at += 1;
                let mut elements = Vec::new();
                if !scanner.closes(b']') {
                    loop {
                        elements.push(self.value());
                        if !self.scanner.goes_on(b']', VALID).expect(VALID) {
                            break;
                        }
                    }
                }
                Value::Array(elements)
            }
            _ => {
                let start = scanner.at;
                scanner.scalar().expect(VALID);
                match &scanner.text[start..scanner.at] {
                    "null" => Value::Null,
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    text => match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                        Some(raw) => Value::String(Wtf8::from_json(raw).into_owned()),
                        None => Value::Number(text.parse().expect("Rust reads every JSON number, NaN and Infinity")),
                    },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
