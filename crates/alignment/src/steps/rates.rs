//! Rates that no clock is known to have.
//!
//! A line through a clock that was set can satisfy every dependency where these are loose: what was set by
//! 5 ms within half a second looks like one that runs at 1 %. Nothing contradicts that, so nothing else is
//! looked for; but quartzes are off by 100 ppm at most, and time services steer them by 500 ppm. So a rate
//! beyond [what two clocks differ by](crate::options::AlignOptions::proven) is
//! one thing to explain more:
//!
//! ```text
//!  shown by    one line, 10,000 ppm       set by 5 ms, 20 ppm
//!  a clock           ___---                         _____
//!              ___---                     _____
//! ```
//!
//! Where a frequency was declared wrongly, dependencies hold its line all along, and no step explains it.

use crate::options::OPTIONS;
use crate::selection::Stiffness;
use crate::stages::AlignmentTask;
use crate::{Alignment, ClockStep};
use retime_causality::edges::Source;
use retime_model::{ClockId, TickRate};

/// Rates while steps are looked for.
#[derive(Clone, Copy)]
pub(super) struct Rates {
    /// The ticks of a second.
    pub(super) ticks: TickRate,
    /// They [are held](Stiffness::is_held), and a clock at a rate that no clock has is one thing to explain.
    pub(super) are_held: bool,
}

impl Rates {
    /// Rates as dependencies show them.
    pub(super) fn any(ticks: TickRate) -> Self {
        Self {
            ticks,
            are_held: false,
        }
    }

    /// Rates no larger than those of clocks.
    pub(super) fn held(ticks: TickRate) -> Self {
        Self {
            ticks,
            are_held: true,
        }
    }

    /// An alignment to be done at these rates.
    pub(super) fn task(self, reference: ClockId, stiffness: Stiffness) -> AlignmentTask {
        AlignmentTask {
            stiffness: Stiffness {
                is_held: self.are_held,
                ..stiffness
            },
            ..AlignmentTask::of(self.ticks, reference)
        }
    }
}

/// True if some clock runs at a rate that no two clocks differ by; not where rates are known to have
/// changed, which is asked of all that dependencies say.
pub(super) fn are_implausible(alignment: &Alignment, source: &dyn Source) -> bool {
    alignment.rate_changes.is_empty() && implausible(alignment, source) > 0
}

/// The number of clocks that run at a rate that no two clocks differ by, between the moments at which they were set.
pub(super) fn implausible(alignment: &Alignment, source: &dyn Source) -> usize {
    let clocks = (0..source.clocks() as u32).map(ClockId);
    let is_steep = |it: &ClockId| steepest(alignment, source, *it) > OPTIONS.proven;
    clocks.filter(is_steep).count()
}

/// The largest rate of a clock against the common time between the moments at which it was set, as a fraction.
fn steepest(alignment: &Alignment, source: &dyn Source, clock: ClockId) -> f64 {
    let offset = alignment.estimate.offsets.get(clock.as_usize());
    let (Some(offset), Some((first, last))) =
        (offset.and_then(Option::as_ref), source.extent(clock))
    else {
        return 0.0;
    };
    let own = alignment.steps.iter().filter(|it| it.clock == clock);
    let mut cuts: Vec<(i64, i64)> = own.map(|it| (it.after, it.until)).collect();
    cuts.sort_unstable();
    let begins = std::iter::once(first).chain(cuts.iter().map(|it| it.1));
    let ends = cuts.iter().map(|it| it.0).chain(std::iter::once(last));
    let rates = begins.zip(ends).map(|(from, to)| {
        let lasts = to.saturating_sub(from);
        if lasts > 0 {
            (offset.at(to) - offset.at(from)).abs() / lasts as f64
        } else {
            0.0
        }
    });
    rates.fold(0.0, f64::max)
}

/// The amount by which the rate of a clock would have to differ if it had not been set, as a
/// fraction.
pub(super) fn rate(step: &ClockStep) -> f64 {
    step.by.abs() / step.until.saturating_sub(step.after).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align_edges;
    use retime_causality::edges::{Edge, Edges};
    use std::ops::Range;

    const LAST: i64 = 700_000_000;

    /// Three clocks meet every 20 ms, but in these rounds; whoever comes last is heard by the others as much
    /// later as `least`, or by up to 1.9 ms more.
    fn meetings(silent: &Range<i64>, least: i64, shown: impl Fn(u32, i64) -> i64) -> Edges {
        let mut edges = Vec::new();
        for round in (0..LAST / 20_000_000).filter(|it| !silent.contains(it)) {
            let last = [2, 0, 1, 2, 1, 0, 2][(round % 7) as usize];
            let came = 20_000_000 * round + 5_000_000;
            for other in (0..3).filter(|it| *it != last) {
                let more = (round * round * 37 + i64::from(other) * 611) % 1_900 * 1_000;
                let (sent, received) = (shown(last, came), shown(other, came + least + more));
                edges.push(Edge::message(ClockId(last), sent, ClockId(other), received));
            }
        }
        let extent = |clock| Some((shown(clock, 0), shown(clock, LAST)));
        Edges::new(edges, (0..3).map(extent).collect())
    }

    fn aligned(edges: &Edges) -> Alignment {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        align_edges(edges, rate, ClockId(0), &()).unwrap()
    }

    /// One line through 10,000 ppm explains all that is heard before and after.
    #[test]
    fn a_clock_that_was_set_is_not_one_that_runs_wrong_by_more_than_clocks_do() {
        for by in [5_000_000, -5_000_000] {
            let edges = meetings(&(10..25), 1_300_000, |clock, time| match clock {
                2 if time >= LAST / 2 => time + by,
                _ => time,
            });
            let found = aligned(&edges);
            let [step] = &found.steps[..] else {
                panic!("{:?}", found.steps)
            };
            assert_eq!(step.clock, ClockId(2));
            // Messages leave it open by 2.6 ms.
            assert!((step.by - by as f64).abs() < 2.6e6, "{step:?}");
            assert!(!are_implausible(&found, &edges));
        }
    }

    /// All along it is 1 % fast, as one whose frequency was declared wrongly.
    #[test]
    fn a_clock_that_runs_wrong_all_along_was_not_set() {
        let edges = meetings(&(0..0), 80_000, |clock, time| match clock {
            2 => time + time / 100,
            _ => time,
        });
        let found = aligned(&edges);
        assert!(found.steps.is_empty(), "{:?}", found.steps);
        assert!(are_implausible(&found, &edges));
        let offset = found.estimate.offsets[2].as_ref().unwrap();
        assert!((offset.at(LAST) - offset.at(0) + LAST as f64 / 100.0).abs() < 1e6);
    }
}
