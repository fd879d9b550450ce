//! The first line, which may say who will speak.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::said;
use crate::id::{Id, IdMap};

/// The version of the format.
const VERSION: u32 = 1;

/// The field that makes a first line a header.
const NAME: &str = "\"retime-stream\"";

/// The first line of a file or stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header<'a> {
    /// Ticks of all times per second.
    pub ticks_per_second: Option<u64>,
    /// Who will speak.
    pub locations: Vec<Id<'a>>,
    /// The number of the clock of each of them; each has its own if the line
    /// does not say.
    pub clocks: Vec<u32>,
}

/// The header as it is written.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(rename = "retime-stream")]
    version: Option<u32>,
    ticks_per_second: Option<u64>,
    #[serde(borrow, default)]
    locations: Vec<&'a RawValue>,
    clocks: Option<Vec<u32>>,
}

impl<'a> Header<'a> {
    /// True if a line of which no more than its start is known may be a header.
    pub fn may_begin_with(start: &[u8]) -> bool {
        let mut places = start.windows(NAME.len());
        places.any(|place| place == NAME.as_bytes())
    }

    /// The header, if the line is one.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn of(text: &'a str) -> Result<Option<Self>, String> {
        if text.starts_with('[') || !text.contains(NAME) {
            return Ok(None);
        }
        let written: Written<'a> = serde_json::from_str(text).map_err(|error| said(&error))?;
        match written.version {
            Some(VERSION) => written.checked().map(Some),
            Some(other) => Err(format!(
                "version {other} of the format is not known, only 1 is"
            )),
            None => Ok(None),
        }
    }
}

impl<'a> Written<'a> {
    fn checked(self) -> Result<Header<'a>, String> {
        let mut known = IdMap::default();
        let mut locations = Vec::with_capacity(self.locations.len());
        for raw in self.locations {
            let id = Id::of_location(raw.get())?;
            if known.insert(id, ()).is_some() {
                return Err(format!("location {id} is listed twice"));
            }
            locations.push(id);
        }
        let count = locations.len();
        let clocks = match self.clocks {
            None => (0..count as u32).collect(),
            Some(clocks) if clocks.len() == count => clocks,
            Some(clocks) => {
                return Err(format!(
                    "\"clocks\" has {} entries and \"locations\" {count}; each location needs the number of \
                 its clock",
                    clocks.len()
                ));
            }
        };
        Ok(Header {
            ticks_per_second: self.ticks_per_second,
            locations,
            clocks,
        })
    }
}
