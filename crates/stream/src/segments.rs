//! Segments of a trace as they come, put on the clock of one host.
//!
//! Each host sends, from time to time, the part of its trace since the last time. Once each has sent
//! a segment, whoever keeps the shifts of clocks takes up the [passages](Segments::passages) that are
//! complete, messages and collective operations whose both ends have come, and says by how much each
//! clock is [to be shifted](Segments::shift) now. Then all events leave, in one order, before which
//! nothing can come any more:
//!
//! ```text
//! new(e)    = C(e) - S                             S of its clock, which never rises
//! leaves(e) : new(e) < min over hosts that have not ended of  (newest stamp - S)
//! ```
//!
//! Since `S` never rises, what a host sends later is not put before its newest stamp: so the events
//! that leave are in the order of their new times over all segments. While a host is not related to
//! the others, nothing can leave, since nobody knows where it will lie.
//!
//! A segment ends as it is as long as asked for, by the clock of its host, or as its host ends.
//!
//! ```
//! use retime_stream::{Event, EventKind, MessageId, SegmentOptions, Segments};
//! use retime_model::{LocationIndex, TickRate, Ticks, Timestamp};
//! let options = SegmentOptions {
//!     length: Ticks(1_000),
//!     ..SegmentOptions::new(TickRate::per_second(1_000_000).unwrap())
//! };
//! let mut segments = Segments::new(&[0, 1], options); // two hosts, each with its own clock
//! let hello = EventKind::Send(MessageId::number(1));
//! let heard = EventKind::Receive(MessageId::number(1));
//! for (host, time, kind, payload) in [
//!     (0, 0, EventKind::Internal, "begin"),
//!     (0, 600, hello, "send"),
//!     (0, 1_000, EventKind::Internal, "work"), // a whole segment
//!     (1, 400, heard, "receive"),
//!     (1, 1_500, EventKind::Internal, "rest"), // the other one
//! ] {
//!     let location = LocationIndex(host);
//!     segments.push(Event { location, time: Timestamp(time), kind, payload })?;
//! }
//! assert!(segments.is_due());
//! // The only message seems to have taken -200: the clock of host 1 is at most so far behind.
//! let took: Vec<i128> = segments.passages().map(|passage| passage.took).collect();
//! assert_eq!(took, [-200]);
//! segments.shift(&[Some(0), Some(-200)])?;
//! let left: Vec<_> = std::iter::from_fn(|| segments.pop())
//!     .map(|event| (event.payload, event.time.0))
//!     .collect();
//! // Host 0 has come to 1000, so that nothing is known from there on.
//! assert_eq!(left, [("begin", 0), ("send", 600), ("receive", 600)]);
//! # Ok::<(), retime_stream::FilterError>(())
//! ```
//!
//! Source: Liu, A Method of Fast Synchronizing Asynchronous Clocks in Distributed Applications,
//! section 4 and 4.4. When events leave is ours.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::base::Base;
use crate::error::FilterError;
use crate::event::{Corrected, Event, EventKind};
use crate::passage::{Half, Passage, Passages};
use retime_model::{ClockId, LocationIndex, TickRate, Ticks, Timestamp};

/// The bounds of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentOptions {
    /// Ticks per second of all time stamps.
    pub rate: TickRate,
    /// How long a segment is, by the clock of its host.
    pub length: Ticks,
    /// Least time from a cause to its effect, `mu`.
    pub min_delay: Ticks,
    /// The other half of a message is not waited for longer.
    pub message_timeout: Ticks,
}

impl SegmentOptions {
    /// The defaults of the command: segments of a second, ten seconds for the other half of a message.
    pub fn new(rate: TickRate) -> Self {
        let seconds = |count: u64| Ticks(rate.get().saturating_mul(count).min(1 << 60) as i64);
        Self {
            rate,
            length: seconds(1),
            min_delay: Ticks(0),
            message_timeout: seconds(10),
        }
    }
}

/// Counts of what went through [`Segments`] so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentReport {
    /// Events taken.
    pub events: u64,
    /// Events given out.
    pub released: u64,
    /// Times at which segments of all hosts were there.
    pub rounds: u64,
    /// Messages of which both ends came.
    pub messages: u64,
    /// Messages whose receive was stamped before their send.
    pub reversed: u64,
    /// Messages that new times leave reversed.
    pub left_reversed: u64,
    /// Events stamped before the previous one of their location, whose time they get.
    pub out_of_order: u64,
    /// Sends whose receive did not come in time, and receives whose send did not.
    pub unmatched: u64,
    /// Collective operations of which some events did not come.
    pub unfinished_collectives: u64,
    /// Most events held at a time.
    pub most_held: u64,
}

/// Events of several hosts on their way to one order, segment by segment; `P` comes along with each.
#[derive(Debug)]
pub struct Segments<P> {
    options: SegmentOptions,
    hosts: Vec<Host<P>>,
    passages: Passages,
    /// Hosts whose segment has not ended.
    open: usize,
    base: Base,
    out: VecDeque<Corrected<P>>,
    held: u64,
    report: SegmentReport,
}

/// A location and what it has sent.
#[derive(Debug)]
struct Host<P> {
    clock: ClockId,
    held: VecDeque<HeldEvent<P>>,
    /// The newest stamp.
    newest: Option<i64>,
    /// Where its segment ends; `None` once that is passed.
    until: Option<i64>,
    is_ended: bool,
}

/// An event that may not leave yet.
#[derive(Debug)]
struct HeldEvent<P> {
    /// Its stamp, and that by which it is put in order.
    stamp: Timestamp,
    raw: i64,
    half: Option<Half>,
    payload: P,
}

impl<P> Segments<P> {
    /// For locations that read the given clocks, numbered from 0.
    pub fn new(clock_of: &[u32], options: SegmentOptions) -> Self {
        let host = |&clock: &u32| Host {
            clock: ClockId(clock),
            held: VecDeque::new(),
            newest: None,
            // Known with its first stamp.
            until: Some(i64::MAX),
            is_ended: false,
        };
        Self {
            options,
            hosts: clock_of.iter().map(host).collect(),
            passages: Passages::new(options.min_delay.0),
            open: clock_of.len(),
            base: Base::default(),
            out: VecDeque::new(),
            held: 0,
            report: SegmentReport::default(),
        }
    }

    /// Takes an event. Those of one location must come in order.
    ///
    /// # Errors
    ///
    /// The location is not known or has ended, or the stamp is more than 2^61 ticks from the first.
    pub fn push(&mut self, event: Event<P>) -> Result<(), FilterError> {
        let stamped = self.relative(event.location, event.time)?;
        let host = &mut self.hosts[event.location.as_usize()];
        let raw = host.newest.map_or(stamped, |newest| newest.max(stamped));
        self.report.out_of_order += u64::from(raw > stamped);
        let half = match event.kind {
            EventKind::Internal => None,
            EventKind::Send(id) => Some(self.passages.sent(id, host.clock, raw)),
            EventKind::Receive(id) => Some(self.passages.received(id, host.clock, raw)),
            EventKind::Begin(what) => {
                self.passages.begun(&what, host.clock, raw);
                None
            }
            EventKind::End(what) => {
                self.passages.ended(&what, host.clock, raw);
                None
            }
        };
        host.held.push_back(HeldEvent {
            stamp: event.time,
            raw,
            half,
            payload: event.payload,
        });
        self.report.events += 1;
        self.held += 1;
        self.report.most_held = self.report.most_held.max(self.held);
        self.has_come_to(event.location, raw);
        Ok(())
    }

    /// Nothing comes from a location before `time` any more.
    ///
    /// # Errors
    ///
    /// The same as [`Self::push`].
    pub fn heartbeat(
        &mut self,
        location: LocationIndex,
        time: Timestamp,
    ) -> Result<(), FilterError> {
        let raw = self.relative(location, time)?;
        self.has_come_to(location, raw);
        Ok(())
    }

    /// Nothing comes from a location any more.
    ///
    /// # Errors
    ///
    /// The location is not known, or has ended before.
    pub fn end(&mut self, location: LocationIndex) -> Result<(), FilterError> {
        let place = self.hosts.get_mut(location.as_usize());
        let host = place.ok_or(FilterError::UnknownLocation(location))?;
        if std::mem::replace(&mut host.is_ended, true) {
            return Err(FilterError::Ended(location));
        }
        self.open -= usize::from(host.until.take().is_some());
        Ok(())
    }

    /// Nothing comes any more.
    pub fn finish(&mut self) {
        for location in 0..self.hosts.len() as u32 {
            // It may have ended before.
            let _ = self.end(LocationIndex(location));
        }
    }

    /// True once each location has sent a segment, or has ended: time to take up
    /// [what is new](Self::passages) and to [shift](Self::shift) clocks.
    pub fn is_due(&self) -> bool {
        self.open == 0
    }

    /// True if nothing comes any more.
    pub fn is_finished(&self) -> bool {
        self.hosts.iter().all(|host| host.is_ended)
    }

    /// The messages, and what lies between a begin and an end of a collective operation, that have
    /// become complete since this was asked last.
    pub fn passages(&mut self) -> impl Iterator<Item = Passage> {
        self.passages.complete()
    }

    /// Puts all events in order by these shifts, in ticks to be subtracted from the stamps of each
    /// clock, and begins new segments. Shifts must not rise from time to time. While one is `None`
    /// nothing leaves.
    ///
    /// # Errors
    ///
    /// A new time would lie before 0, or beyond 64 bits: [`FilterError::OutOfReach`] with its stamp.
    pub fn shift(&mut self, shifts: &[Option<i128>]) -> Result<(), FilterError> {
        let shift_of = |clock: ClockId| shifts.get(clock.as_usize()).copied().flatten();
        let of_hosts: Option<Vec<i128>> = self.hosts.iter().map(|it| shift_of(it.clock)).collect();
        if let Some(of_hosts) = of_hosts {
            self.release(&of_hosts)?;
        }
        self.report.rounds += 1;
        self.open = 0;
        for host in self.hosts.iter_mut().filter(|host| !host.is_ended) {
            let newest = host.newest.unwrap_or(0);
            host.until = Some(newest.saturating_add(self.options.length.0.max(1)));
            self.open += 1;
        }
        let newest = self.hosts.iter().filter_map(|host| host.newest).min();
        let timeout = self.options.message_timeout.0;
        self.passages
            .forget_before(newest.unwrap_or(i64::MIN).saturating_sub(timeout));
        Ok(())
    }

    /// The next event that has left, in the order of new times.
    pub fn pop(&mut self) -> Option<Corrected<P>> {
        self.out.pop_front()
    }

    /// The counts so far; those of messages without a partner are whole once nothing comes any more.
    pub fn report(&self) -> SegmentReport {
        let counts = self.passages.counts(self.is_finished());
        SegmentReport {
            messages: counts.messages,
            reversed: counts.reversed,
            left_reversed: counts.left_reversed,
            unmatched: counts.unmatched,
            unfinished_collectives: counts.unfinished_collectives,
            ..self.report
        }
    }

    /// The clock that a location reads; `None` if there is no such location.
    pub fn clock_of(&self, location: LocationIndex) -> Option<ClockId> {
        self.hosts.get(location.as_usize()).map(|host| host.clock)
    }

    /// How many clocks there are, counted to the largest number.
    pub fn clocks(&self) -> usize {
        let numbers = self.hosts.iter().map(|host| host.clock.as_usize() + 1);
        numbers.max().unwrap_or(0)
    }

    /// The bounds.
    pub fn options(&self) -> &SegmentOptions {
        &self.options
    }

    /// A location has come to a stamp.
    fn has_come_to(&mut self, location: LocationIndex, raw: i64) {
        let host = &mut self.hosts[location.as_usize()];
        if host.newest.is_none() {
            host.until = Some(raw.saturating_add(self.options.length.0.max(1)));
        }
        let newest = host.newest.map_or(raw, |newest| newest.max(raw));
        host.newest = Some(newest);
        if host.until.is_some_and(|until| until <= newest) {
            host.until = None;
            self.open -= 1;
        }
    }

    /// Lets go, in order, all that lies before whatever can still come.
    fn release(&mut self, shifts: &[i128]) -> Result<(), FilterError> {
        let live = self.hosts.iter().zip(shifts).filter(|(it, _)| !it.is_ended);
        let ends =
            live.map(|(host, shift)| host.newest.map_or(i128::MIN, |it| i128::from(it) - shift));
        let end = ends.min().unwrap_or(i128::MAX);
        let new = |host: &Host<P>, shift: i128| Some(i128::from(host.held.front()?.raw) - shift);
        let fronts = self.hosts.iter().zip(shifts).enumerate();
        let fronts =
            fronts.filter_map(|(at, (host, &shift))| Some(Reverse((new(host, shift)?, at))));
        let mut ahead: BinaryHeap<_> = fronts.collect();
        while let Some(Reverse((time, at))) = ahead.pop().filter(|it| it.0.0 < end) {
            let Some(held) = self.hosts[at].held.pop_front() else {
                continue;
            };
            ahead.extend(new(&self.hosts[at], shifts[at]).map(|time| Reverse((time, at))));
            let base = i128::from(self.base.stamp().0);
            let stamp = u64::try_from(base + time).map(Timestamp);
            if let Some(half) = held.half {
                self.passages.put(half, time);
            }
            self.out.push_back(Corrected {
                location: LocationIndex(at as u32),
                raw: held.stamp,
                time: stamp.map_err(|_| FilterError::OutOfReach(held.stamp))?,
                payload: held.payload,
            });
            self.held -= 1;
            self.report.released += 1;
        }
        Ok(())
    }

    /// A stamp against the first one of all.
    fn relative(&mut self, location: LocationIndex, time: Timestamp) -> Result<i64, FilterError> {
        match self.hosts.get(location.as_usize()) {
            None => return Err(FilterError::UnknownLocation(location)),
            Some(host) if host.is_ended => return Err(FilterError::Ended(location)),
            Some(_) => {}
        }
        self.base.relative(time)
    }
}
