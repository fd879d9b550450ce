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
//! Work is all that is no waiting, transfers too. Processes that took part less than half as often as
//! half of them did are not compared.
//!
//! Source: that the rank with the shortest time in collectives is the slow one is common
//! knowledge of those who run large jobs; the bound and the test are ours.

/// A process is compared if it took part at least once in so many times that half of all did.
const SELDOM: usize = 2;

/// The work of a process compared with that of others. All times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComparedWork {
    /// The ticks by which it worked longer than half of the others, in as much time.
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
}

impl Working {
    /// It took part once more, and waited if `wait` is not empty; in the order in which waits end.
    pub(super) fn add(&mut self, begin: i64, end: i64, wait: Option<i64>) {
        self.visits += 1;
        let (first, last) = self.extent.unwrap_or((begin, end));
        self.extent = Some((first.min(begin), last.max(end)));
        self.waits.extend(wait.map(|until| (begin, until)));
    }

    /// How long it waited within a span.
    fn idle(&self, first: i64, last: i64) -> u64 {
        let (mut union, mut covered) = (0_u64, last);
        for &(from, until) in self.waits.iter().rev() {
            let (from, until) = (from.max(first), until.min(covered));
            if until > from {
                union = union.saturating_add(until.abs_diff(from));
                covered = from;
            }
        }
        union
    }
}

/// The work of each process that took part, compared with that of the others.
pub(super) fn compare(all: &[Working]) -> Vec<Option<ComparedWork>> {
    let mut visits: Vec<usize> = all
        .iter()
        .map(|it| it.visits)
        .filter(|&it| it > 0)
        .collect();
    visits.sort_unstable();
    let often = visits.get(visits.len() / 2).copied().unwrap_or(0);
    let is_compared = |it: &&Working| it.visits > 0 && it.visits.saturating_mul(SELDOM) >= often;
    let extents = || all.iter().filter(is_compared).filter_map(|it| it.extent);
    let first = extents().map(|it| it.0).max().unwrap_or(0);
    let last = extents().map(|it| it.1).min().unwrap_or(0);
    let mut idle: Vec<u64> = all
        .iter()
        .filter(is_compared)
        .map(|it| it.idle(first, last))
        .collect();
    idle.sort_unstable();
    let work = |it: &Working| {
        if it.visits == 0 {
            return None;
        }
        let is_compared = is_compared(&it) && idle.len() > 1;
        let own = is_compared.then(|| it.idle(first, last));
        Some(own.map_or_else(ComparedWork::default, |own| of_others(&idle, own)))
    };
    all.iter().map(work).collect()
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One that meets others at some times, having come at others.
    fn meeting(comes: &[i64], meets: &[i64]) -> Working {
        let mut own = Working::default();
        for (&comes, &meets) in comes.iter().zip(meets) {
            own.add(comes, meets, Some(meets).filter(|it| *it > comes));
        }
        own
    }

    fn longer(longer: u64, differ: u64) -> ComparedWork {
        ComparedWork { longer, differ }
    }

    #[test]
    fn the_example_by_hand() {
        let meets = [0, 100, 200];
        let all = [[0, 60, 160], [0, 100, 200], [0, 62, 162], [0, 58, 158]];
        let all = all.map(|it| meeting(&it, &meets));
        // Of two in the middle the lower one counts, and one's own is none of the others'.
        let expected = [longer(0, 84), longer(80, 8), longer(4, 84), longer(0, 80)].map(Some);
        assert_eq!(compare(&all), expected);
    }

    #[test]
    fn only_the_time_in_which_all_took_part_counts() {
        // The first was recorded from 0 on, the others from 100 on, when it waited no longer.
        let first = meeting(&[0, 20, 100, 150], &[0, 100, 100, 200]);
        let second = meeting(&[100, 150], &[100, 200]);
        let third = meeting(&[100, 200], &[100, 200]);
        let expected = [longer(0, 50), longer(0, 50), longer(50, 0)].map(Some);
        assert_eq!(compare(&[first, second.clone(), third]), expected);
        // Where there is no such time, nobody has worked longer.
        let later = meeting(&[300, 310], &[300, 400]);
        assert_eq!(compare(&[second, later]), [Some(longer(0, 0)); 2]);
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
            compare(&all),
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
        assert_eq!(compare(&seldom), [Some(longer(0, 0)); 3]);
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
                    own.add(from, from + lasts, Some(from + lasts).filter(|_| lasts > 0));
                }
                own
            }).collect();
            let first = waits.iter().map(|it| it.iter().map(|it| it.0).min().unwrap()).max().unwrap();
            let last = waits.iter().map(|it| it.iter().map(|it| it.0 + it.1).max().unwrap()).min();
            let idle: Vec<u64> = waits.iter().map(|waits| {
                let is_so = |at: &i64| waits.iter().any(|it| (it.0..it.0 + it.1).contains(at));
                (first..last.unwrap()).filter(is_so).count() as u64
            }).collect();
            for (own, found) in compare(&all).into_iter().enumerate() {
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
