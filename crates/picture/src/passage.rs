//! One pass over the events of a location.
//!
//! Events are read in their order; what is entered and not yet left is a stack. Whoever
//! looks at the events is told of each stretch between two of them with the call on top
//! of that stack, of each call when it is left, and in which call each node happened.
//!
//! A call that is never left ends with the last event; leaving what was not entered does
//! nothing. Events stamped before their predecessor stand where that stands, as in a
//! corrected trace.

use retime::format::{EventRow, FormatError, Passage};
use retime::{Correction, LocationIndex, MapCursor, Monitor, Timestamp};
use rustc_hash::FxHashMap;

use crate::around::LocationCalls;
use crate::call::{Call, Moment, Open};
use crate::places::Place;
use crate::slices::Collector;
use crate::strip::Buckets;
use crate::{Lanes, Subject};

/// So many events between two looks whether to stop.
const STEP: u64 = 1 << 14;

/// What is wanted of all locations.
pub(crate) struct Wanted<'a> {
    pub(crate) places: &'a [Place],
    pub(crate) lanes: &'a Lanes,
    correction: Option<&'a Correction>,
}

impl<'a> Wanted<'a> {
    pub(crate) fn new(subject: &Subject<'a>, places: &'a [Place], lanes: &'a Lanes) -> Self {
        Self {
            places,
            lanes,
            correction: subject.corrected.map(|it| it.correction),
        }
    }
}

/// What was found at a location.
pub(crate) struct Passed {
    pub(crate) calls: LocationCalls,
    /// If the location is shown: its calls in each of the places, and what it did most
    /// of the time.
    pub(crate) drawn: Option<(Vec<Collector>, Buckets)>,
    /// Ticks spent in each region, calls in it aside.
    pub(crate) spent: FxHashMap<u32, u64>,
}

/// Reads the events of a location.
pub(crate) fn through(
    location: LocationIndex,
    subject: &Subject<'_>,
    wanted: &Wanted<'_>,
    monitor: &dyn Monitor,
) -> Result<Passed, FormatError> {
    let nodes = subject.nodes();
    let all: u64 = (0..nodes.locations()).map(|it| nodes.event_count(it)).sum();
    let bytes_of = |events: u64| {
        let bytes = u128::from(subject.trace.bytes()) * u128::from(events);
        (bytes / u128::from(all.max(1))) as u64
    };
    let mut rows = subject.trace.rows(location)?;
    let lane = wanted.lanes.lane_of(location);
    let extent = nodes.extent(location.as_usize());
    let lane = lane.and_then(|it| wanted.lanes.shown.get(it));
    let drawn = lane.zip(extent).map(|(lane, extent)| {
        let (first, last) = (
            nodes.relative(extent.first).0,
            nodes.relative(extent.last).0,
        );
        let collectors = Collector::of_places(wanted.places, lane, wanted.lanes.len());
        (collectors, Buckets::new(first, last, wanted.lanes.len()))
    });
    let own = nodes.of(location.as_usize());
    let mut pass = Pass {
        clock: Clock {
            map: wanted
                .correction
                .map(|it| it.map_of(location).cursor(location)),
            latest: Timestamp(0),
        },
        stack: Vec::new(),
        at: None,
        passed: Passed {
            calls: LocationCalls::new(nodes.events(&own)),
            drawn,
            spent: FxHashMap::default(),
        },
    };
    let mut event = 0;
    while let Some(row) = rows.next_row()? {
        pass.take(&row, event, subject);
        event += 1;
        if event.is_multiple_of(STEP) {
            monitor.check()?;
            monitor.advance(bytes_of(STEP));
        }
    }
    Ok(pass.finish())
}

/// Where events of a location stand.
struct Clock<'a> {
    /// To corrected times, if there are any.
    map: Option<MapCursor<'a>>,
    latest: Timestamp,
}

impl Clock<'_> {
    fn moment(&mut self, row: &EventRow, event: u64, subject: &Subject<'_>) -> Moment {
        self.latest = self.latest.max(row.time);
        let nodes = subject.nodes();
        let recorded = nodes.relative(self.latest).0;
        let corrected = self.map.as_mut().and_then(|it| it.map(event, self.latest));
        Moment {
            recorded,
            added: corrected.map_or(0, |it| nodes.relative(it).0 - recorded),
        }
    }
}

struct Pass<'a> {
    clock: Clock<'a>,
    stack: Vec<Open>,
    /// The last event.
    at: Option<Moment>,
    passed: Passed,
}

impl Pass<'_> {
    fn take(&mut self, row: &EventRow, event: u64, subject: &Subject<'_>) {
        let moment = self.clock.moment(row, event, subject);
        if let Some(last) = self.at.replace(moment) {
            self.stretch(last, moment);
        }
        if let (Some(Passage::Enter), Some(region)) = (row.passage, row.region) {
            let begin = moment;
            self.stack.push(Open { region, begin });
        }
        self.passed.calls.event(event, moment, &self.stack);
        if row.passage == Some(Passage::Leave)
            && let Some(at) = self
                .stack
                .iter()
                .rposition(|it| Some(it.region) == row.region)
        {
            while self.stack.len() > at {
                self.close(moment);
            }
        }
    }

    /// From one event to the next.
    fn stretch(&mut self, from: Moment, to: Moment) {
        let Some(top) = self.stack.last() else {
            return;
        };
        let length = (to.recorded - from.recorded) as u64;
        *self.passed.spent.entry(top.region).or_default() += length;
        if let Some((_, buckets)) = &mut self.passed.drawn {
            buckets.add(from.recorded, to.recorded, top.region);
        }
    }

    /// Leaves the call on top.
    fn close(&mut self, end: Moment) {
        let Some(Open { region, begin }) = self.stack.pop() else {
            return;
        };
        let depth = self.stack.len();
        let call = Call {
            region,
            begin,
            end,
            depth: u16::try_from(depth).unwrap_or(u16::MAX),
        };
        self.passed.calls.left(depth, end);
        if let Some((collectors, _)) = &mut self.passed.drawn {
            for collector in collectors {
                collector.offer(call);
            }
        }
    }

    fn finish(mut self) -> Passed {
        if let Some(end) = self.at {
            while !self.stack.is_empty() {
                self.close(end);
            }
        }
        self.passed
    }
}
