//! Steps or wander: which of two explanations says more with less.
//!
//! A clock that gains 50 us within a millisecond can be taken for one that was set, which takes
//! two numbers, where and by how much, or for one whose rate wanders enough to run at 50000 ppm for
//! a millisecond, and then all others may do so all the time. So explanations are
//! ordered by how much rates have to wander, then by what they leave reversed:
//!
//! ```text
//!             wanders, in a second   sets clocks   leaves reversed
//!  plain             100 ppm            never            0          the step is followed at once
//!  stepped          0.01 ppm            once             0          taken
//! ```
//!
//! A real step leaves clocks consistent on both sides for long. Of clocks that do wander any
//! stretch between two cuts is straighter than the whole, too; so there steps count only if they
//! are *abrupt*:
//!
//! ```text
//! |gained| / (until - after) > 600 ppm
//! ```
//!
//! which is more than a clock gains that runs free and is slewed. A single
//! gentler one is taken if all clocks do what clocks do apart from it. And where clocks still
//! wander, nobody knows to a few microseconds where a curve ends before a cut and begins after
//! it: there steps have to show in the bounds of pairs, with rates that change by 100 ppm, or in
//! a curve that is steep.

use std::cmp::Ordering;

use super::{Cuts, Reversed, reversed};
use crate::align::options::OPTIONS;
use crate::align::stages::Aligned;
use crate::align::{Alignment, ClockStep};
use crate::edges::Listed;

/// Aligned clocks as an explanation of what was recorded.
pub(super) struct Explained {
    pub(super) alignment: Alignment,
    /// By how much rates wander in a second, as a fraction.
    pub(super) wander: f64,
    /// How far below zero latencies are nevertheless.
    pub(super) left: Reversed,
}

impl Explained {
    /// `all` are the dependencies to judge by.
    pub(super) fn of(found: Aligned, all: &Listed) -> Self {
        Self {
            left: reversed(all, &found.alignment.estimate),
            wander: found.wander,
            alignment: found.alignment,
        }
    }

    /// Whether rates wander more than those of clocks that do what clocks do.
    pub(super) fn wanders(&self) -> bool {
        self.wander > OPTIONS.usual_wander()
    }

    /// Whether some clock may have gained by itself what a step of it made, or something is left
    /// reversed, by what happened in so long a step.
    pub(super) fn wants_a_closer_look(&self) -> bool {
        let steps = self.alignment.steps.iter();
        self.left > 0 || steps.map(rate).any(|it| it <= OPTIONS.proven)
    }

    /// Whether it says more than what is known so far; `seen` says that its steps show even if
    /// rates change as much as is usual.
    pub(super) fn is_better_than(&self, known: &Self, seen: bool) -> bool {
        let steps = &self.alignment.steps;
        let gentlest = steps.iter().map(rate).fold(f64::INFINITY, f64::min);
        let abrupt = gentlest > OPTIONS.proven;
        match self.wander.total_cmp(&known.wander) {
            Ordering::Less if self.wanders() => abrupt && seen,
            Ordering::Less => abrupt || steps.len() <= known.alignment.steps.len() + 1,
            Ordering::Equal => {
                let fewer = steps.len() < known.alignment.steps.len() && self.left <= known.left;
                gentlest > OPTIONS.set && (fewer || self.left < known.left)
            }
            Ordering::Greater => {
                let half = (known.left as f64 * OPTIONS.gain) as Reversed;
                known.alignment.steps.is_empty() && abrupt && self.left < half
            }
        }
    }

    /// Whether it says as much as another that has more steps.
    pub(super) fn says_as_much_as(&self, other: &Self) -> bool {
        self.wander <= other.wander && self.left <= other.left
    }

    /// Where clocks were set, without the steps of these numbers.
    pub(super) fn cuts(&self, clocks: usize, keep: impl Fn(usize, &ClockStep) -> bool) -> Cuts {
        let mut cuts = vec![Vec::new(); clocks];
        let steps = self.alignment.steps.iter().enumerate();
        for (_, step) in steps.filter(|(number, step)| keep(*number, step)) {
            cuts[step.clock.as_usize()].push((step.after, step.until));
        }
        cuts
    }

    /// Without the steps that a clock may have gained by itself; `None` if that leaves all or
    /// none.
    pub(super) fn abrupt(&self, clocks: usize) -> Option<Cuts> {
        let abrupt = |_: usize, step: &ClockStep| rate(step) > OPTIONS.proven;
        let steps = self.alignment.steps.iter();
        let count = steps.filter(|step| abrupt(0, step)).count();
        (count > 0 && count < self.alignment.steps.len()).then(|| self.cuts(clocks, abrupt))
    }
}

/// By how much the rate of a clock would have to differ if it had not been set, as a fraction.
pub(super) fn rate(step: &ClockStep) -> f64 {
    step.by.abs() / step.until.saturating_sub(step.after).max(1) as f64
}

#[cfg(test)]
mod tests {
    use crate::align::{Alignment, align_edges};
    use crate::edges::{Edge, Edges};
    use retime_model::{ClockId, TickRate};

    /// Four clocks for four seconds; every half millisecond each of these ways carries a message
    /// of 5 us and more, mostly more than 20. Clocks are off by so many nanoseconds at a time.
    fn aligned(ways: &[(usize, usize)], error: impl Fn(usize, f64) -> f64) -> Alignment {
        const LAST: i64 = 4_000_000_000;
        let shown = |clock: usize, time: i64| time + error(clock, time as f64 * 1e-9) as i64;
        let mut state = 1_u64;
        let mut random = |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) % most) as i64
        };
        let mut edges = Vec::new();
        for round in 0..LAST / 500_000 {
            for &(from, to) in ways {
                let sent = 500_000 * round + random(400_000);
                let delay = 5_000 + random(60_000) * random(60_000) / 60_000;
                edges.push(Edge::message(
                    ClockId(from as u32),
                    shown(from, sent),
                    ClockId(to as u32),
                    shown(to, sent + delay),
                ));
            }
        }
        let extent = |clock| Some((shown(clock, 0), shown(clock, LAST + 100_000)));
        let edges = Edges::new(edges, (0..4).map(extent).collect());
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        align_edges(&edges, rate, ClockId(0), &()).unwrap()
    }

    const RING: [(usize, usize); 4] = [(0, 1), (1, 2), (2, 3), (3, 0)];
    const LINE: [(usize, usize); 6] = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)];

    fn drift(clock: usize, time: f64) -> f64 {
        1e3 * (clock * clock) as f64 * time
    }

    fn swing(clock: usize, time: f64) -> f64 {
        10e3 * (2.5 * time + clock as f64).sin()
    }

    fn set(clock: usize, which: usize, time: f64) -> f64 {
        if clock == which && time > 1.7 {
            60e3
        } else {
            0.0
        }
    }

    #[test]
    fn a_step_is_not_taken_for_wander() {
        for which in 0..4 {
            let error = |clock, time| drift(clock, time) + set(clock, which, time);
            let alignment = aligned(&LINE, error);
            let [step] = alignment.steps[..] else {
                panic!("clock {which}: {:?}", alignment.steps)
            };
            assert_eq!(step.clock, ClockId(which as u32));
            assert!((step.by - 60e3).abs() < 10e3, "{step:?}");
            assert!(
                step.after < 1_700_100_000 && step.until > 1_700_000_000,
                "{step:?}"
            );
            assert!(alignment.pieces <= 16, "{}", alignment.pieces);
        }
    }

    #[test]
    fn a_step_of_clocks_that_wander_is_a_step() {
        let error = |clock, time| swing(clock, time) + set(clock, 2, time);
        let alignment = aligned(&LINE, error);
        let [step] = alignment.steps[..] else {
            panic!("{:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(2));
        assert!((step.by - 60e3).abs() < 15e3, "{step:?}");
    }

    #[test]
    fn around_a_ring_a_step_shows_too() {
        for which in 1..4 {
            let error = |clock, time| drift(clock, time) + set(clock, which, time);
            let alignment = aligned(&RING, error);
            let [step] = alignment.steps[..] else {
                panic!("clock {which}: {:?}", alignment.steps)
            };
            assert!((step.by.abs() - 60e3).abs() < 30e3, "{step:?}");
        }
    }

    #[test]
    fn clocks_that_wander_are_not_set() {
        for ways in [&LINE[..], &RING[..]] {
            let alignment = aligned(ways, swing);
            assert!(alignment.steps.is_empty(), "{:?}", alignment.steps);
        }
    }
}
