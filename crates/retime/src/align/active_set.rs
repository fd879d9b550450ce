//! The active set: the dependencies that decide, and the centre they give.
//!
//! Of the dependencies of a link in a stretch of time only the tightest few pull at
//! the offsets. Which these are depends on the offsets, and the offsets on them. So
//! the centre is found for those that are the tightest at first; those that are
//! then are added; and again, until hardly any is new. Source: active sets, J.
//! Nocedal and S. J. Wright, *Numerical Optimization* (2006), chapter 16; here only
//! ever growing, so that it ends.

use rayon::prelude::*;

use super::barrier::Barrier;
use super::centre::{Centre, minimise};
use super::curves::Curves;
use super::frame::{Frame, Seen};
use super::links::{Link, Links};
use super::options::OPTIONS;
use crate::median::median;
use retime_model::{Cancelled, Monitor};

/// What is known of the trace besides its dependencies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Slack is latency less this.
    pub(super) least: f64,
    /// The barrier's knee is never below this.
    pub(super) knee: f64,
}

/// What a search begins with.
pub(super) struct Start {
    windows: usize,
    /// By link the positions of the dependencies that count, in rising order.
    active: Vec<Vec<u32>>,
    barrier: Barrier,
}

/// Offsets found from some dependencies.
pub(super) struct Found {
    pub(super) curves: Curves,
    pub(super) barrier: Barrier,
    /// What a pass over these dependencies finds.
    pub(super) survey: Survey,
}

/// Some dependencies, to find offsets from or to judge them by.
pub(super) struct Bench<'a> {
    pub(super) links: Links,
    /// They as the common axis shows them, in the same order.
    seen: Vec<Vec<Seen>>,
    frame: &'a Frame,
    setting: Setting,
    monitor: &'a dyn Monitor,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        links: Links,
        frame: &'a Frame,
        setting: Setting,
        monitor: &'a dyn Monitor,
    ) -> Self {
        let see = |link: &Link| {
            let points = links.of(link).iter();
            points.map(|point| frame.see(link, point)).collect()
        };
        Self {
            seen: links.list().par_iter().map(see).collect(),
            links,
            frame,
            setting,
            monitor,
        }
    }

    /// How many windows go with a division.
    pub(super) fn windows(&self, pieces: usize) -> usize {
        let filled = self.links.count() / (OPTIONS.fewest * self.links.list().len()).max(1);
        pieces.max(filled.clamp(1, OPTIONS.windows))
    }

    /// A pass over all dependencies.
    pub(super) fn survey(&self, curves: &Curves, windows: usize) -> Survey {
        let windows = windows.max(1);
        let of = |(link, seen): (&Link, &Vec<Seen>)| survey(link, seen, curves, windows);
        let links = self.links.list().par_iter().zip(&self.seen);
        Survey {
            windows,
            links: links.map(of).collect(),
        }
    }

    /// The slacks of the tightest.
    pub(super) fn slacks(&self, survey: &Survey) -> impl Iterator<Item = f64> {
        survey.latencies().map(|it| it - self.setting.least)
    }

    /// What a search begins with, from what a pass finds.
    pub(super) fn start(&self, survey: &Survey) -> Start {
        Start {
            windows: survey.windows,
            active: survey.positions().collect(),
            barrier: self.barrier(survey),
        }
    }

    /// Finds the centre, from curves and what a pass finds with them.
    pub(super) fn settle(
        &self,
        mut curves: Curves,
        start: Start,
        sigma: f64,
        tolerance: f64,
    ) -> Result<Found, Cancelled> {
        let Start {
            windows,
            mut active,
            mut barrier,
        } = start;
        let mut round = 0;
        loop {
            round += 1;
            self.minimise(&active, &mut curves, barrier, sigma, tolerance)?;
            let survey = self.survey(&curves, windows);
            let known: usize = active.iter().map(Vec::len).sum();
            let both = active.iter_mut().zip(survey.positions());
            let new: usize = both.map(|(active, tight)| take_in(active, tight)).sum();
            let settled = new as f64 <= OPTIONS.new * known as f64;
            if !settled {
                barrier = self.barrier(&survey);
            }
            if settled || round == OPTIONS.rounds {
                return Ok(Found {
                    curves,
                    barrier,
                    survey,
                });
            }
        }
    }

    /// The centre of some dependencies.
    fn minimise(
        &self,
        active: &[Vec<u32>],
        curves: &mut Curves,
        barrier: Barrier,
        sigma: f64,
        tolerance: f64,
    ) -> Result<(), Cancelled> {
        self.monitor.check()?;
        let least = self.setting.least;
        let centre = Centre::new(
            &self.links,
            self.frame,
            active,
            curves,
            least,
            barrier,
            sigma,
        );
        minimise(&centre, curves, tolerance * barrier.scale, self.monitor)?;
        Ok(())
    }

    /// The scale is the median, over windows and clocks, of the smallest slack. Where
    /// that is nothing or less the offsets are still far off, and a scale too small
    /// would only make the centre hard to find.
    fn barrier(&self, survey: &Survey) -> Barrier {
        let least = survey.by_clock(&self.links);
        let mut slacks: Vec<f64> = least.iter().map(|it| it - self.setting.least).collect();
        let typical = median(&mut slacks).unwrap_or(0.0);
        for slack in &mut slacks {
            *slack = slack.abs();
        }
        let off = OPTIONS.off * median(&mut slacks).unwrap_or(0.0);
        let scale = typical.max(off).max(self.setting.knee);
        Barrier::new(scale, self.setting.knee.max(OPTIONS.knee * scale))
    }
}

/// Adds to a sorted list what it lacks of another; returns how many.
fn take_in(active: &mut Vec<u32>, tight: Vec<u32>) -> usize {
    let before = active.len();
    active.extend(tight);
    active.sort_unstable();
    active.dedup();
    active.len() - before
}

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
    tight: Vec<[Tight; OPTIONS.tightest]>,
    /// The least latency.
    pub(super) least: f64,
}

/// What a pass found, by link.
pub(super) struct Survey {
    pub(super) windows: usize,
    pub(super) links: Vec<Surveyed>,
}

impl Survey {
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
    pub(super) fn by_clock(&self, links: &Links) -> Vec<f64> {
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

fn survey(link: &Link, seen: &[Seen], curves: &Curves, windows: usize) -> Surveyed {
    let mut found = Surveyed {
        tight: vec![[NOBODY; OPTIONS.tightest]; windows],
        least: f64::INFINITY,
    };
    let scale = windows as f64 / curves.span;
    for (at, seen) in (Links::first(link)..).zip(seen) {
        let latency = seen.latency + curves.between(link.from, link.to, seen);
        found.least = found.least.min(latency);
        let window = (seen.sent * scale) as usize;
        let best = &mut found.tight[window.min(windows - 1)];
        // Most are not among the tightest, and by far.
        if latency <= best[OPTIONS.tightest - 1].latency {
            let sent = seen.sent;
            insert(best, Tight { latency, sent, at });
        }
    }
    found
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
