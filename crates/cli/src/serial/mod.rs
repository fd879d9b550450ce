//! All events of a trace in one order, read as they are wanted.
//!
//! ```text
//! EventReader per location --> Serializer --> Row --> text, CSV, JSON lines
//! ```
//!
//! One chunk of each location's file is in memory, besides what is known of
//! causality, and one file is open for each location.

pub(crate) mod line;
mod row;

use retime::order::Serializer;
use retime::{Causality, Correction, LocationIndex, MapCursor, Timestamp};
use retime_otf2::{EventReader, Otf2Trace};

use crate::error::CliError;
use crate::progress::check_interrupt;
pub(crate) use row::Row;

/// So many events between two looks whether the user wants to stop.
const STEP: u64 = 1 << 14;

/// One location on its way through its file.
struct Lane<'a> {
    reader: EventReader,
    /// To corrected times, if they are asked for.
    map: Option<MapCursor<'a>>,
    event: u64,
    latest: u64,
    row: Row,
}

/// Visits all events of a trace in one order, until `visit` says false. Returns how
/// many could not wait for a cause of the same time.
///
/// With a correction times are corrected, and `causality` has to be that of the
/// corrected times.
pub(crate) fn each_event(
    trace: &Otf2Trace,
    causality: &Causality,
    correction: Option<&Correction>,
    mut visit: impl FnMut(&Row) -> Result<bool, CliError>,
) -> Result<u64, CliError> {
    let mut order = Serializer::new(causality);
    let mut lanes = Vec::new();
    for location in trace.locations() {
        let mut lane = Lane::open(trace, location, correction)?;
        if lane.advance(trace)? {
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
        lane.row.take_part(next.node, trace, causality);
        if !visit(&lane.row)? {
            break;
        }
        if lane.advance(trace)? {
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
        trace: &Otf2Trace,
        location: LocationIndex,
        correction: Option<&'a Correction>,
    ) -> Result<Self, CliError> {
        let reader = EventReader::mapped(trace.archive(), trace.local(location)?)?;
        Ok(Self {
            reader,
            map: correction.map(|it| it.map_of(location).cursor(location)),
            event: 0,
            latest: 0,
            row: Row::before(location),
        })
    }

    /// Reads the next event; false at the end.
    fn advance(&mut self, trace: &Otf2Trace) -> Result<bool, CliError> {
        let Some(event) = self.reader.next()? else {
            return Ok(false);
        };
        self.row.read(&event, self.event, trace)?;
        if let Some(map) = &mut self.map {
            self.latest = self.latest.max(event.time);
            let corrected = map.map(self.event, Timestamp(self.latest));
            self.row.time = corrected.ok_or_else(|| {
                let path = trace.archive().anchor_path();
                CliError::input(path, "corrected time stamps do not fit into 64 bits")
            })?;
        }
        self.event += 1;
        Ok(true)
    }
}
