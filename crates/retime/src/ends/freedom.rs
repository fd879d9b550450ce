//! The freedom that dependencies leave pairs of clocks.
//!
//! Between two clocks that exchange something both ways, the tightest dependency there has the
//! slack `a` and the tightest back the slack `b`: either clock could be moved against the other by
//! no more than that. So half of `a + b` is how far their difference can be off the middle.

use std::collections::BTreeMap;

use retime_model::ClockId;

use crate::unbroken::Tie;

/// Two clocks, and how far their difference can be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Freedom {
    pub(super) clocks: [ClockId; 2],
    pub(super) half: f64,
}

/// The freedom of all pairs that have ties both ways.
pub(super) fn freedom(ties: &[Tie]) -> Vec<Freedom> {
    let mut least: BTreeMap<(ClockId, ClockId), f64> = BTreeMap::new();
    for tie in ties {
        let slack = least.entry((tie.from, tie.to)).or_insert(f64::INFINITY);
        *slack = slack.min(tie.slack.max(0.0));
    }
    let both = least.iter().filter(|((from, to), _)| from < to);
    let half = both.filter_map(|(&(from, to), there)| {
        let back = least.get(&(to, from))?;
        Some(Freedom {
            clocks: [from, to],
            half: f64::midpoint(*there, *back),
        })
    });
    half.collect()
}
