//! A location on its way through its events: what is entered, left and hit by arrows.
//!
//! ```text
//! CorrectedEvent --> time, never falling --> window --> nesting --> Encoder
//! ```
//!
//! Of a stretch of time the regions that are open at its beginning begin there, and those
//! open at its end end there. An arrow begins and ends at points, slices without length at
//! the times of its events, since viewers tell the direction and the time of an arrow from
//! where the slices at its ends begin and end; only where an arrow from the same process arrives just as a region is
//! entered is its slice the end. Without an arrow an event that communicates is a point
//! where the trace says something of it, and where no region says that it communicates: where
//! it is in none, or in one that others are in.
//!
//! Of two ends at one time readers take that for the cause which comes first in the file. So
//! an effect at the time of its cause is written behind all else of all locations. A cause is
//! never an effect, so more order is not needed.

use std::cmp::Ordering;

use retime::causality::{EventNode, Ids};
use retime::format::{CorrectedEvent, CorrectedEvents, EventRow, OperationFacts, Passage};
use retime::{LocationIndex, Timestamp};

use crate::axis::Axis;
use crate::encoder::{Encoder, End, Moment, Name, Names, Point};
use crate::error::ExportError;
use crate::facts::Facts;
use crate::nesting::Nesting;
use crate::shown::Exported;
use crate::summary::Summary;
use crate::view::View;
use crate::window::Window;

/// The effect of something at the same time.
struct Late {
    moment: Moment,
    kind: &'static str,
    end: End,
    facts: Facts,
}

/// A location that is being written.
pub(crate) struct Lane<'a, E> {
    events: CorrectedEvents<'a>,
    names: Names<'a>,
    axis: Axis,
    view: &'a View<'a>,
    window: Window,
    encoder: E,
    nesting: Nesting,
    /// The latest time of the view so far.
    now: Timestamp,
    /// Nodes that are still to come, and the first arrow of the first of them.
    ahead: Ids<EventNode>,
    arrow: usize,
    ends: Vec<End>,
    /// The facts that files state about the operations at nodes ahead, if they do.
    operations: std::vec::IntoIter<OperationFacts>,
    /// Points to be written behind all else.
    late: Vec<Late>,
    /// When the last slice began, if nothing was written since.
    begun: Option<u64>,
    /// True if the window was entered.
    is_inside: bool,
    is_over: bool,
    /// The process of each location.
    processes: &'a [usize],
    pub(crate) summary: Summary,
}

impl<'a, E: Encoder> Lane<'a, E> {
    pub(crate) fn open(
        view: &'a View<'a>,
        exported: &Exported<'a>,
        axis: Axis,
        location: LocationIndex,
        encoder: E,
    ) -> Result<Self, ExportError> {
        let ahead = view.causality.nodes().of(location.as_usize());
        let first = ahead.first().map(|it| view.arrows.first_from(it));
        let numbers = view.causality.nodes().events(&ahead);
        let operations = if exported.trace.rows_tell_operations() {
            Vec::new()
        } else {
            exported.trace.operations(location, numbers)
        };
        Ok(Self {
            events: CorrectedEvents::open(exported.trace, location, view.correction)?,
            names: exported.trace,
            axis,
            view,
            window: view.window,
            encoder,
            nesting: Nesting::default(),
            now: Timestamp(0),
            ahead,
            arrow: first.unwrap_or_default(),
            ends: Vec::new(),
            operations: operations.into_iter(),
            late: Vec::new(),
            begun: None,
            is_inside: false,
            is_over: false,
            processes: &view.processes,
            summary: Summary::default(),
        })
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Goes on until about `size` bytes are written; how many events it has passed.
    pub(crate) fn fill(&mut self, out: &mut Vec<u8>, size: usize) -> Result<u64, ExportError> {
        let before = self.events.count();
        while out.len() < size && !self.is_over {
            match self.events.read()? {
                Some(event) => self.take(out, &event),
                None => self.finish(out, self.now),
            }
            // Of a stretch of time most events are passed without a word.
            if self.events.count() - before >= size as u64 {
                break;
            }
        }
        Ok(self.events.count() - before)
    }

    fn take(&mut self, out: &mut Vec<u8>, event: &CorrectedEvent) {
        let row = &event.row;
        let time = self.now.max(event.corrected.unwrap_or(event.latest));
        if time > self.window.to {
            self.finish(out, self.window.to);
            return;
        }
        self.now = time;
        if !self.is_inside && time >= self.window.from {
            self.step_inside(out);
        }
        let moment = self.moment(time, row.time);
        let name = row.region.map_or(Name::Kind(row.kind), Name::Region);
        if row.passage == Some(Passage::Enter) {
            self.enter(out, moment, name);
        }
        // Where a call itself communicates, its end does so while it is still in it.
        self.communicate(out, moment, event);
        if row.passage == Some(Passage::Leave) {
            self.leave(out, moment, name);
        }
    }

    fn moment(&self, time: Timestamp, raw: Timestamp) -> Moment {
        Moment {
            at: self.axis.nanoseconds(time),
            recorded: (time != raw).then(|| self.axis.signed(raw)),
        }
    }

    /// The bytes that are to be written behind all else of all locations, when this one is over.
    pub(crate) fn late(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        for late in self.late.drain(..) {
            let point = Point {
                moment: late.moment,
                kind: late.kind,
                ends: &[late.end],
                facts: &late.facts,
            };
            self.encoder.point(&mut out, &point, self.names);
        }
        out
    }

    fn enter(&mut self, out: &mut Vec<u8>, moment: Moment, name: Name) {
        self.nesting.enter(name);
        if self.is_inside {
            self.begin(out, moment, name);
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>, moment: Moment, name: Name) {
        self.summary.slices += 1;
        self.encoder.begin(out, moment, name, self.names);
        self.begun = Some(moment.at);
    }

    fn leave(&mut self, out: &mut Vec<u8>, moment: Moment, name: Name) {
        let closed = self.nesting.leave(name);
        if !self.is_inside {
            return;
        }
        self.summary.dropped += u64::from(closed == 0);
        self.summary.closed += closed.saturating_sub(1) as u64;
        for _ in 0..closed {
            self.encoder.end(out, moment, self.names);
            self.begun = None;
        }
    }

    /// Begins what is open where the window begins.
    fn step_inside(&mut self, out: &mut Vec<u8>) {
        self.is_inside = true;
        let at = self.axis.nanoseconds(self.window.from);
        let moment = Moment { at, recorded: None };
        for at in 0..self.nesting.open().len() {
            self.begin(out, moment, self.nesting.open()[at].name);
        }
    }

    /// Ends what is open at the end.
    fn finish(&mut self, out: &mut Vec<u8>, end: Timestamp) {
        self.is_over = true;
        if end < self.window.from {
            return;
        }
        if !self.is_inside {
            self.step_inside(out);
        }
        let at = self.axis.nanoseconds(end);
        let moment = Moment { at, recorded: None };
        // What goes on after the window is cut there, but no defect.
        let is_cut = end == self.window.to;
        for _ in self.nesting.open() {
            self.summary.closed += u64::from(!is_cut);
            self.encoder.end(out, moment, self.names);
        }
    }

    /// Writes the arrows of an event, or that it is there.
    #[inline]
    fn communicate(&mut self, out: &mut Vec<u8>, moment: Moment, event: &CorrectedEvent) {
        let kind = event.row.kind;
        let nodes = self.view.causality.nodes();
        let Some(node) = self.ahead.first() else {
            return;
        };
        if nodes.event(node) != event.number {
            return;
        }
        self.ahead.next();
        self.gather(node);
        let operation = self.operations.next();
        if !self.is_inside {
            return;
        }
        let mut facts = self.said(&event.row, operation);
        // A call that communicates alone says by its name that it does.
        if self.ends.is_empty() && self.nesting.in_leaf() && facts == Facts::default() {
            return;
        }
        let is_just_begun = self.begun.take() == Some(moment.at);
        let end = self.ends.first().filter(|it| !it.is_cause).copied();
        if end.is_some() {
            self.measure(node, &mut facts);
        }
        facts.reversed = self.ends.iter().filter(|it| it.is_reversed()).count() as u64;
        match end.map(|it| (it, it.effect_is)) {
            Some((end, Ordering::Greater)) if is_just_begun && self.is_of_one_process(node) => {
                return self.encoder.arrive(out, moment, end);
            }
            Some((end, Ordering::Equal)) => self.late.push(Late {
                moment,
                kind,
                end,
                facts,
            }),
            _ => {
                let point = Point {
                    moment,
                    kind,
                    ends: &self.ends,
                    facts: &facts,
                };
                self.encoder.point(out, &point, self.names);
            }
        }
        self.summary.points += 1;
    }

    /// The facts that the trace states about an event.
    fn said(&self, row: &EventRow, operation: Option<OperationFacts>) -> Facts {
        let operation = operation.unwrap_or_default();
        let named = |number: u32| match self.view.communicators.get(number as usize) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("communicator {number}").into(),
        };
        let communicator = row.communicator.map(named);
        Facts {
            peer: row.peer,
            bytes: row.bytes.or(operation.bytes),
            tag: row.tag,
            communicator: communicator.or_else(|| operation.group.map(Into::into)),
            ..Facts::default()
        }
    }

    /// Adds how long it took from the cause of an effect.
    fn measure(&self, effect: EventNode, facts: &mut Facts) {
        let Some(cause) = self.view.arrows.cause(effect) else {
            return;
        };
        let (shown, recorded) = (self.view.causality.nodes(), self.view.recorded.nodes());
        let latency = self
            .axis
            .shown_span(shown.timestamp(cause), shown.timestamp(effect));
        facts.latency = Some(latency);
        let was = || {
            self.axis
                .span(recorded.timestamp(cause), recorded.timestamp(effect))
        };
        facts.recorded_latency = self.view.correction.map(|_| was());
    }

    /// True if the cause of an effect is in the process of that: where a process hands on work, as
    /// to an accelerator, the slice of the work itself is where the arrow arrives.
    fn is_of_one_process(&self, effect: EventNode) -> bool {
        let nodes = self.view.causality.nodes();
        let process = |node| self.processes.get(nodes.location(node).as_usize());
        let cause = self.view.arrows.cause(effect);
        cause.is_some_and(|cause| process(cause) == process(effect))
    }

    /// The ends of arrows at a node.
    fn gather(&mut self, node: EventNode) {
        let (arrows, nodes) = (&self.view.arrows, self.view.causality.nodes());
        let first = self.view.first_arrow();
        let number = |effect: EventNode| first + effect.index() as u64;
        let time = |node| self.axis.nanoseconds(nodes.timestamp(node));
        self.ends.clear();
        let effects = arrows.effects(self.arrow, node);
        self.arrow += effects.len();
        self.ends.extend(effects.map(|effect| End {
            arrow: number(effect),
            is_cause: true,
            effect_is: time(effect).cmp(&time(node)),
        }));
        if let Some(cause) = arrows.cause(node) {
            self.summary.arrows += 1;
            self.ends.push(End {
                arrow: number(node),
                is_cause: false,
                effect_is: time(node).cmp(&time(cause)),
            });
        }
    }
}
