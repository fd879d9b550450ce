//! A line is read by the scanner if it is plain, and by serde otherwise.

use super::fields::Fields;
use super::{quick, said};

impl<'a> Fields<'a> {
    /// The fields of a line, given without white space around it.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    #[inline]
    pub fn of(text: &'a str) -> Result<Self, String> {
        let fields = match quick::fields(text) {
            Some(fields) => fields,
            None => Self::by_serde(text)?,
        };
        if fields.header.is_some() {
            return Err("a header is the first line, or none".into());
        }
        Ok(fields)
    }

    #[cold]
    pub(super) fn by_serde(text: &'a str) -> Result<Self, String> {
        if text.starts_with('\u{feff}') {
            return Err(
                "the file begins with a byte order mark; write it as UTF-8 without one".into(),
            );
        }
        if text.starts_with('[') {
            return Err("this is a list; a line is one object".into());
        }
        let fields: Self = serde_json::from_str(text).map_err(|error| said(&error))?;
        Ok(Self { text, ..fields })
    }
}
