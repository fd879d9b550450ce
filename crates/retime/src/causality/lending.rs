//! What processes have to know of each other's logs to join what belongs together.
//!
//! Each process of a [shared](crate::Share) trace has read the logs of its own locations.
//! Of each it lends the others what concerns theirs:
//!
//! - ends of messages, to the process of the other end, both ways: so both join a channel
//!   by all of it, and come to the same;
//! - with receives the calls in which they were posted, and with synchronous sends their
//!   completions;
//! - calls of a collective operation, to every process that holds a member of its
//!   communicator;
//! - of every location what is one number: how many events it has, and from when to when.
//!
//! What is lent has other node numbers in every process; but its order is the same, by
//! location and event, and so lenders and borrowers can speak of it without names.
//!
//! What cannot be cut like that makes a trace need to be in one process: names of messages
//! and operations that several processes have used, threads that take turns on a channel
//! such that parts of it can be in another order, and calls that post several receives.

use rustc_hash::{FxHashMap, FxHashSet};

use retime_model::{
    ChannelIndex, ChannelPlace, Communicator, LocationIndex, LocationLog, LogColumns, LogNode,
    Members, Message, NO_CALL, TraceInfo,
};

use super::point_to_point::{by_endpoint, endpoint};
use crate::share::{NeedsWhole, Share};

/// All logs, as far as this process knows them, by location.
pub(super) struct Known {
    pub(super) logs: Vec<LogColumns>,
    /// By process, what of own logs it has borrowed, by location and event.
    pub(super) lent: Vec<Vec<(LocationIndex, LogNode)>>,
}

/// Lends and borrows. In one process there is nobody to lend to.
pub(super) fn known(info: &TraceInfo, own: Vec<LocationLog>, share: &Share) -> Known {
    let own: Vec<LogColumns> = own.into_iter().map(LocationLog::into_columns).collect();
    if share.is_whole() {
        return Known {
            logs: own,
            lent: Vec::new(),
        };
    }
    if !share.all(can_be_cut(info, &own)) || !share.all(names_are_own(&own, share)) {
        share.needs_whole(NeedsWhole::Named);
    }
    let (rank, size) = share.place();
    let mut known: FxHashMap<LocationIndex, LogColumns> = FxHashMap::default();
    for head in share.gathered(heads(&own)).into_iter().flatten() {
        known.insert(head.location, head);
    }
    let members = Interested::new(info, share);
    let (mut lent, mut sent) = (vec![Vec::new(); size], vec![Vec::new(); size]);
    for log in &own {
        let parts = members.of_log(info, log);
        for peer in parts.peers().filter(|&it| it != rank) {
            let (part, nodes) = excerpt(log, |what| parts.concerns(peer, what));
            lent[peer].extend(nodes.into_iter().map(|node| (log.location, node)));
            sent[peer].push(part);
        }
    }
    for part in share.exchanged(sent).into_iter().flatten() {
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
    Known { logs, lent }
}

/// Logs without events.
fn heads(own: &[LogColumns]) -> Vec<LogColumns> {
    let head = |log: &LogColumns| excerpt(log, |_| false).0;
    own.iter().map(head).collect()
}

/// Whether channels can be joined by what one other process knows of them.
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

/// Whether no other process uses the names that this one uses.
fn names_are_own(own: &[LogColumns], share: &Share) -> bool {
    let (_, size) = share.place();
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
    let mut all = share.exchanged(used).into_iter().flatten();
    all.all(|name| heard.insert(name))
}

/// Something in a log that may concern a process.
enum What<'a> {
    /// An end of a message.
    End(&'a ChannelPlace),
    /// A call of a collective operation on this communicator.
    Call(u32),
}

/// Which processes hold members of communicators.
struct Interested<'a> {
    share: &'a Share,
    by_communicator: Vec<Vec<usize>>,
}

/// Which processes what is in a log concerns.
struct OfLog<'a> {
    interested: &'a Interested<'a>,
    /// By channel the process of the other end.
    channels: Vec<usize>,
    calls: FxHashSet<u32>,
}

impl<'a> Interested<'a> {
    fn new(info: &TraceInfo, share: &'a Share) -> Self {
        let holders = |communicator: &Communicator| {
            let (one, other): (&[LocationIndex], &[LocationIndex]) = match &communicator.members {
                Members::Own => (&[], &[]),
                Members::Ranks(it) | Members::Threads(it) => (it, &[]),
                Members::Inter { a, b } => (a, b),
            };
            let owner = |it: &LocationIndex| share.owner(it.as_usize());
            let mut holders: Vec<usize> = one.iter().chain(other).map(owner).collect();
            holders.sort_unstable();
            holders.dedup();
            holders
        };
        Self {
            share,
            by_communicator: info.communicators.iter().map(holders).collect(),
        }
    }

    fn of_log(&'a self, info: &TraceInfo, log: &LogColumns) -> OfLog<'a> {
        let other = |it: &Message| self.share.owner(endpoint(info, it.peer).as_usize());
        OfLog {
            interested: self,
            channels: log.channels.iter().map(other).collect(),
            calls: log.calls.iter().map(|it| it.what.communicator).collect(),
        }
    }

    fn holds_member(&self, process: usize, communicator: u32) -> bool {
        let holders = self.by_communicator.get(communicator as usize);
        holders.is_some_and(|it| it.binary_search(&process).is_ok())
    }
}

impl OfLog<'_> {
    /// The processes that it concerns, rising.
    fn peers(&self) -> impl Iterator<Item = usize> {
        let calls = self.calls.iter();
        let known = &self.interested.by_communicator;
        let of_calls = calls.filter_map(|&it| known.get(it as usize)).flatten();
        let mut peers: Vec<usize> = self.channels.iter().chain(of_calls).copied().collect();
        peers.sort_unstable();
        peers.dedup();
        peers.into_iter()
    }

    fn concerns(&self, process: usize, what: &What<'_>) -> bool {
        match what {
            What::End(place) => self.channels.get(place.channel.index()) == Some(&process),
            What::Call(communicator) => self.interested.holds_member(process, *communicator),
        }
    }
}

/// What of a log concerns somebody, and the nodes of the log that are in it.
fn excerpt(log: &LogColumns, concerns: impl Fn(&What<'_>) -> bool) -> (LogColumns, Vec<LogNode>) {
    let ends = |it: &[ChannelPlace]| -> Vec<usize> {
        let ends = it.iter().enumerate();
        let kept = ends.filter(|(_, it)| concerns(&What::End(it)));
        kept.map(|(place, _)| place).collect()
    };
    let (sends, receives) = (ends(&log.sends), ends(&log.receives));
    let call_of = |place: usize| log.posted_in.get(place).copied().unwrap_or(NO_CALL);
    let calls = log.calls.iter();
    let calls = calls.filter(|it| concerns(&What::Call(it.what.communicator)));
    let calls: Vec<_> = calls.copied().collect();
    // By node whether it is in the excerpt, and then its number there.
    let mut kept = vec![0_u32; log.times.len()];
    let mut keep = |node: LogNode| kept[node.index()] = 1;
    for &place in &sends {
        keep(log.sends[place].node);
    }
    for &place in &receives {
        keep(log.receives[place].node);
        Some(call_of(place))
            .filter(|&it| it != NO_CALL)
            .map(&mut keep);
    }
    let of_calls = calls.iter().flat_map(|it| [it.begin, it.end]).flatten();
    of_calls.for_each(&mut keep);
    let mut accepted = log.accepted.clone();
    if !accepted.is_empty() {
        let sent: FxHashSet<LogNode> = sends.iter().map(|&it| log.sends[it].node).collect();
        accepted.retain(|it| sent.contains(&it.send));
        for it in &accepted {
            keep(it.completion);
        }
    }
    let mut nodes: Vec<LogNode> = Vec::new();
    for (node, number) in (0..).map(LogNode).zip(&mut kept) {
        if *number == 1 {
            *number = nodes.len() as u32;
            nodes.push(node);
        }
    }
    let new = |node: LogNode| LogNode(kept[node.index()]);
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
    for &place in &sends {
        let send = renumbered(&log.sends[place], &mut part);
        part.sends.push(send);
    }
    for &place in &receives {
        let receive = renumbered(&log.receives[place], &mut part);
        part.receives.push(receive);
        part.posted.push(log.posted[place]);
        let within = log.posted_within.get(place).copied();
        part.posted_within.push(within.unwrap_or(0));
        let call = Some(call_of(place)).filter(|&it| it != NO_CALL);
        part.posted_in.push(call.map_or(NO_CALL, new));
    }
    part.accepted = accepted;
    for it in &mut part.accepted {
        (it.send, it.completion) = (new(it.send), new(it.completion));
    }
    part.calls = calls;
    for call in &mut part.calls {
        (call.begin, call.end) = (call.begin.map(new), call.end.map(new));
    }
    let of = |node: &LogNode| node.index();
    part.times = nodes.iter().map(|it| log.times[of(it)]).collect();
    part.numbers = nodes.iter().map(|it| log.numbers[of(it)]).collect();
    part.roles = nodes.iter().map(|it| log.roles[of(it)]).collect();
    (part, nodes)
}
