//! Why computed times make no correction.

use super::point::Point;
use retime_model::{Cancelled, LocationIndex, MapError, Timestamp, TraceInfo};

/// Why computed times make no [`Correction`](retime_model::Correction). Locations have no
/// names here: [`describe`](Self::describe) says the same with them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CorrectionError {
    /// A point has an earlier stamp or an earlier corrected stamp than the one
    /// before it.
    #[error("computed times are out of order: {point} comes after {before}")]
    Unordered {
        /// The point that was added
        point: Point,
        /// after this one.
        before: Point,
    },
    /// The points rise, but the events of one location that share a stamp do not.
    #[error("computed times make no map of a clock: {0}")]
    NoMap(#[from] MapError),
    /// A corrected stamp does not fit into 64 bits, or lies `2^62` ticks or more after
    /// the first of the trace, further than is computed with.
    #[error("{} would be corrected to a time that does not fit into 64 bits", named(*.raw, *.event))]
    TooFar {
        /// Stamp as recorded.
        raw: Timestamp,
        /// Whose event; `None` for a bend of the map without an event.
        event: Option<(LocationIndex, u64)>,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl CorrectionError {
    /// In words, with the names of locations.
    pub fn describe(&self, info: &TraceInfo) -> String {
        let of = match self {
            Self::Unordered { point, .. } => point.event,
            Self::TooFar { event, .. } => *event,
            Self::NoMap(_) | Self::Cancelled(_) => None,
        };
        match of {
            Some((location, _)) => format!("{self} ({})", info.describe(location)),
            None => self.to_string(),
        }
    }
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            raw,
            corrected,
            event,
        } = *self;
        write!(f, "{}, corrected to {corrected}", named(raw, event))
    }
}

fn named(raw: Timestamp, event: Option<(LocationIndex, u64)>) -> String {
    match event {
        Some((LocationIndex(location), event)) => {
            format!("event {event} of location #{location}, at {raw},")
        }
        None => format!("the stamp {raw}"),
    }
}
