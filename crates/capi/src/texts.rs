//! Texts for C, which end with a zero.

use std::ffi::CString;

/// A text for C; a zero in it is shown as a character that stands for what cannot be shown.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}
