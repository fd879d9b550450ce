//! How the numbers of a file are written, so that they can be written so again.

use serde::{Deserialize, Serialize};

use retime_chrome_json::micros::Form;

/// The forms in which numbers were written.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forms {
    /// Runs of equal forms, two numbers each: the decimals, or [`OTHER`], and how many numbers in a
    /// row were written so.
    runs: Vec<u64>,
    /// The others as they were.
    others: Vec<String>,
    /// Lengths that were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lengths: Vec<LengthWas>,
}

/// The length of an event as it was written.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LengthWas {
    pub(crate) event: u32,
    pub(crate) text: String,
}

/// Stands for a form that decimals do not describe.
const OTHER: u64 = 256;

impl Forms {
    /// The next number was written like this.
    pub(crate) fn note(&mut self, form: Form, text: &[u8]) {
        let form = match form {
            Form::Plain(decimals) => decimals.into(),
            Form::Other => {
                self.others.push(String::from_utf8_lossy(text).into_owned());
                OTHER
            }
        };
        match &mut *self.runs {
            [.., last, count] if *last == form => *count += 1,
            _ => self.runs.extend([form, 1]),
        }
    }

    /// The form of each number, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Written<'_>> {
        let mut others = self.others.iter();
        let runs = self.runs.chunks_exact(2);
        runs.flat_map(|run| std::iter::repeat_n(run[0], run[1] as usize))
            .map(move |form| match u8::try_from(form) {
                Ok(decimals) => Written::Like(Form::Plain(decimals)),
                Err(_) => Written::As(others.next().map_or("", String::as_str)),
            })
    }
}

/// The form in which a number was written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written<'a> {
    Like(Form),
    As(&'a str),
}
