//! Where clocks contradict a drift bound.
//!
//! [Bounds](crate::optimal) leave out what cannot be true of clocks that wander by no more than is
//! said: between two stamps a clock then may have gained anything. Where the alignment has found
//! that it was set, that is known and no doubt about the drift bound. Anywhere else the bound is
//! too low, or a step was missed; bounds rest on it that this clock did it, and in that place:
//!
//! ```text
//! left out    clock 1, 100 ... 200    clock 2, 40 ... 60    clock 2, 50 ... 90
//! was set     clock 1, 120 ... 130
//! contradicted                        clock 2, 40 ... 90
//! ```

use super::base::Base;
use retime_alignment::ClockStep;
use retime_bounds::Relaxed;
use retime_causality::edges::{Source, each_part_watched};
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::{Cancelled, ClockId, Monitor};

/// Clocks that must have gained more than they can, by clock and stamp, where `known` has no step
/// or change of rate of theirs; places that overlap are one.
pub(super) fn contradicted(relaxed: &[Relaxed], known: &Base) -> Vec<ClockStep> {
    let step = |it: &Relaxed| match *it {
        Relaxed::Step {
            clock,
            after,
            until,
            by,
        } => Some(ClockStep {
            clock,
            after,
            until,
            by,
            alternatives: Vec::new(),
        }),
        Relaxed::Edge { .. } => None,
    };
    let is_unknown = |it: &ClockStep| {
        let steps = known_steps(&known.estimate, it.clock).iter().copied();
        let changes = known.rate_changes.iter();
        let changes = changes.filter(|change| change.clock == it.clock);
        let mut all = steps.chain(changes.map(|change| (change.after, change.until)));
        !all.any(|(after, until)| after <= it.until && until >= it.after)
    };
    let steps = relaxed.iter().filter_map(step).filter(is_unknown);
    let mut steps: Vec<ClockStep> = steps.collect();
    steps.sort_by_key(|it| (it.clock, it.after, it.until));
    steps.dedup_by(|next, before| {
        let is_one = next.clock == before.clock && next.after <= before.until;
        if is_one {
            before.until = before.until.max(next.until);
            before.by = before.by.max(next.by);
        }
        is_one
    });
    steps
}

/// The steps of clocks that an estimate knows, by clock and stamp: bounds rest on them, each between the stamps
/// between which it can have been by the estimate `open`.
pub(super) fn known_to_be_set(known: &Estimate, open: &Estimate) -> Vec<ClockStep> {
    let clocks = (0..).map(ClockId).zip(&known.offsets);
    let steps = clocks.flat_map(|(clock, offset)| {
        let offset = offset.iter();
        offset.flat_map(move |it| it.steps().iter().map(move |step| (clock, it, *step)))
    });
    let step = |(clock, offset, cut): (ClockId, &Offset, (i64, i64))| {
        let is_in = |&&(after, until): &&(i64, i64)| after <= cut.0 && cut.1 <= until;
        let (after, until) = *known_steps(open, clock).iter().find(is_in).unwrap_or(&cut);
        ClockStep {
            clock,
            after,
            until,
            by: offset.at(cut.0) - offset.at(cut.1),
            alternatives: Vec::new(),
        }
    };
    steps.map(step).collect()
}

fn known_steps(known: &Estimate, clock: ClockId) -> &[(i64, i64)] {
    let offset = known.offsets.get(clock.as_usize());
    offset.and_then(Option::as_ref).map_or(&[], |it| it.steps())
}

/// Per clock: true if nothing is known of how it differs from the others, though it depends on one of
/// which it is. Wherever it exchanges something it contradicts them, as a clock does that stands still,
/// or is set while all that it takes part in goes on.
///
/// Fails only if `monitor` says to give up.
pub(super) fn contradict_throughout(
    source: &dyn Source,
    known: &Estimate,
    monitor: &dyn Monitor,
) -> Result<Vec<bool>, Cancelled> {
    let is_known = |clock: ClockId| {
        let offset = known.offsets.get(clock.as_usize());
        offset.is_some_and(Option::is_some)
    };
    let nothing = vec![false; source.clocks()];
    if (0..source.clocks() as u32).all(|clock| is_known(ClockId(clock))) {
        return Ok(nothing);
    }
    let found = each_part_watched(source, monitor, |part| {
        let mut found = nothing.clone();
        source.walk(part, &mut |edge| {
            for (clock, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
                if let Some(found) = found.get_mut(clock.as_usize()) {
                    *found |= !is_known(clock) && is_known(other);
                }
            }
        });
        found
    })?;
    let both = |all: Vec<bool>, more: Vec<bool>| all.iter().zip(more).map(|(a, b)| a | b).collect();
    Ok(found.into_iter().fold(nothing, both))
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::edges::{Edge, EdgeIndex, Edges};

    fn left_out(clock: u32, after: i64, until: i64, by: f64) -> Relaxed {
        Relaxed::Step {
            clock: ClockId(clock),
            after,
            until,
            by,
        }
    }

    #[test]
    fn a_clock_that_was_set_back_has_gained_less_than_nothing() {
        let set = Offset::through(vec![(0, 1.0), (120, 1.0), (130, 501.0)]);
        let known = Estimate {
            offsets: vec![None, Some(set.with_steps(&[(120, 130)]))],
            reference: ClockId(0),
        };
        let steps = known_to_be_set(&known, &known);
        let told: Vec<_> = steps
            .iter()
            .map(|it| (it.clock.0, it.after, it.by))
            .collect();
        assert_eq!(told, [(1, 120, -500.0)]);
    }

    #[test]
    fn known_steps_contradict_nothing_and_overlaps_are_one() {
        let set = Offset::through(vec![(120, 0.0), (130, 500.0)]).with_steps(&[(120, 130)]);
        let known = Estimate {
            offsets: vec![None, Some(set), Some(Offset::constant(0.0))],
            reference: ClockId(2),
        };
        let edge = Relaxed::Edge {
            edge: EdgeIndex(0),
            by: 3.0,
        };
        let relaxed = [
            left_out(2, 50, 90, 7.0),
            left_out(1, 100, 200, 500.0),
            edge,
            left_out(2, 40, 60, 9.0),
            left_out(1, 300, 310, 8.0),
            left_out(0, 5, 6, 1.0),
        ];
        let known = Base {
            estimate: known,
            rate_changes: Vec::new(),
            instead: Vec::new(),
        };
        let found = contradicted(&relaxed, &known);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.clock.0, it.after, it.until, it.by))
            .collect();
        let wanted = [(0, 5, 6, 1.0), (1, 300, 310, 8.0), (2, 40, 90, 9.0)];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_clock_that_depends_on_a_known_one_and_is_not_known_contradicts_throughout() {
        let message = |from, to| Edge::message(ClockId(from), 10, ClockId(to), 20);
        let edges = Edges::new(
            vec![message(0, 1), message(1, 2), message(2, 3)],
            vec![Some((0, 100)); 5],
        );
        let constant = || Some(Offset::constant(0.0));
        let known = Estimate {
            offsets: vec![constant(), constant(), None, None, None],
            reference: ClockId(0),
        };
        let found = contradict_throughout(&edges, &known, &()).unwrap();
        assert_eq!(found, [false, false, true, false, false]);
    }
}
