//! Text as JavaScript knows it, which may hold half of a surrogate pair.
//!
//! WTF-8 (<https://simonsapin.github.io/wtf-8/>) is UTF-8 that also encodes lone surrogates, in three bytes each, so
//! every JavaScript string has exactly one form and well-formed text is plain UTF-8.

use std::borrow::Cow;
use std::fmt::Write;

/// A string of code points, lone surrogates included.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wtf8<'a>(Cow<'a, [u8]>);

impl<'a> From<&'a str> for Wtf8<'a> {
    fn from(text: &'a str) -> Self {
        Wtf8(Cow::Borrowed(text.as_bytes()))
    }
}

impl From<String> for Wtf8<'_> {
    fn from(text: String) -> Self {
        Wtf8(Cow::Owned(text.into_bytes()))
    }
}

impl<'a> Wtf8<'a> {
    /// The string of these UTF-16 code units.
    pub fn from_utf16(units: &[u16]) -> Self {
        // Most text is ASCII, which only has to be narrowed.
        if units.iter().all(|unit| *unit < 0x80) {
            return Wtf8(units.iter().map(|unit| unit.to_le_bytes()[0]).collect());
        }
        if let Ok(text) = String::from_utf16(units) {
            return text.into();
        }
        let mut text = Builder::default();
        units.iter().for_each(|unit| text.push_unit(*unit));
        text.finish()
    }

    /// The string between the quotes of a JSON string that is known to be valid.
    pub(crate) fn from_json(raw: &'a str) -> Self {
        if !raw.as_bytes().contains(&b'\\') {
            return raw.into();
        }
        let mut text = Builder::default();
        let mut rest = raw;
        while let Some(backslash) = rest.find('\\') {
            text.push_str(&rest[..backslash]);
            let escape = rest.as_bytes()[backslash + 1];
            rest = &rest[backslash + 2..];
            match escape {
                b'u' => {
                    let (digits, after) = rest.split_at(4);
                    text.push_unit(u16::from_str_radix(digits, 16).expect("a valid escape has four digits"));
                    rest = after;
                }
                b'b' => text.push_str("\u{8}"),
                b'f' => text.push_str("\u{c}"),
                b'n' => text.push_str("\n"),
                b'r' => text.push_str("\r"),
                b't' => text.push_str("\t"),
                quoted => text.push_unit(quoted.into()),
            }
        }
        text.push_str(rest);
        text.finish()
    }

    /// The bytes, equal for equal strings and for no others.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The string as UTF-8, if it has no lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The string as UTF-8 with U+FFFD for each lone surrogate.
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        match self.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(String::from_utf16_lossy(&self.to_utf16())),
        }
    }

    /// The same as an owned string.
    pub fn into_string_lossy(self) -> String {
        match String::from_utf8(self.0.into_owned()) {
            Ok(text) => text,
            Err(error) => Wtf8(Cow::Owned(error.into_bytes())).to_str_lossy().into_owned(),
        }
    }

    /// The UTF-16 code units of the string.
    pub fn to_utf16(&self) -> Vec<u16> {
        let mut units = Vec::with_capacity(self.0.len());
        let mut rest = self.0.as_ref();
        while !rest.is_empty() {
            let valid = match std::str::from_utf8(rest) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let (text, after) = rest.split_at(valid);
            units.extend(std::str::from_utf8(text).expect("checked above").encode_utf16());
            rest = match after {
                [0xed, second, third, after @ ..] => {
                    units.push(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f));
                    after
                }
                _ => &[],
            };
        }
        units
    }

    /// The string without white space at its ends, as JavaScript's `trim` understands white space: with U+FEFF,
    /// without U+0085.
    pub fn trim(&self) -> Wtf8<'_> {
        let is_space = |char: char| char == '\u{feff}' || (char.is_whitespace() && char != '\u{85}');
        match self.as_str() {
            Some(text) => text.trim_matches(is_space).into(),
            None => {
                // A lone surrogate is not white space, so the ends up to the outermost ones are well-formed.
                let lossy = self.to_str_lossy();
                let start = lossy.len() - lossy.trim_start_matches(is_space).len();
                let end = lossy.trim_end_matches(is_space).len();
                Wtf8(Cow::Borrowed(&self.0[start..end]))
            }
        }
    }

    /// Appends the string as JSON text, quotes included, escaped as `JSON.stringify` escapes it.
    pub(crate) fn write_json(&self, json: &mut String) {
        json.push('"');
        for unit in char::decode_utf16(self.to_utf16()) {
            match unit {
                Ok('"') => json.push_str("\\\""),
                Ok('\\') => json.push_str("\\\\"),
                Ok('\u{8}') => json.push_str("\\b"),
                Ok('\u{c}') => json.push_str("\\f"),
                Ok('\n') => json.push_str("\\n"),
                Ok('\r') => json.push_str("\\r"),
                Ok('\t') => json.push_str("\\t"),
                Ok(control) if control < ' ' => push_escape(json, control as u16),
                Ok(char) => json.push(char),
                Err(lone) => push_escape(json, lone.unpaired_surrogate()),
            }
        }
        json.push('"');
    }

    /// The same string, owning its bytes.
    pub fn into_owned(self) -> Wtf8<'static> {
        Wtf8(Cow::Owned(self.0.into_owned()))
    }
}

fn push_escape(json: &mut String, unit: u16) {
    write!(json, "\\u{unit:04x}").expect("writing to a string does not fail");
}

/// Joins surrogates to pairs as they come.
#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    high: Option<u16>,
}

impl Builder {
    fn push_str(&mut self, text: &str) {
        if !text.is_empty() {
            self.flush();
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    fn push_unit(&mut self, unit: u16) {
        match (self.high.take(), unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                let code = 0x1_0000 + (u32::from(high - 0xd800) << 10) + u32::from(unit - 0xdc00);
                self.push_code_point(code);
            }
            (high, _) => {
                self.high = high;
                self.flush();
                match unit {
                    0xd800..=0xdbff => self.high = Some(unit),
                    _ => self.push_code_point(unit.into()),
                }
            }
        }
    }

    fn push_code_point(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(char) => self.bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            None => self.bytes.extend_from_slice(&[0xed, 0x80 | (code >> 6 & 0x3f) as u8, 0x80 | (code & 0x3f) as u8]),
        }
    }

    fn flush(&mut self) {
        if let Some(high) = self.high.take() {
            self.push_code_point(high.into());
        }
    }

    fn finish(mut self) -> Wtf8<'static> {
        self.flush();
        Wtf8(Cow::Owned(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_units() -> impl Strategy<Value = Vec<u16>> {
        let unit = prop_oneof![
            4 => any::<u16>(),
            2 => 0xd7f0u16..0xe010,
            2 => 0u16..0x80,
            1 => prop::sample::select(vec![0x20, 0x85, 0xa0, 0xfeff, 0x2028]),
        ];
        prop::collection::vec(unit, 0..12)
    }

    proptest! {
        #[test]
        fn every_utf16_string_survives(units in any_units()) {
            prop_assert_eq!(Wtf8::from_utf16(&units).to_utf16(), units);
        }

        #[test]
        fn the_json_form_reads_back_as_the_same_string(units in any_units()) {
            let text = Wtf8::from_utf16(&units);
            let mut json = String::new();
            text.write_json(&mut json);
            prop_assert_eq!(&Wtf8::from_json(&json[1..json.len() - 1]), &text);
            if let Some(text) = text.as_str() {
                prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            }
        }

        #[test]
        fn trimming_agrees_with_trimming_code_units(units in any_units()) {
            let is_space = |unit: &u16| matches!(
                unit, 9..=13 | 0x20 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 | 0xfeff
            );
            let start = units.iter().take_while(|unit| is_space(unit)).count();
            let end = units.len() - units[start..].iter().rev().take_while(|unit| is_space(unit)).count();
            prop_assert_eq!(Wtf8::from_utf16(&units).trim().to_utf16(), &units[start..end]);
        }
    }

    #[test]
    fn escaped_halves_of_a_pair_join_and_lone_ones_stay() {
        assert_eq!(Wtf8::from_json(r"\ud83d\ude00").as_str(), Some("\u{1F600}"));
        let lone = Wtf8::from_json(r"a\ud83d\n\ude00\/");
        assert_eq!(lone.to_utf16(), [0x61, 0xd83d, 0x0a, 0xde00, 0x2f]);
        assert_eq!(lone.to_str_lossy(), "a\u{FFFD}\n\u{FFFD}/");
        let mut json = String::new();
        lone.write_json(&mut json);
        assert_eq!(json, r#""a\ud83d\n\ude00/""#);
    }
}
