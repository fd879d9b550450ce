//! How much longer than others a process has worked.
//!
//! Who is last is not always slow: the first stage of a pipeline is waited for until there is
//! anything to do, and the last one until there is anything to give back. All stand still for as long,
//! if all have as much to do. Only who works longer than others waits less than they do. In the time
//! in which all took part, from `f` to `t`, process `p` stood still for
//!
//! ```text
//! idle(p)   = | union over its waits x of [from(x), until(x)] and [f, t] |
//! longer(p) = max(0, median of idle(q) - idle(p))     over all other q, the lower of two
//! differ(p) = max of idle(q) - min of idle(q)         over all other q
//! ```
//!
//! A run in which `p` works less by `x` in all has no event that comes earlier by more than `x`, for
//! times are sums of work and delays along one chain, and maxima of such sums. So by what it
//! worked longer it has kept each of the others for as much at most:
//!
//! ```text
//! held up by being slow <= longer(p) * number of others
//! ```
//!
//! By chance everybody works longer than others now and then. That `longer(p)` is more than that
//! needs `longer(p) >= differ(p)`: then it is farther from the middle of the others than any
//! two of them are from each other.
//!
//! Four ranks that meet at 100 and 200, of which 1 works all the time, and the others 60, 62 and
//! 58 of each 100: the others stand still for 80, 76 and 84 of 200, rank 1 for 0.
//!
//! ```text
//! longer(1) = 80 - 0 = 80        differ(1) = 84 - 76 = 8      it is slow
//! longer(2) = 80 - 76 = 4        differ(2) = 84 - 0 = 84      it is not
//! ```
//!
//! Work is all that is no waiting, transfers too: who has more messages than others, as the middle of a
//! chain, waits less than they do. So the time in which a process was in no call that waits or
//! transfers is compared likewise, with the time in calls in place of `idle(p)`: `calls(p)` is the union of its
//! visits and of the calls in which it received or sent without waiting.
//!
//! A transfer goes from when all had come to the end of a call, as far as no
//! device computed meanwhile. `transfer(p)` is their sum, as much of it as the time in which all took part
//! is of that in which `p` did. What members of one operation transfer takes each of them as long, so who differs has met
//! others, or over other links. Stages of a pipeline have more or fewer neighbours, so what counts is
//! what goes beyond all others:
//!
//! ```text
//! transfers(p) = min(longer(p), max(0, transfer(p) - max of transfer(q)))    over all other q
//! ```
//!
//! Processes that took part less than half as often as
//! half of them did are not compared.
//!
//! Source: that the rank with the shortest time in collectives is the slow one is common
//! knowledge of those who run large jobs; the bound and the test are ours.

use super::chance::{BATCHES, Comparisons};
use super::visits::Passing;

/// A process is compared if it took part at least once in so many times that half of all did.
const SELDOM: usize = 2;
/// The work of a process compared with that of others. All times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComparedWork {
    /// The ticks by which it worked longer than half of the others, in as much time.
    pub longer: u64,
    /// The ticks by which the others differ.
    pub differ: u64,
    /// The part of `longer` by which its transfers took longer than those of any other.
    pub transfers: u64,
    /// Its time outside of calls compared with that of others, where it is known.
    pub outside: Option<OutsideCalls>,
}

/// How long a process was outside of calls that wait or transfer, compared with others. All times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideCalls {
    /// The ticks by which it was outside of calls longer than half of the others were.
    pub longer: u64,
    /// The ticks by which the others differ.
    pub differ: u64,
}

/// The waits of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Working {
    /// From when to when it waited, in the order of their ends.
    waits: Vec<(i64, i64)>,
    /// From when to when it took part,
    extent: Option<(i64, i64)>,
    /// and how often.
    visits: usize,
    /// The ticks that transfers took while its device did not compute.
    transfer: u64,
}

impl Working {
    /// It took part once more.
    pub(super) fn add(&mut self, begin: i64, end: i64) {
        self.visits += 1;
        let (first, last) = self.extent.unwrap_or((begin, end));
        self.extent = Some((first.min(begin), last.max(end)));
    }

    /// It took part so often without waiting.
    pub(super) fn passed(&mut self, passing: &Passing) {
        if passing.visits == 0 {
            return;
        }
        self.add(passing.first, passing.last);
        self.visits += passing.visits.saturating_sub(1);
        self.transferred(passing.transfer);
    }

    /// It was in transfers for so many ticks.
    pub(super) fn transferred(&mut self, ticks: u64) {
        self.transfer = self.transfer.saturating_add(ticks);
    }

    /// The part of its transfers that a span has of the time in which it took part.
    fn transfers(&self, first: i64, last: i64) -> u64 {
        let lasted = self.extent.map_or(0, |it| it.1.abs_diff(it.0));
        let span = last.max(first).abs_diff(first).min(lasted);
        let part = u128::from(self.transfer) * u128::from(span) / u128::from(lasted.max(1));
        u64::try_from(part).unwrap_or(u64::MAX)
    }

    /// It waited in these stretches; in the order of their ends, unless it is [sorted](Self::sort).
    pub(super) fn waits(&mut self, stretches: impl Iterator<Item = (i64, i64)>) {
        self.waits.extend(stretches);
    }

    /// Brings stretches into the order of their ends.
    pub(super) fn sort(&mut self) {
        self.waits.sort_by_key(|it| it.1);
    }

    /// How long it waited within a span.
    fn idle(&self, first: i64, last: i64) -> u64 {
        let (mut union, mut covered) = (0_u64, last);
        let before = self.waits.partition_point(|it| it.1 <= first);
        for &(from, until) in self.waits.iter().skip(before).rev() {
            let (from, until) = (from.max(first), until.min(covered));
            if until > from {
                union = union.saturating_add(until.abs_diff(from));
                covered = from;
            }
        }
        union
    }
}

/// How long a process was idle while all took part.
#[derive(Clone, Copy)]
enum Idleness {
    /// It took no part,
    Never,
    /// or too seldom to be compared,
    Unknown,
    /// or for so many ticks.
    For(u64),
}

impl Idleness {
    fn compared(self) -> Option<u64> {
        match self {
            Self::For(idle) => Some(idle),
            Self::Never | Self::Unknown => None,
        }
    }
}

/// How long a process stood still, and its transfers took.
#[derive(Clone, Copy)]
pub(super) struct Stood {
    pub(super) process: usize,
    pub(super) idle: u64,
    pub(super) transfers: u64,
}

/// How long each process was idle.
pub(super) struct IdleTimes {
    of: Vec<Idleness>,
    /// The ticks that transfers of each process took meanwhile.
    transfers: Vec<u64>,
    /// From when to when all took part that are compared; not after the former if they never did.
    together: (i64, i64),
}

impl IdleTimes {
    pub(super) fn of(all: &[Working]) -> Self {
        let took_part = all.iter().map(|it| it.visits).filter(|&it| it > 0);
        let mut visits: Vec<usize> = took_part.collect();
        visits.sort_unstable();
        let often = visits.get(visits.len() / 2).copied().unwrap_or(0);
        let is_compared =
            |it: &&Working| it.visits > 0 && it.visits.saturating_mul(SELDOM) >= often;
        let extents = || all.iter().filter(is_compared).filter_map(|it| it.extent);
        let first = extents().map(|it| it.0).max().unwrap_or(0);
        let last = extents().map(|it| it.1).min().unwrap_or(0);
        let idle = |it: &Working| {
            if is_compared(&it) {
                Idleness::For(it.idle(first, last))
            } else if it.visits > 0 {
                Idleness::Unknown
            } else {
                Idleness::Never
            }
        };
        Self {
            of: all.iter().map(idle).collect(),
            transfers: all.iter().map(|it| it.transfers(first, last)).collect(),
            together: (first, last),
        }
    }

    /// How long each of these processes, by which the times were found, worked in each of some equal
    /// parts of the time in which all took part: but for what is the same for all, how long it did
    /// not stand still.
    pub(super) fn part_by_part(&self, all: &[Working]) -> Comparisons {
        let mut comparisons = Comparisons::of(all.len());
        let (first, last) = self.together;
        let lasts = u128::from(last.max(first).abs_diff(first));
        let at = |part: usize| {
            let since = lasts * part as u128 / BATCHES as u128;
            first.saturating_add_unsigned(u64::try_from(since).unwrap_or(u64::MAX))
        };
        for part in 0..BATCHES {
            let (from, to) = (at(part), at(part + 1));
            let own = (0..).zip(all.iter().zip(&self.of));
            let is_compared = own.filter(|(_, (_, idle))| idle.compared().is_some());
            let worked =
                is_compared.map(|(process, (own, _))| (process, -(own.idle(from, to) as f64)));
            comparisons.meeting(&worked.collect::<Vec<_>>());
        }
        comparisons
    }

    /// The processes that are compared.
    pub(super) fn compared(&self) -> impl Iterator<Item = Stood> {
        let all = self.of.iter().zip(&self.transfers).enumerate();
        all.filter_map(|(process, (idle, &transfers))| {
            let idle = idle.compared()?;
            Some(Stood {
                process,
                idle,
                transfers,
            })
        })
    }

    /// From when to when all took part that are compared.
    pub(super) const fn together(&self) -> (i64, i64) {
        self.together
    }

    /// The work of each process that took part, compared with that of the others, given how long each
    /// was in calls meanwhile, where that is known.
    pub(super) fn processes(&self, in_calls: &[Option<u64>]) -> Vec<Option<ComparedWork>> {
        let of = || self.of.iter().zip(&self.transfers).zip(in_calls);
        let compared = || {
            of().filter_map(|((it, transfers), calls)| Some((it.compared()?, *transfers, *calls)))
        };
        let sorted = |mut it: Vec<u64>| {
            it.sort_unstable();
            it
        };
        let all = sorted(compared().map(|it| it.0).collect());
        let transfers = sorted(compared().map(|it| it.1).collect());
        let of_calls: Option<Vec<u64>> = compared().map(|it| it.2).collect();
        let of_calls = of_calls.map(sorted);
        let work = |((it, own_transfers), own_calls): ((&Idleness, &u64), &Option<u64>)| match it {
            Idleness::Never => None,
            Idleness::For(own) if all.len() > 1 => {
                let outside = of_calls.as_ref().zip(*own_calls);
                let work = ComparedWork {
                    outside: outside.map(|(all, own)| {
                        let ComparedWork { longer, differ, .. } = of_others(all, own);
                        OutsideCalls { longer, differ }
                    }),
                    ..of_others(&all, *own)
                };
                Some(work.with_transfers(more_than_others(&transfers, *own_transfers)))
            }
            Idleness::For(_) | Idleness::Unknown => Some(ComparedWork::default()),
        };
        of().map(work).collect()
    }
}

impl ComparedWork {
    /// True if it is longer by as much as others differ among each other.
    pub(super) fn stands_out(&self) -> bool {
        let is_outside = |it: OutsideCalls| it.longer >= it.differ;
        self.longer >= self.differ && self.outside.is_none_or(is_outside)
    }

    /// This work of a process whose transfers took longer by so many ticks.
    pub(super) fn with_transfers(self, longer: u64) -> Self {
        Self {
            transfers: longer.min(self.longer),
            ..self
        }
    }
}

/// The difference by which `own`, one of all in rising order, exceeds every other; 0 if it does not.
fn more_than_others(all: &[u64], own: u64) -> u64 {
    let mut largest = all.iter().rev();
    let most = largest.next().filter(|it| **it != own);
    let most = most.or_else(|| largest.next()).copied();
    own.saturating_sub(most.unwrap_or(own))
}

/// Compares one that waited so long, one of all, with the others.
fn of_others(all: &[u64], own: u64) -> ComparedWork {
    let place = all.partition_point(|it| *it < own);
    let other = |number: usize| {
        let number = number + usize::from(number >= place);
        all.get(number).copied().unwrap_or(own)
    };
    let last = all.len().saturating_sub(2);
    ComparedWork {
        longer: other(last / 2).saturating_sub(own),
        differ: other(last).saturating_sub(other(0)),
        outside: None,
        transfers: 0,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One that meets others at some times, having come at others.
    pub(in super::super) fn meeting(comes: &[i64], meets: &[i64]) -> Working {
        let mut own = Working::default();
        for (&comes, &meets) in comes.iter().zip(meets) {
            own.add(comes, meets);
            own.waits([(comes, meets)].into_iter().filter(|it| it.1 > it.0));
        }
        own
    }

    fn compared(all: &[Working]) -> Vec<Option<ComparedWork>> {
        IdleTimes::of(all).processes(&vec![None; all.len()])
    }

    pub(in super::super) fn longer(longer: u64, differ: u64) -> ComparedWork {
        ComparedWork {
            longer,
            differ,
            outside: None,
            transfers: 0,
        }
    }

    #[test]
    fn transfers_are_compared_likewise() {
        // The second works longer by 80, and its transfers took 60, those of the others 10, 7 and 8.
        let meets = [0, 100, 200];
        let all = [[0, 60, 160], [0, 100, 200], [0, 62, 162], [0, 58, 158]];
        let mut all = all.map(|it| meeting(&it, &meets));
        for (own, ticks) in all.iter_mut().zip([10, 60, 7, 8]) {
            own.transferred(ticks);
        }
        let transfers = |all: &[Working]| -> Vec<u64> {
            let found = compared(all).into_iter().flatten();
            found.map(|it| it.transfers).collect()
        };
        assert_eq!(transfers(&all), [0, 50, 0, 0]);
        // No more of its work than it worked longer.
        all[1].transferred(1_000);
        assert_eq!(transfers(&all), [0, 80, 0, 0]);
        // Who was recorded for twice as long has half of its transfers in the time of the others.
        all[1] = meeting(&[0, 100, 200, 300, 400], &[0, 100, 200, 300, 400]);
        all[1].transferred(120);
        assert_eq!(transfers(&all), [0, 50, 0, 0]);
        // A stage has as many neighbours as another one.
        all[2].transferred(53);
        assert_eq!(transfers(&all), [0, 0, 0, 0]);
    }

    #[test]
    fn the_example_by_hand() {
        let meets = [0, 100, 200];
        let all = [[0, 60, 160], [0, 100, 200], [0, 62, 162], [0, 58, 158]];
        let all = all.map(|it| meeting(&it, &meets));
        // Of two in the middle the lower one counts, and one's own is none of the others'.
        let expected = [longer(0, 84), longer(80, 8), longer(4, 84), longer(0, 80)].map(Some);
        assert_eq!(compared(&all), expected);
    }

    #[test]
    fn only_the_time_in_which_all_took_part_counts() {
        // The first was recorded from 0 on, the others from 100 on, when it waited no longer.
        let first = meeting(&[0, 20, 100, 150], &[0, 100, 100, 200]);
        let second = meeting(&[100, 150], &[100, 200]);
        let third = meeting(&[100, 200], &[100, 200]);
        let expected = [longer(0, 50), longer(0, 50), longer(50, 0)].map(Some);
        assert_eq!(compared(&[first, second.clone(), third]), expected);
        // Where there is no such time, nobody has worked longer.
        let later = meeting(&[300, 310], &[300, 400]);
        assert_eq!(compared(&[second, later]), [Some(longer(0, 0)); 2]);
    }

    #[test]
    fn who_took_part_seldom_is_not_compared() {
        let often = || meeting(&[0, 60, 160, 260], &[0, 100, 200, 300]);
        let all = [
            often(),
            often(),
            meeting(&[0, 90, 200, 290], &[0, 100, 200, 300]),
            Working::default(),
        ];
        assert_eq!(
            compared(&all),
            [
                Some(longer(0, 100)),
                Some(longer(0, 100)),
                Some(longer(100, 0)),
                None
            ]
        );
        let mut seldom = all.to_vec();
        let five = [0, 60, 160, 260, 360];
        seldom.truncate(2);
        for it in &mut seldom {
            *it = meeting(&five, &[0, 100, 200, 300, 400]);
        }
        seldom.push(meeting(&[380], &[400]));
        assert_eq!(compared(&seldom), [Some(longer(0, 0)); 3]);
    }

    proptest! {
        /// Against all moments and all others, one by one.
        #[test]
        fn it_is_the_plain_definition(
            waits in prop::collection::vec(
                prop::collection::vec((0..100_i64, 0..20_i64), 4..9), 2..7),
        ) {
            let all: Vec<Working> = waits.iter().map(|waits| {
                let mut waits = waits.clone();
                waits.sort_unstable_by_key(|it| it.0 + it.1);
                let mut own = Working::default();
                for (from, lasts) in waits {
                    own.add(from, from + lasts);
                    own.waits([(from, from + lasts)].into_iter().filter(|it| it.1 > it.0));
                }
                own
            }).collect();
            let first = waits.iter().map(|it| it.iter().map(|it| it.0).min().unwrap()).max().unwrap();
            let last = waits.iter().map(|it| it.iter().map(|it| it.0 + it.1).max().unwrap()).min();
            let idle: Vec<u64> = waits.iter().map(|waits| {
                let is_so = |at: &i64| waits.iter().any(|it| (it.0..it.0 + it.1).contains(at));
                (first..last.unwrap()).filter(is_so).count() as u64
            }).collect();
            for (own, found) in compared(&all).into_iter().enumerate() {
                let mut others = idle.clone();
                let idle = others.remove(own);
                others.sort_unstable();
                let middle = others[(others.len() - 1) / 2];
                let differ = others.last().unwrap() - others[0];
                prop_assert_eq!(found, Some(longer(middle.saturating_sub(idle), differ)));
            }
        }
    }
}
