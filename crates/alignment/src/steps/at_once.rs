//! Several clocks, each as if it had been set at one time.
//!
//! Where several clocks were set, one step alone leaves what the others did unexplained, and where
//! these exchange more with each other than with the rest, it even contradicts their messages: the
//! clock of a node that several processes read is one that none of them can have left alone. So all
//! clocks are cut at that time, and the steps that come out as none and those that [nothing
//! proves](super::proof) go again. Where most clocks come out as set by about as much, it was the
//! reference: its step takes the place of theirs. Where most clocks are known too little to be cut, those
//! are that are suspected at one time.
//!
//! ```text
//!  clock 1  =======|=======      set by  0 us     no step
//!  clock 2  =======|=======      set by 42 us
//!  clock 3  =======|=======      set by 41 us
//! ```

use super::steep::stamp;
use super::together::ALIKE;
use retime_causality::edges::Edges;
use retime_clocks::estimate::Estimate;
use retime_model::ClockId;
use retime_numerics::median::median;

/// Between which stamps each clock was set, if it was at this time.
pub(super) struct AtOnce {
    cuts: Vec<(ClockId, (i64, i64))>,
    reference: ClockId,
    /// True if there are messages in between.
    is_heard: bool,
}

impl AtOnce {
    /// Clocks that nothing is heard of meanwhile.
    pub(super) fn silent(cuts: Vec<(ClockId, (i64, i64))>, reference: ClockId) -> Self {
        Self {
            cuts,
            reference,
            is_heard: false,
        }
    }

    /// All clocks whose stamps reach beyond a time that one of them shows as `cut`.
    pub(super) fn at(clock: ClockId, cut: (i64, i64), estimate: &Estimate, edges: &Edges) -> Self {
        let ends = [cut.0, cut.1].map(|it| estimate.common_time(clock, it));
        let clocks = (0..).map(ClockId).zip(&estimate.offsets);
        let cuts = clocks.filter_map(|(other, offset)| {
            let own = if other == clock {
                cut
            } else {
                let offset = offset.as_ref()?;
                (stamp(offset, ends[0]), stamp(offset, ends[1]))
            };
            let (first, last) = edges.extent(other)?;
            (first < own.0 && own.1 < last).then_some((other, own))
        });
        Self {
            cuts: cuts.collect(),
            reference: estimate.reference,
            is_heard: true,
        }
    }

    /// The clock that is suspected first and all others whose places, of those that are suspected, are at
    /// the time of all so far; `None` where there are no others.
    pub(super) fn suspected(places: &[(ClockId, (i64, i64))], estimate: &Estimate) -> Option<Self> {
        let time =
            |clock, cut: (i64, i64)| [cut.0, cut.1].map(|it| estimate.common_time(clock, it));
        let (&(first, cut), others) = places.split_first()?;
        let (mut ends, mut clocks) = (time(first, cut), vec![first]);
        for &(other, cut) in others {
            let [after, until] = time(other, cut);
            let both = [ends[0].max(after), ends[1].min(until)];
            if both[0] < both[1] && !clocks.contains(&other) {
                ends = both;
                clocks.push(other);
            }
        }
        let cut = |clock: ClockId| {
            let offset = estimate.offsets.get(clock.as_usize())?.as_ref()?;
            Some((clock, (stamp(offset, ends[0]), stamp(offset, ends[1]))))
        };
        (clocks.len() > 1).then(|| Self {
            cuts: clocks.into_iter().filter_map(cut).collect(),
            reference: estimate.reference,
            is_heard: true,
        })
    }

    /// True if messages in between tell when each clock was set.
    pub(super) fn is_heard(&self) -> bool {
        self.is_heard
    }

    /// The cuts of all clocks but the reference.
    pub(super) fn of_others(&self) -> impl Iterator<Item = (ClockId, (i64, i64))> {
        let cuts = self.cuts.iter().copied();
        cuts.filter(|it| it.0 != self.reference)
    }

    /// The cut of the reference, if the others were set by these ticks, each at its own cut, and those of
    /// the clocks that were not set by about as much as most; nothing where these are no fewer.
    pub(super) fn of_reference(
        &self,
        set: impl Fn(ClockId, (i64, i64)) -> f64,
    ) -> Vec<(ClockId, (i64, i64))> {
        let by = |&(clock, cut): &(ClockId, (i64, i64))| {
            if clock == self.reference {
                0.0
            } else {
                set(clock, cut)
            }
        };
        let mut all: Vec<f64> = self.cuts.iter().map(by).collect();
        let common = median(&mut all).unwrap_or(0.0);
        let is_other = |it: &&(ClockId, (i64, i64))| (by(it) - common).abs() > ALIKE * common.abs();
        let others: Vec<_> = self.cuts.iter().filter(is_other).copied().collect();
        // Of two halves nobody knows which one was set: the one that the reference is not in.
        let set = self.cuts.iter().filter(|it| by(it) != 0.0).count();
        if others.len() < set {
            others
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Alignment, align_edges};
    use retime_causality::edges::Edge;
    use retime_clocks::estimate::Offset;
    use retime_model::TickRate;

    /// Two hosts of four clocks each, for two seconds: messages within take 5 us or more, those between
    /// them 20 us or more. The clocks of the second host are ahead by `ahead` of the time besides, in ns.
    fn two_hosts(ahead: impl Fn(i64) -> i64) -> Alignment {
        let shown = |clock: u32, time: i64| {
            let own = 200_000 * i64::from(clock);
            time + own + if clock >= 4 { ahead(time) } else { 0 }
        };
        let mut state = 7_u64;
        let mut random = move |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % most) as i64
        };
        let mut edges = Vec::new();
        for round in 0..1_000 {
            for from in 0..8_u32 {
                for to in [(from + 1) % 8, (from + 7) % 8] {
                    let least = if from / 4 == to / 4 { 5_000 } else { 20_000 };
                    let sent = 2_000_000 * round + random(300_000);
                    let received = sent + least + random(50) * random(50) * 20;
                    let (sent, received) = (shown(from, sent), shown(to, received));
                    edges.push(Edge::message(ClockId(from), sent, ClockId(to), received));
                }
            }
        }
        let extent = |clock| Some((shown(clock, 0), shown(clock, 2_001_000_000)));
        let edges = Edges::new(edges, (0..8).map(extent).collect());
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        align_edges(&edges, rate, ClockId(0), &()).unwrap()
    }

    /// None of its clocks can have been set alone: messages within the host would be reversed.
    #[test]
    fn a_host_that_was_set_is_found() {
        let set = |time: i64| if time > 1_200_000_000 { 45_000 } else { 0 };
        let alignment = two_hosts(set);
        let found = alignment.steps.iter();
        let found: Vec<(u32, f64)> = found.map(|it| (it.clock.0, it.by)).collect();
        let clocks: Vec<u32> = found.iter().map(|it| it.0).collect();
        assert_eq!(clocks, [4, 5, 6, 7], "{found:?}");
        assert!(
            found.iter().all(|it| (it.1 - 45e3).abs() < 5e3),
            "{found:?}"
        );
    }

    /// It gains as much in a second: messages within the host do not prove that it was set.
    #[test]
    fn a_host_that_wanders_was_not_set() {
        let wanders = |time: i64| (22_500.0 * (1.0 - (time as f64 * 1e-9 * 1.5).cos())) as i64;
        let alignment = two_hosts(wanders);
        assert!(alignment.steps.is_empty(), "{:?}", alignment.steps);
    }

    /// The third of three clocks shows 1000 more; it and the first one are suspected at one time, the
    /// second one at another.
    #[test]
    fn those_are_tried_together_that_are_suspected_at_one_time() {
        let constant = |ticks: f64| Some(Offset::constant(ticks));
        let estimate = Estimate {
            offsets: vec![constant(0.0), constant(0.0), constant(-1_000.0)],
            reference: ClockId(1),
        };
        let places = [
            (ClockId(2), (1_500, 1_800)),
            (ClockId(1), (100, 400)),
            (ClockId(2), (1_600, 1_700)),
            (ClockId(0), (700, 900)),
        ];
        let together = AtOnce::suspected(&places, &estimate).unwrap();
        let cuts: Vec<_> = together.of_others().collect();
        assert_eq!(
            cuts,
            [(ClockId(2), (1_700, 1_800)), (ClockId(0), (700, 800))]
        );
        assert!(AtOnce::suspected(&places[..3], &estimate).is_none());
    }

    /// 604 of three others, of 0, 604, 625 and 801 beyond; so the reference was set by -604 or so.
    #[test]
    fn what_most_clocks_gained_the_reference_lost() {
        let cuts: Vec<(ClockId, (i64, i64))> = (0..5).map(|it| (ClockId(it), (10, 20))).collect();
        let at_once = AtOnce::silent(cuts, ClockId(0));
        let of = |set: [f64; 5]| {
            let found = at_once.of_reference(|clock, _| set[clock.as_usize()]);
            found.iter().map(|it| it.0.0).collect::<Vec<u32>>()
        };
        assert_eq!(of([0.0, 604.0, 625.0, 801.0, 610.0]), [0, 3]);
        assert!(of([0.0, 604.0, 0.0, 0.0, 0.0]).is_empty());
        // Of two halves it is the other one.
        assert!(of([0.0, 0.0, 604.0, 604.0, 120.0]).is_empty());
        assert!(of([0.0; 5]).is_empty());
    }
}
