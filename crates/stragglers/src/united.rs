//! How long a location stood still that waits in several operations at once.
//!
//! A call that does not block, and an operation on a stream of its own, wait beside others. A
//! location stands still once, however much it waits for, so what it waited is the length of
//! the union, with the times of [who comes last](super):
//!
//! ```text
//! waited = | union over its operations of [t(m), min(t(a), e(m))] |
//!
//! one operation       |-------------|           100 .. 200    100
//! another, beside it      |-------------|       120 .. 250    130, of which 80 are not new
//!                     =================         100 .. 250    150
//! ```
//!
//! Where a location begins no operation before it has ended the one before, its spans lie
//! apart and their lengths can be added. That is so of all calls that block, so spans are
//! kept of the other locations alone.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use retime_causality::merge::Any;
use retime_causality::{Causality, Role};
use retime_model::LocationIndex;

/// Spans of a location from which on they are united, so that they take no more room than
/// twice what is left of them.
const ENOUGH: usize = 1024;

/// The locations that begin an operation while another one of theirs goes on, whichever
/// process of several holds them. A begin without an end goes on for ever.
pub(super) fn side_by_side(causality: &Causality) -> Vec<bool> {
    let nodes = causality.nodes();
    let is_so = |location: usize| {
        let mut open = 0_u64;
        nodes.of(location).any(|node| {
            match nodes.role(node) {
                Role::CollectiveBegin => open += 1,
                Role::CollectiveEnd => open = open.saturating_sub(1),
                Role::Send | Role::Receive => {}
            }
            open > 1
        })
    };
    let own = (0..nodes.locations()).map(|it| Any(is_so(it))).collect();
    let all: Vec<Any> = causality.whole().all_reduce(own);
    all.into_iter().map(|it| it.0).collect()
}

/// Spans of time in which locations waited.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Spans(FxHashMap<LocationIndex, Union>);

/// Spans of one location, of which the first are united already.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Union {
    spans: Vec<(i64, i64)>,
    united: usize,
}

impl Spans {
    pub(super) fn add(&mut self, location: LocationIndex, from: i64, to: i64) {
        if to > from {
            self.0.entry(location).or_default().add(&[(from, to)]);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (location, its) in other.0 {
            self.0.entry(location).or_default().add(&its.spans);
        }
    }

    /// How long each location waited.
    pub(super) fn lengths(self) -> impl Iterator<Item = (LocationIndex, u64)> {
        self.0.into_iter().map(|(location, mut union)| {
            union.unite();
            let lengths = union.spans.iter().map(|it| it.1.abs_diff(it.0));
            (location, lengths.fold(0, u64::saturating_add))
        })
    }
}

impl Union {
    fn add(&mut self, spans: &[(i64, i64)]) {
        self.spans.extend_from_slice(spans);
        if self.spans.len() >= ENOUGH + 2 * self.united {
            self.unite();
        }
    }

    fn unite(&mut self) {
        self.spans.sort_unstable();
        self.spans.dedup_by(|next, last| {
            let touches = next.0 <= last.1;
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
        self.united = self.spans.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn length(spans: Spans) -> u64 {
        spans.lengths().map(|it| it.1).sum()
    }

    #[test]
    fn the_example_by_hand() {
        let mut spans = Spans::default();
        spans.add(LocationIndex(0), 100, 200);
        spans.add(LocationIndex(0), 120, 250);
        assert_eq!(length(spans.clone()), 150);
        // What touches adds its length, what lies within adds nothing, nor does what is empty.
        spans.add(LocationIndex(0), 250, 260);
        spans.add(LocationIndex(0), 130, 140);
        spans.add(LocationIndex(0), 400, 400);
        // Another location waits by itself.
        spans.add(LocationIndex(1), 120, 250);
        assert_eq!(length(spans), 160 + 130);
    }

    proptest! {
        /// Against all moments, one by one; in whatever parts spans come.
        #[test]
        fn it_is_the_moments_in_any_span(
            all in prop::collection::vec((0..400_i64, 0..30_i64), 0..3_000),
            parts in 1..5_usize,
        ) {
            let mut own = Spans::default();
            for part in all.chunks(all.len() / parts + 1) {
                let mut spans = Spans::default();
                for &(from, lasts) in part {
                    spans.add(LocationIndex(3), from, from + lasts);
                }
                own.merge(spans);
            }
            let holds = |moment: &i64| all.iter().any(|it| (it.0..it.0 + it.1).contains(moment));
            prop_assert_eq!(length(own), (0..430).filter(holds).count() as u64);
        }
    }
}
