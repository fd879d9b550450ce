//! Ghosts: the parts of each other's logs that processes have to know to join what belongs together.
//!
//! Each process of a [distributed](crate::Distribution) trace has read the logs of its own
//! locations. Of each it sends the others what concerns theirs, which has *ghosts* there, as in
//! the halo of a grid:
//!
//! - ends of messages, to the process of the other end, both ways: so both join a channel
//!   by all of it, and come to the same;
//! - with receives the calls in which they were posted, and with synchronous sends their
//!   completions;
//! - calls of a collective operation, to its [owner](crate::owners) and to the processes of
//!   the neighbours; where it is not certain which calls meet, to every process that holds a
//!   member of the communicator;
//! - of every location what is one number: how many events it has, and from when to when.
//!
//! Ghosts have other node numbers in every process; but their order is the same, by
//! location and event, and so processes can speak of them without names.
//!
//! What cannot be cut like that makes a trace need to be in one process: names of messages
//! and operations that several processes have used, threads that take turns on a channel
//! such that parts of it can be in another order, and calls that post several receives.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use retime_model::{
    ChannelIndex, ChannelPlace, Communicator, HeldLater, LocationIndex, LogColumns, LogNode,
    Message, NO_CALL, TraceInfo,
};

use crate::distribution::Distribution;
use crate::owners::Owners;
use retime::causality::{NeedsWhole, by_endpoint, endpoint};

/// All logs, as far as this process knows them, by location.
pub(crate) struct Halo {
    pub(crate) logs: Vec<LogColumns>,
    /// The number of events with a role of each location, where all of them are.
    pub(crate) counts: Vec<u32>,
    /// Own events that have ghosts in each process, by location and event.
    pub(crate) sent: Vec<Vec<(LocationIndex, LogNode)>>,
    /// Who joins which calls.
    pub(crate) owners: Owners,
}

/// Sends others what they have to know of own logs, and gets what there is for this process.
pub(crate) fn exchanged(
    info: &TraceInfo,
    own: Vec<LogColumns>,
    distribution: &Distribution,
) -> Halo {
    if !distribution.all(can_be_cut(info, &own))
        || !distribution.all(names_are_own(&own, distribution))
    {
        distribution.needs_whole(NeedsWhole::Named);
    }
    let (_, size) = distribution.place();
    let mut known: FxHashMap<LocationIndex, LogColumns> = FxHashMap::default();
    let mut counts = vec![0; info.locations.len()];
    for (head, count) in distribution.all_gather(heads(&own)).into_iter().flatten() {
        if let Some(known) = counts.get_mut(head.location.as_usize()) {
            *known = count;
        }
        known.insert(head.location, head);
    }
    let owners = Owners::agreed(info, &own, distribution);
    let concerned = ConcernedProcesses::new(info, &owners, distribution);
    let (mut sent, mut parts) = (vec![Vec::new(); size], vec![Vec::new(); size]);
    for log in &own {
        let mut numbers = vec![NOT_KEPT; log.times.len()];
        for (peer, wanted) in concerned.by(info, log) {
            let (part, nodes) = excerpt(log, &wanted, &mut numbers);
            sent[peer].extend(nodes.into_iter().map(|node| (log.location, node)));
            parts[peer].push(part);
        }
    }
    for part in distribution.all_to_all(parts).into_iter().flatten() {
        known.insert(part.location, part);
    }
    known.extend(own.into_iter().map(|log| (log.location, log)));
    // Where processes do not work together any more, nothing is known of others.
    for location in (0..info.locations.len() as u32).map(LocationIndex) {
        let nothing = || LogColumns {
            location,
            ..LogColumns::default()
        };
        known.entry(location).or_insert_with(nothing);
    }
    let mut logs: Vec<LogColumns> = known.into_values().collect();
    logs.sort_by_key(|log| log.location);
    Halo {
        logs,
        counts,
        sent,
        owners,
    }
}

/// Logs without events, and how many events they have with a role.
fn heads(own: &[LogColumns]) -> Vec<(LogColumns, u32)> {
    let head = |log: &LogColumns| {
        let (head, _) = excerpt(log, &RequestedRecords::default(), &mut []);
        (head, log.times.len() as u32)
    };
    own.iter().map(head).collect()
}

/// True if channels can be joined by what one other process knows of them.
fn can_be_cut(info: &TraceInfo, own: &[LogColumns]) -> bool {
    let in_order = |log: &LogColumns| {
        let sends = log.sends.is_sorted_by_key(|it| it.node);
        sends && log.posted.is_sorted()
    };
    let groups = by_endpoint(info, own);
    let mut threads = groups.iter().filter(|group| group.len() > 1).flatten();
    let one_each = |log: &LogColumns| {
        let mut calls = FxHashSet::default();
        let posted = log.posted_in.iter().filter(|&&it| it != NO_CALL);
        { posted }.all(|&call| calls.insert(call))
    };
    threads.all(|&log| in_order(&own[log])) && own.iter().all(one_each)
}

/// True if no other process uses the names that this one uses.
fn names_are_own(own: &[LogColumns], distribution: &Distribution) -> bool {
    let (_, size) = distribution.place();
    let mut used: Vec<Vec<(bool, u64, u64)>> = vec![Vec::new(); size];
    let mut known = FxHashSet::default();
    let messages = |log: &LogColumns| {
        let ids = log.named_messages.iter().map(|it| it.id);
        ids.map(|id| (true, id.space, id.number))
            .collect::<Vec<_>>()
    };
    let operations = |log: &LogColumns| {
        let ids = log.named_operations.iter().map(|it| it.id);
        ids.map(|id| (false, id.space, id.number))
            .collect::<Vec<_>>()
    };
    let all = own.iter().flat_map(|log| [messages(log), operations(log)]);
    for name in all.flatten() {
        if known.insert(name) {
            // Each name has a process that hears of all who use it.
            used[(name.1 ^ name.2) as usize % size].push(name);
        }
    }
    let mut heard = FxHashSet::default();
    let mut all = distribution.all_to_all(used).into_iter().flatten();
    all.all(|name| heard.insert(name))
}

/// The processes that need a copy of an event: those that hold its partner or other participants.
struct ConcernedProcesses<'a> {
    distribution: &'a Distribution,
    owners: &'a Owners,
    /// The processes that hold members of each communicator.
    holders: Vec<Vec<usize>>,
}

/// The part of a log that another process wants: places in its columns, rising.
#[derive(Default)]
struct RequestedRecords {
    sends: Vec<usize>,
    receives: Vec<usize>,
    accepted: Vec<usize>,
    calls: Vec<usize>,
}

impl<'a> ConcernedProcesses<'a> {
    fn new(info: &TraceInfo, owners: &'a Owners, distribution: &'a Distribution) -> Self {
        let holders = |communicator: &Communicator| {
            let owner = |it: LocationIndex| distribution.owner(it.as_usize());
            let mut holders: Vec<usize> = communicator.locations().map(owner).collect();
            holders.sort_unstable();
            holders.dedup();
            holders
        };
        Self {
            distribution,
            owners,
            holders: info.communicators.iter().map(holders).collect(),
        }
    }

    /// Other processes, each with what it wants of a log.
    fn by(&self, info: &TraceInfo, log: &LogColumns) -> BTreeMap<usize, RequestedRecords> {
        let mut by_process: BTreeMap<usize, RequestedRecords> = BTreeMap::new();
        let other = |it: &Message| self.distribution.owner(endpoint(info, it.peer).as_usize());
        let channels: Vec<usize> = log.channels.iter().map(other).collect();
        let process = |it: &ChannelPlace| channels.get(it.channel.index()).copied();
        for (place, send) in log.sends.iter().enumerate() {
            if let Some(process) = process(send) {
                by_process.entry(process).or_default().sends.push(place);
            }
        }
        for (place, receive) in log.receives.iter().enumerate() {
            if let Some(process) = process(receive) {
                by_process.entry(process).or_default().receives.push(place);
            }
        }
        if !log.accepted.is_empty() {
            let sends = log.sends.iter();
            let to: FxHashMap<LogNode, usize> = sends
                .filter_map(|it| Some((it.node, process(it)?)))
                .collect();
            for (place, accepted) in log.accepted.iter().enumerate() {
                if let Some(&process) = to.get(&accepted.send) {
                    let wanted = by_process.entry(process).or_default();
                    wanted.accepted.push(place);
                }
            }
        }
        let own = endpoint(info, log.location);
        let mut made: FxHashMap<u32, usize> = FxHashMap::default();
        for (place, call) in log.calls.iter().enumerate() {
            if call.begin.or(call.end).is_none() {
                continue;
            }
            let communicator = call.what.communicator;
            let made = made.entry(communicator).or_default();
            let turn = std::mem::replace(made, *made + 1);
            let mut want = |process: usize| {
                let wanted = by_process.entry(process).or_default();
                if wanted.calls.last() != Some(&place) {
                    wanted.calls.push(place);
                }
            };
            if let Some(turns) = self.owners.turns(communicator) {
                turns.concerned(own, turn).for_each(&mut want);
            } else if let Some(holders) = self.holders.get(communicator as usize) {
                holders.iter().copied().for_each(&mut want);
            }
        }
        let (rank, _) = self.distribution.place();
        by_process.remove(&rank);
        by_process
    }
}

/// Instead of the number of a node that is not in an excerpt.
const NOT_KEPT: u32 = u32::MAX;

/// The part of a log that is wanted, and the nodes of the log that are in it. By node, `numbers` are
/// [`NOT_KEPT`] before and after.
fn excerpt(
    log: &LogColumns,
    wanted: &RequestedRecords,
    numbers: &mut [u32],
) -> (LogColumns, Vec<LogNode>) {
    let call_of = |place: usize| log.posted_in.get(place).copied().unwrap_or(NO_CALL);
    let mut nodes: Vec<LogNode> = Vec::new();
    nodes.extend(wanted.sends.iter().map(|&it| log.sends[it].node));
    for &place in &wanted.receives {
        nodes.push(log.receives[place].node);
        nodes.extend(Some(call_of(place)).filter(|&it| it != NO_CALL));
    }
    let calls = || wanted.calls.iter().map(|&it| log.calls[it]);
    nodes.extend(calls().flat_map(|it| [it.begin, it.end]).flatten());
    let accepted = || wanted.accepted.iter().map(|&it| log.accepted[it]);
    nodes.extend(accepted().map(|it| it.completion));
    nodes.sort_unstable();
    nodes.dedup();
    for (number, node) in (0..).zip(&nodes) {
        numbers[node.index()] = number;
    }
    let new = |node: LogNode| LogNode(numbers[node.index()]);
    let mut channels: FxHashMap<ChannelIndex, ChannelIndex> = FxHashMap::default();
    let mut part = LogColumns {
        location: log.location,
        events: log.events,
        range: log.range,
        gap: log.gap,
        never_completed: log.never_completed,
        never_ended: log.never_ended,
        ..LogColumns::default()
    };
    let mut renumbered = |it: &ChannelPlace, part: &mut LogColumns| {
        let next = ChannelIndex(part.channels.len() as u32);
        let channel = *channels.entry(it.channel).or_insert(next);
        if channel == next {
            part.channels.push(log.channels[it.channel.index()]);
        }
        ChannelPlace {
            channel,
            node: new(it.node),
            length: it.length,
        }
    };
    for &place in &wanted.sends {
        let send = renumbered(&log.sends[place], &mut part);
        part.sends.push(send);
    }
    for &place in &wanted.receives {
        let receive = renumbered(&log.receives[place], &mut part);
        part.receives.push(receive);
        part.posted.push(log.posted[place]);
        let within = log.posted_within.get(place).copied();
        part.posted_within.push(within.unwrap_or(0));
        let call = Some(call_of(place)).filter(|&it| it != NO_CALL);
        part.posted_in.push(call.map_or(NO_CALL, new));
    }
    part.accepted = accepted().collect();
    for it in &mut part.accepted {
        (it.send, it.completion) = (new(it.send), new(it.completion));
    }
    part.calls = calls().collect();
    for call in &mut part.calls {
        (call.begin, call.end) = (call.begin.map(new), call.end.map(new));
    }
    let later = |it: &LogNode| log.held_later.binary_search_by_key(it, |it| it.send).ok();
    let later = nodes.iter().filter_map(|it| log.held_later.get(later(it)?));
    let later = later.map(|it| HeldLater {
        send: new(it.send),
        ..*it
    });
    part.held_later = later.collect();
    let of = |node: &LogNode| node.index();
    part.times = nodes.iter().map(|it| log.times[of(it)]).collect();
    part.numbers = nodes.iter().map(|it| log.numbers[of(it)]).collect();
    part.roles = nodes.iter().map(|it| log.roles[of(it)]).collect();
    let lasted = |it: &LogNode| log.lasted.get(of(it)).copied().unwrap_or_default();
    if !log.lasted.is_empty() {
        part.lasted = nodes.iter().map(lasted).collect();
    }
    for node in &nodes {
        numbers[of(node)] = NOT_KEPT;
    }
    (part, nodes)
}
