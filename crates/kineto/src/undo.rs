//! Data that give the original files back from corrected ones: the
//! [originals](retime_model::Originals) of their times, how they were written, and check
//! sums of the content before and after, which make restoring refuse rather than guess; of
//! a compressed file they are those of what is in it.

use retime_model::{Modified, SavedName};
use serde::{Deserialize, Serialize};

use crate::micros::Form;

/// The form of undo data that is written here.
pub(crate) const FORMAT: u32 = 1;

/// The undo data of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) format: u32,
    /// How many nanoseconds before 0 its times were [counted from](crate::columns::BELOW_ZERO).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) origin: u64,
    pub(crate) files: Vec<SavedFile>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The undo data of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedFile {
    pub(crate) name: SavedName,
    /// Check sum of the original content.
    pub(crate) original: u32,
    /// Check sum of the corrected content.
    pub(crate) corrected: u32,
    /// When the original was modified; earlier undo data do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<Modified>,
    /// The notes of a [`StampLog`](retime_model::StampLog).
    pub(crate) stamps: Vec<i64>,
    pub(crate) forms: Forms,
}

impl SavedFile {
    /// True if the correction has changed nothing in it.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.original == self.corrected
    }
}

/// How numbers were written.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forms {
    /// Runs of equal forms, two numbers each: the decimals, or [`OTHER`], and how many numbers in a
    /// row were written so.
    runs: Vec<u64>,
    /// The others as they were.
    others: Vec<String>,
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

    /// How each number was written.
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

/// How a number was written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written<'a> {
    Like(Form),
    As(&'a str),
}
