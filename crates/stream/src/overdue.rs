//! Letting go what has waited long enough.
//!
//! An event whose cause is overdue goes on without it: first those whose cause will never
//! come, then the first of those that wait for each other. Events that are computed but
//! not certain leave at the times they would have if the stream ended here, and halves of
//! messages and operations are forgotten.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use retime_model::ClockId;

use crate::clock::Role;
use crate::filter::Filter;
use crate::patience::Patience;
use crate::smoother::{Effect, Until};

/// An event that waits for its causes; the smallest goes on first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    /// The causes have come, but wait themselves.
    for_each_other: bool,
    /// Its raw time.
    since: i64,
    clock: ClockId,
}

impl<P> Filter<P> {
    /// Lets go what has waited long enough.
    #[inline]
    pub(crate) fn look_at_the_time(&mut self) {
        let now = self.now;
        if self
            .patience
            .as_mut()
            .is_some_and(|patience| patience.is_due(now))
        {
            self.lose_patience();
        }
    }

    fn lose_patience(&mut self) {
        let Some(patience) = self.patience.clone() else {
            return;
        };
        let busy = self.busy();
        self.let_go(&patience, &busy);
        let next = self.now.saturating_add(patience.pause());
        let until = Until {
            known: next.saturating_sub(patience.settling),
            any: next.saturating_sub(patience.delay),
        };
        for clock in busy {
            let smoother = &mut self.smoothers[clock.as_usize()];
            let before = smoother.forced;
            let delay = self.options.min_delay.0;
            let limit = |effect| match effect {
                Effect::Operation(number, place) => self.collectives.limit(number, place, delay),
                Effect::None | Effect::Message(_) => i64::MAX,
            };
            smoother.force(until, self.ramp, limit);
            self.report.forced += smoother.forced - before;
            self.note_left(clock);
        }
        self.forget();
    }

    /// Lets those events go on that have waited for their causes long enough, one
    /// by one: what one of them frees need not go without its causes.
    fn let_go(&mut self, patience: &Patience, busy: &[ClockId]) {
        for &clock in busy {
            self.clocks[clock.as_usize()].is_overdue = false;
            self.wake(clock);
            self.touch(clock);
        }
        self.work();
        let now = self.now;
        self.go_without(busy, |wait| {
            let most = if wait.for_each_other {
                patience.hopeless
            } else {
                patience.silence
            };
            now.saturating_sub(wait.since) > most
        });
    }

    /// Lets clocks go on though they wait, of those that have waited long enough: first
    /// those whose cause will never come, then the first of those that wait for each
    /// other, and so on.
    fn go_without(&mut self, busy: &[ClockId], long_enough: impl Fn(&Wait) -> bool) {
        let mut moved = busy.to_vec();
        let mut waits = BinaryHeap::new();
        loop {
            // What a clock waits for changes when it has gone on, and only then.
            let fresh = moved.drain(..).filter_map(|clock| self.wait(clock));
            waits.extend(fresh.filter(&long_enough).map(Reverse));
            let Some(Reverse(wait)) = waits.pop() else {
                break;
            };
            if self.wait(wait.clock) != Some(wait) {
                continue;
            }
            self.clocks[wait.clock.as_usize()].is_overdue = true;
            self.moved = Some(moved);
            self.wake(wait.clock);
            self.work();
            moved = self.moved.take().unwrap_or_default();
        }
    }

    /// Clocks with events that are not final.
    fn busy(&mut self) -> Vec<ClockId> {
        let (clocks, smoothers) = (&self.clocks, &self.smoothers);
        self.busy.retain(|clock| {
            let unfinished = smoothers[clock.as_usize()].unfinished();
            clocks[clock.as_usize()].waiting > 0 || unfinished.is_some()
        })
    }

    /// Forgets messages and operations that are not completed in time.
    fn forget(&mut self) {
        let now = self.now;
        let Some(patience) = self.patience.as_mut() else {
            return;
        };
        let Some(time) = patience.forget_before(now) else {
            return;
        };
        self.forget_before(time);
        self.work();
    }

    /// Forgets what began before `time`; those who may have had effects are bound by them no
    /// more.
    fn forget_before(&mut self, time: i64) {
        let mut open = Vec::new();
        let unmatched = &mut self.report.unmatched_sends;
        self.matching.forget_before(time, |message| {
            if message.has_send {
                *unmatched += 1;
                open.push((message.from, message.gate, i64::MAX));
            }
        });
        let unfinished = self
            .collectives
            .forget_before(time, |limit| open.push(limit));
        self.report.unfinished_collectives += unfinished;
        for (clock, gate, limit) in open {
            self.limit(clock, gate, limit);
        }
    }

    /// All locations have ended: nothing is worth waiting for.
    pub(crate) fn conclude(&mut self) {
        for clock in self.each_clock() {
            self.wake(clock);
        }
        self.work();
        let busy = self.busy();
        self.go_without(&busy, |_| true);
        self.forget_before(i64::MAX);
        for clock in self.each_clock() {
            self.touch(clock);
        }
        self.work();
    }

    /// The wait of a clock's next event for others; `None` if it is free to go.
    fn wait(&self, clock: ClockId) -> Option<Wait> {
        let state = &self.clocks[clock.as_usize()];
        if state.is_overdue {
            return None;
        }
        let first = match state.locations[..] {
            [location] => location,
            _ => state.heads.first_waiting()?.1,
        };
        let head = self.locations[first.as_usize()].waiting.front()?;
        let for_each_other = match head.role {
            Role::Receive(number) => self.matching.get(number).has_send,
            Role::End(number, what) => self.collectives.is_complete(number, &what),
            _ => return None,
        };
        Some(Wait {
            for_each_other,
            since: head.raw,
            clock,
        })
    }
}
