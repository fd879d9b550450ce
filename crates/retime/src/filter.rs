//! The correction as a filter: events in, corrected events out, in one pass and
//! bounded memory, while the program that makes them still runs.
//!
//! ```text
//!  per location        all clocks               per clock              all clocks
//!  events waiting --> controlled clock  -->  taut string, as far  -->  merge by
//!  for their causes   (as soon as all        as it is certain          corrected time
//!                     causes are computed)
//! ```
//!
//! - A receive waits with all that follows on its clock until its send is
//!   computed; a send is remembered until its receive is.
//! - Jumps are spread backwards over the events still in the filter. A ramp is
//!   `L = clock difference / rate` long, so that is how long an event waits at
//!   least.
//! - The merge needs to know of every location that nothing earlier comes: a
//!   later event, a [heartbeat](Filter::heartbeat), an [end](Filter::end), or else
//!   the bounds on clock differences and transfer.
//! - No event stays longer than [equation 7.1](FilterOptions::delay_bound) allows.
//!   If its time is not certain by then, it leaves at the time it would have if
//!   the stream ended here, and counts as *forced*. What follows respects that.
//!
//! The order among events of one corrected time is that of clocks. Where no event
//! is forced, times are exactly those of [`crate::clock::controlled`] and
//! [`crate::clock::amortize_with_ramp`].
//!
//! ```
//! use retime::filter::{DelayBound, Event, EventKind, Filter, FilterOptions, MessageId};
//! use retime::{LocationIndex, TickRate, Ticks, Timestamp};
//! let options = FilterOptions {
//!     min_delay: Ticks(2),
//!     ..FilterOptions::new(TickRate::per_second(1_000_000).unwrap())
//! };
//! // Two locations, each with its own clock.
//! let mut filter = Filter::new(&[0, 1], options);
//! let event = |location, time, kind, payload| Event {
//!     location: LocationIndex(location), time: Timestamp(time), kind, payload,
//! };
//! let hello = MessageId::number(1);
//! filter.push(event(1, 40_000, EventKind::Internal, "work"))?;
//! filter.push(event(1, 90_000, EventKind::Receive(hello), "receive"))?;
//! filter.push(event(0, 90_998, EventKind::Send(hello), "send"))?;
//! filter.finish();
//! let corrected: Vec<_> = std::iter::from_fn(|| filter.pop())
//!     .map(|event| (event.payload, event.time.0))
//!     .collect();
//! assert_eq!(corrected, [("work", 41_000), ("send", 90_998), ("receive", 91_000)]);
//! # Ok::<(), retime::filter::FilterError>(())
//! ```
//!
//! Source: Rabenseifner 2000, sections 6.1, 6.2 and 7.3.

mod clock;
mod collectives;
mod control;
mod event;
mod flow;
mod heads;
mod kept;
mod marked;
mod matching;
mod merge;
mod options;
mod patience;
mod release;
mod report;
mod room;
mod silent;
mod smoother;
mod spread;
mod way;

pub use control::FilterControl;
pub use event::{Collective, Corrected, Event, EventKind, MessageId, Prefix};
pub use options::{DelayBound, FilterOptions};
pub use report::FilterReport;
pub use spread::Spread;

use clock::{Clock, Location, Role, Waiting};
use collectives::Collectives;
use control::Law;
use marked::Marked;
use matching::Matching;
use merge::Merge;
use patience::Patience;
use silent::Silent;
use smoother::Smoother;

use retime_model::{ClockId, Clocks, LocationIndex, Ticks, Timestamp};

/// Why an event cannot be taken. The filter goes on as if it had not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// There is no such location.
    #[error("there is no location #{}", .0.0)]
    UnknownLocation(LocationIndex),
    /// The location had ended.
    #[error("location #{} has ended", .0.0)]
    Ended(LocationIndex),
    /// The stamp is too far from the first one.
    #[error("time {0} is more than 2^61 ticks away from the first one of the stream")]
    OutOfRange(Timestamp),
}

/// Corrects a stream of events; `P` is what the caller wants back with each.
#[derive(Debug)]
pub struct Filter<P> {
    options: FilterOptions,
    patience: Option<Patience>,
    law: Law,
    locations: Vec<Location<P>>,
    clocks: Vec<Clock>,
    smoothers: Vec<Smoother<P>>,
    matching: Matching,
    collectives: Collectives,
    merge: Merge,
    silent: Silent,
    /// Clocks that may be able to go on.
    ready: Marked,
    /// Clocks of which more may be certain.
    touched: Marked,
    /// Clocks with events that are not final, and perhaps others.
    busy: Marked,
    /// Clocks that have gone on, where somebody wants to know.
    moved: Option<Vec<ClockId>>,
    /// How long a location may be silent.
    silence: Option<i64>,
    /// The stamp that counts as 0.
    base: Option<Timestamp>,
    /// The newest raw time.
    now: i64,
    /// The last time given out.
    watermark: i64,
    /// The length of a ramp.
    ramp: i64,
    live: usize,
    held: u64,
    report: FilterReport,
}

impl<P> Filter<P> {
    /// A filter for locations with the given clocks: two locations with the same
    /// number read the same clock.
    pub fn new(clock_of: &[u32], options: FilterOptions) -> Self {
        let (grouping, _) = Clocks::from_owners(clock_of);
        let clocks: Vec<Clock> = grouping
            .iter()
            .map(|clock| Clock::new(grouping.locations(clock).to_vec()))
            .collect();
        let count = clocks.len();
        let patience = Patience::new(&options);
        let silence = patience.as_ref().map(|patience| patience.silence);
        let silence = if options.merged { Some(0) } else { silence };
        let location = |index: usize| Location::new(grouping.of(LocationIndex(index as u32)));
        Self {
            patience,
            law: Law::new(options.control, count, options.rate),
            locations: (0..clock_of.len()).map(location).collect(),
            clocks,
            smoothers: (0..count).map(|_| Smoother::default()).collect(),
            matching: Matching::default(),
            collectives: Collectives::default(),
            merge: Merge::new(count),
            silent: Silent::default(),
            ready: Marked::of(count),
            touched: Marked::of(count),
            busy: Marked::of(count),
            moved: None,
            silence,
            base: None,
            now: i64::MIN,
            watermark: i64::MIN,
            ramp: options.amortization.ramp(options.start_difference.0),
            live: clock_of.len(),
            held: 0,
            report: FilterReport::default(),
            options,
        }
    }

    /// Adds a location with a clock of its own, which may send events from now
    /// on. Not for controllers that see all clocks: they must know them from the
    /// start.
    pub fn add_location(&mut self) -> LocationIndex {
        let location = LocationIndex(self.locations.len() as u32);
        let clock = ClockId(self.clocks.len() as u32);
        self.merge.grow(self.clocks.len());
        self.locations.push(Location::new(clock));
        self.clocks.push(Clock::new(vec![location]));
        self.smoothers.push(Smoother::default());
        for marked in [&mut self.ready, &mut self.touched, &mut self.busy] {
            marked.grow();
        }
        self.live += 1;
        location
    }

    /// Takes an event. Those of one location must come in order.
    pub fn push(&mut self, event: Event<P>) -> Result<(), FilterError> {
        let raw = self.relative(event.location, event.time)?;
        self.now = self.now.max(raw);
        let location = event.location.as_usize();
        let clock = self.locations[location].clock;
        self.hear(clock);
        let role = self.role(event.kind, clock, raw);
        self.report.out_of_order += u64::from(raw < self.locations[location].horizon);
        let arrived = self.now;
        self.change(event.location, |place| {
            place.horizon = place.horizon.max(raw);
            place.waiting.push_back(Waiting {
                raw,
                arrived,
                role,
                payload: event.payload,
            });
        });
        let is_node = !matches!(role, Role::Internal);
        let state = &mut self.clocks[clock.as_usize()];
        state.waiting += 1;
        state.nodes_waiting += u32::from(is_node);
        self.busy.add(clock);
        self.report.events += 1;
        self.held += 1;
        self.report.most_held = self.report.most_held.max(self.held);
        self.wake(clock);
        self.work();
        self.look_at_the_time();
        Ok(())
    }

    /// Nothing comes from a location before `time` any more.
    pub fn heartbeat(
        &mut self,
        location: LocationIndex,
        time: Timestamp,
    ) -> Result<(), FilterError> {
        let raw = self.relative(location, time)?;
        self.now = self.now.max(raw);
        self.change(location, |place| place.horizon = place.horizon.max(raw));
        let clock = self.locations[location.as_usize()].clock;
        self.hear(clock);
        self.wake(clock);
        self.touch(clock);
        self.work();
        self.look_at_the_time();
        Ok(())
    }

    /// Nothing comes from a location any more.
    pub fn end(&mut self, location: LocationIndex) -> Result<(), FilterError> {
        let place = self.locations.get(location.as_usize());
        let place = place.ok_or(FilterError::UnknownLocation(location))?;
        if place.is_ended {
            return Err(FilterError::Ended(location));
        }
        let clock = place.clock;
        self.change(location, |place| place.is_ended = true);
        self.live -= 1;
        self.clocks[clock.as_usize()].live -= 1;
        self.hear(clock);
        self.note_end(clock);
        self.wake(clock);
        self.touch(clock);
        self.work();
        if self.live == 0 {
            self.conclude();
        }
        Ok(())
    }

    /// Nothing comes any more: [`Self::pop`] then gives all that is left.
    pub fn finish(&mut self) {
        for location in 0..self.locations.len() as u32 {
            // It may have ended before.
            let _ = self.end(LocationIndex(location));
        }
    }

    /// What was done so far.
    pub fn report(&self) -> &FilterReport {
        &self.report
    }

    /// How many events, messages and operations are in the filter: what its
    /// memory is in proportion to.
    pub fn load(&self) -> [usize; 3] {
        [
            self.held as usize,
            self.matching.len(),
            self.collectives.len(),
        ]
    }

    /// The bounds and constants.
    pub fn options(&self) -> &FilterOptions {
        &self.options
    }

    fn each_clock(&self) -> impl Iterator<Item = ClockId> + use<P> {
        (0..self.clocks.len() as u32).map(ClockId)
    }

    /// A stamp against the first one of the stream.
    fn relative(&mut self, location: LocationIndex, time: Timestamp) -> Result<i64, FilterError> {
        match self.locations.get(location.as_usize()) {
            None => return Err(FilterError::UnknownLocation(location)),
            Some(place) if place.is_ended => return Err(FilterError::Ended(location)),
            Some(_) => {}
        }
        let base = *self.base.get_or_insert(time);
        let difference = i128::from(time.0) - i128::from(base.0);
        match i64::try_from(difference) {
            Ok(raw) if raw.unsigned_abs() <= 1 << 61 => Ok(raw),
            _ => Err(FilterError::OutOfRange(time)),
        }
    }

    /// A time against the first stamp as a stamp.
    fn stamp(&self, time: i64) -> Timestamp {
        let base = self.base.unwrap_or_default();
        Timestamp(base.0.saturating_add_signed(time))
    }

    fn role(&mut self, kind: EventKind, clock: ClockId, raw: i64) -> Role {
        match kind {
            EventKind::Internal => Role::Internal,
            EventKind::Send(id) => {
                let number = self.matching.sent(id, clock, raw);
                let message = self.matching.get(number);
                if message.given_up {
                    self.report.late_sends += 1;
                    self.matching.finish(number);
                    return Role::Send(None);
                }
                self.report.messages += u64::from(message.has_receive);
                Role::Send(Some(number))
            }
            EventKind::Receive(id) => {
                let number = self.matching.received(id, clock, raw);
                let message = self.matching.get(number);
                self.report.messages += u64::from(message.has_send);
                self.report.unmatched_receives += u64::from(message.is_send_forgotten());
                Role::Receive(number)
            }
            EventKind::Begin(what) => Role::Begin(self.collectives.begin(&what, raw), what),
            EventKind::End(what) => Role::End(self.collectives.end(&what, clock, raw), what),
        }
    }

    /// The bound on clock differences was exceeded: longer ramps from here on.
    fn note_jump(&mut self, jump: i64) {
        self.report.jumps += 1;
        if jump > self.report.largest_jump.0 {
            self.report.largest_jump = Ticks(jump);
            self.ramp = self.ramp.max(self.options.amortization.ramp(jump));
        }
        self.report.steep += u64::from(jump > self.options.start_difference.0);
    }
}
