//! Which process joins the calls of a collective operation, and looks at it for all.
//!
//! What an operation proves is known where all of its calls are. If every process that holds
//! a member had the calls of all, each would know about as much as all together. So they take
//! turns: with `H` processes that hold members of a communicator, the `i`-th operation of
//! communicator `c` has the `((i + c) mod H)`-th of them as its *host*. The host knows the
//! calls of all. The others, its *guests*, know their own calls, those of neighbouring ranks
//! (round trips are between these), and what the host [rules](Ruling): what the operation
//! proves, and which is its root.
//!
//! ```text
//! calls in a process = own + neighbours' + (calls of all) / H
//! ```
//!
//! Whoever lists dependencies, or judges an operation as a whole, does so where it is hosted.
//! A logical clock needs more: an end has to wait for begins in all processes, and a begin is
//! limited by ends in all of them. What the begins and ends of other processes come to, the
//! host [tells](Guests) its guests, a number for each event.
//!
//! That is so where it is certain which calls meet: all members have recorded equally many,
//! each at one location, and all of them begin. Where it is not, as in recordings with
//! gaps, each process that holds a member gets all calls, and all come to the same.
//!
//! Source: Linford 2007, tables 4.2 and 4.3, where a collective operation is replayed by a
//! reduction to the latest begin forwards, and to the earliest end backwards.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use retime_model::packed::Packed;
use retime_model::{Class, Communicator, LocationIndex, LogColumns, Members, Timestamp, TraceInfo};

use super::ids::Slot;
use super::point_to_point::{by_endpoint, endpoint};
use crate::share::Share;

/// Who joins which calls.
#[derive(Debug, Default)]
pub(super) struct Hosting {
    /// Communicators of which processes take turns.
    turns: FxHashMap<u32, Turns>,
    /// Locations of all processes with calls of which no begin is recorded.
    lack_begins: FxHashSet<LocationIndex>,
}

/// The processes that take turns in hosting the operations of a communicator.
#[derive(Debug)]
pub(super) struct Turns {
    /// Those that hold a member, in the order of their turns: of many communicators with few
    /// operations each not all begin with the same.
    hosts: Vec<usize>,
    /// Which other processes hold the members beside an own one.
    beside: FxHashMap<LocationIndex, Vec<usize>>,
}

/// What a host says of an operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Ruling {
    pub(super) class: Class,
    /// The place of the root among the members.
    pub(super) root: Option<u32>,
}

/// What a process knows of the calls of a communicator before anything is lent.
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

    fn with(self, other: Self) -> Self {
        Self {
            members: self.members + other.members,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            is_doubtful: self.is_doubtful || other.is_doubtful,
        }
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

impl Hosting {
    /// Of one process that has everything.
    pub(super) fn alone(own: &[LogColumns]) -> Self {
        Self {
            turns: FxHashMap::default(),
            lack_begins: lack_begins(own).collect(),
        }
    }

    /// What all processes agree on, given the logs of own locations.
    pub(super) fn agreed(info: &TraceInfo, own: &[LogColumns], share: &Share) -> Self {
        let own_tallies = tallies(info, own, share);
        let lacking: Vec<LocationIndex> = lack_begins(own).collect();
        let (tallies, lacking) = share.merged((own_tallies, lacking), |mut a, b| {
            let both = a.0.iter_mut().zip(b.0);
            both.for_each(|(a, b)| *a = a.with(b));
            a.1.extend(b.1);
            a
        });
        let known = (0..).zip(&info.communicators).zip(tallies);
        let turns = known.filter_map(|((number, communicator), tally)| {
            let is_certain = !tally.is_doubtful
                && tally.least == tally.most
                && tally.members as usize == members(communicator).count();
            let turns = is_certain.then(|| Turns::new(number, communicator, share))?;
            (turns.hosts.len() > 1).then_some((number, turns))
        });
        Self {
            turns: turns.collect(),
            lack_begins: lacking.into_iter().collect(),
        }
    }

    /// Whether processes take turns at all.
    pub(super) fn is_any(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Who hosts the operations of a communicator, if processes take turns.
    pub(super) fn turns(&self, communicator: u32) -> Option<&Turns> {
        self.turns.get(&communicator)
    }

    /// Whether a location has calls of which no begin is recorded.
    pub(super) fn lacks_begin(&self, location: LocationIndex) -> bool {
        self.lack_begins.contains(&location)
    }
}

impl Turns {
    fn new(number: u32, communicator: &Communicator, share: &Share) -> Self {
        let mut beside: FxHashMap<LocationIndex, Vec<usize>> = FxHashMap::default();
        let mut hosts = Vec::new();
        let owner = |it: LocationIndex| share.owner(it.as_usize());
        let mut before: Option<LocationIndex> = None;
        for member in members(communicator) {
            hosts.push(owner(member));
            if let Some(before) = before.filter(|&it| owner(it) != owner(member)) {
                for (one, other) in [(before, member), (member, before)] {
                    if share.owns_location(one) {
                        beside.entry(one).or_default().push(owner(other));
                    }
                }
            }
            before = Some(member);
        }
        hosts.sort_unstable();
        hosts.dedup();
        let first = number as usize % hosts.len().max(1);
        hosts.rotate_left(first);
        Self { hosts, beside }
    }

    /// The host of an operation.
    pub(super) fn host(&self, turn: usize) -> usize {
        self.hosts[turn % self.hosts.len()]
    }

    /// Those that hold members, in the order of their turns.
    pub(super) fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// Which processes have to know an own member's call, this one perhaps among them.
    pub(super) fn concerned(
        &self,
        member: LocationIndex,
        turn: usize,
    ) -> impl Iterator<Item = usize> {
        let beside = self.beside.get(&member).into_iter().flatten().copied();
        beside.chain([self.host(turn)])
    }
}

/// The two groups of a communicator; the second is empty but for an inter-communicator.
pub(super) fn groups(communicator: &Communicator) -> [&[LocationIndex]; 2] {
    match &communicator.members {
        Members::Own => [&[], &[]],
        Members::Ranks(it) | Members::Threads(it) => [it, &[]],
        Members::Inter { a, b } => [a, b],
    }
}

/// The members of a communicator, those of its first group before those of its second.
pub(super) fn members(communicator: &Communicator) -> impl Iterator<Item = LocationIndex> {
    groups(communicator).into_iter().flatten().copied()
}

fn lack_begins(own: &[LogColumns]) -> impl Iterator<Item = LocationIndex> {
    let lacking = |log: &&LogColumns| log.calls.iter().any(|call| call.begin.is_none());
    own.iter().filter(lacking).map(|log| log.location)
}

/// By communicator what is known of the calls of own members.
fn tallies(info: &TraceInfo, own: &[LogColumns], share: &Share) -> Vec<Tally> {
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
                    is_doubtful: has_gap || !share.owns_location(member),
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
        let known = members(communicator).filter_map(tally);
        let mut tally = known.fold(Tally::NOTHING, Tally::with);
        // Who is no member calls all the same, or is one twice.
        tally.is_doubtful |= tally.members as usize != by_member.len();
        tallies[number as usize] = tally;
    }
    tallies
}

/// The events of operations that are hosted in another process than where they happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guests {
    /// Whether any process is another's guest.
    pub(super) are_any: bool,
    /// By process, its members' places in operations that are hosted here.
    pub(super) hosted: Vec<Vec<Slot>>,
    /// By process, own members' places in operations that it hosts, in the same order as it
    /// has them.
    pub(super) away: Vec<Vec<Slot>>,
}

impl Guests {
    /// Of so many processes, with nothing hosted yet.
    pub(super) fn none(processes: usize, are_any: bool) -> Self {
        Self {
            are_any,
            hosted: vec![Vec::new(); processes],
            away: vec![Vec::new(); processes],
        }
    }

    /// The same in another order of places, in all processes alike.
    pub(super) fn mirrored(&self, mirror: impl Fn(Slot) -> Slot) -> Self {
        let all = |slots: &Vec<Slot>| slots.iter().map(|&it| mirror(it)).collect();
        Self {
            are_any: self.are_any,
            hosted: self.hosted.iter().map(all).collect(),
            away: self.away.iter().map(all).collect(),
        }
    }

    /// Whether any process may be another's guest, which all know alike.
    pub(crate) fn are_any(&self) -> bool {
        self.are_any
    }

    /// By process, its members' places in operations that are hosted here.
    pub(crate) fn hosted(&self) -> &[Vec<Slot>] {
        &self.hosted
    }

    /// By process, own members' places in operations that it hosts.
    pub(crate) fn away(&self) -> &[Vec<Slot>] {
        &self.away
    }

    /// Which process hosts the operation of an own member, and where in its order the
    /// member is; nobody if it is hosted here.
    pub(crate) fn host_of(&self, slot: Slot) -> Option<(usize, usize)> {
        let mut hosts = self.away.iter().enumerate();
        hosts.find_map(|(host, away)| Some((host, away.binary_search(&slot).ok()?)))
    }

    /// Tells each guest something of its events, and hears the same of those that are away.
    pub(crate) fn told<T>(&self, share: &Share, of: impl Fn(Slot) -> T) -> Vec<(Slot, T)>
    where
        T: Packed + Serialize + DeserializeOwned,
    {
        let columns = self.hosted.iter();
        let columns = columns.map(|slots| slots.iter().map(|&slot| of(slot)).collect());
        let heard = share.exchanged_columns(columns.collect());
        let heard = self.away.iter().zip(heard);
        let heard = heard.flat_map(|(slots, heard)| slots.iter().copied().zip(heard));
        heard.collect()
    }
}
