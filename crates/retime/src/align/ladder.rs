//! How fine: pieces are made shorter while that helps.

use super::active::{Tight, found, tightest};
use super::barrier::Barrier;
use super::centre::{Centre, positions};
use super::curves::Curves;
use super::frame::Frame;
use super::lines::median;
use super::links::Links;
use super::newton::minimise;

const STEPS: [usize; 6] = [1, 4, 16, 64, 256, 1024];
const FEWEST: usize = 8;
const WINDOWS: usize = 64;
const ROUNDS: usize = 8;

/// What the ladder needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Slack is latency less this.
    pub(super) least: f64,
    /// The barrier's knee is never below this.
    pub(super) knee: f64,
}

/// How well an alignment fits.
#[derive(Clone, Copy, Debug)]
struct Score {
    below: usize,
    mean: f64,
}

/// The offsets, with as many pieces as help and at least those given.
pub(super) fn climb(links: &Links<'_>, frame: &Frame, start: Curves, setting: Setting) -> Curves {
    let mut best = start;
    settle(links, frame, &mut best, setting);
    let mut score = judge(links, frame, &best, setting);
    let mut failures = 0;
    let coarsest = best.pieces;
    for pieces in STEPS.into_iter().filter(|&it| it > coarsest) {
        if links.len() < FEWEST * links.list().len() * pieces {
            break;
        }
        let mut finer = best.refined(pieces);
        settle(links, frame, &mut finer, setting);
        let reached = judge(links, frame, &finer, setting);
        let few = score.below * 1000 < links.len();
        let better = reached.below <= score.below
            && reached.mean > score.mean * if few { 1.05 } else { 1.0 };
        if better {
            (best, score) = (finer, reached);
            failures = 0;
        } else if failures == PATIENCE {
            break;
        } else {
            failures += 1;
        }
    }
    best
}

const PATIENCE: usize = 1;

fn judge(links: &Links<'_>, frame: &Frame, curves: &Curves, setting: Setting) -> Score {
    use rayon::prelude::*;
    let of = |link: &super::links::Link| {
        let mut below = 0;
        let mut least = f64::INFINITY;
        for (_, edge) in links.of(link) {
            let seen = frame.see(edge);
            let slack = seen.latency + curves.between(link.from, link.to, &seen) - setting.least;
            below += usize::from(slack < 0.0);
            least = least.min(slack + setting.least);
        }
        (below, least)
    };
    let all: Vec<(usize, f64)> = links.list().par_iter().map(of).collect();
    Score {
        below: all.iter().map(|it| it.0).sum(),
        mean: all.iter().map(|it| it.1).sum::<f64>() / all.len().max(1) as f64,
    }
}

/// Finds the centre, taking in dependencies until hardly any new one is tight.
fn settle(links: &Links<'_>, frame: &Frame, curves: &mut Curves, setting: Setting) {
    let windows = curves.pieces.max(WINDOWS);
    let mut tight = tightest(links, frame, curves, windows);
    let mut active: Vec<Vec<u32>> = tight.iter().map(|it| positions(it)).collect();
    for _ in 0..ROUNDS {
        let scale = scale(links, &tight, setting);
        let barrier = Barrier::new(scale, setting.knee.max(0.05 * scale));
        let centre = Centre::new(links, frame, &active, curves, setting.least, barrier, scale);
        minimise(&centre, curves, 1e-7 * scale);
        tight = tightest(links, frame, curves, windows);
        let count: usize = active.iter().map(Vec::len).sum();
        let mut new = 0;
        for (active, tight) in active.iter_mut().zip(&tight) {
            let before = active.len();
            active.extend(positions(tight));
            active.sort_unstable();
            active.dedup();
            new += active.len() - before;
        }
        if new * 1000 <= count {
            break;
        }
    }
}

/// The median, over windows and clocks, of the smallest slack.
fn scale(links: &Links<'_>, tight: &[Vec<[Tight; 3]>], setting: Setting) -> f64 {
    let windows = tight.first().map_or(0, Vec::len);
    let clocks = links.clocks();
    let mut least = vec![f64::INFINITY; windows * clocks];
    for (link, tight) in links.list().iter().zip(tight) {
        for (window, tight) in tight.iter().enumerate() {
            if let Some(first) = found(tight).next() {
                for clock in [link.from, link.to] {
                    let least = &mut least[window * clocks + clock];
                    *least = least.min(first.latency - setting.least);
                }
            }
        }
    }
    least.retain(|it| it.is_finite());
    median(&mut least).unwrap_or(1.0).max(setting.knee)
}
