//! Clocks that a trace shows to have been set back, where no alignment finds a step.
//!
//! A format can [know](retime_model::TraceInfo::set_back) that a clock showed stamps twice, as where numbered
//! calls are stamped in another order. What happened meanwhile is left out, and what is left on one side of it
//! can be too little to contradict the other, such as operations within one host alone:
//!
//! ```text
//! host 0   a  b  c  d  e  f  g        of all hosts: d to g
//! host 1   a  b  -  d  e  f  g        of each host alone: a to g
//!               |
//!               set back, by how much nothing tells
//! ```
//!
//! Then the alignment has one offset for both sides, and `a` and `b` are off by as much as the clock was set.
//! So [bounds](crate::optimal) let the clock gain anything there, as where one was found: what
//! bounds `a` and `b` are dependencies on their side alone.

use super::base::PlaceSet;
use retime_causality::Nodes;
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::{ClockId, Clocks, LocationIndex, Ticks, Timestamp, TraceInfo};

/// A clock was set back between two of its stamps, by how much nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfoundStep {
    /// Which.
    pub clock: ClockId,
    /// It showed this before
    pub after: Timestamp,
    /// and this afterwards.
    pub until: Timestamp,
}

impl UnfoundStep {
    /// The step at stamps as recorded; `None` where these do not fit into 64 bits.
    pub(super) fn of(step: &PlaceSet, nodes: &Nodes) -> Option<Self> {
        Some(Self {
            clock: step.clock,
            after: nodes.absolute(Ticks(step.after))?,
            until: nodes.absolute(Ticks(step.until))?,
        })
    }
}

/// The stamps that each clock is known to have shown twice, in order and apart.
pub(super) fn set_back(info: &TraceInfo, clocks: &Clocks, nodes: &Nodes) -> Vec<PlaceSet> {
    let of_process = info.set_back.iter().flat_map(|it| {
        let locations = (0..).map(LocationIndex).zip(&info.locations);
        let own = locations.filter(|(_, location)| location.process == it.process);
        own.map(|(location, _)| PlaceSet {
            clock: clocks.of(location),
            after: nodes.relative(it.from).0.saturating_sub(1),
            until: nodes.relative(it.to).0.saturating_add(1),
        })
    });
    let mut all: Vec<PlaceSet> = of_process.collect();
    all.sort_unstable();
    all.dedup_by(|next, before| {
        let is_one = next.clock == before.clock && next.after <= before.until;
        if is_one {
            before.until = before.until.max(next.until);
        }
        is_one
    });
    all
}

/// Those of which the estimate has no step.
pub(super) fn unfound(set_back: &[PlaceSet], known: &Estimate) -> Vec<PlaceSet> {
    let is_unfound = |it: &&PlaceSet| {
        let offset = known.offsets.get(it.clock.as_usize());
        let steps = offset
            .and_then(Option::as_ref)
            .map_or(&[][..], Offset::steps);
        let is_there = |&(after, until): &(i64, i64)| after <= it.until && until >= it.after;
        !steps.iter().any(is_there)
    };
    set_back.iter().filter(is_unfound).copied().collect()
}

/// The estimate with clocks known to be set there, too; places that overlap are one.
pub(super) fn with_steps(known: &Estimate, more: impl IntoIterator<Item = PlaceSet>) -> Estimate {
    let mut known = known.clone();
    for it in more {
        if let Some(Some(offset)) = known.offsets.get_mut(it.clock.as_usize()) {
            let (mut after, mut until) = (it.after, it.until);
            let mut steps = offset.steps().to_vec();
            steps.retain(|&(from, to)| {
                let is_one = from <= until && to >= after;
                if is_one {
                    (after, until) = (after.min(from), until.max(to));
                }
                !is_one
            });
            steps.push((after, until));
            steps.sort_unstable();
            *offset = std::mem::take(offset).with_steps(&steps);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_added_where_none_was_found() {
        let stamps = |clock, after, until| PlaceSet {
            clock: ClockId(clock),
            after,
            until,
        };
        let set_back = [stamps(0, 10, 20), stamps(1, 50, 90), stamps(1, 300, 400)];
        let found = Offset::through(vec![(80, 0.0), (120, 500.0)]).with_steps(&[(80, 120)]);
        let known = Estimate {
            offsets: vec![None, Some(found)],
            reference: ClockId(0),
        };
        let unfound = unfound(&set_back, &known);
        assert_eq!(unfound, [stamps(0, 10, 20), stamps(1, 300, 400)]);
        let with = with_steps(&known, set_back);
        assert_eq!(with.offsets[0], None);
        let offset = with.offsets[1].as_ref().unwrap();
        assert_eq!(offset.steps(), [(50, 120), (300, 400)]);
    }
}
