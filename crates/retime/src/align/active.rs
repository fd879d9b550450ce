//! The dependencies that decide: the tightest of each pair of clocks in each
//! stretch of time.

use rayon::prelude::*;

use super::curves::Curves;
use super::frame::Frame;
use super::links::{Link, Links};

/// How many of a window.
const TIGHTEST: usize = 3;

/// A dependency, and what is left of its latency between aligned clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tight {
    pub(super) latency: f64,
    /// Of several equal ones the earliest comes first, whatever their positions.
    pub(super) sent: f64,
    pub(super) at: u32,
}

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

/// For each link, window by window, its tightest, tightest first.
pub(super) fn tightest(
    links: &Links<'_>,
    frame: &Frame,
    curves: &Curves,
    windows: usize,
) -> Vec<Vec<[Tight; TIGHTEST]>> {
    let of = |link: &Link| {
        let mut all = vec![[NOBODY; TIGHTEST]; windows];
        let scale = windows as f64 / frame.span;
        for (at, edge) in links.of(link) {
            let seen = frame.see(edge);
            let latency = seen.latency + curves.between(link.from, link.to, &seen);
            let time = f64::midpoint(seen.sent, seen.received);
            let window = ((time * scale) as usize).min(windows - 1);
            let tight = Tight {
                latency,
                sent: seen.sent,
                at,
            };
            insert(&mut all[window], tight);
        }
        all
    };
    links.list().par_iter().map(of).collect()
}

#[inline]
fn insert(best: &mut [Tight; TIGHTEST], tight: Tight) {
    if !tight.before(&best[TIGHTEST - 1]) {
        return;
    }
    let mut place = TIGHTEST - 1;
    while place > 0 && tight.before(&best[place - 1]) {
        best[place] = best[place - 1];
        place -= 1;
    }
    best[place] = tight;
}

/// Those that exist.
pub(super) fn found(best: &[Tight; TIGHTEST]) -> impl Iterator<Item = &Tight> {
    best.iter().filter(|it| it.at != u32::MAX)
}
