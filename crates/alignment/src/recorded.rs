//! The recorded times as evidence.
//!
//! Clocks are not anywhere: somebody set them, and they are off by about as much as
//! they contradict each other. Of clocks that are off by more, some effect would come
//! before its cause by more, unless all messages are looser than that. So where a
//! program waits for milliseconds, and clocks contradict each other by microseconds at
//! most, the middle of what is possible is further from the truth than what was recorded.
//!
//! Let `V` be the most by which an effect comes too early as recorded. Each clock is taken
//! to have a link there and back with the recorded time, of which every one of the `n`
//! tight dependencies has the slack `V`: with `o` the distance from the recorded time,
//!
//! ```text
//! w n (phi(V - o) + phi(V + o)) = const + 1/2 q o^2 + ...,    q = 6 n S / V^3
//! ```
//!
//! with the [weight](super::weights) `w = V / S` and `phi(s) = (S/s)^2 / 2`, whose second
//! derivative is `3 S^2 / s^4`. Only the square is kept: beyond `V` nothing is forbidden. Where
//! messages are tighter than clocks are off, which is the rule, `q` is as good as nothing.
//!
//! Distances count from the clock of the component that is held fast, whose time the others
//! get. `V` is at least `S / C` with `C` clocks: if they are off by about `S`, the chance that none
//! of them contradicts another by more than a share `1 / C` of it is hardly `C^-C`.
//!
//! **Few dependencies** do not tell where the floor of delays is, so that the middle between them
//! means nothing. Clocks that 8 dependencies or more from one to the other join form a *group* (of
//! fewer, no curve could be tried either). Where what has to be aligned is one group, its dependencies
//! tell. Where it is several, as in a program whose ranks meet now and then, or in which two ranks
//! go on alone while all others wait for them in a barrier, the correction is nearly the least that the
//! dependencies demand. All times that
//! they allow, the true ones among them, form a convex set, and the point of such a set that is
//! nearest to the recorded times is at least as near to every point of the set as these are:
//!
//! ```text
//! |nearest - true|^2 <= |recorded - true|^2 - |nearest - recorded|^2
//! ```
//!
//! If the correction goes further by a share `k` of its length, the error grows by no more than a
//! factor of `(1 + k^2)^(1/2)`, half a per cent for a tenth. Within that it keeps away from bounds, as
//! the centre does: with the scale `S` no more than `k V`, a dependency on the near side, of slack
//! `s` and the weight `s / S`, pulls by `S / s^2`, and `q = 1 / (k V^2)` holds against it at
//! `s = k V` for a correction by `V`. Bounds that are close to each other on both sides still
//! decide. Nothing is held fast then, since `q` holds the mean of all, and the least latency of all
//! counts as slack. Source: that projections onto convex sets bring nothing further apart, S. Boyd
//! and L. Vandenberghe, *Convex Optimization* (2004), section 8.1.

use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::components::components;
use super::grains::Grains;
use super::links::{Link, Links};
use super::options::OPTIONS;
use super::reduced::LinkPoint;

/// Where clocks are as recorded, and how far that is to be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordedOffsets {
    /// The ticks by which the most reversed dependency is off.
    worst: f64,
    /// True if there are too few dependencies between groups of clocks to tell more than what they
    /// contradict.
    pub(super) sparse: bool,
    /// True if many dependencies both ways do not join all clocks of a component.
    pub(super) is_loose: bool,
    /// The curve of each clock that leaves it as recorded.
    curves: Vec<f64>,
}

impl RecordedOffsets {
    /// In components of clocks, each named by one of its members, that count from the
    /// `pinned` clocks, on this axis; clocks advance by these `grains`.
    pub(super) fn of(
        links: &Links,
        axis: &Axis,
        grains: &Grains,
        pinned: &[usize],
        component: &[usize],
    ) -> Self {
        let mut pin = vec![None; component.len()];
        for &clock in pinned {
            if let Some(pin) = component.get(clock).and_then(|&name| pin.get_mut(name)) {
                *pin = Some(clock);
            }
        }
        let curve = |(clock, &name): (usize, &usize)| {
            let pin = pin.get(name).copied().flatten().unwrap_or(clock);
            axis.shifts[pin].saturating_sub(axis.shifts[clock]) as f64
        };
        let inside = |link: &&Link| component.get(link.from) == component.get(link.to);
        let inside: Vec<&Link> = links.list().iter().filter(inside).collect();
        let least = inside.iter().filter_map(|link| {
            let latencies = links.of(link).iter().map(LinkPoint::latency);
            Some(latencies.min()? as f64 + grains.between(link.from, link.to))
        });
        let least = least.fold(f64::INFINITY, f64::min);
        let many = inside.iter().filter(|it| it.count >= OPTIONS.fewest);
        let there: Vec<(usize, usize)> = many.map(|it| (it.from, it.to)).collect();
        let joins_all = |joined: &[(usize, usize)]| {
            let groups = components(component.len(), joined);
            inside.iter().all(|it| groups[it.from] == groups[it.to])
        };
        let mut either_way: Vec<(usize, usize)> = { there.iter() }
            .flat_map(|&(from, to)| [(from, to), (to, from)])
            .collect();
        either_way.sort_unstable();
        let sparse = !joins_all(&either_way);
        // Nothing is known to less than a grain.
        let floor = if sparse { grains.finest() } else { 0.0 };
        Self {
            worst: (-least).max(floor),
            sparse,
            is_loose: !joins_all(&there),
            curves: component.iter().enumerate().map(curve).collect(),
        }
    }

    /// The curve of a clock that leaves it as recorded.
    pub(super) fn curve(&self, clock: usize) -> f64 {
        self.curves.get(clock).copied().unwrap_or(0.0)
    }

    /// The weight `q` against links of so many tight dependencies and the scale `S`; none
    /// where nothing contradicts the recorded times, for then they need no defence.
    pub(super) fn weight(&self, dependencies: usize, scale: f64) -> f64 {
        if self.sparse {
            1.0 / (OPTIONS.further * self.worst * self.worst)
        } else if self.worst > 0.0 {
            let worst = self.worst.max(scale / self.curves.len() as f64);
            6.0 * dependencies as f64 * scale / worst.powi(3)
        } else {
            0.0
        }
    }

    /// The scale of slacks, no more than what recorded times tell if they tell more.
    pub(super) fn scale(&self, slacks: f64) -> f64 {
        if self.sparse {
            slacks.min(OPTIONS.further * self.worst)
        } else {
            slacks
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::edges::{Edge, Edges};
    use retime_model::ClockId;

    #[test]
    fn it_is_trusted_as_far_as_it_contradicts_itself() {
        let message =
            |from, sent, to, received| Edge::message(ClockId(from), sent, ClockId(to), received);
        let edges = vec![
            message(0, 100, 1, 90),
            message(1, 200, 0, 260),
            message(2, 300, 0, 305),
        ];
        let edges = Edges::new(edges, vec![Some((0, 400)); 3]);
        let links = Links::of_list(&edges);
        let grains = Grains::new(vec![5; 3]);
        let axis = Axis::new(&edges, vec![0, 35, -7]);
        let recorded = RecordedOffsets::of(&links, &axis, &grains, &[0, 2], &[0, 0, 2]);
        // A message is reversed by 10 less a grain; that between components does not count.
        assert!((recorded.worst - (10.0 - 5.0)).abs() < 1e-12);
        let off = |clock: usize, by: f64| (recorded.curve(clock) - by).abs();
        assert!(off(0, 0.0) + off(1, -35.0) + off(2, 0.0) < 1e-12);
        // Two of three links of one dependency each are inside: these are few.
        assert!(recorded.sparse);
        let few = RecordedOffsets {
            worst: 10.0,
            ..recorded.clone()
        };
        assert!((few.weight(192, 2.0) - 1.0 / 10.0).abs() < 1e-12);
        assert_eq!((few.scale(0.5), few.scale(60.0)), (0.5, 1.0));
        let recorded = RecordedOffsets {
            worst: 10.0,
            sparse: false,
            ..recorded
        };
        assert!((recorded.scale(60.0) - 60.0).abs() < 1e-12);
        assert!((recorded.weight(192, 2.0) - 6.0 * 192.0 * 2.0 / 1e3).abs() < 1e-12);
        // Of three clocks one is off by 20 at least.
        assert!((recorded.weight(1, 60.0) - 6.0 * 60.0 / 20.0_f64.powi(3)).abs() < 1e-12);
        assert!(RecordedOffsets::default().weight(192, 2.0).abs() < 1e-300);
    }

    /// Four clocks that show at `time` what these errors make of it, meet three times, each time
    /// waiting for the last. What is added to each clock at the end of a second, in microseconds.
    fn added(errors: [i64; 4]) -> Vec<f64> {
        let shown = |clock: usize, time: i64| time + 1_000 * errors[clock];
        let arrival = |clock: usize, meeting: i64| {
            let spread = 7_919 * (clock as i64 + 2) * (meeting + 3) % 40_000;
            300_000_000 * (meeting + 1) + 1_000 * spread
        };
        let mut edges = Vec::new();
        for meeting in 0..3 {
            let last = (0..4).map(|clock| arrival(clock, meeting)).max().unwrap();
            for (from, to) in (0..16).map(|it| (it / 4, it % 4)).filter(|it| it.0 != it.1) {
                let (sent, received) = (arrival(from, meeting), last + 20_000);
                let ids = [from, to].map(|it| ClockId(it as u32));
                let edge = Edge::message(ids[0], shown(from, sent), ids[1], shown(to, received));
                edges.push(edge);
            }
        }
        let extents = (0..4).map(|clock| Some((shown(clock, 0), shown(clock, 1_000_000_000))));
        added_at_end(&Edges::new(edges, extents.collect()), &errors)
    }

    /// Microseconds added to each clock, with these errors, at the end of a second.
    fn added_at_end(edges: &Edges, errors: &[i64]) -> Vec<f64> {
        let rate = retime_model::TickRate::per_second(1_000_000_000).unwrap();
        let found = crate::align_edges(edges, rate, ClockId(0), &()).unwrap();
        let offsets = found.estimate.offsets.iter().enumerate();
        let at_end = |(clock, offset): (usize, &Option<retime_clocks::estimate::Offset>)| {
            let offset = offset.as_ref().unwrap();
            offset.at(1_000_000_000 + 1_000 * errors[clock]) / 1_000.0
        };
        offsets.map(at_end).collect()
    }

    #[test]
    fn many_join_a_group_and_many_both_ways_make_it_firm() {
        let links = |there: i64, back: i64| {
            let edge = |(from, to): (u32, u32)| {
                move |turn: i64| Edge::message(ClockId(from), 10 * turn, ClockId(to), 10 * turn + 5)
            };
            let edges = (0..there).map(edge((0, 1)));
            let edges = edges.chain((0..back).map(edge((1, 0)))).collect();
            let edges = Edges::new(edges, vec![Some((0, 1_000)); 2]);
            let axis = Axis::new(&edges, vec![0; 2]);
            let grains = Grains::new(vec![1; 2]);
            let links = Links::of_list(&edges);
            let recorded = RecordedOffsets::of(&links, &axis, &grains, &[0], &[0, 0]);
            (recorded.sparse, recorded.is_loose)
        };
        assert_eq!(links(20, 20), (false, false));
        // A pipeline that ends in a barrier.
        assert_eq!(links(20, 2), (false, true));
        assert_eq!(links(3, 2), (true, true));
    }

    #[test]
    fn a_group_that_goes_on_alone_stays_as_recorded() {
        let errors = [0, 40, 300, -60, 150, -200, 90, -120];
        let shown = |clock: usize, time: i64| time + 1_000 * errors[clock];
        let message = |from: usize, sent: i64, to: usize, received: i64| {
            let ids = [from, to].map(|it| ClockId(it as u32));
            Edge::message(ids[0], shown(from, sent), ids[1], shown(to, received))
        };
        // The first two talk to each other for half a second; the others wait for them.
        let mut edges = Vec::new();
        for turn in 0..200 {
            let at = 2_500_000 * turn;
            for (from, to) in [(0, 1), (1, 0)] {
                let jitter = (7_919 * (turn + 3) * (from + 2) as i64) % 4_000;
                edges.push(message(from, at, to, at + 1_000 + jitter));
            }
        }
        let arrival = |clock: usize| match clock {
            0 | 1 => 500_000_000,
            clock => 100_000_000 + 17_000 * clock as i64,
        };
        for (from, to) in (0..64).map(|it| (it / 8, it % 8)).filter(|it| it.0 != it.1) {
            edges.push(message(from, arrival(from), to, 500_030_000));
        }
        let extents = (0..8).map(|clock| Some((shown(clock, 0), shown(clock, 1_000_000_000))));
        let added = added_at_end(&Edges::new(edges, extents.collect()), &errors);
        let off: Vec<f64> = (0..8).map(|it| errors[it] as f64 + added[it]).collect();
        assert!((off[0] - off[1]).abs() < 2.0, "{off:?}");
        // In the middle of what is possible, 0.2 s away, nobody is.
        let furthest = off.iter().map(|it| (it - off[0]).abs()).fold(0.0, f64::max);
        assert!(furthest < 400.0, "{off:?}");
    }

    #[test]
    fn few_dependencies_are_followed_no_further_than_they_contradict_the_recording() {
        // The third clock is ahead by 300 us, what it sends in the end therefore too late.
        let errors = [0, 40, 300, -60];
        let added = added(errors);
        let rest = |it: &dyn Fn(usize) -> f64| {
            let rests: Vec<f64> = (0..4).map(it).collect();
            let mean = rests.iter().sum::<f64>() / 4.0;
            rests
                .iter()
                .map(|it| (it - mean).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let before = rest(&|clock| errors[clock] as f64);
        let after = rest(&|clock| errors[clock] as f64 + added[clock]);
        let moved = rest(&|clock| added[clock]);
        assert!(
            after <= before && moved <= 1.2 * before,
            "{before} {after} {moved}: {added:?}"
        );
    }
}
