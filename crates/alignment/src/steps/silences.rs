//! Where nothing is heard of any clock.
//!
//! A program that computes for a while tells nothing of its clocks meanwhile, and those that were
//! set then jump between the same two messages. One step of them alone leaves what the others did
//! unexplained, so that none looks like an explanation; all clocks are cut there [at
//! once](super::at_once).
//!
//! ```text
//!  clock 0  | | | |               | | |     messages
//!  clock 1  | | | |-----308 us----| | |     one candidate: all clocks but the reference
//!  clock 2  | | | |-----194 us----| | |     are cut in the silence
//! ```
//!
//! The run is divided into equal windows of the common time; a silence is a stretch of windows
//! without the end of any dependency.

use super::at_once::AtOnce;
use retime_causality::edges::{Edge, Edges};
use retime_clocks::estimate::Estimate;
use retime_model::ClockId;

/// Windows of the run. What is silent for less is crossed by lines that messages on both sides
/// tell well: a step there shows by itself.
const WINDOWS: usize = 256;

/// The longest silences, at most so many, the longest first.
pub(super) fn silences(estimate: &Estimate, edges: &Edges, most: usize) -> Vec<AtOnce> {
    let Some((first, last)) = ends(estimate, edges) else {
        return Vec::new();
    };
    let mut heard = [false; WINDOWS];
    let window = |time: i64| {
        let along = i128::from(time) - i128::from(first);
        let all = (i128::from(last) - i128::from(first)).max(0) + 1;
        (along * WINDOWS as i128 / all) as usize
    };
    for edge in edges.all() {
        for (clock, stamp) in both(edge) {
            heard[window(estimate.common_time(clock, stamp))] = true;
        }
    }
    let mut silent = stretches(&heard);
    silent.sort_by_key(|it| std::cmp::Reverse(it.len()));
    silent.truncate(most);
    let cuts = silent.into_iter().map(|silence| {
        let mut cuts = vec![(i64::MIN, i64::MAX); edges.clocks()];
        for edge in edges.all() {
            for (clock, stamp) in both(edge) {
                // Clocks that have no extent are of no interest.
                let Some(cut) = cuts.get_mut(clock.as_usize()) else {
                    continue;
                };
                if window(estimate.common_time(clock, stamp)) < silence.start {
                    cut.0 = cut.0.max(stamp);
                } else {
                    cut.1 = cut.1.min(stamp);
                }
            }
        }
        let clocks = (0..).map(ClockId).zip(cuts);
        let is_heard = |&(_, (after, until)): &(ClockId, (i64, i64))| {
            after > i64::MIN && until < i64::MAX && after < until
        };
        AtOnce::silent(clocks.filter(is_heard).collect(), estimate.reference)
    });
    cuts.collect()
}

/// The first and the last common time of a dependency.
fn ends(estimate: &Estimate, edges: &Edges) -> Option<(i64, i64)> {
    let times = edges.all().iter().flat_map(both);
    let times = times.map(|(clock, stamp)| estimate.common_time(clock, stamp));
    times.fold(None, |all: Option<(i64, i64)>, it| {
        Some(all.map_or((it, it), |all| (all.0.min(it), all.1.max(it))))
    })
}

/// Stretches of windows of which nothing is heard, between two of which something is.
fn stretches(heard: &[bool]) -> Vec<std::ops::Range<usize>> {
    let mut stretches = Vec::new();
    let mut after = 0;
    for (window, _) in heard.iter().enumerate().filter(|it| *it.1) {
        if window > after {
            stretches.push(after..window);
        }
        after = window + 1;
    }
    stretches
}

fn both(edge: &Edge) -> [(ClockId, i64); 2] {
    [(edge.from, edge.sent), (edge.to, edge.received)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align_edges;
    use retime_clocks::estimate::Offset;
    use retime_model::TickRate;

    /// Four clocks in a ring, both ways each ms in at least 5 us, but for the times from 15 to 800 and
    /// from 880 to 1430 ms. While they compute first, clocks are set by so many us.
    fn computing(set: [i64; 4]) -> Edges {
        let shown = |clock: u32, time: i64| {
            let by = set[clock as usize];
            time + 200_000 * i64::from(clock) + if time > 400_000_000 { 1_000 * by } else { 0 }
        };
        let mut edges = Vec::new();
        for round in (0..15).chain(800..880).chain(1_430..1_480) {
            for from in 0..4_u32 {
                for to in [(from + 1) % 4, (from + 3) % 4] {
                    let scatter = i64::from((round * 7919 + from * 31 + to * 17) % 101);
                    let sent = 1_000_000 * i64::from(round) + 5_000 * scatter;
                    let received = sent + 5_000 + 40 * (scatter * scatter % 101);
                    let (sent, received) = (shown(from, sent), shown(to, received));
                    edges.push(Edge::message(ClockId(from), sent, ClockId(to), received));
                }
            }
        }
        let extent = |clock| Some((shown(clock, 0), shown(clock, 1_481_000_000)));
        Edges::new(edges, (0..4).map(extent).collect())
    }

    #[test]
    fn all_clocks_but_the_reference_are_cut_where_nothing_is_heard() {
        let edges = computing([0; 4]);
        let constant = |clock: i32| Some(Offset::constant(-200_000.0 * f64::from(clock)));
        let estimate = Estimate {
            offsets: (0..4).map(constant).collect(),
            reference: ClockId(0),
        };
        let silences = silences(&estimate, &edges, 3);
        assert_eq!(silences.len(), 2);
        let cuts: Vec<_> = silences[0].of_others().collect();
        assert_eq!(cuts.len(), 3);
        for (number, &(clock, (after, until))) in (1..).zip(&cuts) {
            assert_eq!(clock, ClockId(number));
            let ahead = 200_000 * i64::from(number);
            assert!((14_000_000..15_000_000).contains(&(after - ahead)));
            assert!((800_000_000..801_000_000).contains(&(until - ahead)));
        }
        let none = Edges::new(Vec::new(), vec![None; 4]);
        assert!(super::silences(&estimate, &none, 3).is_empty());
    }

    /// The step of none of them alone leaves less unexplained.
    #[test]
    fn clocks_that_were_set_in_one_silence_are_found() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let set = [0, -345, 20, -403];
        let alignment = align_edges(&computing(set), rate, ClockId(0), &()).unwrap();
        let found = alignment.steps.iter();
        let found: Vec<(u32, f64)> = found.map(|it| (it.clock.0, it.by)).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        for (clock, by) in found {
            let truth = 1e3 * set[clock as usize] as f64;
            assert!((by - truth).abs() < 25e3, "clock {clock}: {by} for {truth}");
        }
    }
}
