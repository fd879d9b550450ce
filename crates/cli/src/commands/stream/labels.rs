//! Locations by the names that lines give them.

use std::collections::HashMap;

use retime::LocationIndex;
use retime::filter::Filter;
use serde_json::value::RawValue;

use super::line::Header;

/// The locations that have been named.
#[derive(Default)]
pub(super) struct Labels {
    /// By the name as it is written: a number, or a string with its quotes.
    known: HashMap<Box<str>, LocationIndex>,
    /// Whether no more may be named.
    pub(super) is_closed: bool,
}

impl Labels {
    /// Takes the locations of a header, and returns the clock of each.
    pub(super) fn declare(&mut self, header: &Header<'_>) -> Result<Vec<u32>, String> {
        let count = header.locations.len();
        for (index, label) in header.locations.iter().enumerate() {
            let name = name(label)?.into();
            if self
                .known
                .insert(name, LocationIndex(index as u32))
                .is_some()
            {
                return Err(format!("location {label} is listed twice"));
            }
        }
        match &header.clocks {
            None => Ok((0..count as u32).collect()),
            Some(clocks) if clocks.len() == count => Ok(clocks.clone()),
            Some(clocks) => Err(format!("{} clocks for {count} locations", clocks.len())),
        }
    }

    /// The location of a name, new if it is the first time.
    pub(super) fn index<P>(
        &mut self,
        label: &RawValue,
        filter: &mut Filter<P>,
    ) -> Result<LocationIndex, String> {
        if let Some(&index) = self.known.get(label.get()) {
            return Ok(index);
        }
        let name = name(label)?;
        if self.is_closed {
            return Err(format!("location {name} is not in the first line"));
        }
        let index = filter.add_location();
        self.known.insert(name.into(), index);
        Ok(index)
    }
}

/// A name has to be a number or a string.
fn name(label: &RawValue) -> Result<&str, String> {
    let text = label.get();
    match text.as_bytes().first() {
        Some(b'"' | b'0'..=b'9') => Ok(text),
        _ => Err(format!("{text} is no location: give a number or a string")),
    }
}
