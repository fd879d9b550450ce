//! Several processes, those of a host or some that are slow, compared with all others by how much longer
//! they have worked.
//!
//! Where a whole host is slow, its ranks work longer than those of other hosts, and no one of them
//! longer than the others of its host. So the ranks `H` of each host are compared with all others, if
//! there are at least two of either, by nearly all of them: of eight one may be idle as others are.
//!
//! ```text
//! idle(H)   = idle(p) of that p in H which is idle longest, but for one in eight
//! longer(H) = max(0, median of idle(q) - idle(H))     over all q outside, the lower of two
//! differ(H) = the larger of  max of idle(q) - min of idle(q)   over all q outside
//!                       and  idle(H) - min of idle(p)          over all p in H
//! ```
//!
//! Of few ranks all of a host are those that work longest by chance now and then. That `n` ranks of one
//! side and `m` of the other differ among each other by no more than `1/k` of what is between them takes
//! `n - 1` and `m - 1` of them to lie so near to another one, each by chance in proportion to `1/k`. So
//!
//! ```text
//! it is slow if (longer(H) / differ(H))^(n + m - 2) >= 100,     and longer(H) > differ(H)
//! ```
//!
//! which asks for a ratio of 10 of two ranks beside two, and of 1.4 of eight beside eight. Ranks that
//! send each other messages have different parts, as stages of a pipeline have, whose work and
//! transfers differ where nothing is slow. How much, other hosts show; of two hosts nothing does, and
//! none is slow where there are such messages. No
//! host is slow of which one rank is, since that differs from those that wait for it. What its ranks
//! worked longer, each of those outside can have waited for by no more than `longer(H)` if they are slow
//! alike, since at any moment of a chain of delays only one of them works.
//!
//! Two hosts of two ranks each meet at 100 and 200, and those of the second work all the time but
//! for 4 and 2: the first stand still for 80 and 76 of 200.
//!
//! ```text
//! idle(H) = 4     longer(H) = 76 - 4 = 72     differ(H) = max(80 - 76, 4 - 2) = 4     (72 / 4)^2 = 324: it is slow
//! ```
//!
//! `transfer(H)` is that of the process of a host that has the least, but for one in eight.
//!
//! Several ranks can be slow that share no host. Each of them differs from those that are not by no
//! less than one slow rank would, so each is compared with these alone. So of processes `S` that are
//! [behind by more than chance](super::chance), at most half of all, those are slow that are idle
//! shortest, as many as stand out:
//!
//! ```text
//! idle(S)   = max of idle(p)                                 over all p in S
//! longer(S) = max(0, median of idle(q) - idle(S))            over all q outside, the lower of two
//! differ(S) = max of idle(q) - min of idle(q)                over all q outside
//! they are slow if longer(S) >= differ(S)
//! ```
//!
//! Their time in calls has to stand out alike, where that is known. Four ranks of six stand still for 80, 76,
//! 84 and 78, and two for 0 and 20, each of which is behind by more than chance:
//!
//! ```text
//! longer(S) = 78 - 20 = 58     differ(S) = 84 - 76 = 8     both are slow
//! ```

use std::collections::BTreeMap;

use super::working::{ComparedWork, IdleTimes, OutsideCalls, Stood};

/// Hosts are compared with so many processes at least, there and elsewhere.
const FEWEST: usize = 2;
/// One in so many processes of a slow host may be as fast as others.
const FEW_OF: usize = 8;
/// A host is slow if its ranks would seem so by chance in less than one in so many cases.
const BY_CHANCE: f64 = 100.0;

/// A host whose processes are compared with those of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWork {
    /// Its number among the nodes of the trace.
    pub node: usize,
    /// The processes of the host that are compared.
    pub processes: Vec<usize>,
    /// The ticks by which nearly all of them worked longer than half of the others, and the ticks by which
    /// those of either side differ.
    pub work: ComparedWork,
    /// The number of those others,
    pub others: usize,
    /// and of their hosts.
    pub other_hosts: usize,
}

impl HostWork {
    /// True if its processes worked longer than others by more than chance makes either differ, in a
    /// trace with so many messages.
    pub fn is_slow(&self, messages: u64) -> bool {
        if messages > 0 && self.other_hosts < 2 {
            return false;
        }
        let ComparedWork { longer, differ, .. } = self.work;
        let degrees = (self.processes.len() + self.others).saturating_sub(2);
        let ratio = longer as f64 / differ.max(1) as f64;
        longer > differ && ratio.powi(i32::try_from(degrees).unwrap_or(i32::MAX)) >= BY_CHANCE
    }
}

/// Several processes that are slow, compared with all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowTogether {
    /// Their numbers, in rising order.
    pub processes: Vec<usize>,
    /// The ticks by which each of them worked longer than half of the others, at least, and the ticks by
    /// which those differ.
    pub work: ComparedWork,
}

impl IdleTimes {
    /// The work of each host that can be compared with others, by the node of each process.
    pub(super) fn hosts(&self, nodes: &[Option<usize>]) -> Vec<HostWork> {
        let node = |it: &Stood| nodes.get(it.process).copied().flatten();
        let placed: Vec<Stood> = self.compared().filter(|it| node(it).is_some()).collect();
        let placed = by_idleness(placed);
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for it in &placed {
            if let Some(node) = node(it) {
                members.entry(node).or_default().push(it.process);
            }
        }
        let hosts = members.len();
        members.retain(|_, own| own.len().min(placed.len() - own.len()) >= FEWEST);
        let host = |(number, mut processes): (usize, Vec<usize>)| {
            processes.sort_unstable();
            let (own, others): (Vec<Stood>, Vec<Stood>) =
                placed.iter().partition(|it| node(it) == Some(number));
            HostWork {
                node: number,
                processes,
                work: of_sides(&own, &others),
                others: others.len(),
                other_hosts: hosts - 1,
            }
        };
        members.into_iter().map(host).collect()
    }

    /// Those of the processes that are behind by more than chance that stand out together, if several do,
    /// given how long each process was in calls meanwhile, where that is known.
    pub(super) fn several(
        &self,
        is_behind: &[bool],
        in_calls: &[Option<u64>],
    ) -> Option<SlowTogether> {
        let all = by_idleness(self.compared().collect());
        let is_behind = |it: &&Stood| is_behind.get(it.process) == Some(&true);
        let behind: Vec<Stood> = all.iter().filter(is_behind).copied().collect();
        let most = behind.len().min(all.len() / 2);
        (FEWEST..=most).rev().find_map(|number| {
            let own = behind.get(..number)?;
            // Both are in the order of idleness.
            let is_own = |it: &&Stood| own.binary_search_by_key(&rank(it), rank).is_ok();
            let others: Vec<Stood> = all.iter().filter(|it| !is_own(it)).copied().collect();
            let work = ComparedWork {
                outside: outside_calls(own, &others, in_calls),
                ..beside(longest(own), &idle(&others))
                    .with_transfers(more_than_others(own, &others, 0))
            };
            let mut processes: Vec<usize> = own.iter().map(|it| it.process).collect();
            processes.sort_unstable();
            (work.longer > 0 && work.stands_out()).then_some(SlowTogether { processes, work })
        })
    }
}

fn by_idleness(mut all: Vec<Stood>) -> Vec<Stood> {
    all.sort_unstable_by_key(rank);
    all
}

/// The key of the order of idleness.
fn rank(it: &Stood) -> (u64, usize) {
    (it.idle, it.process)
}

fn idle(all: &[Stood]) -> Vec<u64> {
    all.iter().map(|it| it.idle).collect()
}

/// How long the one is idle that is so longest, of some in the order of that.
fn longest(all: &[Stood]) -> u64 {
    all.last().map_or(0, |it| it.idle)
}

/// Compares one that is idle for so long with others, in rising order.
fn beside(longest: u64, others: &[u64]) -> ComparedWork {
    let last = others.len().saturating_sub(1);
    let at = |place: usize| others.get(place).copied().unwrap_or_default();
    ComparedWork {
        longer: at(last / 2).saturating_sub(longest),
        differ: at(last).saturating_sub(at(0)),
        ..ComparedWork::default()
    }
}

/// Compares processes of a host with others, each side in the order of how long they stood still.
fn of_sides(own: &[Stood], others: &[Stood]) -> ComparedWork {
    let few = own.len() / FEW_OF;
    let nearly_all = own.get(..own.len() - few).unwrap_or_default();
    let work = beside(longest(nearly_all), &idle(others));
    let own_differ = longest(nearly_all) - own.first().map_or(0, |it| it.idle);
    ComparedWork {
        differ: work.differ.max(own_differ),
        ..work
    }
    .with_transfers(more_than_others(own, others, few))
}

/// The ticks by which the transfers of all of these processes but a few took longer than those of any other.
fn more_than_others(own: &[Stood], others: &[Stood], few: usize) -> u64 {
    let mut transfers: Vec<u64> = own.iter().map(|it| it.transfers).collect();
    transfers.sort_unstable();
    let least = transfers.get(few).copied().unwrap_or_default();
    let most = others.iter().map(|it| it.transfers).max();
    least.saturating_sub(most.unwrap_or_default())
}

/// Compares the time of some outside of calls with that of others, if it is known of all.
fn outside_calls(
    own: &[Stood],
    others: &[Stood],
    in_calls: &[Option<u64>],
) -> Option<OutsideCalls> {
    let calls = |all: &[Stood]| -> Option<Vec<u64>> {
        let of = |it: &Stood| in_calls.get(it.process).copied().flatten();
        let mut calls = all.iter().map(of).collect::<Option<Vec<u64>>>()?;
        calls.sort_unstable();
        Some(calls)
    };
    let longest = calls(own)?.last().copied()?;
    let ComparedWork { longer, differ, .. } = beside(longest, &calls(others)?);
    Some(OutsideCalls { longer, differ })
}

#[cfg(test)]
mod tests {
    use super::super::working::Working;
    use super::super::working::tests::{longer, meeting};
    use super::*;

    #[test]
    fn transfers_of_a_host_are_those_of_nearly_all_of_its_processes() {
        let meets = [0, 100, 200];
        let comes = [[0, 60, 160], [0, 62, 162], [0, 98, 198], [0, 99, 199]];
        let mut all = comes.map(|it| meeting(&it, &meets));
        for (own, ticks) in all.iter_mut().zip([10, 11, 50, 40]) {
            own.transferred(ticks);
        }
        let nodes = [3, 3, 7, 7].map(Some);
        let found = IdleTimes::of(&all).hosts(&nodes);
        let transfers: Vec<u64> = found.iter().map(|it| it.work.transfers).collect();
        assert_eq!(transfers, [0, 40 - 11]);
    }

    #[test]
    fn a_slow_host_by_hand() {
        let meets = [0, 100, 200];
        let with = |messages: u64, hosts: &[(usize, [i64; 3])]| {
            let all: Vec<Working> = hosts.iter().map(|it| meeting(&it.1, &meets)).collect();
            let nodes: Vec<Option<usize>> = hosts.iter().map(|it| Some(it.0)).collect();
            let found = IdleTimes::of(&all).hosts(&nodes).into_iter();
            found
                .map(|it| (it.node, it.is_slow(messages), it.processes, it.work))
                .collect::<Vec<_>>()
        };
        let of = |hosts: &[(usize, [i64; 3])]| with(0, hosts);
        let fast = [(3, [0, 60, 160]), (3, [0, 62, 162])];
        let slow = [(7, [0, 98, 198]), (7, [0, 99, 199])];
        let both = [fast, slow].concat();
        let expected = [
            (3, false, vec![0, 1], longer(0, 4)),
            (7, true, vec![2, 3], longer(72, 4)),
        ];
        assert_eq!(of(&both), expected);
        // Both may be stages of a pipeline, unless a third tells how such differ.
        assert!(!with(1, &both)[1].1);
        let third = [both.clone(), vec![(9, [0, 61, 161])]].concat();
        assert!(with(1, &third)[1].1);
        // One rank of a host is slow, and the other waits for it.
        let one = [fast, [(7, [0, 99, 199]), (7, [0, 60, 160])]].concat();
        assert_eq!(of(&one)[1].3, longer(0, 78));
        // Of eight one may be fast.
        let many = [
            vec![(7, [0, 99, 199]); 7],
            vec![(7, [0, 60, 160])],
            fast.to_vec(),
        ]
        .concat();
        assert_eq!(of(&many)[1].3, longer(74, 4));
        assert_eq!(of(&many[1..])[1].3, longer(0, 78));
        // Two beside two may seem slow by chance.
        let near = [fast, [(7, [0, 79, 179]), (7, [0, 78, 178])]].concat();
        assert_eq!(of(&near)[1], (7, false, vec![2, 3], longer(32, 4)));
        let more = [vec![fast[0]; 4], near].concat();
        assert_eq!(of(&more)[1], (7, true, vec![6, 7], longer(36, 4)));
        // A process alone on its host is none.
        assert!(of(&[both[0], both[2], both[3]]).is_empty());
    }

    #[test]
    fn several_slow_ranks_by_hand() {
        let meets = [0, 100, 200];
        let of = |begins: &[[i64; 3]], behind: &[usize], in_calls: Option<&[u64]>| {
            let all: Vec<Working> = begins.iter().map(|it| meeting(it, &meets)).collect();
            let is_behind: Vec<bool> = (0..all.len()).map(|it| behind.contains(&it)).collect();
            let in_calls: Vec<Option<u64>> = (0..all.len())
                .map(|it| in_calls.and_then(|calls| calls.get(it).copied()))
                .collect();
            let found = IdleTimes::of(&all).several(&is_behind, &in_calls);
            found.map(|it| (it.processes, it.work))
        };
        let (fast, slow) = (
            [[0, 60, 160], [0, 62, 162], [0, 58, 158], [0, 61, 161]],
            [[0, 100, 200], [0, 90, 190]],
        );
        let six = [fast.to_vec(), slow.to_vec()].concat();
        let both = Some((vec![4, 5], longer(58, 8)));
        assert_eq!(of(&six, &[4, 5], None), both);
        // One that is behind by little is none of them.
        assert_eq!(of(&six, &[1, 4, 5], None), both);
        // Of two both have to be behind by more than chance,
        assert_eq!(of(&six, &[5], None), None);
        // and to be at most half of all.
        assert_eq!(
            of(&six[2..], &[2, 3], None),
            Some((vec![2, 3], longer(58, 6)))
        );
        assert_eq!(of(&six[3..], &[1, 2], None), None);
        // Others differ by more.
        let scattered = [[0, 60, 160], [0, 95, 195], [0, 58, 158], [0, 61, 161]];
        let scattered = [scattered.to_vec(), slow.to_vec()].concat();
        assert_eq!(of(&scattered, &[4, 5], None), None);
        // They stand still less, and are in calls as long as others.
        let calls = |own: u64| of(&six, &[4, 5], Some(&[80, 76, 84, 78, 2, own]));
        let outside = |it: (Vec<usize>, ComparedWork)| it.1.outside.map(|it| it.longer);
        assert_eq!(calls(20).and_then(outside), Some(58));
        assert_eq!(calls(75), None);
    }
}
