//! JSON as text: stepped over, laid out, and turned into values only for those who ask for them.
//!
//! What is accepted is RFC 8259, with or without a byte order mark, and the bare words `NaN`, `Infinity` and
//! `-Infinity`, which Python's `json` writes. Depth costs no stack: [`Scanner`] keeps the open brackets in a list.

use crate::error::Position;
use crate::wtf8::Wtf8;

/// Deepest nesting of a record that is read or written. Python's `json` gives up near 1,000 levels, those of its
/// caller included, and then cannot read the file at all.
pub const MAX_DEPTH: usize = 900;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Why and where a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where reading it had to end.
    pub position: Position,
    /// Why, as a phrase.
    pub problem: &'static str,
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

/// The value of `json`, which is known to be valid.
pub fn value_of(json: &str) -> Value {
    ValueReader { scanner: Scanner::new(json) }.value()
}

/// `text` laid out as `JSON.stringify(value, null, 2)` lays it out, token for token. `text` is known to be valid.
pub fn lay_out(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    lay_out_at(text.trim_start_matches(BYTE_ORDER_MARK), 0, &mut json);
    json
}

/// The same at some depth, appended to `json`.
pub(super) fn lay_out_at(text: &str, mut depth: usize, json: &mut String) {
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

/// For each byte, whether it means something else than itself within a string.
const ENDS_PLAIN_TEXT: [bool; 256] = {
    let mut table = [false; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = true;
        control += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};

/// The place of the byte at `offset`.
pub(super) fn position(text: &str, offset: usize) -> Position {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line_text = before[line_start..].trim_start_matches(BYTE_ORDER_MARK);
    Position { line: before.bytes().filter(|byte| *byte == b'\n').count() + 1, column: line_text.chars().count() + 1 }
}

/// Steps through a JSON text.
pub(super) struct Scanner<'a> {
    pub text: &'a str,
    /// How far it has come, in bytes.
    pub at: usize,
    /// Levels around the text that is scanned.
    pub depth_before: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Scanner { text, at, depth_before: 0 }
    }

    pub fn fault(&self, problem: &'static str) -> SyntaxError {
        SyntaxError { position: position(self.text, self.at), problem }
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Steps over `bracket` if it comes next.
    pub fn closes(&mut self, bracket: u8) -> bool {
        self.skip_blanks();
        let closes = self.peek() == Some(bracket);
        self.at += usize::from(closes);
        closes
    }

    /// Steps over a comma, which means that another element follows, or over `bracket`, which ends them.
    pub fn goes_on(&mut self, bracket: u8, problem: &'static str) -> Result<bool, SyntaxError> {
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

    pub fn value(&mut self) -> Result<&'a str, SyntaxError> {
        self.value_at_depth(self.depth_before)
    }

    /// Steps over a value whatever its depth, without recursion, and gives its text.
    pub fn value_at_depth(&mut self, depth: usize) -> Result<&'a str, SyntaxError> {
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
    pub fn key(&mut self) -> Result<&'a str, SyntaxError> {
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
    pub fn scalar(&mut self) -> Result<(), SyntaxError> {
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

    fn string(&mut self) -> Result<(), SyntaxError> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            let plain = bytes[self.at..].iter().position(|byte| ENDS_PLAIN_TEXT[usize::from(*byte)]);
            self.at += plain.unwrap_or(bytes.len() - self.at);
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
                Some(_) => return Err(self.fault("a control character in a string must be escaped")),
                None => return Err(self.fault("unexpected end of the file in a string")),
            }
        }
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
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

    fn some_digits(&mut self, problem: &'static str) -> Result<(), SyntaxError> {
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
