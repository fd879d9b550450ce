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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_both_slacks_is_open() {
        let tie = |from: u32, to: u32, slack: f64| Tie {
            from: ClockId(from),
            to: ClockId(to),
            sent: 0.5,
            received: 0.5,
            slack,
        };
        // The third clock only hears of the first.
        let ties = [
            tie(0, 1, 7.0),
            tie(0, 1, 3.0),
            tie(1, 0, 5.0),
            tie(0, 2, 1.0),
        ];
        let pair = Freedom {
            clocks: [ClockId(0), ClockId(1)],
            half: 4.0,
        };
        assert_eq!(freedom(&ties), [pair]);
    }
}
