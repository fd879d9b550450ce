//! Where a trace contradicts itself: how often in each stretch of time, and the worst one by one.
//!
//! ```text
//! time        |    |    |    |    |    |      equal stretches
//! recorded      0    7    2    0    0         effects stamped there before their causes
//! corrected     0    0    0    0    0         likewise, at corrected times
//! ```

use std::collections::BinaryHeap;

use retime::causality::EventNode;
use serde::{Serialize, Serializer};

use crate::{Lanes, Place, Subject};

/// So many stretches: a screen shows no more beside each other.
const STRETCHES: usize = 400;

/// The contradictions of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contradictions {
    /// From here
    pub from: i64,
    /// to here, in ticks, in equal stretches.
    pub to: i64,
    /// How many effects are stamped before their causes as recorded, by stretch.
    pub recorded: Vec<u64>,
    /// How many effects come before their causes at corrected times, by stretch; absent if nothing
    /// was corrected.
    pub corrected: Option<Vec<u64>>,
    /// The worst as recorded between the lanes, in the order of their effects.
    pub worst: Vec<Contradiction>,
}

/// A contradiction as recorded; as JSON a list in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contradiction {
    /// When the effect was recorded.
    pub time: i64,
    /// From the cause to its effect, below 0.
    pub latency: i64,
    /// The lane of the cause.
    pub from: usize,
    /// The number of the cause at its location.
    pub cause: u64,
    /// The lane of the effect.
    pub to: usize,
    /// The number of the effect at its location.
    pub effect: u64,
    /// When the cause was recorded.
    pub caused: i64,
}

impl Serialize for Contradiction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ends = (self.from, self.cause, self.to, self.effect);
        (self.time, self.latency, ends, self.caused).serialize(serializer)
    }
}

impl Contradictions {
    /// The contradictions within a place, and of those between lanes the worst so many.
    pub(crate) fn of(subject: &Subject<'_>, whole: &Place, lanes: &Lanes, most: usize) -> Self {
        let stretches = Stretches::of(whole);
        let mut recorded = stretches.counts();
        let mut worst = Worst::of(most);
        subject.each_dependency(
            |node| subject.recorded(node),
            |cause, effect, _| {
                let latency = subject.recorded(effect) - subject.recorded(cause);
                if latency < 0 {
                    recorded[stretches.number(subject.recorded(effect))] += 1;
                    worst.offer(latency, cause, effect);
                }
            },
        );
        let corrected = subject.corrected.map(|_| {
            let mut corrected = stretches.counts();
            subject.each_dependency(
                |node| subject.time(node),
                |cause, effect, _| {
                    if subject.time(effect) < subject.time(cause) {
                        corrected[stretches.number(subject.time(effect))] += 1;
                    }
                },
            );
            corrected
        });
        Self {
            from: whole.from,
            to: whole.to,
            recorded,
            corrected,
            worst: worst.in_order(subject, lanes),
        }
    }
}

/// Equal stretches of time.
struct Stretches {
    from: i64,
    length: i128,
    count: usize,
}

impl Stretches {
    fn of(whole: &Place) -> Self {
        let length = i128::from(whole.to) - i128::from(whole.from) + 1;
        Self {
            from: whole.from,
            length: length.max(1),
            count: STRETCHES.min(usize::try_from(length).unwrap_or(STRETCHES).max(1)),
        }
    }

    fn counts(&self) -> Vec<u64> {
        vec![0; self.count]
    }

    /// The stretch in which a time lies, or the nearest one.
    fn number(&self, time: i64) -> usize {
        let after = (i128::from(time) - i128::from(self.from)).clamp(0, self.length - 1);
        (after * self.count as i128 / self.length) as usize
    }
}

/// The worst dependencies that were offered.
struct Worst {
    most: usize,
    /// The least bad of them first.
    kept: BinaryHeap<(i64, EventNode, EventNode)>,
}

impl Worst {
    fn of(most: usize) -> Self {
        let kept = BinaryHeap::new();
        Self { most, kept }
    }

    fn offer(&mut self, latency: i64, cause: EventNode, effect: EventNode) {
        self.kept.push((latency, effect, cause));
        if self.kept.len() > self.most {
            self.kept.pop();
        }
    }

    fn in_order(self, subject: &Subject<'_>, lanes: &Lanes) -> Vec<Contradiction> {
        let nodes = subject.nodes();
        let lane = |node| lanes.lane_of(nodes.location(node));
        let contradiction = |(latency, effect, cause)| {
            Some(Contradiction {
                time: subject.recorded(effect),
                latency,
                from: lane(cause)?,
                cause: nodes.event(cause),
                to: lane(effect)?,
                effect: nodes.event(effect),
                caused: subject.recorded(cause),
            })
        };
        let mut all: Vec<Contradiction> = self.kept.into_iter().filter_map(contradiction).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_time_lies_in_a_stretch_and_later_ones_in_none_before(
            from in -1_000_000..1_000_000_i64,
            length in 0..10_000_000_i64,
            times in proptest::collection::vec(-2_000_000..12_000_000_i64, 1..50),
        ) {
            let place = Place { title: String::new(), from, to: from + length, pair: None, dependency: None };
            let stretches = Stretches::of(&place);
            let mut times = times;
            times.sort_unstable();
            let numbers: Vec<usize> = times.iter().map(|&it| stretches.number(it)).collect();
            prop_assert!(numbers.is_sorted());
            prop_assert!(numbers.iter().all(|&it| it < stretches.count));
            prop_assert_eq!(stretches.number(from), 0);
            prop_assert_eq!(stretches.number(from + length), stretches.count - 1);
        }
    }
}
