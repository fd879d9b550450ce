//! A pass over all dependencies: the tightest of each link in each window of time, between aligned
//! clocks, and what of them comes too early.

use retime_numerics::parallel;

use super::asymmetry::spread;
use super::curves::Curves;
use super::frame::FramedDependency;
use super::links::{Link, Links};
use super::options::OPTIONS;

/// Effects that come too early after their causes, by window and link the earliest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contradictions {
    /// The sum in ticks.
    pub(super) sum: f64,
    /// In how many windows
    touched: usize,
    /// of so many.
    windows: usize,
}

impl Contradictions {
    /// True if they show all over the run.
    pub(super) fn are_proof(&self) -> bool {
        self.touched * OPTIONS.proof_among > self.windows
    }

    /// True if they show all over the run, as they did before, and are still more than this share of those.
    pub(super) fn stay(&self, before: &Self, share: f64) -> bool {
        self.are_proof() && before.are_proof() && self.sum > share * before.sum
    }
}

/// A dependency, and what is left of its latency between aligned clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tight {
    latency: f64,
    /// The time of sending; of several equal ones the earliest comes first, whatever their
    /// positions.
    sent: f64,
    at: u32,
}

/// Stands for none.
const NOBODY: Tight = Tight {
    latency: f64::INFINITY,
    sent: f64::INFINITY,
    at: u32::MAX,
};

impl Tight {
    fn before(&self, other: &Self) -> bool {
        (self.latency, self.sent, self.at) < (other.latency, other.sent, other.at)
    }
}

/// The result of a pass for one link.
pub(super) struct Surveyed {
    /// Per window: its dependencies, the tightest first.
    tight: Vec<[Tight; OPTIONS.tightest]>,
    /// The least latency.
    pub(super) least: f64,
    /// How far the [lowest windows](spread) are spread, if there are enough.
    pub(super) spread: Option<f64>,
}

impl Surveyed {
    /// Looks at all dependencies of a link, given these curves, in so many windows.
    pub(super) fn new(
        link: &Link,
        seen: &[FramedDependency],
        curves: &Curves,
        windows: usize,
    ) -> Self {
        let mut found = Self {
            tight: vec![[NOBODY; OPTIONS.tightest]; windows],
            least: f64::INFINITY,
            spread: None,
        };
        // Clocks of one piece are looked up once for all dependencies.
        match curves.lines_of(link.from, link.to) {
            Some(lines) => found.pass(link, seen, curves.span, |seen| lines.between(seen)),
            None => found.pass(link, seen, curves.span, |seen| {
                curves.between(link.from, link.to, seen)
            }),
        }
        found
    }

    /// Takes in all dependencies of a link, to whose latency clocks `add` something.
    #[inline]
    fn pass(
        &mut self,
        link: &Link,
        seen: &[FramedDependency],
        span: f64,
        add: impl Fn(&FramedDependency) -> f64,
    ) {
        let mut lowest = [f64::INFINITY; OPTIONS.windows];
        let per_tick = OPTIONS.windows as f64 / span;
        let windows = self.tight.len();
        let scale = windows as f64 / span;
        for (at, seen) in (Links::first(link)..).zip(seen) {
            let latency = seen.latency + add(seen);
            self.least = self.least.min(latency);
            let low = &mut lowest[((seen.sent * per_tick) as usize).min(OPTIONS.windows - 1)];
            *low = low.min(latency);
            let window = (seen.sent * scale) as usize;
            let best = &mut self.tight[window.min(windows - 1)];
            // Most are not among the tightest, and by far.
            if latency <= best[OPTIONS.tightest - 1].latency {
                let sent = seen.sent;
                insert(best, Tight { latency, sent, at });
            }
        }
        self.spread = spread(&mut lowest);
    }

    /// The latencies of the tightest.
    pub(super) fn tight(&self) -> impl Iterator<Item = f64> + '_ {
        let all = self.tight.iter().flatten();
        all.map(|it| it.latency).filter(|it| it.is_finite())
    }

    /// The positions of the tightest, in rising order.
    pub(super) fn positions(&self) -> Vec<u32> {
        let tight = self.tight.iter().flatten();
        let found = tight.map(|it| it.at).filter(|&at| at != NOBODY.at);
        let mut all: Vec<u32> = found.collect();
        all.sort_unstable();
        all
    }
}

/// The result of a pass, by link.
pub(super) struct Survey {
    pub(super) windows: usize,
    pub(super) links: Vec<Surveyed>,
}

impl Survey {
    /// The positions of the tightest of each link.
    pub(super) fn positions(&self) -> Vec<Vec<u32>> {
        parallel::map(&self.links, Surveyed::positions)
    }

    /// The least latency of all.
    pub(super) fn least(&self) -> f64 {
        let fastest = self.links.iter().map(|link| link.least);
        fastest.fold(f64::INFINITY, f64::min)
    }

    /// The effects that come earlier than `soonest` after their causes.
    pub(super) fn contradictions(&self, soonest: f64) -> Contradictions {
        let mut found = Contradictions {
            windows: self.windows,
            ..Contradictions::default()
        };
        for window in 0..self.windows {
            let tight = self.links.iter().map(|link| link.tight[window][0].latency);
            let missing: f64 = tight.map(|it| (soonest - it).max(0.0)).sum();
            found.sum += missing;
            found.touched += usize::from(missing > 0.0);
        }
        found
    }
}

#[inline]
fn insert(best: &mut [Tight; OPTIONS.tightest], tight: Tight) {
    if !tight.before(&best[OPTIONS.tightest - 1]) {
        return;
    }
    let mut place = OPTIONS.tightest - 1;
    while place > 0 && tight.before(&best[place - 1]) {
        best[place] = best[place - 1];
        place -= 1;
    }
    best[place] = tight;
}

#[cfg(test)]
impl Surveyed {
    /// A link with these latencies.
    pub(super) fn of(latencies: &[f64]) -> Self {
        let tight = |&latency: &f64| {
            let it = Tight {
                latency,
                sent: 0.0,
                at: 0,
            };
            [it, NOBODY, NOBODY]
        };
        Self {
            tight: latencies.iter().map(tight).collect(),
            least: latencies.iter().copied().fold(f64::INFINITY, f64::min),
            spread: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many of forty windows are contradicted by these ticks each; five or more are proof.
    fn contradicted(windows: usize, by: f64) -> Contradictions {
        let latencies = (0..40).map(|it| if it < windows { -by } else { 1.0 });
        let links = vec![Surveyed::of(&latencies.collect::<Vec<_>>())];
        Survey { windows: 40, links }.contradictions(0.0)
    }

    #[test]
    fn contradictions_stay_that_show_all_over_the_run_and_hardly_fall() {
        let before = contradicted(10, 100.0);
        assert!(contradicted(10, 95.0).stay(&before, 0.9));
        // More of them, since dependencies were added, are no progress.
        assert!(contradicted(12, 100.0).stay(&before, 0.9));
        assert!(!contradicted(10, 80.0).stay(&before, 0.9));
        // A few may be outliers.
        assert!(!contradicted(4, 300.0).stay(&before, 0.9));
        assert!(!contradicted(10, 95.0).stay(&contradicted(4, 100.0), 0.9));
        assert!(!contradicted(0, 0.0).stay(&contradicted(0, 0.0), 0.9));
    }
}
