//! The minimal delay that is saved with a correction.
//!
//! ```json
//! "min_delay": { "given": true, "delays": [
//!     { "ticks": 500 },
//!     { "class": "between-nodes", "ticks": 2000, "bytes_per_second": 12500000000 },
//!     { "from": 0, "to": 3, "ticks": 1500 } ] }
//! ```
//!
//! An entry holds for the pairs of locations that it names by their ids, or by their class; one
//! that names none for all others. What was given is a condition of the clocks; what was learned
//! is a guess. The thesis asks for it at the beginning of a trace file (Rabenseifner 2000, section
//! 7.2); a correction is where all formats can keep it.

use std::path::Path;

use retime::pipeline::AskedDelay;
use retime::{
    Bandwidth, DelayByLength, DelayTable, LocationIndex, MinimalDelay, PairClass, Ticks, TraceInfo,
};
use serde::{Deserialize, Serialize};

use crate::error::CliError;

/// A minimal delay, and what it may be taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedDelay {
    /// True if what is faster contradicts the clocks, false if it was learned.
    given: bool,
    delays: Vec<SavedDelayEntry>,
}

/// The delay of some pairs of locations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedDelayEntry {
    /// The id of the cause's location; none given: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    /// The id of the effect's location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class: Option<SavedClass>,
    /// The latency.
    ticks: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<Bandwidth>,
}

/// A class of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SavedClass {
    WithinProcess,
    WithinNode,
    BetweenNodes,
}

const CLASSES: [(SavedClass, PairClass); 3] = [
    (SavedClass::WithinProcess, PairClass::WithinProcess),
    (SavedClass::WithinNode, PairClass::WithinNode),
    (SavedClass::BetweenNodes, PairClass::BetweenNodes),
];

/// A longer latency than this cannot be meant, and overflows nothing.
const LONGEST: u64 = 1 << 60;

impl SavedDelay {
    /// A delay as it is saved, for the locations of a trace.
    pub(crate) fn of(delay: &MinimalDelay, given: bool, info: &TraceInfo) -> Self {
        let delays = match delay {
            MinimalDelay::Uniform(latency) => vec![SavedDelayEntry::of(&(*latency).into())],
            MinimalDelay::ByLength(line) => vec![SavedDelayEntry::of(line)],
            MinimalDelay::PerPair(table) => in_table(table, info),
        };
        Self { given, delays }
    }

    /// The delay for a trace, read from `path`.
    pub(crate) fn asked(&self, path: &Path, info: &TraceInfo) -> Result<AskedDelay, CliError> {
        let wrong = |what: String| CliError::input(path, format!("min_delay {what}"));
        let delay = self.delay(info).map_err(wrong)?;
        Ok(if self.given {
            AskedDelay::Given(delay)
        } else {
            AskedDelay::LearnedBefore(delay)
        })
    }

    fn delay(&self, info: &TraceInfo) -> Result<MinimalDelay, String> {
        if let [only] = &self.delays[..]
            && (only.from, only.to, only.class) == (None, None, None)
        {
            let line = only.line(info)?;
            return Ok(match line.bandwidth() {
                Some(_) => MinimalDelay::ByLength(line),
                None => MinimalDelay::Uniform(line.latency),
            });
        }
        let mut table = DelayTable::of(info);
        let index = |id: u64| info.locations.iter().position(|it| it.id == id);
        for entry in &self.delays {
            let line = entry.line(info)?;
            let named = [entry.from, entry.to].map(|id| id.map(index));
            match (entry.class, named) {
                // The trace lacks a location, as one may that it is applied to.
                (_, [Some(None), _] | [_, Some(None)]) => {}
                (None, [from, to]) => {
                    let location = |it: Option<Option<usize>>| Some(LocationIndex(it?? as u32));
                    table.set(location(from), location(to), line);
                }
                (Some(class), [None, None]) => {
                    let known = CLASSES.iter().find(|it| it.0 == class);
                    if let Some((_, class)) = known {
                        table.set_class(*class, line);
                    }
                }
                (Some(_), _) => return Err("has an entry for locations and for a class".into()),
            }
        }
        Ok(MinimalDelay::PerPair(table))
    }

    /// True if it depends on the lengths of messages.
    pub(crate) fn is_by_length(&self) -> bool {
        self.delays.iter().any(|it| it.bytes_per_second.is_some())
    }
}

/// The entries of a table.
fn in_table(table: &DelayTable, info: &TraceInfo) -> Vec<SavedDelayEntry> {
    let id = |it: Option<LocationIndex>| Some(info.locations.get(it?.as_usize())?.id);
    let pairs = table.pairs().into_iter();
    let pairs = pairs.map(|(from, to, line)| SavedDelayEntry {
        from: id(from),
        to: id(to),
        ..SavedDelayEntry::of(&line)
    });
    let classes = CLASSES.iter().filter_map(|&(class, of)| {
        Some(SavedDelayEntry {
            class: Some(class),
            ..SavedDelayEntry::of(&table.of_class(of)?)
        })
    });
    pairs.chain(classes).collect()
}

impl SavedDelayEntry {
    /// For all pairs.
    fn of(line: &DelayByLength) -> Self {
        Self {
            ticks: line.latency.0.unsigned_abs(),
            bytes_per_second: line.bandwidth(),
            ..Self::default()
        }
    }

    fn line(&self, info: &TraceInfo) -> Result<DelayByLength, String> {
        if self.ticks > LONGEST {
            return Err(format!(
                "has a delay of {} ticks; give at most 2^60",
                self.ticks
            ));
        }
        let latency = Ticks(self.ticks as i64);
        Ok(match self.bytes_per_second {
            Some(bandwidth) => DelayByLength::new(latency, bandwidth, info.rate),
            None => latency.into(),
        })
    }
}
