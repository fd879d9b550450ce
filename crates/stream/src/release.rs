//! The release of events: which one leaves the filter, and when.

use crate::event::Corrected;
use crate::filter::Filter;
use crate::smoother::Effect;
use retime_model::ClockId;

impl<P> Filter<P> {
    /// The next event in the order of corrected times, if it is certain that
    /// nothing comes before it.
    pub fn pop(&mut self) -> Option<Corrected<P>> {
        loop {
            let (clock, time) = self.merge.winner();
            match self.smoothers.get(clock.as_usize())?.front() {
                Some(front) if front == time => return self.give(clock),
                Some(front) => self.merge.set(clock, front),
                None => {
                    let bound = self.bound(clock);
                    if bound > time {
                        self.rise(clock, bound);
                    } else if !self.has_settled(clock) {
                        return None;
                    }
                }
            }
        }
    }

    /// True if time alone has made the first event of a clock final.
    fn has_settled(&mut self, clock: ClockId) -> bool {
        self.settle(clock);
        self.smoothers[clock.as_usize()].front().is_some()
    }

    fn give(&mut self, clock: ClockId) -> Option<Corrected<P>> {
        let held = self.smoothers[clock.as_usize()].pop()?;
        self.watermark = self.watermark.max(held.value);
        self.held -= 1;
        self.report.released += 1;
        let waited = self.now.saturating_sub(held.arrived).max(0);
        self.report.delay.add(waited as u64);
        if let Some(front) = self.smoothers[clock.as_usize()].front() {
            self.merge.set(clock, front);
        }
        Some(Corrected {
            location: held.location,
            raw: self.stamp(held.raw),
            time: self.stamp(held.value),
            payload: held.payload,
        })
    }

    /// A clock whose first event is not final gives nothing before this.
    fn bound(&self, clock: ClockId) -> i64 {
        let smoother = &self.smoothers[clock.as_usize()];
        let ahead = match smoother.unfinished() {
            Some(held) => held.least,
            None => self.ahead(clock),
        };
        ahead.max(smoother.last_time())
    }

    /// No event of a clock that is not computed yet has a raw time before this.
    fn ahead(&self, clock: ClockId) -> i64 {
        let state = &self.clocks[clock.as_usize()];
        if let [location] = state.locations[..] {
            let head = self.locations[location.as_usize()].waiting.front();
            return head.map_or_else(|| self.horizon(location), |head| head.raw.max(state.raw));
        }
        let waiting = state.heads.first_waiting();
        let waiting = waiting.map_or(i64::MAX, |(raw, _)| raw.max(state.raw));
        waiting.min(self.idle_until(clock))
    }

    /// A clock gives nothing before `bound`.
    fn rise(&mut self, clock: ClockId, bound: i64) {
        let state = &self.clocks[clock.as_usize()];
        let is_silent = state.waiting == 0
            && self.smoothers[clock.as_usize()].is_empty()
            && self.floor() == Some(bound);
        if is_silent {
            self.silent.add(clock, bound, &mut self.merge);
        } else {
            self.merge.set(clock, bound);
        }
    }

    /// Makes final what is certain of a clock.
    pub(crate) fn settle(&mut self, clock: ClockId) {
        let ahead = self.ahead(clock);
        let state = &self.clocks[clock.as_usize()];
        let (law, lead, sum) = (&self.law, state.lead, state.sum);
        let position = || {
            if ahead == i64::MAX {
                i64::MAX
            } else {
                law.least(lead, ahead.max(state.raw)).saturating_sub(sum)
            }
        };
        let is_shift = !self.law.is_constant();
        let smoother = &mut self.smoothers[clock.as_usize()];
        smoother.advance(position, self.ramp);
        if ahead == i64::MAX {
            smoother.end(is_shift);
        }
        self.note_left(clock);
    }

    /// Effects of events that have left must respect when they did.
    pub(crate) fn note_left(&mut self, clock: ClockId) {
        while let Some(left) = self.smoothers[clock.as_usize()].left.pop() {
            match left.effect {
                Effect::None => {}
                Effect::Message(number) => {
                    self.matching.get_mut(number).sent = left.time;
                    self.keep_message(number);
                }
                Effect::Operation(number, place) => {
                    self.collectives.released(number, place, clock, left.time);
                    self.keep_operation(number);
                }
            }
        }
    }
}
