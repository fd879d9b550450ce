//! Ranks whose clocks differ by no straight line.
//!
//! Calls without numbers are joined only where some straight [difference](super::difference) of two clocks
//! allows it. Where iterations of equal numbers pair the calls of two ranks, which then do the same, and no
//! line fits, one of both clocks was set while it was recorded, or runs wrong: newer profilers of PyTorch
//! count by the processor's clock, and spread over all of a recording what the clock of the day was set by.
//! Calls that wait for each other end nearly together, so their ends tell by how much clocks differ at first
//! and at last.

use std::collections::BTreeMap;

use retime_model::format_seconds;

use super::alignment::{Known, between, can_be_shift, nearest_alike};
use super::calls::Calls;
use super::item::Item;
use super::windows::InWindow;
use crate::few::few;

/// The differences of two clocks that no straight line fits, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bent {
    first: i64,
    last: i64,
}

/// Calls that a line has to fit at least: it fits any two.
const LEAST: usize = 3;

/// True if calls of two ranks are of iterations of equal numbers, as many of both in each but
/// the first and last of either, which can be cut.
pub(super) fn do_the_same(calls: &Calls<'_>, one: &InWindow, other: &InWindow) -> bool {
    let count = |of: &InWindow| {
        let mut launched: BTreeMap<u64, usize> = BTreeMap::new();
        for &call in &of.calls {
            let iteration = calls.call(of.file, call)?.iteration?;
            *launched.entry(iteration).or_default() += 1;
        }
        launched.pop_first();
        launched.pop_last();
        Some(launched)
    };
    let (Some(one), Some(other)) = (count(one), count(other)) else {
        return false;
    };
    let mut common = one
        .iter()
        .filter_map(|(it, count)| Some((count, other.get(it)?)));
    let is_some = one.keys().any(|it| other.contains_key(it));
    is_some && common.all(|(a, b)| a == b)
}

impl Bent {
    /// Two ranks whose clocks differ by so much at first, and at last.
    pub(super) const fn by([first, last]: [i64; 2]) -> Self {
        Self { first, last }
    }

    /// Two ranks whose calls iterations pair by a difference of clocks, if some of these wait for each other
    /// and fit no line: what two ranks get from a third says nothing of their clocks.
    pub(super) fn of(pivot: &[Item], other: &[Item], difference: i64) -> Option<Self> {
        let shift = nearest_alike(pivot, other, difference)?;
        let its = |at: i64| pivot.get(usize::try_from(at).ok()?);
        let mut pairs = other.iter().zip(shift..);
        let wait = pairs.any(|(b, at)| its(at).is_some_and(|a| between(a, b).is_some()));
        if !wait || can_be_shift(pivot, other, shift) {
            return None;
        }
        Self::by_ends(pivot, other, shift)
    }

    /// Two ranks whose calls can be pairs by no shift, if they have equally many, and can be by two lines, of
    /// which each fits some.
    pub(super) fn in_two(pivot: &[Item], other: &[Item]) -> Option<Self> {
        if pivot.len() != other.len() {
            return None;
        }
        let fits = |from: usize, to: usize| {
            let both = pivot.get(from..to).zip(other.get(from..to));
            both.is_some_and(|(a, b)| can_be_shift(a, b, 0))
        };
        let mut lengths = (1..pivot.len()).collect::<Vec<usize>>();
        // What fits no line fits none with more.
        lengths.truncate(lengths.partition_point(|&to| fits(0, to)));
        let to = lengths.last().copied()?;
        let are_some = to >= LEAST && pivot.len() - to >= LEAST;
        (are_some && fits(to, pivot.len())).then(|| Self::by_ends(pivot, other, 0))?
    }

    /// True unless other calls of both ranks refute that clocks differ by this: then these are not paired as
    /// they were made, as where two threads of gloo took them in another order.
    pub(super) fn is_of_clocks(self, known: &Known) -> bool {
        let [allowed, all] = known.allow_one_of([self.first, self.last]);
        2 * allowed >= all
    }

    fn by_ends(pivot: &[Item], other: &[Item], shift: i64) -> Option<Self> {
        let place = |it: i64| usize::try_from(it).ok();
        let pairs = other.iter().zip(shift..);
        let pairs =
            pairs.filter_map(|(b, at)| Some(b.end.saturating_sub(pivot.get(place(at)?)?.end)));
        let ends: Vec<i64> = pairs.collect();
        let (first, last) = (*ends.first()?, *ends.last()?);
        Some(Self { first, last })
    }
}

/// Pairs that are named in one warning.
const NAMED: usize = 3;

/// Warns of such pairs of ranks or files, by their names.
pub(super) fn warning(bent: &BTreeMap<(String, String), Option<Bent>>) -> Option<String> {
    let seconds = |it: i64| {
        let sign = if it < 0 { "-" } else { "" };
        format!("{sign}{}", format_seconds(it.unsigned_abs() as f64 / 1e9))
    };
    let named = bent.iter().map(|((a, b), it)| {
        let by = it.map(|it| {
            let (first, last) = (seconds(it.first), seconds(it.last));
            format!(" ({first} at first, {last} at last)")
        });
        format!("{a} and {b}{}", by.unwrap_or_default())
    });
    let named = few(named.collect::<Vec<_>>().into_iter(), NAMED)?;
    Some(format!(
        "no straight difference of clocks fits the calls of {named}, so that those without numbers are \
         not joined: one clock was set while it was profiled, or runs wrong, or iterations have other \
         numbers on one, or calls are missing; profile again once time services have settled, or with \
         newer PyTorch, which numbers calls"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of uneven iterations, by a clock that is set by so much before the tenth.
    fn calls(by: i64) -> Vec<Item> {
        let mut begin = 1_000;
        let mut item = |number: i64| {
            begin += 9_000_000 + (number * number * 7_919) % 400_000;
            let shown = begin + if number < 10 { 0 } else { by };
            Item {
                signature: 3,
                begin: shown,
                end: shown + 50_000,
                is_cause: true,
                is_effect: true,
            }
        };
        (0..20).map(&mut item).collect()
    }

    #[test]
    fn a_clock_that_was_set_is_told_by_ends() {
        let bent = |by| Bent::of(&calls(0), &calls(by), 0);
        let (first, last) = (0, 5_000_000);
        assert_eq!(bent(last), Some(Bent { first, last }));
        assert_eq!(bent(0), None);
        let in_two = |by| Bent::in_two(&calls(0), &calls(by));
        assert_eq!(in_two(last), Some(Bent { first, last }));
        assert_eq!(in_two(0), None);
        // Of a third rank, which sends to both.
        let received = |by| -> Vec<Item> {
            let of_third = |it| Item {
                is_cause: false,
                ..it
            };
            calls(by).into_iter().map(of_third).collect()
        };
        assert_eq!(Bent::of(&received(0), &received(last), 0), None);
        assert_eq!(Bent::in_two(&calls(0), &calls(last)[1..]), None);
        let pair = ("rank 0".to_owned(), "rank 4".to_owned());
        let told = warning(&BTreeMap::from([(pair, bent(last))])).unwrap();
        assert!(
            told.contains("rank 0 and rank 4 (0 s at first, 5 ms at last), so that"),
            "{told}"
        );
        assert_eq!(warning(&BTreeMap::new()), None);
    }

    #[test]
    fn calls_that_others_of_both_ranks_refute_tell_nothing_of_clocks() {
        let pairs: Vec<(Item, Item)> = calls(0).into_iter().zip(calls(5_000_000)).collect();
        let known = Known::from_pairs(&pairs);
        let is_of_clocks = |first, last| Bent { first, last }.is_of_clocks(&known);
        assert!(is_of_clocks(0, 5_000_000));
        assert!(!is_of_clocks(-36_000_000, -23_000_000));
    }
}
