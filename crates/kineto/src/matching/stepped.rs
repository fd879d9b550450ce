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
//! a third line between these two allows all that they do not, or else three times, if two lines do; of each
//! as much is asked.

use super::alignment::{Known, Windowed, between, candidates, overlap, stands_out};
use super::by_ends::is_most;
use super::difference::{DifferenceInterval, is_possible};
use super::item::Item;

/// Calls on each side of a moment at which the clock was set: a line fits any two.
const LEAST: usize = 3;

/// Lines, one after the other, that are tried at most: time services that may set a clock of a running
/// system do so in the first three updates (`makestep 1 3` of chrony), and slew it since.
const MOST_LINES: usize = 4;

/// Lines for each of which this is enough. More of them leave chance so many ways that they have to allow
/// twice as many calls on average, besides those that are off.
const FEW_LINES: usize = 3;

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
    let ways = (2..=MOST_LINES).flat_map(|count| [0, LEAST - 1].map(|off| (count, off)));
    for (count, off) in ways {
        let fit = |intervals| Lines::of(count, intervals, off);
        match search(pivot, other, known, fit).unwrap_or(Stepped::No) {
            Stepped::Neither => {}
            found => return found,
        }
    }
    Stepped::Neither
}

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
            let differences = laid.differences(&lines, known)?;
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
    /// from when to when each of those between them does.
    between: Vec<(f64, f64)>,
}

impl Lines {
    /// So many lines, two at least, that allow all intervals but so many between each two, if there are any.
    ///
    /// The first and the last of them last as long as they can.
    pub(super) fn of(
        count: usize,
        mut intervals: Vec<DifferenceInterval>,
        off: usize,
    ) -> Option<Self> {
        let gaps = count.saturating_sub(1);
        if count > FEW_LINES && intervals.len() < 2 * LEAST * count + off * gaps {
            return None;
        }
        intervals.sort_by(|a, b| a.at.total_cmp(&b.at));
        // What no line allows, none allows with more.
        let first = longest(intervals.len(), |it| intervals.get(..it));
        let others = intervals.len() - first;
        let last = intervals.len() - longest(others, |it| intervals.get(intervals.len() - it..));
        let at = |place: usize| intervals.get(place).map_or(f64::INFINITY, |it| it.at);
        let left = intervals.get(first..last)?;
        Some(Self {
            until: at(first),
            from: at(last),
            between: allowed_between(left, count.saturating_sub(2), off)?,
        })
    }
}

/// From when to when each of so many lines allows intervals, which together allow all but so many before
/// each and after the last, if there are such.
fn allowed_between(
    intervals: &[DifferenceInterval],
    lines: usize,
    off: usize,
) -> Option<Vec<(f64, f64)>> {
    if lines == 0 {
        return (intervals.len() <= off).then(Vec::new);
    }
    (0..=off).find_map(|skipped| {
        let left = intervals.get(skipped..)?;
        let (own, others) = left.split_at_checked(longest(left.len(), |it| left.get(..it)))?;
        let mut all = vec![(own.first()?.at, own.last()?.at)];
        all.extend(allowed_between(others, lines - 1, off)?);
        Some(all)
    })
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
    /// of either, and of what was between: these, and others that are known to be pairs.
    fn differences(&self, lines: &Lines, known: &Known) -> Option<[i64; 2]> {
        let median = |within: &dyn Fn(f64) -> bool| {
            let pairs = self.pairs().filter(|(a, b)| a.is_mutual() && b.is_mutual());
            let own = pairs.filter(|(a, _)| within(a.begin as f64));
            let mut ends: Vec<i64> = own.map(|(a, b)| b.end.saturating_sub(a.end)).collect();
            ends.sort_unstable();
            let is_told = ends.len() + known.count(within) >= LEAST;
            ends.get(ends.len() / 2).copied().filter(|_| is_told)
        };
        for (from, to) in &lines.between {
            median(&|at| (*from..=*to).contains(&at))?;
        }
        Some([
            median(&|at| at < lines.until)?,
            median(&|at| at >= lines.from)?,
        ])
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

    /// Calls of iterations that last 9 ms and so many nanoseconds more, by a clock that is set by so much
    /// before some of them.
    fn calls_after(longer: impl Iterator<Item = i64>, set: &[(i64, i64)]) -> Vec<Item> {
        let mut at = 1_000;
        let item = |(number, longer): (i64, i64)| {
            at += 9_000_000 + longer;
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
        (0..).zip(longer).map(item).collect()
    }

    /// Calls of iterations that differ by up to `uneven` nanoseconds.
    fn calls(uneven: i64, set: &[(i64, i64)]) -> Vec<Item> {
        calls_after((0..20).map(|it| (it * it * 7_919) % uneven), set)
    }

    /// As many calls as four lines take, of iterations that differ by up to 4 ms at random.
    fn random_calls(set: &[(i64, i64)]) -> Vec<Item> {
        let mut state = 1_u32;
        let longer = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            i64::from(state >> 8) % 4_000_000
        };
        calls_after((0..36).map(longer), set)
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
        // Four lines take more calls.
        let thrice = calls(400_000, &[(5, 5_000_000), (10, 5_000_000), (15, 5_000_000)]);
        assert_eq!(aligned(&pivot, &thrice).told(), None);
    }

    #[test]
    fn four_lines_tell_calls_of_a_clock_that_was_set_three_times() {
        let pivot = random_calls(&[]);
        let thrice = [(9, 5_000_000), (18, 5_000_000), (27, 5_000_000)];
        assert_eq!(aligned(&pivot, &random_calls(&thrice)), Stepped::By(0));
        let to_and_fro = [(9, 5_000_000), (18, -7_000_000), (26, 4_000_000)];
        let to_and_fro = random_calls(&to_and_fro);
        assert_eq!(aligned(&pivot, &to_and_fro[2..]), Stepped::By(2));
        // In corrected times two calls are off each time.
        let off = [9, 18, 27].map(|it| [(it, 4_000_000), (it + 2, -4_000_000)]);
        let off = random_calls(off.as_flattened());
        assert_eq!(aligned(&pivot, &off), Stepped::By(0));
        // Four times are too many.
        let often = [7, 14, 21, 28].map(|it| (it, 5_000_000));
        assert_eq!(aligned(&pivot, &random_calls(&often)), Stepped::Neither);
    }

    #[test]
    fn nothing_is_joined_by_several_lines_where_as_many_calls_are_missing() {
        for uneven in [1, 400_000] {
            for missing in [&[13, 6][..], &[15, 10, 5]] {
                let pivot = calls(uneven, &[]);
                let mut other = pivot.clone();
                for it in missing {
                    other.remove(*it);
                }
                for pivot in [
                    &pivot[..],
                    &pivot[..19],
                    &pivot[..18],
                    &pivot[..17],
                    &pivot[1..],
                ] {
                    assert_eq!(aligned(pivot, &other).told(), None);
                    assert_eq!(aligned(&other, pivot).told(), None);
                }
            }
        }
    }

    #[test]
    fn other_calls_of_both_ranks_tell_that_a_clock_was_set_where_few_of_these_do() {
        let set = [(10, 5_000_000)];
        let (pivot, other) = (calls(400_000, &[]), calls(400_000, &set));
        let windowed = |items: &[Item]| (0..items.len()).step_by(6).map(|it| items[it]).collect();
        let [few, fewer]: [Vec<Item>; 2] = [windowed(&pivot), windowed(&other)];
        let window = |items: &[Item]| (items[0].begin, items[items.len() - 1].end);
        let aligned = |known: &Known| {
            let windowed = |items, of| Windowed {
                items,
                window: window(of),
            };
            align(windowed(&few, &pivot), windowed(&fewer, &other), known)
        };
        assert_eq!(aligned(&Known::default()).told(), None);
        assert_eq!(aligned(&Known::of(&pivot, &other, 0)), Stepped::By(0));
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
