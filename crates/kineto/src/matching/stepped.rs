//! Which calls of two ranks belong together, where one of their clocks was set while it was recorded.
//!
//! No straight [difference](super::difference) of two clocks allows their calls then, but two do, one after
//! the other:
//!
//! ```text
//! low_k .. high_k  |  [ ]  [ ]  [  ]  [ ]                         one line
//!                  |                       [ ] [  ]  [ ]  [ ]     another, since the clock was set
//! ```
//!
//! Two lines fit more than one does, so more is asked of such a shift. It is the only one, of all that lay
//! more than half of the calls of one rank on those of the other, that two lines allow. Calls that it leaves
//! without a counterpart are such as the other rank did not record. A shift that lays fewer on each other,
//! and that nothing belongs together, need ten times the difference of clocks.
//!
//! Where two lines allow several, it is told that a clock was set, and nothing is joined. Where they allow
//! none, fewer calls between them than a line would take may be off both: so it is in corrected times, as it
//! is not known to the call when the clock was set. Where that does not help either, the clock was set twice, if
//! a third line between these two allows all that they do not; of it as much is asked.

use super::alignment::{Known, Windowed, between, candidates, overlap, stands_out};
use super::by_ends::is_most;
use super::difference::{DifferenceInterval, is_possible};
use super::item::Item;

/// Calls on each side of the moment at which the clock was set: a line fits any two.
const LEAST: usize = 3;

/// Comparisons of two calls in search of a shift.
const WORK: usize = 1 << 26;

/// The relation of calls of two ranks by two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stepped {
    /// Call `j` of the one is call `j` and so many of the other.
    By(i64),
    /// Two lines are needed, but it cannot be told which calls belong together; the clocks may differ by so
    /// much at first, and at last.
    Several([i64; 2]),
    /// No two lines help, nor does one.
    Neither,
    /// One line does, or no calls are alike.
    No,
}

impl Stepped {
    /// The shift, if it can be told.
    pub(super) const fn told(self) -> Option<i64> {
        match self {
            Self::By(shift) => Some(shift),
            Self::Several(_) | Self::Neither | Self::No => None,
        }
    }
}

/// A shift that two lines allow, each of which enough calls tell.
struct TwoLineShift {
    shift: i64,
    differences: [i64; 2],
    is_whole: bool,
}

/// The relation of the calls of `other` to those of `pivot`.
pub(super) fn align(pivot: Windowed<'_>, other: Windowed<'_>, known: &Known) -> Stepped {
    let ways: [LinesOf; 2] = [Lines::of_two, Lines::of_three];
    for lines in ways {
        for off in [0, LEAST - 1] {
            let fit = |intervals| lines(intervals, off);
            match search(pivot, other, known, fit).unwrap_or(Stepped::No) {
                Stepped::Neither => {}
                found => return found,
            }
        }
    }
    Stepped::Neither
}

/// The lines that allow all intervals but so many between each two, if there are any.
type LinesOf = fn(Vec<DifferenceInterval>, usize) -> Option<Lines>;

/// The relation by lines; nothing if there are no calls, or if finding out would take too long.
fn search(
    pivot: Windowed<'_>,
    other: Windowed<'_>,
    known: &Known,
    fit: impl Fn(Vec<DifferenceInterval>) -> Option<Lines>,
) -> Option<Stepped> {
    let none = pivot.apart_from(&other, known.difference())?;
    let mut next = if known.is_shared() { i64::MAX } else { none };
    let (mut possible, mut nearest, mut work) = (0, None, WORK);
    let mut are_alike = false;
    for (apart, shift) in candidates(pivot.items, other.items, known.difference()) {
        let laid = LaidCalls::by(shift, pivot, other);
        let pairs = laid.pairs();
        work = work.checked_sub(1 + pairs.clone().take_while(is_alike).count())?;
        if !pairs.clone().all(|it| is_alike(&it)) {
            continue;
        }
        let intervals = known.with(pairs.filter_map(|(a, b)| between(a, b)));
        work = work.checked_sub(intervals.len())?;
        let is_most = is_most(pivot.items.len(), other.items.len(), shift);
        let Some(lines) = fit(intervals) else {
            are_alike |= is_most;
            continue;
        };
        if !is_most {
            next = next.min(apart);
            continue;
        }
        if lines.until == f64::INFINITY {
            return None;
        }
        possible += 1;
        let told = || {
            let differences = laid.differences(&lines)?;
            let is_whole = laid.is_whole(differences);
            Some(TwoLineShift {
                shift,
                differences,
                is_whole,
            })
        };
        nearest = nearest.or_else(told);
    }
    let Some(nearest) = nearest else {
        return (possible == 0 && are_alike).then_some(Stepped::Neither);
    };
    let apart = |it: i64| it.saturating_sub(known.difference()).saturating_abs();
    let [first, last] = nearest.differences.map(apart);
    let is_told = possible == 1 && nearest.is_whole && stands_out(first.max(last), next);
    Some(if is_told {
        Stepped::By(nearest.shift)
    } else {
        Stepped::Several(nearest.differences)
    })
}

fn is_alike((a, b): &(&Item, &Item)) -> bool {
    a.signature == b.signature
}

/// Lines that allow intervals, one after the other.
pub(super) struct Lines {
    /// The first allows all before this, the end of time if it allows all;
    until: f64,
    /// the last all from here on;
    from: f64,
    /// from when to when a third one between them does, if there is one.
    between: Option<(f64, f64)>,
}

impl Lines {
    /// Two lines that allow all intervals but so many between them, if there are any.
    pub(super) fn of_two(intervals: Vec<DifferenceInterval>, off: usize) -> Option<Self> {
        Self::around(intervals, |left| (left.len() <= off).then_some(None))
    }

    /// Three lines that allow all intervals but so many between each two, if there are any.
    pub(super) fn of_three(intervals: Vec<DifferenceInterval>, off: usize) -> Option<Self> {
        Self::around(intervals, |left| {
            let skipped = (0..=off).flat_map(|from| (0..=off).map(move |to| (from, to)));
            let mut parts =
                skipped.filter_map(|(from, to)| left.get(from..left.len().checked_sub(to)?));
            let part = parts.find(|it| is_possible(it))?;
            Some(Some((part.first()?.at, part.last()?.at)))
        })
    }

    /// The first and the last of these lines, which last as long as they can, around what `between` makes of
    /// the intervals that are left.
    fn around(
        mut intervals: Vec<DifferenceInterval>,
        between: impl Fn(&[DifferenceInterval]) -> Option<Option<(f64, f64)>>,
    ) -> Option<Self> {
        intervals.sort_by(|a, b| a.at.total_cmp(&b.at));
        // What no line allows, none allows with more.
        let first = longest(intervals.len(), |it| intervals.get(..it));
        let others = intervals.len() - first;
        let last = intervals.len() - longest(others, |it| intervals.get(intervals.len() - it..));
        let at = |place: usize| intervals.get(place).map_or(f64::INFINITY, |it| it.at);
        Some(Self {
            until: at(first),
            from: at(last),
            between: between(intervals.get(first..last)?)?,
        })
    }
}

/// The length of the longest part that a line allows, of those up to a length.
fn longest<'a>(length: usize, part: impl Fn(usize) -> Option<&'a [DifferenceInterval]>) -> usize {
    let (mut fits, mut beyond) = (0, length + 1);
    while fits + 1 < beyond {
        let middle = usize::midpoint(fits, beyond);
        if part(middle).is_some_and(is_possible) {
            fits = middle;
        } else {
            beyond = middle;
        }
    }
    fits
}

/// Calls of two ranks that a shift lays on each other.
struct LaidCalls<'a> {
    pivot: Windowed<'a>,
    other: Windowed<'a>,
    /// The first calls that lie on each other, and how many do.
    from: (usize, usize),
    count: usize,
}

impl<'a> LaidCalls<'a> {
    fn by(shift: i64, pivot: Windowed<'a>, other: Windowed<'a>) -> Self {
        let (n, m) = (pivot.items.len() as i64, other.items.len() as i64);
        let (first, last) = overlap(n, m, shift);
        Self {
            pivot,
            other,
            from: ((first + shift) as usize, first as usize),
            count: usize::try_from(last + 1 - first).unwrap_or(0),
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (&'a Item, &'a Item)> + Clone + use<'a> {
        let its = self.pivot.items.iter().skip(self.from.0);
        let own = self.other.items.iter().skip(self.from.1);
        its.zip(own).take(self.count)
    }

    /// About the differences of both clocks before one of them was set and since then, if enough calls tell
    /// of either, and of what was between.
    fn differences(&self, lines: &Lines) -> Option<[i64; 2]> {
        let mutual = || self.pairs().filter(|(a, b)| a.is_mutual() && b.is_mutual());
        let before = mutual().filter(|(a, _)| (a.begin as f64) < lines.until);
        let since = mutual().filter(|(a, _)| (a.begin as f64) >= lines.from);
        let median = |pairs: Vec<(&Item, &Item)>| {
            let ends = pairs.iter().map(|(a, b)| b.end.saturating_sub(a.end));
            let mut ends: Vec<i64> = ends.collect();
            ends.sort_unstable();
            ends.get(ends.len() / 2)
                .copied()
                .filter(|_| ends.len() >= LEAST)
        };
        if let Some((from, to)) = lines.between {
            let between = mutual().filter(|(a, _)| (from..=to).contains(&(a.begin as f64)));
            median(between.collect())?;
        }
        Some([median(before.collect())?, median(since.collect())?])
    }

    /// True if all calls without a counterpart are such as the other rank cannot have recorded whole, by
    /// clocks that differ by so much at first, and at last.
    fn is_whole(&self, [first, last]: [i64; 2]) -> bool {
        let is_early = |of: &[Item], to: usize, window: (i64, i64), ahead: i64| {
            let mut early = of.iter().take(to);
            early.all(|it| it.begin.saturating_add(ahead) <= window.0)
        };
        let is_late = |of: &[Item], from: usize, window: (i64, i64), ahead: i64| {
            let mut late = of.iter().skip(from + self.count);
            late.all(|it| it.end.saturating_add(ahead) >= window.1)
        };
        let (pivot, other) = (self.pivot, self.other);
        is_early(pivot.items, self.from.0, other.window, first)
            && is_early(other.items, self.from.1, pivot.window, -first)
            && is_late(pivot.items, self.from.0, other.window, last)
            && is_late(other.items, self.from.1, pivot.window, -last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of iterations of 9 ms, or up to `uneven` nanoseconds longer, by a clock that is set by so much
    /// before some of them.
    fn calls(uneven: i64, set: &[(i64, i64)]) -> Vec<Item> {
        let mut at = 1_000;
        let mut item = |number: i64| {
            at += 9_000_000 + (number * number * 7_919) % uneven;
            let by = set.iter().filter(|it| it.0 <= number).map(|it| it.1);
            let begin = at + by.sum::<i64>();
            Item {
                signature: 3,
                begin,
                end: begin + 50_000,
                is_cause: true,
                is_effect: true,
            }
        };
        (0..20).map(&mut item).collect()
    }

    fn aligned(pivot: &[Item], other: &[Item]) -> Stepped {
        let windowed = |items| Windowed {
            items,
            window: (
                items.first().map_or(0, |it: &Item| it.begin),
                items.last().map_or(0, |it: &Item| it.end),
            ),
        };
        align(windowed(pivot), windowed(other), &Known::default())
    }

    #[test]
    fn two_lines_tell_calls_of_a_clock_that_was_set() {
        let pivot = calls(400_000, &[]);
        for by in [5_000_000, -5_000_000] {
            let other = calls(400_000, &[(10, by)]);
            assert_eq!(aligned(&pivot, &other), Stepped::By(0));
            assert_eq!(aligned(&pivot, &other[3..]), Stepped::By(3));
            assert_eq!(aligned(&other, &pivot[..18]), Stepped::By(0));
        }
        assert_eq!(aligned(&pivot, &pivot), Stepped::No);
        // Nothing tells a clock that was set from one that was not, or that was set twice.
        let late = calls(400_000, &[(18, 5_000_000)]);
        assert_eq!(aligned(&pivot, &late).told(), None);
        let twice = calls(400_000, &[(7, 5_000_000), (14, 5_000_000)]);
        // In corrected times the clock seems to have been set twice.
        let near = calls(400_000, &[(10, 3_000_000), (12, -3_000_000)]);
        assert_eq!(aligned(&pivot, &near), Stepped::By(0));
        assert_eq!(aligned(&pivot, &twice), Stepped::By(0));
        let there_and_back = calls(400_000, &[(7, 5_000_000), (13, -5_000_000)]);
        assert_eq!(aligned(&pivot, &there_and_back[2..]), Stepped::By(2));
        let in_corrected_times = [
            (6, -2_000_000),
            (8, 2_000_000),
            (12, 3_000_000),
            (14, -3_000_000),
        ];
        assert_eq!(
            aligned(&pivot, &calls(400_000, &in_corrected_times)),
            Stepped::By(0)
        );
        // Three times are too many.
        let thrice = calls(400_000, &[(5, 5_000_000), (10, 5_000_000), (15, 5_000_000)]);
        assert_eq!(aligned(&pivot, &thrice), Stepped::Neither);
    }

    #[test]
    fn nothing_is_joined_by_three_lines_where_two_calls_are_missing() {
        for uneven in [1, 400_000] {
            let pivot = calls(uneven, &[]);
            let mut other = pivot.clone();
            other.remove(13);
            other.remove(6);
            for pivot in [&pivot[..], &pivot[..19], &pivot[..18], &pivot[1..]] {
                assert_eq!(aligned(pivot, &other).told(), None);
                assert_eq!(aligned(&other, pivot).told(), None);
            }
        }
    }

    #[test]
    fn nothing_is_joined_where_two_lines_allow_several_shifts_or_calls_are_missing() {
        let even = calls(1, &[]);
        let set = calls(1, &[(10, 5_000_000)]);
        assert!(matches!(aligned(&even, &set), Stepped::Several(_)));
        for uneven in [1, 400_000] {
            let pivot = calls(uneven, &[]);
            let mut other = pivot.clone();
            other.remove(10);
            assert_eq!(aligned(&pivot, &other).told(), None);
            // By two lines each call behind the missing one could be the one before.
            assert_eq!(aligned(&pivot[..19], &other).told(), None);
        }
    }
}
