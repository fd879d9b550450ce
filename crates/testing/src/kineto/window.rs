//! Which part of the run a rank records.

use super::{
    happened::{RankLog, Span},
    job::KinetoRun,
};
use retime_sim::Random;

/// A stream of random numbers that nobody else has.
const WINDOWS: u64 = 1 << 41;

/// From when to when a rank records, in true time.
pub(super) fn recorded(run: &KinetoRun, rank: u32, log: &RankLog) -> Span {
    let mut random = Random::new(run.seed, WINDOWS + u64::from(rank));
    let iterations: Vec<Span> = log.iterations().collect();
    let choices = f64::from(run.windows.left_out) + 1.0;
    let mut left_out = || (random.uniform() * choices) as usize;
    let (first, last) = (left_out(), iterations.len().checked_sub(1 + left_out()));
    let (Some(first), Some(last)) = (
        iterations.get(first),
        last.and_then(|it| iterations.get(it)),
    ) else {
        return Span { begin: 0, end: 0 };
    };
    let mut within =
        |span: &Span| span.begin + (random.uniform() * (span.end - span.begin) as f64) as u64;
    if run.windows.cut {
        let (begin, end) = (within(first), within(last));
        Span {
            begin,
            end: end.max(begin),
        }
    } else {
        Span {
            begin: first.begin,
            end: last.end.max(first.begin),
        }
    }
}
