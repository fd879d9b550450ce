//! Defective stamps, left out.
//!
//! Now and then a clock is read wrongly, or a process stands still between the
//! event and the reading; its messages then contradict all others around. Once
//! clocks are aligned such a dependency shows by being reversed by far: by more
//! than 200 ns and than half the round trip of the median pair of clocks. But
//! where many are, the clocks are not aligned yet. So they are left out only if
//! they touch at most a tenth of 512 windows of the run.

use super::curves::Curves;
use super::frame::Frame;
use super::links::{Link, Links};
use crate::median::median;

const WINDOWS: usize = 512;
/// Windows that may be touched.
const MOST: usize = WINDOWS / 10;
/// In nanoseconds.
const LEAST: f64 = 200.0;

/// Positions of dependencies to leave out, in rising order; `fastest` is the least
/// aligned latency of each link.
pub(super) fn defective(
    links: &Links<'_>,
    frame: &Frame,
    curves: &Curves,
    fastest: &[f64],
    nanosecond: f64,
) -> Vec<u32> {
    let bound = -bound(links, fastest, nanosecond);
    let mut touched = [false; WINDOWS];
    let mut found = Vec::new();
    let suspects = links.list().iter().zip(fastest);
    for (link, _) in suspects.filter(|it| *it.1 < bound) {
        for (at, edge) in links.of(link) {
            let seen = frame.see(edge);
            if seen.latency + curves.between(link.from, link.to, &seen) < bound {
                let window = (seen.sent * (WINDOWS as f64 / frame.span)) as usize;
                touched[window.min(WINDOWS - 1)] = true;
                found.push(at);
            }
        }
    }
    if touched.iter().filter(|&&it| it).count() > MOST {
        return Vec::new();
    }
    found.sort_unstable();
    found
}

/// How far reversed a defective dependency is, at least.
pub(super) fn bound(links: &Links<'_>, fastest: &[f64], nanosecond: f64) -> f64 {
    let list = links.list().iter().zip(fastest);
    let round_trip = |(link, there): (&Link, &f64)| {
        let back = links.opposite_index(link)?;
        (link.from < link.to).then(|| there + fastest[back])
    };
    let mut round_trips: Vec<f64> = list.filter_map(round_trip).collect();
    let half = median(&mut round_trips).map_or(0.0, |it| it / 2.0);
    half.max(LEAST * nanosecond)
}
