//! Unicode normalisation of text before it is split into tokens (Unicode Standard Annex #15).
//!
//! Off by default, as in both SDKs, whose tokens tell apart what looks the same: `é` in one code point and in two.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// The form that a query and what it is compared with are brought into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// Text is taken as it is.
    #[default]
    None,
    /// Composed: one code point for a letter with its marks, where there is one.
    Nfc,
    /// Composed, and without differences of form: full-width letters are letters, `ﬁ` is `fi`.
    Nfkc,
}

impl Normalization {
    /// `text` in this form.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        let is_in_form = match self {
            Normalization::None => IsNormalized::Yes,
            // ASCII is in every form, and the quick checks look at each character.
            _ if text.is_ascii() => IsNormalized::Yes,
            Normalization::Nfc => is_nfc_quick(text.chars()),
            Normalization::Nfkc => is_nfkc_quick(text.chars()),
        };
        match self {
            _ if is_in_form == IsNormalized::Yes => Cow::Borrowed(text),
            Normalization::Nfkc => Cow::Owned(text.nfkc().collect()),
            _ => Cow::Owned(text.nfc().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composed_and_decomposed_letters_become_one() {
        for form in [Normalization::Nfc, Normalization::Nfkc] {
            assert_eq!(form.apply("cafe\u{301}"), "café");
            assert_eq!(form.apply("café"), "café");
        }
        assert_eq!(Normalization::None.apply("cafe\u{301}"), "cafe\u{301}");
    }

    #[test]
    fn only_compatibility_folds_differences_of_form() {
        assert_eq!(Normalization::Nfkc.apply("Ｎａｍｅ ﬁ ①"), "Name fi 1");
        assert_eq!(Normalization::Nfc.apply("Ｎａｍｅ ﬁ ①"), "Ｎａｍｅ ﬁ ①");
    }
}
