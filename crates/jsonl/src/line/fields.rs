//! The fields of a line, as they are written.

use std::borrow::Cow;
use std::ops::Range;

use retime_model::format::Passage;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::id::Id;

/// The fields of a line that mean something. Those that may be numbers or strings
/// are kept as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Fields<'a> {
    #[serde(skip)]
    pub(super) text: &'a str,
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub(super) location: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub(super) time: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_written", rename = "type")]
    pub(super) kind: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub(super) message: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub(super) to: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub(super) from: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub(super) bytes: Option<&'a str>,
    pub(super) tag: Option<u32>,
    pub(super) communicator: Option<u32>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub(super) collective: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    pub(super) class: Option<&'a str>,
    pub(super) participants: Option<u32>,
    pub(super) begins: Option<u32>,
    pub(super) ends: Option<u32>,
    pub(super) root: Option<bool>,
    pub(super) rank: Option<u32>,
    #[serde(default, deserialize_with = "is_there")]
    pub(super) raw_time: Option<()>,
    #[serde(default, deserialize_with = "is_there", rename = "retime-stream")]
    pub(super) header: Option<()>,
}

fn as_written<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de str>, D::Error> {
    let raw = Option::<&RawValue>::deserialize(from)?;
    Ok(raw.map(RawValue::get))
}

fn is_there<'de, D: Deserializer<'de>>(from: D) -> Result<Option<()>, D::Error> {
    let there = Option::<IgnoredAny>::deserialize(from)?;
    Ok(there.map(|_| ()))
}

impl<'a> Fields<'a> {
    /// Who speaks.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    #[inline]
    pub fn location(&self) -> Result<Id<'a>, String> {
        match self.location {
            Some(raw) => Id::of_location(raw),
            None => Err("\"location\" is missing".into()),
        }
    }

    /// The time, and where it stands in the line.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    #[inline]
    pub fn time(&self) -> Result<(u64, Range<usize>), String> {
        let raw = self.time.ok_or("\"time\" is missing")?;
        let time = raw.parse().map_err(|_| {
            format!("\"time\" is {raw}: give whole ticks from 0 to 18446744073709551615")
        })?;
        // The value is borrowed from the line.
        let start = raw.as_ptr() as usize - self.text.as_ptr() as usize;
        Ok((time, start..start + raw.len()))
    }

    /// True if the line has the time that it had before retime changed it.
    pub fn has_raw_time(&self) -> bool {
        self.raw_time.is_some()
    }
}

/// The name in the field `region` of a line, if that is a string, and whether the line
/// says in its field `kind` that this region is entered or left.
pub(crate) fn place(text: &str) -> (Option<Cow<'_, str>>, Option<Passage>) {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        region: Option<Cow<'a, str>>,
        #[serde(borrow)]
        kind: Option<Cow<'a, str>>,
    }
    let named: Option<Named<'_>> = text
        .contains("\"region\"")
        .then(|| serde_json::from_str(text).ok())
        .flatten();
    let Some(Named {
        region: Some(region),
        kind,
    }) = named
    else {
        return (None, None);
    };
    let passage = match kind.as_deref() {
        Some("Enter") => Some(Passage::Enter),
        Some("Leave") => Some(Passage::Leave),
        _ => None,
    };
    (Some(region), passage)
}
