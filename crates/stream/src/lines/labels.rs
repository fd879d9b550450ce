//! Locations by the names that lines give them.

use retime_jsonl::line::Header;
use retime_jsonl::{Id, IdMap};
use retime_model::LocationIndex;

use crate::filter::Filter;

/// The locations that have been named.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    known: IdMap<LocationIndex>,
    /// True if no more may be named.
    pub(crate) is_closed: bool,
}

impl Labels {
    /// Takes the locations of a header.
    pub(crate) fn declare(&mut self, header: &Header<'_>) {
        for (&id, index) in header.locations.iter().zip(0..) {
            self.known.insert(id, LocationIndex(index));
        }
    }

    /// The location of a name, new if it is the first time.
    pub(crate) fn index<P>(
        &mut self,
        name: Id<'_>,
        filter: &mut Filter<P>,
    ) -> Result<LocationIndex, String> {
        if let Some(&index) = self.known.get(name) {
            return Ok(index);
        }
        if self.is_closed {
            return Err(format!("location {name} is not in the first line"));
        }
        let index = filter.add_location();
        self.known.insert(name, index);
        Ok(index)
    }
}
