//! The filter: what comes in, and what it knows.

use retime_model::{ClockId, Clocks, LocationIndex, Ticks, Timestamp};

use crate::base::Base;
use crate::clock::{Clock, Location, Role, Waiting};
use crate::collectives::Collectives;
use crate::control::Law;
use crate::error::FilterError;
use crate::event::{Event, EventKind};
use crate::marked::Marked;
use crate::matching::Matching;
use crate::merge::Merge;
use crate::options::FilterOptions;
use crate::patience::Patience;
use crate::report::FilterReport;
use crate::silent::Silent;
use crate::smoother::Smoother;

/// Corrects a stream of events; `P` is what the caller wants back with each.
#[derive(Debug)]
pub struct Filter<P> {
    pub(crate) options: FilterOptions,
    pub(crate) patience: Option<Patience>,
    pub(crate) law: Law,
    pub(crate) locations: Vec<Location<P>>,
    pub(crate) clocks: Vec<Clock>,
    pub(crate) smoothers: Vec<Smoother<P>>,
    pub(crate) matching: Matching,
    pub(crate) collectives: Collectives,
    pub(crate) merge: Merge,
    pub(crate) silent: Silent,
    /// Clocks that may be able to go on.
    pub(crate) ready: Marked,
    /// Clocks of which more may be certain.
    pub(crate) touched: Marked,
    /// Clocks with events that are not final, and perhaps others.
    pub(crate) busy: Marked,
    /// Clocks that have gone on, where somebody wants to know.
    pub(crate) moved: Option<Vec<ClockId>>,
    /// How long a location may be silent.
    pub(crate) silence: Option<i64>,
    pub(crate) base: Base,
    /// The newest raw time.
    pub(crate) now: i64,
    /// The last time given out.
    pub(crate) watermark: i64,
    /// The length of a ramp.
    pub(crate) ramp: i64,
    pub(crate) live: usize,
    pub(crate) held: u64,
    pub(crate) report: FilterReport,
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
            base: Base::default(),
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

    /// The counts of the filter so far.
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

    /// Changes what is known of a location.
    #[inline]
    pub(crate) fn change<T>(
        &mut self,
        location: LocationIndex,
        change: impl FnOnce(&mut Location<P>) -> T,
    ) -> T {
        let place = &mut self.locations[location.as_usize()];
        let clock = &mut self.clocks[place.clock.as_usize()];
        if clock.locations.len() == 1 {
            return change(place);
        }
        let before = place.head();
        let changed = change(place);
        let after = place.head();
        if after != before {
            let mut set = clock.heads.set();
            set(before, location, false);
            set(after, location, true);
        }
        changed
    }

    /// Nothing comes before this from a clock that says nothing.
    #[inline]
    pub(crate) fn floor(&self) -> Option<i64> {
        self.silence.map(|silence| self.now.saturating_sub(silence))
    }

    /// A clock says something.
    #[inline]
    pub(crate) fn hear(&mut self, clock: ClockId) {
        self.silent.remove(clock, &mut self.merge);
    }

    pub(crate) fn each_clock(&self) -> impl Iterator<Item = ClockId> + use<P> {
        (0..self.clocks.len() as u32).map(ClockId)
    }

    /// A stamp against the first one of the stream.
    fn relative(&mut self, location: LocationIndex, time: Timestamp) -> Result<i64, FilterError> {
        match self.locations.get(location.as_usize()) {
            None => return Err(FilterError::UnknownLocation(location)),
            Some(place) if place.is_ended => return Err(FilterError::Ended(location)),
            Some(_) => {}
        }
        self.base.relative(time)
    }

    /// A time against the first stamp as a stamp.
    pub(crate) fn stamp(&self, time: i64) -> Timestamp {
        Timestamp(self.base.stamp().0.saturating_add_signed(time))
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
    pub(crate) fn note_jump(&mut self, jump: i64) {
        self.report.jumps += 1;
        if jump > self.report.largest_jump.0 {
            self.report.largest_jump = Ticks(jump);
            self.ramp = self.ramp.max(self.options.amortization.ramp(jump));
        }
        self.report.steep += u64::from(jump > self.options.start_difference.0);
    }
}
