//! When exactly a clock was set that is known before and afterwards.
//!
//! A clock is set in an instant, and does nothing unusual until then. So of the dependencies
//! between two stamps between which it was set, all up to some stamp go by the offset from before,
//! and all others by the one from afterwards; both hold beyond their ends for as short a time as it
//! takes. The instant is where the least is reversed:
//!
//! ```text
//! min over k of  sum over stamps up to k of what the earlier offset reverses
//!              + sum over the others of what the later offset reverses
//! ```
//!
//! Clocks that were set [together](super::together) were in one instant. By the offsets from before all
//! their stamps are in one order, and a message between two of them that was on its way then goes by
//! the one offset from before and the other one from afterwards.
//!
//! Where several instants are as good, it is somewhere between them. A clock that was set back stands
//! still, so that what has one stamp may be on either side, and so may what has one of several that [follow
//! each other closely](super::standing), as where stamps have to rise; one that was set forward shows no
//! stamp between what it showed before and afterwards, so that its time never runs backwards.
//!
//! No such instant exists for a clock that gained by itself, in a long time, what is taken for a step
//! of it: any choice reverses dependencies.

use super::effort::Gap;
use super::parts::{Cuts, Parts};
use super::standing::with_standstills;
use super::together::of_gaps;
use retime_causality::edges::{Edge, ListedEdges};
use retime_clocks::estimate::Estimate;
use retime_model::ClockId;

/// Between which stamps clocks were set, by these ticks per step, within the steps of `parts`; `estimate`
/// is that of parts of the same numbers.
///
/// First each step is looked at alone, by messages to clocks that were not set meanwhile; those that may
/// have been at one time then are together.
pub(super) fn narrowed(parts: &Parts, estimate: &Estimate, list: &ListedEdges, by: &[f64]) -> Cuts {
    let alone = (0..by.len()).map(|it| vec![it]);
    let mut cuts = in_instants(parts, estimate, list, alone);
    let clocks = (0..).map(ClockId).zip(&cuts);
    let steps = clocks.flat_map(|(clock, cuts)| cuts.iter().map(move |cut| (clock, *cut)));
    let gaps = steps.clone().zip(by).map(|((clock, (after, until)), &by)| {
        let sides = parts.around(clock, after).map(|it| it.1);
        let time = |side: usize, stamp| {
            let offset = estimate.offsets.get(sides?[side].as_usize())?.as_ref()?;
            Some(offset.common_time(stamp))
        };
        let gap = Gap {
            after: time(0, after).unwrap_or(after),
            until: time(1, until).unwrap_or(until),
            by,
        };
        (clock, gap)
    });
    let together = of_gaps(gaps).into_iter().map(|it| it.steps);
    let together: Vec<Vec<usize>> = together.filter(|it| it.len() > 1).collect();
    if together.is_empty() {
        return with_standstills(cuts, estimate, list);
    }
    let is_one: Vec<bool> = (0..by.len())
        .map(|step| together.iter().any(|it| it.contains(&step)))
        .collect();
    let of_all = in_instants(parts, estimate, list, together);
    let each = cuts.iter_mut().flatten().zip(of_all.into_iter().flatten());
    for ((cut, together), _) in each.zip(is_one).filter(|it| it.1) {
        *cut = together;
    }
    with_standstills(cuts, estimate, list)
}

/// Between which stamps clocks were set if some of them were together: by the numbers of steps, in
/// order of clocks and stamps. What was not set with others keeps its cut.
fn in_instants(
    parts: &Parts,
    estimate: &Estimate,
    list: &ListedEdges,
    together: impl IntoIterator<Item = Vec<usize>>,
) -> Cuts {
    let mut cuts: Cuts = parts.cuts().to_vec();
    let mut first = Vec::new();
    let mut steps = Vec::new();
    for (clock, cuts) in cuts.iter().enumerate() {
        first.push(steps.len());
        steps.extend((0..cuts.len()).map(|number| (clock, number)));
    }
    // Per step: which instant is its own, and as which member.
    let mut owner = vec![None; steps.len()];
    let mut instants = Vec::new();
    for numbers in together {
        let mut members = Vec::new();
        for step in numbers {
            let (clock, number) = steps[step];
            owner[step] = Some((instants.len(), members.len()));
            let cut = cuts[clock][number];
            let sides = parts.around(ClockId(clock as u32), cut.0);
            members.extend(sides.map(|(_, sides)| Member { step, cut, sides }));
        }
        instants.push(OneInstant {
            estimate,
            members,
            edges: Vec::new(),
            stamps: Vec::new(),
        });
    }
    for edge in list.edges.all() {
        let ends = [(edge.to, edge.received), (edge.from, edge.sent)];
        let open = ends.map(|(clock, stamp)| {
            let (number, _) = parts.around(clock, stamp)?;
            owner[first[clock.as_usize()] + number]
        });
        let mut of: Vec<usize> = open.iter().flatten().map(|it| it.0).collect();
        of.dedup();
        for instant in of {
            let member = |it: Option<(usize, usize)>| Some(it.filter(|it| it.0 == instant)?.1);
            instants[instant].add(edge, ends, open.map(member), parts);
        }
    }
    for instant in instants {
        for (step, cut) in instant.cuts() {
            let (clock, number) = steps[step];
            cuts[clock][number] = cut;
        }
    }
    cuts
}

/// A step of a clock.
struct Member {
    /// Its number among all steps.
    step: usize,
    cut: (i64, i64),
    /// The parts of the clock before and after.
    sides: [ClockId; 2],
}

impl Member {
    /// Both sides of stamps at which the clock may stand still.
    fn beside(&self, first: i64, last: i64) -> (i64, i64) {
        (
            first.saturating_sub(1).max(self.cut.0),
            last.saturating_add(1).min(self.cut.1),
        )
    }
}

/// A dependency that has one end or both within steps of one instant.
struct OpenEdge {
    latency: f64,
    /// The ticks to add to the stamps of the effect and of the cause, each as it would be before the
    /// instant and behind it.
    added: [[f64; 2]; 2],
    /// Which of both ends are taken to be behind it.
    is_behind: [bool; 2],
}

impl OpenEdge {
    /// How far the effect is before its cause.
    fn reversed(&self) -> f64 {
        let [effect, cause] = [0, 1].map(|end| self.added[end][usize::from(self.is_behind[end])]);
        (cause - effect - self.latency).max(0.0)
    }

    /// How far it is if one end is before the instant, and if that is behind.
    fn either(&mut self, end: usize) -> [f64; 2] {
        let now = self.is_behind[end];
        let both = [false, true].map(|is_behind| {
            self.is_behind[end] = is_behind;
            self.reversed()
        });
        self.is_behind[end] = now;
        both
    }
}

/// All ends of dependencies at one clock that have one stamp.
struct Stamp {
    member: usize,
    at: i64,
    /// The time by the offset from before.
    time: f64,
    /// Each a dependency and which end of it.
    ends: Vec<(usize, usize)>,
}

/// The search for the instant in which clocks were set.
struct OneInstant<'a> {
    estimate: &'a Estimate,
    members: Vec<Member>,
    edges: Vec<OpenEdge>,
    stamps: Vec<Stamp>,
}

/// The instant lies somewhere between two places in the order of stamps; at `within`, what has this
/// stamp is on either side.
#[derive(Clone, Copy)]
struct LeastReversed {
    reversed: f64,
    first: usize,
    last: usize,
    within: Option<usize>,
}

impl LeastReversed {
    fn at(place: usize, reversed: f64) -> Self {
        Self {
            reversed,
            first: place,
            last: place,
            within: None,
        }
    }
}

impl OneInstant<'_> {
    /// The time of a stamp by the offset of a part, if that has one.
    fn time(&self, part: ClockId, stamp: i64) -> Option<f64> {
        let offset = self.estimate.offsets.get(part.as_usize())?.as_ref()?;
        Some(stamp as f64 + offset.at(stamp))
    }

    /// Adds a dependency with these ends, effect first, of which those of these members are open.
    fn add(
        &mut self,
        edge: &Edge,
        ends: [(ClockId, i64); 2],
        open: [Option<usize>; 2],
        parts: &Parts,
    ) {
        let added = [0, 1].map(|end| {
            let (clock, stamp) = ends[end];
            let add = |part| Some(self.time(part, stamp)? - stamp as f64);
            match open[end] {
                Some(member) => {
                    let [before, behind] = self.members.get(member)?.sides;
                    Some([add(before)?, add(behind)?])
                }
                None => Some([add(parts.part(clock, stamp)?)?; 2]),
            }
        });
        let [Some(effect), Some(cause)] = added else {
            return;
        };
        let added = [effect, cause];
        for (end, open) in open.into_iter().enumerate() {
            let Some(member) = open else { continue };
            let at = ends[end].1;
            self.stamps.push(Stamp {
                member,
                at,
                time: at as f64 + added[end][0],
                ends: vec![(self.edges.len(), end)],
            });
        }
        self.edges.push(OpenEdge {
            latency: edge.latency() as f64,
            added,
            is_behind: [true; 2],
        });
    }

    /// Per step: between which stamps its clock was set. That is all of the step where time would run
    /// backwards at any instant.
    fn cuts(mut self) -> Vec<(usize, (i64, i64))> {
        self.order();
        let found = self.least_reversed();
        let members = self.members.iter().enumerate();
        let cut = |(number, it): (usize, &Member)| {
            let cut = found.map_or(it.cut, |found| self.around(number, found));
            (it.step, cut)
        };
        members.map(cut).collect()
    }

    /// Puts stamps in order of time, and ends that have one stamp together.
    fn order(&mut self) {
        self.stamps.sort_by(|a, b| {
            let by_time = a.time.total_cmp(&b.time);
            by_time.then((a.member, a.at).cmp(&(b.member, b.at)))
        });
        self.stamps.dedup_by(|next, kept| {
            let is_same = (next.member, next.at) == (kept.member, kept.at);
            if is_same {
                kept.ends.append(&mut next.ends);
            }
            is_same
        });
    }

    /// The instant at which the least is reversed, going from one stamp to the next.
    fn least_reversed(&mut self) -> Option<LeastReversed> {
        let members = 0..self.members.len();
        let first = |member: usize| (self.members[member].cut.0, self.next_of(member, 0));
        let mut cuts: Vec<(i64, i64)> = members.clone().map(first).collect();
        let runs_back = |it: &usize| !self.advances(*it, cuts[*it]);
        let mut backwards = members.filter(runs_back).count();
        let mut sum: f64 = self.edges.iter().map(OpenEdge::reversed).sum();
        let mut best = (backwards == 0).then_some(LeastReversed::at(0, sum));
        let is_less =
            |best: &Option<LeastReversed>, sum: f64| best.is_none_or(|it| sum < it.reversed);
        for place in 0..self.stamps.len() {
            let Stamp { member, at, .. } = self.stamps[place];
            let [before, behind, either] = self.reversed_by(place);
            let others = backwards - usize::from(!self.advances(member, cuts[member]));
            // What has one stamp may be on either side.
            let divided = sum - (behind - either);
            let is_divided = either < before.min(behind);
            let advances = self.advances(member, self.members[member].beside(at, at));
            if is_divided && others == 0 && advances && is_less(&best, divided) {
                best = Some(LeastReversed {
                    last: place + 1,
                    within: Some(place),
                    ..LeastReversed::at(place, divided)
                });
            }
            self.pass(place);
            sum += before - behind;
            cuts[member] = (at, self.next_of(member, place + 1));
            backwards = others + usize::from(!self.advances(member, cuts[member]));
            if backwards > 0 {
                continue;
            }
            if is_less(&best, sum) {
                best = Some(LeastReversed::at(place + 1, sum));
            } else if let Some(best) = best.as_mut().filter(|it| sum <= it.reversed) {
                best.last = place + 1;
            }
        }
        best
    }

    /// How far dependencies of a stamp are reversed if it is before the instant, if it is behind it, and
    /// if each of its ends is where that is less.
    fn reversed_by(&mut self, place: usize) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for &(edge, end) in &self.stamps[place].ends {
            let [before, behind] = self.edges[edge].either(end);
            sums[0] += before;
            sums[1] += behind;
            sums[2] += before.min(behind);
        }
        sums
    }

    /// Takes a stamp for one before the instant.
    fn pass(&mut self, place: usize) {
        for &(edge, end) in &self.stamps[place].ends {
            self.edges[edge].is_behind[end] = false;
        }
    }

    /// The first stamp of a clock from a place on.
    fn next_of(&self, member: usize, place: usize) -> i64 {
        let mut behind = self.stamps[place..].iter();
        let next = behind.find(|it| it.member == member);
        next.map_or(self.members[member].cut.1, |it| it.at)
    }

    /// The last stamp of a clock before a place.
    fn last_of(&self, member: usize, place: usize) -> i64 {
        let mut before = self.stamps[..place].iter().rev();
        let last = before.find(|it| it.member == member);
        last.map_or(self.members[member].cut.0, |it| it.at)
    }

    /// Between which of its stamps a clock was set.
    fn around(&self, member: usize, found: LeastReversed) -> (i64, i64) {
        let own = (
            self.last_of(member, found.first),
            self.next_of(member, found.last),
        );
        let is_own = |it: &usize| self.stamps[*it].member == member;
        if let Some(still) = found.within.filter(is_own) {
            let at = self.stamps[still].at;
            let beside = self.members[member].beside(at, at);
            let is_all = found.last == still + 1;
            return (beside.0, if is_all { beside.1 } else { own.1 });
        }
        let common = self.in_common(member, found, own);
        if self.advances(member, common) {
            common
        } else {
            own
        }
    }

    /// The stamps that a clock shows between the last stamp of any of the clocks before the instant and the first
    /// one behind it, at most between its own: in between all go from one offset to the other, and what
    /// they say of each other's messages holds meanwhile if they do it at the same times.
    fn in_common(&self, member: usize, found: LeastReversed, own: (i64, i64)) -> (i64, i64) {
        let shown = |place: Option<usize>| {
            let time = self.stamps.get(place?)?.time;
            let add = |stamp| Some(self.time(self.members[member].sides[0], stamp)? - stamp as f64);
            let near = time - add(own.0)?;
            Some((time - add(near as i64)?).round() as i64)
        };
        let after = shown(found.first.checked_sub(1)).map_or(own.0, |it| it.min(own.1).max(own.0));
        let until = shown(Some(found.last)).map_or(own.1, |it| it.min(own.1).max(after));
        (after, until)
    }

    /// True if the time of a clock does not run backwards if it was set between these stamps.
    fn advances(&self, member: usize, (after, until): (i64, i64)) -> bool {
        let [before, behind] = self.members[member].sides;
        let ends = self.time(before, after).zip(self.time(behind, until));
        ends.is_none_or(|(after, until)| after <= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::edges::Edges;
    use retime_clocks::estimate::Offset;

    /// A clock that may have been set between 0 and 60, and by so much forward; of each dependency the
    /// stamp, and how far it is reversed before the instant and behind it.
    fn instant(forward: f64, ends: &[(i64, f64, f64)]) -> (i64, i64) {
        let offset = |add: f64| Some(Offset::constant(add));
        let estimate = Estimate {
            offsets: vec![offset(0.0), offset(-forward)],
            reference: ClockId(0),
        };
        let stamps = ends.iter().enumerate().map(|(number, &(at, ..))| Stamp {
            member: 0,
            at,
            time: at as f64,
            ends: vec![(number, 0)],
        });
        let edges = ends.iter().map(|&(_, before, behind)| OpenEdge {
            latency: 0.0,
            added: [[-before, -behind], [0.0; 2]],
            is_behind: [true; 2],
        });
        let instant = OneInstant {
            estimate: &estimate,
            members: vec![Member {
                step: 0,
                cut: (0, 60),
                sides: [ClockId(0), ClockId(1)],
            }],
            edges: edges.collect(),
            stamps: stamps.collect(),
        };
        instant.cuts()[0].1
    }

    #[test]
    fn a_clock_was_set_where_the_least_is_reversed() {
        let ends = [
            (10, 0.0, 5.0),
            (20, 0.0, 0.0),
            (30, 0.0, 3.0),
            (40, 0.0, 0.0),
            (50, 7.0, 0.0),
        ];
        // The message of 40 may be on either side.
        assert_eq!(instant(0.0, &ends), (30, 50));
        // It was set forward by 11: not between two stamps that are 10 apart.
        assert_eq!(instant(11.0, &ends[..3]), (30, 60));
        assert_eq!(instant(11.0, &ends[2..]), (0, 30));
        // Whoever stands still shows one stamp before and afterwards.
        let stands = [
            (10, 0.0, 5.0),
            (20, 0.0, 5.0),
            (20, 5.0, 0.0),
            (30, 5.0, 0.0),
        ];
        assert_eq!(instant(0.0, &stands), (19, 21));
        assert_eq!(instant(0.0, &[]), (0, 60));
    }

    /// Two clocks that are 5000 apart and set by so much at 2000 of a third one; they send each other
    /// messages of 10 all the time, and one of them exchanges messages of 300 with the third one.
    fn set_together(by: i64) -> [(i64, i64); 2] {
        let shown = |clock: u32, time: i64| {
            let ahead = 5_000 * i64::from(clock);
            match clock {
                0 => time,
                // Set back, it stands still until it has caught up.
                _ if time > 2_000 => (time + ahead + by).max(2_000 + ahead),
                _ => time + ahead,
            }
        };
        let message = |from: u32, to: u32, sent: i64, takes: i64| {
            let received = shown(to, sent + takes);
            Edge::message(ClockId(from), shown(from, sent), ClockId(to), received)
        };
        let each = (0..100).flat_map(|round| {
            let at = 40 * round;
            [
                message(1, 2, at, 10),
                message(2, 1, at + 20, 10),
                message(1, 0, at + 25, 300),
                message(0, 1, at + 30, 300),
            ]
        });
        let extents = (0..3).map(|it| Some((shown(it, 0), shown(it, 4_400))));
        let list = ListedEdges {
            edges: Edges::new(each.collect(), extents.collect()),
            granularities: vec![1; 3],
        };
        let cut = |clock| (shown(clock, 1_000), shown(clock, 3_500));
        let parts = Parts::new(vec![vec![], vec![cut(1)], vec![cut(2)]]).unwrap();
        let by = by as f64;
        let adds = [0.0, -5e3, -10e3, -5e3 - by, -10e3 - by];
        let estimate = Estimate {
            offsets: adds.map(|it| Some(Offset::constant(it))).to_vec(),
            reference: ClockId(0),
        };
        let cuts = narrowed(&parts, &estimate, &list, &[by, by]);
        [1, 2].map(|clock| {
            let (after, until) = cuts[clock as usize][0];
            (after - shown(clock, 2_000), until - shown(clock, 2_001))
        })
    }

    #[test]
    fn clocks_that_were_set_together_were_in_one_instant() {
        for by in [1_000, -1_000] {
            for (after, until) in set_together(by) {
                assert!(-60 < after && after <= 0, "{by}: {:?}", set_together(by));
                assert!((0..60).contains(&until), "{by}: {:?}", set_together(by));
            }
        }
    }
}
