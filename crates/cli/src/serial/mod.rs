//! All events of a trace in one order, read as they are wanted.
//!
//! ```text
//! CorrectedEvents per location --> Serializer --> Row --> text, CSV, JSON lines
//! ```
//!
//! What is in memory of each location is up to the format, besides what is known
//! of causality.

pub(crate) mod line;
mod row;

use retime::format::{CorrectedEvents, Trace};
use retime::order::Serializer;
use retime::{Causality, Correction, LocationIndex, TraceInfo};

use crate::error::CliError;
use crate::progress::check_interrupt;
pub(crate) use row::Row;

/// So many events between two looks whether the user wants to stop.
const STEP: u64 = 1 << 14;

/// A trace to list.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    pub(crate) trace: &'a dyn Trace,
    pub(crate) info: &'a TraceInfo,
    /// The causality of the times that are listed, so of corrected ones if these are.
    pub(crate) causality: &'a Causality,
}

/// One location on its way through its events.
struct Lane<'a> {
    events: CorrectedEvents<'a>,
    row: Row,
}

/// Visits all events of a trace in one order, until `visit` says false. Returns how
/// many could not wait for a cause of the same time.
///
/// With a correction times are corrected, and the causality has to be that of the
/// corrected times.
pub(crate) fn each_event(
    listed: Listed<'_>,
    correction: Option<&Correction>,
    mut visit: impl FnMut(&Row) -> Result<bool, CliError>,
) -> Result<u64, CliError> {
    let mut order = Serializer::new(listed.causality);
    let mut lanes = Vec::new();
    for location in (0..listed.info.locations.len() as u32).map(LocationIndex) {
        let mut lane = Lane::open(listed.trace, location, correction)?;
        if lane.advance()? {
            order.offer(location, lane.row.time);
        }
        lanes.push(lane);
    }
    let mut visited = 0_u64;
    while let Some(next) = order.pop() {
        let Some(lane) = lanes.get_mut(next.location.as_usize()) else {
            break;
        };
        lane.row.moment = next.time;
        lane.row.take_part(next.node, listed);
        if !visit(&lane.row)? {
            break;
        }
        if lane.advance()? {
            order.offer(next.location, lane.row.time);
        }
        visited += 1;
        if visited.is_multiple_of(STEP) {
            check_interrupt()?;
        }
    }
    Ok(order.forced())
}

impl<'a> Lane<'a> {
    fn open(
        trace: &'a dyn Trace,
        location: LocationIndex,
        correction: Option<&'a Correction>,
    ) -> Result<Self, CliError> {
        Ok(Self {
            events: CorrectedEvents::open(trace, location, correction)?,
            row: Row::before(location),
        })
    }

    /// Reads the next event; false at the end.
    fn advance(&mut self) -> Result<bool, CliError> {
        let Some(event) = self.events.read()? else {
            return Ok(false);
        };
        self.row.read(&event);
        Ok(true)
    }
}
