//! Outlier rejection: defective stamps, left out.
//!
//! Now and then a clock is read wrongly, or a process stands still between the
//! event and the reading; its messages then contradict all others around. Once
//! clocks are aligned such a dependency shows by being reversed by far: by more
//! than 200 ns and than half the round trip of the median pair of clocks. But
//! where many are, the clocks are not aligned yet. So they are left out only if
//! they touch at most a tenth of 512 windows of the run, and are at most a tenth of each
//! link's dependencies.
//!
//! Clocks that are found without them need not contradict all of them: lines through medians are only
//! near to clocks that wander, or were set. What does not contradict the clocks in the end is taken
//! back, and they are looked for with it.
//!
//! Of a link whose tightest dependency is not reversed that far none is, and the
//! tightest are known; so dependencies are walked again only if there is a suspect.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::curves::Curves;
use super::frame::Frame;
use super::links::Links;
use super::options::OPTIONS;
use super::reduced::{LinkPoint, Same, same};
use retime_causality::edges::Edge;
use retime_causality::edges::{Source, each_part_watched};
use retime_model::{Cancelled, ClockId, Monitor};
use retime_numerics::median::median;

/// Aligned clocks, by which dependencies are judged.
#[derive(Clone, Copy)]
pub(super) struct OutlierTest<'a> {
    pub(super) links: &'a Links,
    pub(super) frame: &'a Frame,
    pub(super) curves: &'a Curves,
    /// The least aligned latency of each link.
    pub(super) fastest: &'a [f64],
    /// In ticks.
    pub(super) nanosecond: f64,
}

impl OutlierTest<'_> {
    /// Dependencies to leave out, besides those that are already, in the order of
    /// the source.
    pub(super) fn outliers(
        &self,
        source: &dyn Source,
        left_out: &FxHashSet<Same>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Edge>, Cancelled> {
        let bound = -self.bound();
        let links = self.links.list().iter().zip(self.fastest);
        let links = links.filter(|it| *it.1 < bound);
        let suspects = Suspects {
            links: links.map(|(link, _)| (link.from, link.to)).collect(),
            bound,
            frame: self.frame.clone(),
            curves: self.curves.clone(),
        };
        if suspects.links.is_empty() {
            return Ok(Vec::new());
        }
        suspects.outliers(source, left_out, monitor)
    }

    /// True if some dependency is reversed by as much.
    pub(super) fn any(&self) -> bool {
        let bound = -self.bound();
        self.fastest.iter().any(|&least| least < bound)
    }

    /// True if a dependency is reversed by as much.
    pub(super) fn contradict(&self, edge: &Edge) -> bool {
        let (from, to) = (edge.from.as_usize(), edge.to.as_usize());
        let (sent, received) = (edge.sent, edge.received);
        let point = LinkPoint { sent, received };
        let seen = self.frame.see_between(from, to, &point);
        seen.latency + self.curves.between(from, to, &seen) < -self.bound()
    }

    /// How far reversed an outlier is, at least.
    fn bound(&self) -> f64 {
        let list = self.links.list();
        let round_trip = |at: usize| {
            let back = self.links.opposite(at)?;
            (list[at].from < list[at].to).then(|| self.fastest[at] + self.fastest[back])
        };
        let mut round_trips: Vec<f64> = (0..list.len()).filter_map(round_trip).collect();
        let half = median(&mut round_trips).map_or(0.0, |it| it / 2.0);
        half.max(OPTIONS.outlier * self.nanosecond)
    }
}

/// Links that have outliers, or are wrong as a whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Suspects {
    links: FxHashSet<(usize, usize)>,
    /// An outlier has less than this latency.
    bound: f64,
    frame: Frame,
    curves: Curves,
}

impl Suspects {
    /// Their outliers, if these are few.
    pub(super) fn outliers(
        &self,
        source: &dyn Source,
        left_out: &FxHashSet<Same>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Edge>, Cancelled> {
        let tallies = each_part_watched(source, monitor, |part| {
            let mut tallies = Tallies::default();
            source.walk(part, &mut |edge| {
                if let Some((window, is_outlier)) = self.judge(&edge, left_out) {
                    tallies.add(&edge, window, is_outlier);
                }
            });
            tallies
        })?;
        let tallies = tallies
            .into_iter()
            .fold(Tallies::default(), Tallies::joined);
        if !tallies.are_few() {
            return Ok(Vec::new());
        }
        let found = each_part_watched(source, monitor, |part| {
            let mut found = Vec::new();
            source.walk(part, &mut |edge| {
                let judged = self.judge(&edge, left_out);
                if judged.is_some_and(|(_, is_outlier)| is_outlier) {
                    found.push(edge);
                }
            });
            found
        })?;
        Ok(found.concat())
    }

    /// The window of a dependency of a suspect link, and whether it is an outlier.
    #[inline]
    fn judge(&self, edge: &Edge, left_out: &FxHashSet<Same>) -> Option<(usize, bool)> {
        let (from, to) = (edge.from.as_usize(), edge.to.as_usize());
        if !self.links.contains(&(from, to)) || left_out.contains(&same(edge)) {
            return None;
        }
        let (sent, received) = (edge.sent, edge.received);
        let seen = self
            .frame
            .see_between(from, to, &LinkPoint { sent, received });
        let windows = OPTIONS.outlier_windows as f64 / self.frame.axis.span;
        let window = (seen.sent * windows) as usize;
        let latency = seen.latency + self.curves.between(from, to, &seen);
        Some((
            window.min(OPTIONS.outlier_windows - 1),
            latency < self.bound,
        ))
    }
}

/// Where suspect links have dependencies and outliers.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Tallies(FxHashMap<(ClockId, ClockId), [Tally; 2]>);

/// A number of dependencies, and the windows of the run that they are in.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Tally {
    count: u64,
    windows: Set,
}

/// A set of windows.
type Set = [u64; OPTIONS.outlier_windows / 64];

impl Tally {
    fn add(&mut self, window: usize) {
        self.count += 1;
        self.windows[window / 64] |= 1 << (window % 64);
    }

    fn join(&mut self, other: &Self) {
        self.count += other.count;
        unite(&mut self.windows, &other.windows);
    }

    /// True if these are a small part of all, by number and by windows.
    fn are_few_among(&self, all: &Self) -> bool {
        let among = OPTIONS.outliers_among;
        let is_few = |few: usize, all: usize| few * among <= all.max(among);
        is_few(self.count as usize, all.count as usize)
            && is_few(size(&self.windows), size(&all.windows))
    }
}

impl Tallies {
    fn add(&mut self, edge: &Edge, window: usize, is_outlier: bool) {
        let [all, outliers] = self.0.entry((edge.from, edge.to)).or_default();
        all.add(window);
        if is_outlier {
            outliers.add(window);
        }
    }

    fn joined(mut self, other: Self) -> Self {
        for (link, [all, outliers]) in other.0 {
            let known = self.0.entry(link).or_default();
            known[0].join(&all);
            known[1].join(&outliers);
        }
        self
    }

    /// True if outliers touch few windows of the run, and are few of each link, by windows and by
    /// number: a program may talk in bursts, so that one window holds half of its messages, and what
    /// many dependencies of a link say is no misreading, however few windows they are in.
    fn are_few(&self) -> bool {
        let mut touched = Set::default();
        for [all, outliers] in self.0.values() {
            if !outliers.are_few_among(all) {
                return false;
            }
            unite(&mut touched, &outliers.windows);
        }
        size(&touched) * OPTIONS.outliers_among <= OPTIONS.outlier_windows
    }
}

fn unite(set: &mut Set, other: &Set) {
    for (bits, more) in set.iter_mut().zip(other) {
        *bits |= more;
    }
}

fn size(set: &Set) -> usize {
    set.iter().map(|bits| bits.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Candidates;
    use retime_causality::edges::Edges;

    /// A program that talks in bursts: of 1,000 dependencies so many are in one window.
    fn few(in_burst: usize) -> bool {
        let edge = Edge::message(ClockId(0), 0, ClockId(1), 1);
        let mut tallies = Tallies::default();
        for at in 0..1_000 {
            let window = if at < in_burst { 0 } else { 1 + at % 100 };
            tallies.add(&edge, window, at < in_burst);
        }
        tallies.are_few()
    }

    #[test]
    fn what_most_messages_say_is_no_misreading_in_however_few_windows() {
        assert!(few(100));
        assert!(!few(101));
        assert!(!few(900));
    }

    #[test]
    fn what_clocks_do_not_contradict_is_taken_back() {
        let message = |from: u32, sent: i64, to: u32, received: i64| {
            Edge::message(ClockId(from), sent, ClockId(to), received)
        };
        let both_ways = (0..100).flat_map(|at| {
            let sent = 10_000 * at + at % 3;
            [
                message(0, sent, 1, sent + 500),
                message(1, sent + 3_000, 0, sent + 3_600),
            ]
        });
        let (reversed, sound) = (message(0, 50_003, 1, 43_000), message(0, 70_007, 1, 71_000));
        let edges: Vec<Edge> = both_ways.chain([reversed, sound]).collect();
        let edges = Edges::new(edges, vec![Some((0, 1_000_000)); 2]);
        let frame = Frame::new(&edges, vec![0, 0], 0, &()).unwrap();
        let mut candidates = Candidates::new(&edges, frame.axis.clone(), &()).unwrap();
        candidates.leave_out(vec![reversed, sound]).unwrap();
        let curves = Curves::flat(2, 1, frame.axis.span);
        let links = candidates.links();
        let judged = OutlierTest {
            links: &links,
            frame: &frame,
            curves: &curves,
            fastest: &[501.0, 601.0],
            nanosecond: 1.0,
        };
        let is_back = candidates.take_back_but(|edge| judged.contradict(edge));
        assert!(is_back.unwrap());
        assert_eq!(candidates.outliers(), [reversed]);
        assert_eq!(candidates.links().count(), 201);
        let is_back = candidates.take_back_but(|edge| judged.contradict(edge));
        assert!(!is_back.unwrap());
    }
}
