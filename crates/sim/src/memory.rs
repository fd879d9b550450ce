//! Simulated traces that need no files.
//!
//! [`InMemory`] holds what a scan of the written trace would find, so that
//! algorithms can be run on it at once, and what no scan can find: the true
//! time of every node and the true dependencies. The latter come from the
//! simulation's own book-keeping, not from the matching that they may test.
//!
//! Nodes are numbered as in [`retime_causality::Nodes`]: the events with a
//! role of the first location, then those of the second, and so on.

use std::ops::Range;

use retime_causality::{
    Causality, CausalityError, CausalityOptions, EventNode, LocationLog, LogBuilder, LogNode,
};
use retime_model::{LocationIndex, TickRate, Timestamp, TraceInfo};

use crate::{
    clock::{Clock, Reader, Timer},
    dependencies::Dependencies,
    event::{Event, Sink},
    failure::{Error, Result},
    layout::Layout,
    roles,
    scenario::Statistics,
};

/// A simulated trace, as a scan would find it, with the truth.
#[derive(Debug)]
pub struct InMemory {
    /// The simulation.
    pub statistics: Statistics,
    /// Description of the trace.
    pub info: TraceInfo,
    /// The log of each location, with stamps of its clock.
    pub logs: Vec<LocationLog>,
    /// The stamp of each node, in ticks.
    pub stamps: Vec<Timestamp>,
    /// The true time of each node, in ticks.
    pub truth: Vec<Timestamp>,
    /// Send and receive of each message, by location of the receiver.
    pub messages: Vec<(EventNode, EventNode)>,
    /// Begin and end of each participant, for each collective operation. All
    /// of them make everybody wait for everybody.
    pub collectives: Vec<Vec<(EventNode, EventNode)>>,
    /// The first node of each location, and that after the last.
    first: Vec<EventNode>,
}

impl InMemory {
    /// The nodes of a location, by their places in columns.
    pub fn of_location(&self, location: usize) -> Range<usize> {
        let first = |location: usize| {
            let first = self.first.get(location).or(self.first.last());
            first.map_or(0, |node| node.index())
        };
        first(location)..first(location + 1)
    }

    /// Joins the logs, which are used up.
    pub fn causality(&mut self) -> Result<Causality, CausalityError> {
        let logs = std::mem::take(&mut self.logs);
        Causality::build(&self.info, logs, CausalityOptions::default())
    }
}

/// Collects what a scan would find.
pub(crate) struct MemorySink {
    layout: Layout,
    timer: Timer,
    info: TraceInfo,
    locations: Vec<RecordedLog>,
    dependencies: Dependencies,
}

struct RecordedLog {
    clock: Reader,
    log: LogBuilder,
    stamps: Vec<Timestamp>,
    truth: Vec<Timestamp>,
    /// Number of events so far.
    events: u64,
    first: u64,
    latest: u64,
}

impl MemorySink {
    pub(crate) fn new(layout: Layout, clocks: &[Clock], timer: Timer) -> Result<Self> {
        let rate = TickRate::per_second(timer.resolution);
        let rate = rate.ok_or(Error::Zero("the resolution"))?;
        let thread = |location: usize| {
            let mut log = LogBuilder::new(LocationIndex(location as u32));
            log.is_thread();
            log
        };
        let recorded = |location: usize| RecordedLog {
            clock: clocks[layout.rank_of(location) as usize].reader(),
            log: thread(location),
            stamps: Vec::new(),
            truth: Vec::new(),
            events: 0,
            first: 0,
            latest: 0,
        };
        Ok(Self {
            info: layout.describe(rate),
            locations: (0..layout.locations()).map(recorded).collect(),
            dependencies: Dependencies::new(layout),
            layout,
            timer,
        })
    }

    pub(crate) fn finish(self, statistics: Statistics) -> Result<InMemory> {
        let mut first = vec![EventNode(0)];
        let (mut logs, mut stamps, mut truth) = (Vec::new(), Vec::new(), Vec::new());
        for mut recorded in self.locations {
            let range = (Timestamp(recorded.first), Timestamp(recorded.latest));
            logs.push(recorded.log.finish(recorded.events, range.0, range.1)?);
            stamps.append(&mut recorded.stamps);
            truth.append(&mut recorded.truth);
            first.push(EventNode(stamps.len() as u32));
        }
        Ok(InMemory {
            statistics,
            info: self.info,
            messages: self.dependencies.messages(&first),
            collectives: self.dependencies.collectives(&first),
            logs,
            stamps,
            truth,
            first,
        })
    }
}

impl Sink for MemorySink {
    fn event(&mut self, location: usize, time: u64, event: Event) -> Result<()> {
        let rank = self.layout.rank_of(location);
        let recorded = &mut self.locations[location];
        let stamp = self.timer.stamp(rank, recorded.clock.show(time))?;
        let truth = self.timer.stamp(rank, time as i64)?;
        recorded.take(stamp);
        let nodes = recorded.log.len();
        let (number, time) = (recorded.events, Timestamp(recorded.latest));
        roles::report(event, number, time, self.layout.threads, &mut recorded.log);
        let is_node = recorded.log.len() > nodes;
        if is_node {
            recorded.stamps.push(Timestamp(recorded.latest));
            recorded.truth.push(Timestamp(truth));
        }
        let node = is_node.then_some(LogNode(nodes as u32));
        self.dependencies.add(location, node, event);
        recorded.events += 1;
        Ok(())
    }
}

impl RecordedLog {
    /// A scan takes a stamp earlier than the one before it for as late.
    fn take(&mut self, stamp: u64) {
        if self.events == 0 {
            self.first = stamp;
        }
        if stamp < self.latest {
            self.log.stamped_backwards(self.events);
        } else {
            self.latest = stamp;
        }
    }
}
