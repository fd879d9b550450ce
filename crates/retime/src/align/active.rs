//! The dependencies that decide: the tightest of each pair of clocks in each
//! stretch of time.
//!
//! They are found in one pass over all dependencies, which is what takes time.

use rayon::prelude::*;

use super::curves::Curves;
use super::frame::Frame;
use super::links::{Link, Links};

/// How many of each window.
const TIGHTEST: usize = 3;

/// A dependency, and what is left of its latency between aligned clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tight {
    pub(super) latency: f64,
    /// Of several equal ones the earliest comes first, whatever their positions.
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

/// What a pass found of one link.
pub(super) struct Surveyed {
    /// By window, the tightest first.
    tight: Vec<[Tight; TIGHTEST]>,
    /// The least latency.
    pub(super) least: f64,
}

/// What a pass found, by link.
pub(super) struct Survey {
    pub(super) windows: usize,
    pub(super) links: Vec<Surveyed>,
}

impl Survey {
    /// Looks at all dependencies of aligned clocks.
    pub(super) fn new(links: &Links<'_>, frame: &Frame, curves: &Curves, windows: usize) -> Self {
        let windows = windows.max(1);
        let of = |link: &Link| survey(links, frame, curves, link, windows);
        Self {
            windows,
            links: links.list().par_iter().map(of).collect(),
        }
    }

    /// Of each link the positions of the tightest, in rising order.
    pub(super) fn positions(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        self.links.iter().map(|link| {
            let tight = link.tight.iter().flatten();
            let found = tight.map(|it| it.at).filter(|&at| at != NOBODY.at);
            let mut all: Vec<u32> = found.collect();
            all.sort_unstable();
            all
        })
    }

    /// The latencies of the tightest.
    pub(super) fn latencies(&self) -> impl Iterator<Item = f64> + '_ {
        let tight = self
            .links
            .iter()
            .flat_map(|link| link.tight.iter().flatten());
        tight.map(|it| it.latency).filter(|it| it.is_finite())
    }

    /// The least latency of any dependency of each clock in each window.
    pub(super) fn by_clock(&self, links: &Links<'_>) -> Vec<f64> {
        let mut least = vec![f64::INFINITY; self.windows * links.clocks()];
        for (link, found) in links.list().iter().zip(&self.links) {
            for (window, tight) in found.tight.iter().enumerate() {
                for clock in [link.from, link.to] {
                    let least = &mut least[window * links.clocks() + clock];
                    *least = least.min(tight[0].latency);
                }
            }
        }
        least.retain(|it| it.is_finite());
        least
    }
}

fn survey(
    links: &Links<'_>,
    frame: &Frame,
    curves: &Curves,
    link: &Link,
    windows: usize,
) -> Surveyed {
    let mut found = Surveyed {
        tight: vec![[NOBODY; TIGHTEST]; windows],
        least: f64::INFINITY,
    };
    let scale = windows as f64 / frame.span;
    for (at, edge) in links.of(link) {
        let seen = frame.see(edge);
        let tight = Tight {
            latency: seen.latency + curves.between(link.from, link.to, &seen),
            sent: seen.sent,
            at,
        };
        found.least = found.least.min(tight.latency);
        let window = (seen.sent * scale) as usize;
        insert(&mut found.tight[window.min(windows - 1)], tight);
    }
    found
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
