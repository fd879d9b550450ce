//! How long the filter waits: for causes, for silent locations, for the other
//! half of a message, and for certainty.
//!
//! Time is the newest raw time of the stream. With clocks that differ by at most
//! `d` and events that come at most `t` late:
//!
//! - nothing comes from a silent location before `now - d - t`;
//! - the send of a receive at `C` has come when `now > C + d + t`, or is lost;
//! - an event leaves when `now` is beyond its time by equation 7.1; without its
//!   last term, the way to the filter, where nothing is missing but the end of
//!   the funnel.
//!
//! Looking at all clocks that have something to wait for costs time, so it is done 64
//! times per span. Events leave at the last look before their time is over, so none stays
//! longer, as long as the time of the stream does not leap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::clock::Role;
use super::smoother::{Effect, Until};
use super::{DelayBound, Filter, FilterOptions};
use retime_model::ClockId;

/// The spans, in ticks.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    /// How long a location may be silent.
    pub(super) silence: i64,
    /// How long an event may stay.
    delay: i64,
    /// How long one may stay of which all that bounds it is known.
    settling: i64,
    /// How long events whose causes have come may wait for them: longer only
    /// where events wait for each other.
    hopeless: i64,
    timeout: i64,
    /// When all clocks were looked at last.
    looked: i64,
    forgot: i64,
}

/// An event that waits for its causes; the smallest goes on first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    /// The causes have come, but wait themselves.
    for_each_other: bool,
    /// Its raw time.
    since: i64,
    clock: ClockId,
}

impl Patience {
    /// `None` where there is no hurry.
    pub(super) fn new(options: &FilterOptions) -> Option<Self> {
        let delay = options.delay_bound()?.0.max(0);
        let silence = options
            .max_difference
            .0
            .saturating_add(options.transfer.0)
            .max(0);
        Some(Self {
            silence,
            delay,
            settling: match options.delay {
                DelayBound::Explained => delay.saturating_sub(options.transfer.0.max(0)),
                DelayBound::Ticks(_) | DelayBound::Unlimited => delay,
            },
            hopeless: silence.max(delay).saturating_mul(4),
            timeout: options.message_timeout.0.max(silence),
            looked: i64::MIN,
            forgot: i64::MIN,
        })
    }

    /// Whether it is time to look at all clocks again.
    fn is_due(&mut self, now: i64) -> bool {
        let due = now.saturating_sub(self.looked) >= self.pause();
        if due {
            self.looked = now;
        }
        due
    }

    /// From one look at all clocks to the next, in ticks.
    const fn pause(&self) -> i64 {
        self.delay / 64
    }

    /// The time before which messages are forgotten, if it is time for that.
    fn forget_before(&mut self, now: i64) -> Option<i64> {
        if now.saturating_sub(self.forgot) < self.timeout / 4 {
            return None;
        }
        self.forgot = now;
        Some(now.saturating_sub(self.timeout))
    }
}

impl<P> Filter<P> {
    /// Lets go what has waited long enough.
    #[inline]
    pub(super) fn look_at_the_time(&mut self) {
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
    pub(super) fn conclude(&mut self) {
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

    /// What the next event of a clock waits for, unless it is free to go.
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
