//! Breaks: the moments at which the difference of two clocks leaves a straight line, and the clock to
//! blame.
//!
//! A message says what its receiver showed at least, and its sender at most, when the other end was
//! stamped, whatever the clocks do meanwhile:
//!
//! ```text
//!  a -> b   sent s, received r      when a showed s, b showed r at most:     b - a <= r - s
//!  b -> a   sent s, received r      when a showed r, b showed s at least:    b - a >= s - r
//! ```
//!
//! So the difference of two clocks is known from both sides along the stamps of one of them, and clocks
//! that bend or are set at a few moments make it [a few straight
//! stretches](retime_numerics::fewest_lines). Those that wander more than messages leave open make many,
//! and are not looked at any further.
//!
//! A clock that bends does so against all others. So breaks are put down to the clock that has to do
//! with the most of them at one time, one after the other; of several rather to one that has broken already,
//! since what steers a clock begins and ends, and rather to another one than the reference:
//!
//! ```text
//!  clocks 0 1   ------------------
//!         0 2   -------|----------     clock 2 in |: it has to do with both
//!         1 2   ------|-----------
//! ```

use super::parts::Cuts;
use crate::options::OPTIONS;
use retime_causality::edges::{Edge, Edges};
use retime_model::{Cancelled, ClockId, Monitor};
use retime_numerics::fewest_lines::{Bound, BoundSide, Line, Stretch, fewest_lines};
use retime_numerics::median::median;
use retime_numerics::parallel::try_map;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

/// The offset of a clock bends where its rate changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bend {
    pub(super) at: i64,
    /// The ticks that have to be added to the clock more per tick from there on.
    pub(super) by: f64,
    /// How well messages tell the rate before, and that from there on: to so many ticks per tick.
    pub(super) rates_within: [f64; 2],
}

/// A clock bends, or was set, between two of its stamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) after: i64,
    pub(super) until: i64,
    /// `None` where it was set.
    pub(super) bend: Option<Bend>,
}

/// Per clock, in order: where it bends or was set.
pub(super) type Places = Vec<Vec<Place>>;

/// Cuts at these places.
pub(super) fn cuts(places: &Places) -> Cuts {
    let cut = |it: &Place| (it.after, it.until);
    { places.iter() }
        .map(|it| it.iter().map(cut).collect())
        .collect()
}

/// Per clock, in order: where it bends or was set, as far as messages tell; `None` where some clocks do so
/// all the time, or none does.
pub(super) fn places(
    edges: &Edges,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Option<Places>, Cancelled> {
    let found = try_map(&both_ways(edges), |pair| {
        monitor.check()?;
        Ok(pair.breaks())
    })?;
    let Some(found) = found.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let mut left: Vec<Break> = found.into_iter().flatten().collect();
    let mut places = vec![Vec::new(); edges.clocks()];
    let mut count = 0;
    loop {
        monitor.check()?;
        let has_broken = |clock: ClockId| !places[clock.as_usize()].is_empty();
        let likeliest = |clock| (has_broken(clock), clock != reference);
        let Some(culprit) = Culprit::of(&left, likeliest) else {
            break;
        };
        count += 1;
        // What one clock does at one time shows against all others at most.
        let explained = (OPTIONS.most_steps + 1 - count) * edges.clocks();
        if left.len() > explained {
            return Ok(None);
        }
        places[culprit.clock.as_usize()].push(culprit.place(&left));
        culprit.explain(&mut left);
    }
    for of_clock in &mut places {
        of_clock.sort_by_key(|it: &Place| it.after);
        // Two that overlap are told apart by nothing.
        let mut ended = i64::MIN;
        of_clock.retain(|it| {
            let is_apart = ended <= it.after;
            ended = ended.max(it.until);
            is_apart
        });
    }
    Ok((count > 0).then_some(places))
}

/// The difference of two clocks goes on along another line.
struct Break {
    /// Both clocks,
    of: [BreakOfClock; 2],
    /// True if the two lines meet there.
    is_bend: bool,
}

/// A break as it would be if it were that of one clock.
struct BreakOfClock {
    clock: ClockId,
    other: ClockId,
    /// It is between these stamps of the clock.
    after: i64,
    until: i64,
    /// The bend that would straighten the clock, from where both lines meet.
    bend: Bend,
}

impl Break {
    /// The part of a clock in it, if it has any.
    fn of(&self, clock: ClockId) -> Option<&BreakOfClock> {
        self.of.iter().find(|it| it.clock == clock)
    }
}

/// The dependencies of two clocks, each way.
struct Pair<'a> {
    there: &'a [Edge],
    back: &'a [Edge],
}

/// All pairs of clocks that depend on each other both ways; `edges` are by clocks and stamps.
fn both_ways(edges: &Edges) -> Vec<Pair<'_>> {
    let all = edges.all();
    let ways = all.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to));
    let pairs = ways.filter_map(|there| {
        let Edge { from, to, .. } = there[0];
        let first = all.partition_point(|it| (it.from, it.to) < (to, from));
        let last = all.partition_point(|it| (it.from, it.to) <= (to, from));
        let back = &all[first..last];
        // Clocks that have no extent are of no interest.
        let is_known = to.as_usize() < edges.clocks();
        (from < to && is_known && !back.is_empty()).then_some(Pair { there, back })
    });
    pairs.collect()
}

impl Pair<'_> {
    /// The breaks of the difference of both; `None` if it breaks all the time.
    fn breaks(&self) -> Option<Vec<Break>> {
        let above = self.there.iter().map(|it| Bound {
            at: it.sent,
            value: it.received.saturating_sub(it.sent),
            side: BoundSide::Above,
        });
        let below = self.back.iter().map(|it| Bound {
            at: it.received,
            value: it.sent.saturating_sub(it.received),
            side: BoundSide::Below,
        });
        let stretches = fewest_lines(above.chain(below).collect(), OPTIONS.most_steps + 1)?;
        let lines = stretches.iter().find_map(|it| it.line);
        let Some(first) = lines.map(|it| it.slope) else {
            return Some(Vec::new());
        };
        let breaks = stretches.windows(2);
        Some(breaks.filter_map(|ends| self.at(ends, first)).collect())
    }

    /// The break between two stretches, if a line tells when it is; the second clock is taken to run at
    /// `first` against the first one where it is straight.
    fn at(&self, ends: &[Stretch], first: f64) -> Option<Break> {
        let Edge { from, to, .. } = self.there[0];
        let (last, next) = (ends[0].until, ends[1].from);
        let lines = [ends[0].line, ends[1].line];
        let (before, after) = (lines[0].or(lines[1])?, lines[1].or(lines[0])?);
        let middle = i64::midpoint(last, next);
        let later = (after.at(middle) - before.at(middle)) / (before.slope - after.slope);
        let is_bend = later.abs() <= next.saturating_sub(last) as f64 / 2.0;
        let meet = if is_bend {
            middle.saturating_add(later.round() as i64)
        } else {
            middle
        };
        let shown = |line: Line, stamp: i64| stamp.saturating_add(line.at(stamp).round() as i64);
        // Of two clocks that run at one rate the second one shows `1 + slope` ticks for each of the first.
        let runs = |slope: f64| (1.0 + first) / (1.0 + slope);
        let by = [
            after.slope - before.slope,
            runs(after.slope) - runs(before.slope),
        ];
        let rates_within = [&ends[0], &ends[1]].map(|it| it.slopes_within);
        let of_first = BreakOfClock {
            clock: from,
            other: to,
            after: last.min(next),
            until: last.max(next),
            bend: Bend {
                at: meet,
                by: by[0],
                rates_within,
            },
        };
        // A clock that is set back shows stamps twice.
        let stamps = [shown(before, last), shown(after, next)];
        let of_second = BreakOfClock {
            clock: to,
            other: from,
            after: stamps[0].min(stamps[1]),
            until: stamps[0].max(stamps[1]),
            bend: Bend {
                at: shown(before, meet),
                by: by[1],
                rates_within,
            },
        };
        by.iter().all(|it| it.is_finite()).then_some(Break {
            of: [of_first, of_second],
            is_bend,
        })
    }
}

/// The number of clocks beside which one breaks at the time at which these are the most, and the stamps
/// that all of these breaks have in common.
fn most_at_once(mut own: Vec<&BreakOfClock>) -> Option<(usize, i64, i64)> {
    own.sort_by_key(|it| (it.after, it.until, it.other));
    let mut open: BinaryHeap<Reverse<(i64, ClockId)>> = BinaryHeap::new();
    let mut others: FxHashMap<ClockId, usize> = FxHashMap::default();
    let mut most: Option<(usize, i64, i64)> = None;
    // The most are open where one of them begins.
    for it in own {
        while let Some(&Reverse((_, other))) = open.peek().filter(|open| open.0.0 < it.after) {
            open.pop();
            if let Entry::Occupied(mut count) = others.entry(other) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
        open.push(Reverse((it.until, it.other)));
        *others.entry(it.other).or_default() += 1;
        let first_end = open.peek().map_or(it.until, |open| open.0.0);
        if most.is_none_or(|(count, ..)| others.len() > count) {
            most = Some((others.len(), it.after, first_end));
        }
    }
    most
}

/// A clock that has to do with the most breaks at one time.
struct Culprit {
    clock: ClockId,
    /// All of them are between these stamps of it.
    after: i64,
    until: i64,
}

impl Culprit {
    /// The clock that has to do with the most breaks; of several the `likeliest`, and the first.
    fn of<T: Ord>(breaks: &[Break], likeliest: impl Fn(ClockId) -> T) -> Option<Self> {
        let both = breaks.iter().flat_map(|it| &it.of);
        let mut clocks: Vec<ClockId> = both.map(|it| it.clock).collect();
        clocks.sort_unstable();
        clocks.dedup();
        let most = clocks.into_iter().filter_map(|clock| {
            let own = breaks.iter().filter_map(|it| it.of(clock)).collect();
            let (others, after, until) = most_at_once(own)?;
            Some((
                others,
                Self {
                    clock,
                    after,
                    until,
                },
            ))
        });
        let rank = |(others, it): &(usize, Self)| (*others, likeliest(it.clock), Reverse(it.clock));
        most.max_by_key(rank).map(|it| it.1)
    }

    /// Takes away what the clock explains by what it does at that time: one break beside each other clock.
    fn explain(&self, breaks: &mut Vec<Break>) {
        let mut others = Vec::new();
        breaks.retain(|it| {
            let Some(own) = self.part_in(it).filter(|it| !others.contains(&it.other)) else {
                return true;
            };
            others.push(own.other);
            false
        });
    }

    fn part_in<'a>(&self, it: &'a Break) -> Option<&'a BreakOfClock> {
        let own = it.of(self.clock)?;
        (own.after <= self.after && self.after <= own.until).then_some(own)
    }

    /// The place that these breaks have in common. It takes one pair whose lines meet to suspect a bend:
    /// those of others need not, where they are known to a part of what the clock gained. Nor do these know
    /// when it was, as one break of theirs may be two bends. Of those that meet, the one that tells its time
    /// the best tells when, and the middle of all by how much.
    fn place(&self, breaks: &[Break]) -> Place {
        let bends = breaks.iter().filter(|it| it.is_bend);
        let own: Vec<_> = bends.filter_map(|it| self.part_in(it)).collect();
        let by = median(&mut own.iter().map(|it| it.bend.by).collect::<Vec<_>>());
        let sharpest = own
            .iter()
            .min_by_key(|it| it.until.saturating_sub(it.after));
        let (Some(by), Some(sharpest)) = (by, sharpest) else {
            return Place {
                after: self.after,
                until: self.until,
                bend: None,
            };
        };
        let (after, until) = own.iter().fold((i64::MIN, i64::MAX), |(after, until), it| {
            (after.max(it.after), until.min(it.until))
        });
        let at = sharpest.bend.at.clamp(after, until);
        let best = |side: usize| {
            let within = own.iter().map(|it| it.bend.rates_within[side]);
            within.fold(f64::INFINITY, f64::min)
        };
        let rates_within = [best(0), best(1)];
        Place {
            after,
            until,
            bend: Some(Bend {
                at,
                by,
                rates_within,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::rate_changes::{self, tests::LAST};
    use crate::steps::tests::{exchange, shown};
    use retime_causality::edges::InOrder;

    #[test]
    fn a_clock_that_was_set_breaks_once() {
        let edges = exchange(2_000);
        let all = InOrder::new(&edges, &()).unwrap();
        let found = places(&all.list.edges, ClockId(0), &()).unwrap().unwrap();
        let [none, other, set] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(none.is_empty() && other.is_empty(), "{found:?}");
        let [place] = set[..] else { panic!("{set:?}") };
        assert_eq!(place.bend, None);
        assert!(place.after < shown(2, 1_000_000) && shown(2, 999_999) < place.until);
        assert!(place.until - place.after < 55_000, "{place:?}");
        assert_eq!(cuts(&found)[2], [(place.after, place.until)]);
    }

    /// The last of three clocks shows 100 ms twice.
    #[test]
    fn a_clock_that_was_set_back_breaks_where_it_was() {
        let shown = |clock: usize, time: i64| match clock {
            2 if time > LAST / 2 => time - 100_000_000,
            _ => time,
        };
        let edges = rate_changes::tests::exchange(shown);
        let all = InOrder::new(&edges, &()).unwrap();
        let found = places(&all.list.edges, ClockId(0), &()).unwrap().unwrap();
        let [place] = found[2][..] else {
            panic!("{found:?}")
        };
        assert!(found[0].is_empty() && found[1].is_empty(), "{found:?}");
        // Messages are 200 us apart.
        let [from, to] = [
            place.after - (LAST / 2 - 100_000_000),
            place.until - LAST / 2,
        ];
        assert!(from.abs() < 400_000 && to.abs() < 400_000, "{place:?}");
    }

    /// The reference runs twice as fast for 20 ms, and one of two others hears of it each 60 ms alone, to
    /// which it seems set.
    #[test]
    fn the_end_of_a_slew_is_that_of_the_clock_that_began_it() {
        let (begin, end) = (LAST / 3, LAST / 3 + 20_000_000);
        let shown = |clock: usize, time: i64| match clock {
            0 => time + (time - begin).clamp(0, end - begin),
            _ => time,
        };
        let edges = rate_changes::tests::exchange(shown);
        let is_heard = |it: &&Edge| {
            let (clocks, sent) = ([it.from, it.to], it.sent);
            clocks.contains(&ClockId(1)) || sent % 60_000_000 < 200_000
        };
        let heard = edges.all().iter().filter(is_heard).copied().collect();
        let extents = (0..3).map(|it| edges.extent(ClockId(it))).collect();
        let all = InOrder::new(&Edges::new(heard, extents), &()).unwrap();
        let found = places(&all.list.edges, ClockId(0), &()).unwrap().unwrap();
        let [first, second] = found[0][..] else {
            panic!("{found:?}")
        };
        assert!(found[1].is_empty() && found[2].is_empty(), "{found:?}");
        for (place, at, by) in [(first, begin, -0.5), (second, shown(0, end), 0.5)] {
            let bend = place.bend.unwrap();
            assert!(place.after <= at && at <= place.until, "{at}: {place:?}");
            assert!(
                (bend.at - at).abs() < 400_000 && (bend.by - by).abs() < 0.05,
                "{bend:?}"
            );
        }
    }

    fn of(clock: u32, other: u32, after: i64, until: i64) -> BreakOfClock {
        BreakOfClock {
            clock: ClockId(clock),
            other: ClockId(other),
            after,
            until,
            bend: Bend {
                at: after,
                by: 0.0,
                rates_within: [1e-6; 2],
            },
        }
    }

    #[test]
    fn the_most_at_once_are_counted_by_clock() {
        // The first two are beside one clock; of the three others two are open at once.
        let own = [
            (1, 0, 50),
            (1, 10, 60),
            (2, 20, 30),
            (3, 40, 90),
            (2, 95, 99),
        ];
        let own: Vec<_> = own.iter().map(|it| of(0, it.0, it.1, it.2)).collect();
        assert_eq!(most_at_once(own.iter().collect()), Some((2, 20, 30)));
        assert_eq!(most_at_once(Vec::new()), None);
    }

    /// The reference is right of two clocks; the one of three that breaks beside both others is not.
    #[test]
    fn the_culprit_has_to_do_with_the_most() {
        let between = |a: u32, b: u32, after: i64| Break {
            of: [
                of(a, b, after, after + 10),
                of(b, a, after + 100, after + 110),
            ],
            is_bend: true,
        };
        let culprit = |breaks: &[Break], reference| {
            let it = Culprit::of(breaks, |it| it != ClockId(reference)).unwrap();
            (it.clock.0, it.after, it.until)
        };
        assert_eq!(culprit(&[between(0, 1, 500)], 0), (1, 600, 610));
        assert_eq!(culprit(&[between(0, 1, 500)], 1), (0, 500, 510));
        let mut two = vec![between(0, 1, 500), between(0, 2, 504)];
        assert_eq!(culprit(&two, 0), (0, 504, 510));
        let later = between(0, 1, 506);
        two.push(later);
        let it = Culprit::of(&two, |_| 0).unwrap();
        it.explain(&mut two);
        assert_eq!(two.len(), 1, "one beside each clock");
    }
}
