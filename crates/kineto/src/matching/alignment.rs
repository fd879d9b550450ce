//! Which calls of two ranks belong together, where they have no numbers.
//!
//! All members of a group make the same calls in the same order, but profilers start and
//! stop recording at different moments. So one sequence has to be shifted against the other:
//! by `s` if call `j` of the one is call `j + s` of the other. A shift is *possible* if all
//! calls that come to lie on each other have the same [signature](crate::call), and some
//! difference of the clocks [allows](super::difference) all of them. Training repeats itself,
//! so signatures leave a shift for each iteration; of these the lengths of iterations, which
//! vary, leave few.
//!
//! It is possible, too, that none of these calls belong together, where one profiler recorded none
//! of those that the other did. Then the calls of either lie outside the time that the other
//! recorded, which takes a difference of clocks like any shift:
//!
//! ```text
//! pivot  [ a  b  c ]                   difference <= begin of the other's time - begin of c
//! other               [ a  b  c ]      difference <= end of the other's a - end of the pivot's time
//! ```
//!
//! Of several possible shifts, and none, that is taken which needs the least difference of the
//! clocks, if any other needs [`FARTHER`] times as much. If none stands out so, that is taken by which
//! calls [end together](super::by_ends), if there is one. Else nothing
//! belongs together for certain, and nothing is joined, unless both recorded
//! [iterations](crate::iterations) of equal numbers: then some of their calls do belong together,
//! and differences count from that of these iterations.

use super::by_ends;
use super::difference::{DifferenceInterval, is_possible};
use super::item::Item;

/// The calls of a rank, with the time that its profiler recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windowed<'a> {
    /// Calls in the order in which they were made.
    pub(super) items: &'a [Item],
    /// From when to when the rank has events.
    pub(super) window: (i64, i64),
}

impl Windowed<'_> {
    /// How far clocks have to differ from a difference at least so that neither recorded a call
    /// of the other; `None` if one has no calls.
    pub(super) fn apart_from(&self, other: &Self, difference: i64) -> Option<i64> {
        let (first, last) = (self.items.first()?, self.items.last()?);
        let (other_first, other_last) = (other.items.first()?, other.items.last()?);
        let at_most = (other_first.end - self.window.1).min(other.window.0 - last.begin);
        let at_least = (other_last.begin - self.window.0).max(other.window.1 - first.end);
        let apart = (difference - at_most).min(at_least - difference);
        Some(apart.max(0))
    }
}

/// Knowledge of the clocks of two ranks before their sequences are compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    between: Vec<DifferenceInterval>,
    /// About what has to be added to the clock of the first to get that of the second.
    difference: i64,
    /// True if both recorded the same part of the run for certain.
    is_shared: bool,
}

impl Known {
    /// Learns from a sequence that was shifted against another, so that their calls are pairs.
    pub(super) fn of(pivot: &[Item], other: &[Item], shift: i64) -> Self {
        let place = |it: i64| usize::try_from(it).ok();
        let pair = |(b, at): (&Item, i64)| Some((*pivot.get(place(at)?)?, *b));
        Self::from_pairs(
            &other
                .iter()
                .zip(shift..)
                .filter_map(pair)
                .collect::<Vec<_>>(),
        )
    }

    /// About what has to be added to the clock of the first to get that of the second.
    pub(super) const fn difference(&self) -> i64 {
        self.difference
    }

    /// True if both recorded the same part of the run for certain.
    pub(super) const fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The intervals that are known of the difference of both clocks, with those of calls that may be pairs.
    pub(super) fn with(
        &self,
        between: impl Iterator<Item = DifferenceInterval>,
    ) -> Vec<DifferenceInterval> {
        let mut all = self.between.clone();
        all.extend(between);
        all
    }

    /// The number of calls that tell of a time.
    pub(super) fn count(&self, within: impl Fn(f64) -> bool) -> usize {
        self.between.iter().filter(|it| within(it.at)).count()
    }

    /// True if it comes from calls that are pairs.
    pub(super) const fn is_proven(&self) -> bool {
        !self.between.is_empty()
    }

    /// This knowledge, with what [iterations](crate::iterations) say.
    pub(super) fn of_iterations(&self, difference: i64) -> Self {
        Self {
            between: self.between.clone(),
            difference,
            is_shared: true,
        }
    }

    /// This knowledge with both clocks in each other's place.
    pub(super) fn reversed(&self) -> Self {
        Self {
            between: self
                .between
                .iter()
                .map(DifferenceInterval::reversed)
                .collect(),
            difference: -self.difference,
            is_shared: self.is_shared,
        }
    }

    /// True if some difference of the clocks allows all that is known.
    pub(super) fn is_possible(&self) -> bool {
        is_possible(&self.between)
    }

    /// The number of operations that allow one of some differences of both clocks, and of all that tell of it.
    pub(super) fn allow_one_of(&self, differences: [i64; 2]) -> [usize; 2] {
        let allows = |it: &&DifferenceInterval| {
            let mut differences = differences.iter();
            differences.any(|&by| (it.low..=it.high).contains(&(by as f64)))
        };
        let between = self.between.iter();
        [between.filter(allows).count(), self.between.len()]
    }

    /// This knowledge together with another one of the same two clocks.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.between.extend(&other.between);
        self
    }

    /// Learns from pairs of calls that are of one operation.
    pub(super) fn from_pairs(pairs: &[(Item, Item)]) -> Self {
        let mut differences: Vec<i64> = pairs.iter().map(|(a, b)| b.end - a.end).collect();
        differences.sort_unstable();
        Self {
            between: pairs.iter().filter_map(|(a, b)| between(a, b)).collect(),
            difference: differences.get(differences.len() / 2).copied().unwrap_or(0),
            is_shared: false,
        }
    }
}

/// How many times as far as the nearest the next possible shift has to be. Hosts of a job
/// get their time from one source and differ by milliseconds at most, iterations last
/// longer: an order of magnitude tells both apart, however good that source is.
const FARTHER: i64 = 10;

/// A difference below which all are alike: hosts with the best of all sources still differ
/// by as many nanoseconds.
const ALIKE: i64 = 1000;

/// Possible shifts that are compared at most: where there are more, calls are alike.
const MOST_POSSIBLE: usize = 64;

/// Comparisons of two calls in search of a shift. Sequences of equal calls could take the
/// square of their length.
const WORK: usize = 1 << 26;

/// Comparisons in search of others, once one is found.
const WORK_ON_OTHERS: usize = 1 << 22;

/// How calls of one rank relate to those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    /// Call `j` of the one is call `j` and so many of the other.
    By(i64),
    /// Several are possible.
    Ambiguous,
    /// None is.
    Impossible,
}

/// The shift of the calls of `other` against those of `pivot`.
pub(super) fn align(pivot: Windowed<'_>, other: Windowed<'_>, known: &Known) -> Shift {
    let Some(none) = pivot.apart_from(&other, known.difference) else {
        return Shift::Impossible;
    };
    let none = if known.is_shared { i64::MAX } else { none };
    let (pivot, other) = (pivot.items, other.items);
    let mut work = WORK;
    let mut nearest: Option<i64> = None;
    let mut possible = Vec::new();
    for (apart, shift) in candidates(pivot, other, known.difference) {
        if nearest.is_some_and(|it| stands_out(it, apart)) {
            break;
        }
        match is_shift(pivot, other, shift, known, &mut work) {
            Some(false) => {}
            Some(true) if possible.len() < MOST_POSSIBLE => {
                if nearest.is_none() {
                    (nearest, work) = (Some(apart), work.min(WORK_ON_OTHERS));
                }
                // Else it is more likely that nothing belongs together.
                possible.extend((apart < none).then_some(shift));
            }
            Some(true) | None => return Shift::Ambiguous,
        }
    }
    match (nearest, &*possible) {
        (None, _) => Shift::Impossible,
        (Some(apart), &[shift]) if stands_out(apart, none) => Shift::By(shift),
        _ => by_ends::told(pivot, other, &possible).map_or(Shift::Ambiguous, Shift::By),
    }
}

/// Messages from one rank to another, as each recorded its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Messages<'a> {
    pub(super) sends: Windowed<'a>,
    pub(super) receives: Windowed<'a>,
}

/// Knowledge of the clocks of two ranks of which nothing else is known, by their messages `there`
/// and `back`; `None` if that is not certain.
///
/// Messages in one direction bound the difference of clocks from one side only, so any shift is
/// possible; those in the other bound it from the other. Both shifts together are possible, or not,
/// like that of calls that wait for each other, and chosen like that.
pub(super) fn align_both(there: Messages<'_>, back: Messages<'_>) -> Option<Known> {
    let none = there.sends.apart_from(&there.receives, 0)?;
    let (sends, receives) = (there.sends.items, there.receives.items);
    let mut work = WORK;
    let mut nearest = Nearest::beside(none);
    for (apart, shift) in candidates(sends, receives, 0) {
        if nearest.stands_out_from(apart) {
            break;
        }
        if !is_shift(sends, receives, shift, &Known::default(), &mut work)? {
            continue;
        }
        let known = Known::of(sends, receives, shift);
        work = work.checked_sub(back.sends.items.len() + back.receives.items.len())?;
        match align(back.sends, back.receives, &known.reversed()) {
            Shift::Impossible => {}
            Shift::Ambiguous => return None,
            Shift::By(other) => {
                let other = Known::of(back.sends.items, back.receives.items, other);
                if !nearest.take(apart, known.and(&other.reversed())) {
                    return None;
                }
            }
        }
    }
    nearest.found()
}

/// The nearest of several possible shifts, and what it says of the clocks.
struct Nearest<T> {
    /// How far clocks differ if none of the calls belong together.
    none: i64,
    found: Option<(i64, T)>,
}

impl<T> Nearest<T> {
    const fn beside(none: i64) -> Self {
        Self { none, found: None }
    }

    /// True if anything so far apart is out of the question.
    fn stands_out_from(&self, apart: i64) -> bool {
        let found = self.found.as_ref();
        found.is_some_and(|(nearest, _)| stands_out(*nearest, apart))
    }

    /// Takes a possible shift; false if that is ambiguous.
    fn take(&mut self, apart: i64, of: T) -> bool {
        let is_only = self.found.is_none() && stands_out(apart, self.none);
        self.found = Some((apart, of));
        is_only
    }

    fn found(self) -> Option<T> {
        self.found.map(|(_, of)| of)
    }
}

/// True if what is so far apart is out of the question beside the nearest.
pub(super) fn stands_out(nearest: i64, apart: i64) -> bool {
    apart > nearest.max(ALIKE).saturating_mul(FARTHER)
}

/// All shifts, with how much clocks have to differ for them from what is known, the least first:
/// by as much as ends do in the middle of what they lay on each other.
pub(super) fn candidates(pivot: &[Item], other: &[Item], difference: i64) -> Vec<(i64, i64)> {
    let (n, m) = (pivot.len() as i64, other.len() as i64);
    let candidate = |shift: i64| {
        let (first, last) = overlap(n, m, shift);
        let middle = i64::midpoint(first, last);
        let own = other.get(middle as usize)?;
        let its = pivot.get((middle + shift) as usize)?;
        Some(((own.end - its.end - difference).abs(), shift))
    };
    let mut candidates: Vec<(i64, i64)> = (1 - m..n).filter_map(candidate).collect();
    candidates.sort_unstable();
    candidates
}

/// The first and last call of the other sequence that has a counterpart.
pub(super) fn overlap(n: i64, m: i64, shift: i64) -> (i64, i64) {
    ((-shift).max(0), m.min(n - shift) - 1)
}

/// True if the calls of two sequences that a shift lays on each other can be pairs.
pub(super) fn can_be_shift(pivot: &[Item], other: &[Item], shift: i64) -> bool {
    let mut work = WORK;
    is_shift(pivot, other, shift, &Known::default(), &mut work) == Some(true)
}

/// Shifts that are looked at next to a difference of clocks.
const NEAR: usize = 8;

/// The shift nearest to a difference of clocks that lays calls of equal signatures on each other, more than
/// half of those of one rank; nothing if none of the nearest does.
pub(super) fn nearest_alike(pivot: &[Item], other: &[Item], difference: i64) -> Option<i64> {
    let fewer = pivot.len().min(other.len());
    let is_alike = |shift: &i64| {
        let (first, last) = overlap(pivot.len() as i64, other.len() as i64, *shift);
        let own = other
            .get(first as usize..=last as usize)
            .unwrap_or_default();
        let its = pivot.get((first + shift) as usize..).unwrap_or_default();
        let mut pairs = own.iter().zip(its);
        2 * own.len() > fewer && pairs.all(|(a, b)| a.signature == b.signature)
    };
    let near = candidates(pivot, other, difference).into_iter().take(NEAR);
    near.map(|it| it.1).find(is_alike)
}

/// True if a shift is possible; nothing if finding out would take too long.
fn is_shift(
    pivot: &[Item],
    other: &[Item],
    shift: i64,
    known: &Known,
    work: &mut usize,
) -> Option<bool> {
    let (first, last) = overlap(pivot.len() as i64, other.len() as i64, shift);
    let own = other
        .get(first as usize..=last as usize)
        .unwrap_or_default();
    let its = pivot.get((first + shift) as usize..).unwrap_or_default();
    let pairs = || own.iter().zip(its);
    let alike = pairs()
        .take_while(|(a, b)| a.signature == b.signature)
        .count();
    *work = work.checked_sub(alike)?;
    if alike < own.len() {
        return Some(false);
    }
    let mut all: Vec<DifferenceInterval> = pairs().filter_map(|(b, a)| between(a, b)).collect();
    // A few tell most of the wrong ones.
    if !is_possible(all.get(..all.len().min(32)).unwrap_or_default()) {
        return Some(false);
    }
    all.extend(&known.between);
    Some(!all.is_empty() && is_possible(&all))
}

/// The interval in which two calls of one operation allow the difference of their ranks' clocks;
/// `None` if they allow any.
pub(super) fn between(a: &Item, b: &Item) -> Option<DifferenceInterval> {
    let first = b.is_cause && a.is_effect;
    let second = a.is_cause && b.is_effect;
    (first || second).then(|| DifferenceInterval {
        at: a.begin as f64,
        low: if first {
            (b.begin - a.end) as f64
        } else {
            f64::NEG_INFINITY
        },
        high: if second {
            (b.end - a.begin) as f64
        } else {
            f64::INFINITY
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations of two calls; the second waits for the slower rank.
    fn sequence(lengths: &[i64], offset: i64) -> Vec<Item> {
        let mut now = offset;
        let mut items = Vec::new();
        for length in lengths {
            let call = |signature, begin: i64, end: i64| Item {
                signature,
                begin,
                end,
                is_cause: true,
                is_effect: true,
            };
            items.push(call(0, now, now + 40_000));
            items.push(call(1, now + length / 2, now + length / 2 + 50_000));
            now += length;
        }
        items
    }

    /// The shift of the calls of two ranks that recorded nothing else, and know nothing.
    fn shift(pivot: &[Item], other: &[Item]) -> Shift {
        let windowed = |items| Windowed {
            items,
            window: (
                items.first().map_or(0, |it: &Item| it.begin),
                items.last().map_or(0, |it: &Item| it.end),
            ),
        };
        align(windowed(pivot), windowed(other), &Known::default())
    }

    const LENGTHS: [i64; 8] = [
        1_000_000, 1_210_000, 980_000, 1_430_000, 1_110_000, 1_000_000, 1_260_000, 1_330_000,
    ];

    #[test]
    fn windows_are_shifted_against_each_other() {
        let pivot = sequence(&LENGTHS, 0);
        let starts = |from: usize| LENGTHS[..from].iter().sum::<i64>();
        for from in 0..4 {
            // The clock is 300 us ahead.
            let other = sequence(&LENGTHS[from..], starts(from) + 300_000);
            assert_eq!(shift(&pivot, &other), Shift::By(2 * from as i64));
        }
    }

    #[test]
    fn equal_iterations_are_told_apart_by_clocks_that_differ_less() {
        let pivot = sequence(&[1_000_000; 6], 0);
        let near = sequence(&[1_000_000; 6], 2_060_000);
        assert_eq!(shift(&pivot, &near), Shift::By(4));
        // As far from one as from the other.
        let between = sequence(&[1_000_000; 6], 2_500_000);
        assert_eq!(shift(&pivot, &between), Shift::Ambiguous);
    }

    #[test]
    fn calls_of_times_that_do_not_meet_are_of_none() {
        let pivot = sequence(&[1_000_000; 2], 0);
        // Clocks that differ by as much as an iteration lasts would let one call of either meet.
        let later = sequence(&[1_000_000; 2], 2_000_000);
        assert_eq!(shift(&pivot, &later), Shift::Ambiguous);
        let other = sequence(&[1_000_000; 2], 1_040_000);
        assert_eq!(shift(&pivot, &other), Shift::By(2));
    }

    #[test]
    fn other_calls_do_not_belong_together() {
        let pivot = sequence(&LENGTHS, 0);
        let mut other = sequence(&LENGTHS, 0);
        for item in &mut other {
            item.signature += 2;
        }
        assert_eq!(shift(&pivot, &other), Shift::Impossible);
        assert_eq!(shift(&pivot, &[]), Shift::Impossible);
    }
}
