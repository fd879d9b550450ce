//! The owners of collective operations: the processes that join them, and look at them for all.
//!
//! What an operation proves is known where all of its calls are. If every process that has
//! a member had the calls of all, each would know about as much as all together. So they take
//! turns: with `H` processes that have members of a communicator, the `i`-th operation of
//! communicator `c` is owned by the `((i + c) mod H)`-th of them. The owner knows the
//! calls of all. The others know their own calls, those of neighbouring ranks
//! (round trips are between these), and the owner's [outcome](retime::causality::Outcome): what
//! the operation proves, and which is its root.
//!
//! ```text
//! calls in a process = own + neighbours' + (calls of all) / H
//! ```
//!
//! Whoever lists dependencies, or judges an operation as a whole, does so in the process that
//! owns it. A logical clock needs more: an end has to wait for begins in all processes, and a
//! begin is limited by ends in all of them. What the begins and ends of other processes come
//! to, the owner tells, a number for each event.
//!
//! That is so where it is certain which calls meet: all members have recorded equally many,
//! each at one location, and all of them begin. Where it is not, as in recordings with
//! gaps, each process that has a member gets all calls, and all come to the same.
//!
//! Source: Linford 2007, tables 4.2 and 4.3, where a collective operation is replayed by a
//! reduction to the latest begin forwards, and to the earliest end backwards.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use retime::causality::{self, by_endpoint, endpoint, lacking_begins};
use retime::merge::{Listed, Merge};
use retime_model::{Communicator, LocationIndex, LogColumns, Members, Timestamp, TraceInfo};

use crate::distribution::Distribution;

/// Who joins which calls.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    /// Communicators of which processes take turns.
    turns: FxHashMap<u32, Turns>,
    /// Locations of all processes with calls of which no begin is recorded.
    lack_begins: FxHashSet<LocationIndex>,
}

/// The processes that take turns in owning the operations of a communicator.
#[derive(Debug)]
pub(crate) struct Turns {
    /// The processes that hold a member, in the order of their turns: of many communicators with few
    /// operations each not all begin with the same.
    owners: Vec<usize>,
    /// Which other processes hold the members beside an own one.
    beside: FxHashMap<LocationIndex, Vec<usize>>,
}

/// The calls that a process knows of a communicator before anything is lent.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Tally {
    /// Members with calls.
    members: u32,
    /// Calls of the member with the fewest, and the most.
    least: u32,
    most: u32,
    is_doubtful: bool,
}

impl Tally {
    const NOTHING: Self = Self {
        members: 0,
        least: u32::MAX,
        most: 0,
        is_doubtful: false,
    };

    fn with(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }
}

impl Merge for Tally {
    fn merge(&mut self, other: Self) {
        self.members += other.members;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.is_doubtful |= other.is_doubtful;
    }
}

/// The calls that a member made on a communicator, as far as they count.
struct Calls {
    count: u32,
    /// At which log.
    log: usize,
    last: Timestamp,
    is_doubtful: bool,
}

impl Owners {
    /// The owners that all processes agree on, given the logs of own locations.
    pub(crate) fn agreed(
        info: &TraceInfo,
        own: &[LogColumns],
        distribution: &Distribution,
    ) -> Self {
        let own_tallies = tallies(info, own, distribution);
        let lacking = Listed(lacking_begins(own).collect());
        let (tallies, Listed(lacking)) = distribution.all_reduce((own_tallies, lacking));
        let known = (0..).zip(&info.communicators).zip(tallies);
        let turns = known.filter_map(|((number, communicator), tally)| {
            let is_certain = !tally.is_doubtful
                && tally.least == tally.most
                && tally.members as usize == communicator.locations().count();
            let turns = is_certain.then(|| Turns::new(number, communicator, distribution))?;
            (turns.owners.len() > 1).then_some((number, turns))
        });
        Self {
            turns: turns.collect(),
            lack_begins: lacking.into_iter().collect(),
        }
    }

    /// True if processes take turns at all.
    pub(crate) fn is_any(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Who owns the operations of a communicator, if processes take turns.
    pub(crate) fn turns(&self, communicator: u32) -> Option<&Turns> {
        self.turns.get(&communicator)
    }

    /// Which operations this process joins, by communicator.
    pub(crate) fn own_turns(&self, rank: usize) -> FxHashMap<u32, causality::Turns> {
        let own = |turns: &Turns| causality::Turns {
            first: turns.owners.iter().position(|&it| it == rank),
            every: turns.owners.len(),
        };
        let turns = self.turns.iter();
        turns.map(|(&number, it)| (number, own(it))).collect()
    }

    /// Locations of all processes with calls of which no begin is recorded.
    pub(crate) fn lack_begins(&self) -> &FxHashSet<LocationIndex> {
        &self.lack_begins
    }
}

impl Turns {
    fn new(number: u32, communicator: &Communicator, distribution: &Distribution) -> Self {
        let mut beside: FxHashMap<LocationIndex, Vec<usize>> = FxHashMap::default();
        let mut owners = Vec::new();
        let owner = |it: LocationIndex| distribution.owner(it.as_usize());
        let mut before: Option<LocationIndex> = None;
        for member in communicator.locations() {
            owners.push(owner(member));
            if let Some(before) = before.filter(|&it| owner(it) != owner(member)) {
                for (one, other) in [(before, member), (member, before)] {
                    if distribution.owns_location(one) {
                        beside.entry(one).or_default().push(owner(other));
                    }
                }
            }
            before = Some(member);
        }
        owners.sort_unstable();
        owners.dedup();
        let first = number as usize % owners.len().max(1);
        owners.rotate_left(first);
        Self { owners, beside }
    }

    /// The owner of an operation.
    pub(crate) fn owner(&self, turn: usize) -> usize {
        self.owners[turn % self.owners.len()]
    }

    /// The processes that hold members, in the order of their turns.
    pub(crate) fn owners(&self) -> &[usize] {
        &self.owners
    }

    /// Which processes have to know an own member's call, this one perhaps among them.
    pub(crate) fn concerned(
        &self,
        member: LocationIndex,
        turn: usize,
    ) -> impl Iterator<Item = usize> {
        let beside = self.beside.get(&member).into_iter().flatten().copied();
        beside.chain([self.owner(turn)])
    }
}

/// A tally of the calls of own members for each communicator.
fn tallies(info: &TraceInfo, own: &[LogColumns], distribution: &Distribution) -> Vec<Tally> {
    let mut by_communicator: BTreeMap<u32, FxHashMap<LocationIndex, Calls>> = BTreeMap::new();
    for group in by_endpoint(info, own) {
        let member = endpoint(info, own[group[0]].location);
        let has_gap = group.iter().any(|&log| own[log].gap.is_some());
        for &position in &group {
            let log = &own[position];
            for call in &log.calls {
                let Some(first) = call.begin.or(call.end) else {
                    continue;
                };
                let time = log.times[first.index()];
                let calls = by_communicator.entry(call.what.communicator).or_default();
                let calls = calls.entry(member).or_insert(Calls {
                    count: 0,
                    log: position,
                    last: time,
                    is_doubtful: has_gap || !distribution.owns_location(member),
                });
                calls.count += 1;
                // Calls of several threads go by time, and whoever has some of them only
                // must see them in the order of all.
                let in_order = group.len() == 1 || time >= calls.last;
                calls.is_doubtful |= call.begin.is_none() || calls.log != position || !in_order;
                calls.last = time;
            }
        }
    }
    let mut tallies = vec![Tally::NOTHING; info.communicators.len()];
    for (number, by_member) in by_communicator {
        let Some(communicator) = info.communicators.get(number as usize) else {
            continue;
        };
        let of_threads = matches!(communicator.members, Members::Threads(_));
        let tally = |it: LocationIndex| {
            by_member.get(&it).map(|calls| Tally {
                members: 1,
                least: calls.count,
                most: calls.count,
                is_doubtful: calls.is_doubtful || of_threads,
            })
        };
        let known = communicator.locations().filter_map(tally);
        let mut tally = known.fold(Tally::NOTHING, Tally::with);
        // Who is no member calls all the same, or is one twice.
        tally.is_doubtful |= tally.members as usize != by_member.len();
        tallies[number as usize] = tally;
    }
    tallies
}
