//! One pass over the events of a location.
//!
//! Events are read in their order; what is entered and not yet left is a stack. Whoever
//! looks at the events is told of each stretch between two of them with the call on top
//! of that stack, of each call when it is left, and in which call each node happened.
//!
//! A call that is never left ends with the last event; leaving what was not entered does
//! nothing. Events stamped before their predecessor stand where that stands, as in a
//! corrected trace.

use std::fs::File;
use std::io;

use retime::format::{CorrectedEvent, CorrectedEvents, FormatError, Passage};
use retime::{Correction, LocationIndex, Monitor};
use rustc_hash::FxHashMap;

use crate::around::LocationCalls;
use crate::call::{Call, Moment, Open};
use crate::levels::{Builder, Levels};
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
    /// Makes a temporary file for each lane, if all of its calls are wanted.
    pub(crate) file: Option<&'a (dyn Fn() -> io::Result<File> + Sync)>,
    correction: Option<&'a Correction>,
}

impl<'a> Wanted<'a> {
    pub(crate) fn new(subject: &Subject<'a>, places: &'a [Place], lanes: &'a Lanes) -> Self {
        Self {
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
    let drawing = drawing.transpose().map_err(FormatError::failed)?;
    let own = nodes.of(location.as_usize());
    let mut pass = Pass {
        stack: Vec::new(),
        at: None,
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
struct Drawing {
    collectors: Vec<Collector>,
    buckets: Buckets,
    levels: Option<Builder>,
}

impl Drawing {
    /// Begins the drawing of a lane, given the times of its first and last event.
    fn new(lane: &Lane, [first, last]: [i64; 2], wanted: &Wanted<'_>) -> io::Result<Self> {
        let lanes = wanted.lanes.len();
        let file = wanted.file.map(|make| make()).transpose()?;
        Ok(Self {
            collectors: Collector::of_places(wanted.places, lane, lanes),
            buckets: Buckets::new(first, last, lanes),
            levels: file.map(|file| Builder::new(file, first, last)),
        })
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

struct Pass {
    stack: Vec<Open>,
    /// The last event.
    at: Option<Moment>,
    calls: LocationCalls,
    spent: FxHashMap<u32, u64>,
    /// The region on top lately, and the ticks in it that are not in `spent` yet.
    lately: (u32, u64),
    drawing: Option<Drawing>,
}

impl Pass {
    fn take(&mut self, event: &CorrectedEvent, subject: &Subject<'_>) -> io::Result<()> {
        let (row, moment) = (&event.row, moment(event, subject));
        if let Some(last) = self.at.replace(moment) {
            self.stretch(last, moment);
        }
        if let (Some(Passage::Enter), Some(region)) = (row.passage, row.region) {
            let begin = moment;
            self.stack.push(Open { region, begin });
        }
        self.calls.event(event.number, moment, &self.stack);
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
            && let Some(Open { region, begin }) = self.stack.pop()
        {
            let depth = self.stack.len();
            self.calls.left(depth, end);
            let call = Call {
                region,
                begin,
                end,
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
            drawn: self.drawing.map(Drawing::finish).transpose()?,
            spent: self.spent,
        })
    }
}
