//! One pass over the events of a location.
//!
//! Events are read in their order; what is entered and not yet left is a stack. Whoever
//! looks at the events is told of each stretch between two of them with the call on top
//! of that stack, of each call when it is left, and in which call each node happened.
//!
//! A call that is never left ends with the last event; leaving what was not entered does
//! nothing. Events stamped before their predecessor stand where that stands, as in a
//! corrected trace.

use std::io;

use retime::format::{CorrectedEvent, CorrectedEvents, FormatError, Passage};
use retime::{Correction, LocationIndex, Monitor};
use rustc_hash::FxHashMap;

use crate::around::LocationCalls;
use crate::call::{Call, Moment, Open};
use crate::facts::{FactsWanted, LocationFacts, NotedFacts};
use crate::levels::{Builder, CallFile, Levels};
use crate::places::Place;
use crate::slices::Collector;
use crate::strip::Buckets;
use crate::{Lane, Lanes, Subject};

/// So many events between two looks whether to stop.
const STEP: u64 = 1 << 14;

/// The request for all locations: which places are drawn, and on which lanes.
pub(crate) struct Wanted<'a> {
    pub(crate) places: &'a [Place],
    pub(crate) lanes: &'a Lanes,
    /// Takes all calls of lanes, if these are wanted.
    pub(crate) file: Option<&'a CallFile>,
    pub(crate) facts: FactsWanted,
    pub(crate) correction: Option<&'a Correction>,
}

impl<'a> Wanted<'a> {
    pub(crate) fn new(
        subject: &Subject<'a>,
        places: &'a [Place],
        lanes: &'a Lanes,
        facts: FactsWanted,
    ) -> Self {
        Self {
            facts,
            places,
            lanes,
            file: None,
            correction: subject.corrected.map(|it| it.correction),
        }
    }
}

/// The findings of a pass over a location.
pub(crate) struct Passed {
    pub(crate) calls: LocationCalls,
    /// The facts about its events that are kept in memory.
    pub(crate) facts: NotedFacts,
    /// If the location is shown.
    pub(crate) drawn: Option<Drawn>,
    /// Ticks spent in each region, calls in it aside.
    pub(crate) spent: FxHashMap<u32, u64>,
}

/// The drawing of a location.
pub(crate) struct Drawn {
    /// Its calls in each of the places.
    pub(crate) collectors: Vec<Collector>,
    /// The region in which it spent most of each bucket of time.
    pub(crate) buckets: Buckets,
    /// All of its calls.
    pub(crate) levels: Option<Levels>,
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
    let mut events = CorrectedEvents::open(subject.trace, location, wanted.correction)?;
    let lane = wanted.lanes.lane_of(location);
    let extent = nodes.extent(location.as_usize());
    let lane = lane.and_then(|it| wanted.lanes.shown.get(it));
    let drawing = lane.zip(extent).map(|(lane, extent)| {
        let ends = [extent.first, extent.last].map(|it| nodes.relative(it).0);
        Drawing::new(lane, ends, wanted)
    });
    let own = nodes.of(location.as_usize());
    let mut pass = Pass {
        stack: Vec::new(),
        at: None,
        last: 0,
        facts: LocationFacts::new(nodes.events(&own), own.clone(), &wanted.facts),
        calls: LocationCalls::new(nodes.events(&own)),
        spent: FxHashMap::default(),
        lately: (0, 0),
        drawing,
    };
    while let Some(event) = events.read()? {
        pass.take(&event, subject).map_err(FormatError::failed)?;
        if events.count().is_multiple_of(STEP) {
            monitor.check()?;
            monitor.advance(bytes_of(STEP));
        }
    }
    pass.finish().map_err(FormatError::failed)
}

/// The number of an event; those of an analysis have 32 bits, too.
fn numbered(event: u64) -> u32 {
    u32::try_from(event).unwrap_or(u32::MAX)
}

/// Where an event stands.
fn moment(event: &CorrectedEvent, subject: &Subject<'_>) -> Moment {
    let nodes = subject.nodes();
    let recorded = nodes.relative(event.latest).0;
    let added = event.corrected.map(|it| nodes.relative(it).0 - recorded);
    Moment {
        recorded,
        added: added.unwrap_or_default(),
    }
}

/// The drawing of a location, while its events are read.
struct Drawing<'a> {
    collectors: Vec<Collector>,
    buckets: Buckets,
    levels: Option<Builder<'a>>,
}

impl<'a> Drawing<'a> {
    /// Begins the drawing of a lane, given the times of its first and last event.
    fn new(lane: &Lane, [first, last]: [i64; 2], wanted: &'a Wanted<'_>) -> Self {
        let lanes = wanted.lanes.len();
        let levels = |file| Builder::new(file, first, last, lanes);
        Self {
            collectors: Collector::of_places(wanted.places, lane, lanes),
            buckets: Buckets::new(first, last, lanes),
            levels: wanted.file.map(levels),
        }
    }

    /// From one event to the next.
    fn stretch(&mut self, from: i64, to: i64, region: u32) {
        self.buckets.add(from, to, region);
        if let Some(levels) = &mut self.levels {
            levels.add(from, to, region);
        }
    }

    fn left(&mut self, call: Call) -> io::Result<()> {
        for collector in &mut self.collectors {
            collector.offer(call);
        }
        match &mut self.levels {
            Some(levels) => levels.left(call),
            None => Ok(()),
        }
    }

    fn finish(self) -> io::Result<Drawn> {
        Ok(Drawn {
            collectors: self.collectors,
            buckets: self.buckets.filled(),
            levels: self.levels.map(Builder::finish).transpose()?,
        })
    }
}

struct Pass<'a> {
    stack: Vec<Open>,
    /// The last event.
    at: Option<Moment>,
    /// The number of the last event.
    last: u32,
    facts: LocationFacts<'a>,
    calls: LocationCalls,
    spent: FxHashMap<u32, u64>,
    /// The region on top lately, and the ticks in it that are not in `spent` yet.
    lately: (u32, u64),
    drawing: Option<Drawing<'a>>,
}

impl Pass<'_> {
    fn take(&mut self, event: &CorrectedEvent, subject: &Subject<'_>) -> io::Result<()> {
        let (row, moment) = (&event.row, moment(event, subject));
        if let Some(last) = self.at.replace(moment) {
            self.stretch(last, moment);
        }
        if let (Some(Passage::Enter), Some(region)) = (row.passage, row.region) {
            self.stack.push(Open {
                region,
                begin: moment,
                first: numbered(event.number),
            });
        }
        self.last = numbered(event.number);
        self.calls.event(event.number, moment, &self.stack);
        self.facts.event(event.number, row, &self.stack)?;
        if row.passage == Some(Passage::Leave) {
            let is_left = |it: &Open| Some(it.region) == row.region;
            let left = self.stack.iter().rposition(is_left);
            let depth = left.unwrap_or(self.stack.len());
            self.close(depth, moment)?;
        }
        Ok(())
    }

    /// From one event to the next.
    fn stretch(&mut self, from: Moment, to: Moment) {
        let Some(&Open { region, .. }) = self.stack.last() else {
            return;
        };
        let length = (to.recorded - from.recorded) as u64;
        if self.lately.0 != region {
            self.settle(region);
        }
        self.lately.1 += length;
        if let Some(drawing) = &mut self.drawing {
            drawing.stretch(from.recorded, to.recorded, region);
        }
    }

    /// Notes what was spent in the region that was looked at lately, and goes on with
    /// another.
    fn settle(&mut self, next: u32) {
        let (region, ticks) = std::mem::replace(&mut self.lately, (next, 0));
        if ticks > 0 {
            *self.spent.entry(region).or_default() += ticks;
        }
    }

    /// Leaves all calls in at least so many others.
    fn close(&mut self, depth: usize, end: Moment) -> io::Result<()> {
        while self.stack.len() > depth
            && let Some(Open {
                region,
                begin,
                first,
            }) = self.stack.pop()
        {
            let depth = self.stack.len();
            self.calls.left(depth, end);
            let call = Call {
                region,
                begin,
                end,
                first,
                last: self.last,
                depth: u16::try_from(depth).unwrap_or(u16::MAX),
            };
            if let Some(drawing) = &mut self.drawing {
                drawing.left(call)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<Passed> {
        if let Some(end) = self.at {
            self.close(0, end)?;
        }
        self.settle(0);
        Ok(Passed {
            calls: self.calls,
            facts: self.facts.finish()?,
            drawn: self.drawing.map(Drawing::finish).transpose()?,
            spent: self.spent,
        })
    }
}
