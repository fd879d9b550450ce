//! Which calls of collectives belong together.
//!
//! MPI orders collectives per communicator, so the i-th of one member meets the
//! i-th of the others. Members that recorded fewer than the rest have lost some,
//! and it cannot be told which. If all operations of the communicator are N-to-N,
//! every dependency that is certain is kept: a member that lacks `k` has its i-th
//! call somewhere between the others' i-th and (i+k)-th, so it receives from the
//! others' i-th and is a cause of their (i+k)-th. Otherwise its calls there are
//! left out, and counted.
//!
//! Where recording was off at a member, calls have a known place from the start of the
//! communicator before that, and from its end after it, since each member calls all
//! operations before `MPI_Finalize`. Those that have such a place at all members meet;
//! the rest has no certain partners. Neither have those of a communicator on which one thread
//! of a rank has posted a non-blocking operation that another one has completed: which place in
//! the order that had is not recorded. What threads do in [teams](crate::teams) is another
//! matter, since not all threads of a team take part in each of its uses.

mod joined;
mod turns;

use rustc_hash::{FxHashMap, FxHashSet};

use retime_model::{
    Cancelled, Class, Communicator, Defect, LocationIndex, LogColumns, Members, Operation, Root,
    TraceInfo,
};

use crate::calls::{
    Call, Entered, Member, Mismatch, Recorded, Ruling, across_sides, members_with_calls,
    participants, proves_something,
};
use crate::collectives::Participant;
use crate::endpoints::{by_endpoint, endpoint};
use crate::gaps::{Gap, Gaps};
use crate::ids::EventNode;
use crate::nodes::Nodes;
use crate::noted::Noted;
use crate::options::CausalityOptions;
use crate::teams::Uses;
pub(super) use joined::{Joined, Shared};
pub use joined::{Outcome, Turns};
use retime_model::pace::Pace;

/// Joins the calls that participants recorded, as far as it is done here.
pub(super) fn join(
    info: &TraceInfo,
    logs: &[LogColumns],
    nodes: &Nodes,
    options: CausalityOptions,
    shared: Shared<'_>,
    defects: &mut Noted<'_>,
    pace: &mut Pace<'_>,
) -> Result<Joined, Cancelled> {
    let mut builder = Builder {
        options,
        nodes,
        gaps: Gaps::new(info, logs),
        handed_over: handed_over(info, logs, shared),
        defects,
        built: Joined::default(),
    };
    let mut by_communicator = calls_by_communicator(info, logs, nodes, pace)?;
    let mut communicators: Vec<u32> = by_communicator.keys().copied().collect();
    communicators.sort_unstable();
    for communicator in communicators {
        let recorded = by_communicator.remove(&communicator).unwrap_or_default();
        let known = info.communicators.get(communicator as usize);
        match (known, shared.turns.get(&communicator)) {
            (Some(known), Some(&turns)) => {
                builder.in_turns(communicator, known, recorded, turns, pace)?;
            }
            (Some(known), None) => builder.communicator(known, recorded, pace)?,
            (None, _) => builder.strangers(recorded),
        }
    }
    Ok(builder.built)
}

fn calls_by_communicator(
    info: &TraceInfo,
    logs: &[LogColumns],
    nodes: &Nodes,
    pace: &mut Pace<'_>,
) -> Result<FxHashMap<u32, Recorded>, Cancelled> {
    let mut all: FxHashMap<u32, Recorded> = FxHashMap::default();
    for group in by_endpoint(info, logs) {
        for &position in &group {
            let log = &logs[position];
            let own = endpoint(info, log.location);
            for call in &log.calls {
                pace.event()?;
                let of_threads = speak_for_themselves(info, call.what.communicator);
                let own = if of_threads { log.location } else { own };
                let recorded = all.entry(call.what.communicator).or_default();
                let [begin, end] =
                    [call.begin, call.end].map(|it| it.map(|it| nodes.of_log(position, it)));
                let Some(place) = end.or(begin) else {
                    continue;
                };
                let call = Call {
                    what: call.what,
                    begin,
                    end,
                    place,
                };
                recorded.entry(own).or_default().push(call);
            }
        }
        if group.len() > 1 {
            // Several threads call for one rank: their calls in order of time.
            let own = endpoint(info, logs[group[0]].location);
            let calls = all
                .values_mut()
                .filter_map(|recorded| recorded.get_mut(&own));
            calls.for_each(|calls| {
                calls.sort_by_key(|call| nodes.timestamp(call.begin.unwrap_or(call.place)));
            });
        }
    }
    Ok(all)
}

/// Endpoints with several threads, of which some have ended calls without a begin and
/// some have begun calls without an end.
fn handed_over(
    info: &TraceInfo,
    logs: &[LogColumns],
    shared: Shared<'_>,
) -> FxHashSet<LocationIndex> {
    let endings = logs.iter().filter(|log| log.never_ended.is_some());
    let begun: FxHashSet<LocationIndex> = endings.map(|it| endpoint(info, it.location)).collect();
    let of_several = |it: &LocationIndex| {
        let own = logs
            .iter()
            .filter(|log| endpoint(info, log.location) == *it);
        own.count() > 1
    };
    let ended = logs
        .iter()
        .filter(|it| shared.lack_begins.contains(&it.location));
    let ended = ended.map(|log| endpoint(info, log.location));
    ended
        .filter(|it| begun.contains(it))
        .filter(of_several)
        .collect()
}

/// True if the members of a communicator are threads.
fn speak_for_themselves(info: &TraceInfo, communicator: u32) -> bool {
    let known = info.communicators.get(communicator as usize);
    known.is_some_and(|it| matches!(it.members, Members::Threads(_)))
}

struct Builder<'a, 'b> {
    options: CausalityOptions,
    nodes: &'a Nodes,
    gaps: Gaps,
    /// Endpoints of which a thread has completed what it has not begun.
    handed_over: FxHashSet<LocationIndex>,
    defects: &'a mut Noted<'b>,
    built: Joined,
}

impl Builder<'_, '_> {
    fn communicator(
        &mut self,
        communicator: &Communicator,
        mut recorded: Recorded,
        pace: &mut Pace<'_>,
    ) -> Result<(), Cancelled> {
        if communicator.members == Members::Own {
            return Ok(());
        }
        let members = members_with_calls(communicator, &mut recorded);
        self.strangers(recorded);
        if members.len() < 2 {
            return Ok(());
        }
        if matches!(communicator.members, Members::Threads(_)) {
            if members
                .iter()
                .any(|it| self.gaps.touch_process(it.location))
            {
                self.note_unknown_places(&members);
                return Ok(());
            }
            if let Some(uses) = Uses::of(&members) {
                self.team(communicator, &uses);
                return Ok(());
            }
        }
        if members.iter().any(|it| self.lacks_order(it)) {
            self.note_unknown_places(&members);
            return Ok(());
        }
        if members.iter().any(|it| self.gaps.of(it.location).is_some()) {
            self.around_gaps(communicator, &members);
            return Ok(());
        }
        let most = members
            .iter()
            .map(|member| member.calls.len())
            .max()
            .unwrap_or(0);
        let complete = members.iter().all(|member| member.calls.len() == most);
        if !complete {
            self.note_incomplete(&members, most);
        }
        let shiftable = !complete
            && members
                .iter()
                .all(|member| self.all_meet_all(&member.calls));
        for turn in 0..most {
            pace.events(members.len())?;
            if shiftable {
                self.shifted(communicator, &members, turn, most);
            } else {
                let calls = members
                    .iter()
                    .filter(|member| member.calls.len() == most)
                    .map(|member| Entered {
                        call: member.calls[turn],
                        side: member.side,
                        rank: member.rank,
                    });
                let calls: Vec<Entered> = calls.collect();
                self.joined(communicator, &calls);
            }
        }
        Ok(())
    }

    fn note_unknown_places(&mut self, members: &[Member]) {
        for call in members.iter().flat_map(|it| &it.calls) {
            self.note(Defect::PlaceUnknown, call.place);
        }
    }

    /// True if threads of a member have handed calls over to each other.
    fn lacks_order(&self, member: &Member) -> bool {
        self.handed_over.contains(&member.location)
            && member.calls.iter().any(|call| call.begin.is_none())
    }

    /// Joins what the threads of a team did together.
    fn team(&mut self, communicator: &Communicator, uses: &Uses<'_>) {
        if let Err((defect, place)) = uses.check() {
            self.note(defect, place);
        }
        for (class, participants) in uses.operations() {
            self.push(communicator, class, &participants);
        }
    }

    /// Joins what members called before any of them stopped recording, and after all did so
    /// again.
    fn around_gaps(&mut self, communicator: &Communicator, members: &[Member]) {
        let least = members.iter().map(|it| it.calls.len()).min().unwrap_or(0);
        let known = members.iter().map(|it| self.known_places(it));
        let known = known.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
        let whole = members
            .iter()
            .filter(|it| self.gaps.of(it.location).is_none());
        let mut counts = whole.map(|it| it.calls.len());
        let first = counts.next();
        let (from_start, from_end) = match known {
            Some(known) if counts.all(|it| Some(it) == first) => known,
            // Something else is missing, too.
            _ => (0, 0),
        };
        let from_end = from_end.min(least - from_start);
        let turn = |place: &dyn Fn(&Member) -> usize| -> Vec<Entered> {
            let entered = |it: &Member| Entered {
                call: it.calls[place(it)],
                side: it.side,
                rank: it.rank,
            };
            members.iter().map(entered).collect()
        };
        for place in 0..from_start {
            self.joined(communicator, &turn(&|_| place));
        }
        for behind in (0..from_end).rev() {
            self.joined(communicator, &turn(&|it| it.calls.len() - 1 - behind));
        }
        for member in members {
            for call in &member.calls[from_start..member.calls.len() - from_end] {
                self.note(Defect::PlaceUnknown, call.place);
            }
        }
    }

    /// How many calls of a member have a known place from the start, and from the end.
    fn known_places(&self, member: &Member) -> (usize, usize) {
        let Some((from, to)): Option<Gap> = self.gaps.of_calls(member.location) else {
            return (member.calls.len(), member.calls.len());
        };
        let time = |node: EventNode| self.nodes.timestamp(node);
        let is_before = |call: &&Call| time(call.place) < from;
        let is_after = |call: &&Call| call.begin.is_some_and(|begin| time(begin) >= to);
        let before = member.calls.iter().take_while(is_before).count();
        let after = member.calls.iter().rev().take_while(is_after).count();
        (before, after)
    }

    /// Calls of those who are no members.
    fn strangers(&mut self, recorded: Recorded) {
        let mut ends: Vec<EventNode> = recorded
            .into_values()
            .flatten()
            .map(|call| call.place)
            .collect();
        ends.sort_unstable();
        for end in ends {
            self.note(Defect::UnknownPeer, end);
        }
    }

    /// True if everybody waits for everybody in each of `calls`.
    fn all_meet_all(&self, calls: &[Call]) -> bool {
        calls.iter().all(|call| {
            self.options.class(call.what.operation) == Class::AllToAll
                && (!call.what.operation.carries_data() || (call.what.sent && call.what.received))
        })
    }

    /// Notes each operation that a member lacks, once however many lack it, as which one it is
    /// cannot be told: at the last call of the member that lacks most, or, where it called nothing,
    /// at those of a member that lacks none.
    fn note_incomplete(&mut self, members: &[Member], most: usize) {
        let Some(lacking) = members.iter().min_by_key(|it| it.calls.len()) else {
            return;
        };
        let complete = members.iter().find(|it| it.calls.len() == most);
        let calls = complete.map_or(&[][..], |it| &it.calls);
        for call in calls.iter().skip(lacking.calls.len()) {
            let last = lacking.calls.last().unwrap_or(call);
            self.note(Defect::CollectiveIncomplete, last.place);
        }
    }

    fn note(&mut self, kind: Defect, node: EventNode) {
        self.defects
            .add(kind, self.nodes.location(node), self.nodes.event(node));
    }

    /// The dependencies that are certain though members lack calls.
    fn shifted(
        &mut self,
        communicator: &Communicator,
        members: &[Member],
        turn: usize,
        most: usize,
    ) {
        let participants = members.iter().map(|member| {
            let lacking = most - member.calls.len();
            let begin = turn.checked_sub(lacking).and_then(|i| member.calls.get(i));
            Participant {
                begin: begin.and_then(|call| call.begin).into(),
                end: member.calls.get(turn).and_then(|call| call.end).into(),
                side: member.side,
            }
        });
        let participants: Vec<Participant> = participants.collect();
        self.push(communicator, Class::AllToAll, &participants);
    }

    /// The i-th call of every member.
    fn joined(&mut self, communicator: &Communicator, calls: &[Entered]) {
        match self.ruling(communicator, calls) {
            Ok(ruling) => self.push(communicator, ruling.class, &participants(ruling, calls)),
            Err(Mismatch(place)) => self.note(Defect::CollectiveMismatch, place),
        }
    }

    /// The order that calls that belong together prove.
    fn ruling(&self, communicator: &Communicator, calls: &[Entered]) -> Result<Ruling, Mismatch> {
        let Some(first) = calls.first() else {
            return Ok(Ruling {
                class: Class::None,
                root: None,
            });
        };
        let operation = first.call.what.operation;
        let ends_epoch = operation == Operation::Fence && calls.iter().any(|it| it.call.what.sent);
        let class = if ends_epoch {
            Class::AllToAll
        } else {
            self.options.class(operation)
        };
        let root = root_place(communicator, calls);
        let rooted = matches!(class, Class::OneToAll | Class::AllToOne);
        let differs = |entered: &Entered| entered.call.what.operation != operation;
        if calls.iter().any(differs) || (rooted && root.is_err()) {
            return Err(Mismatch(first.call.place));
        }
        let root = root.ok().flatten().map(|place| place as u32);
        Ok(Ruling { class, root })
    }

    /// Adds an operation, if it proves anything, to those that are visited here or to others.
    ///
    /// All that take part are known to each part of the trace that has any of them, and one of
    /// these visits it: that of the participant whose turn it is by the number of the first event.
    fn push(&mut self, communicator: &Communicator, class: Class, participants: &[Participant]) {
        if !proves_something(class, participants) {
            return;
        }
        let involved = participants
            .iter()
            .filter_map(|it| it.cause().or(it.effect()));
        let involved: Vec<EventNode> = involved.collect();
        let nodes = self.nodes;
        let turn = involved.first().map_or(0, |&it| nodes.event(it) as usize);
        let visitor = involved.get(turn % involved.len().max(1));
        let is_own = visitor.is_some_and(|&it| nodes.whole().has(nodes.location(it).as_usize()));
        let built = if is_own {
            &mut self.built.visited
        } else {
            &mut self.built.others
        };
        built.push(class, across_sides(communicator, class), participants);
    }
}

/// The place of the root among `calls`: `Ok(None)` if the root itself is not
/// among them, `Err` if the participants name different roots or none.
fn root_place(
    communicator: &Communicator,
    calls: &[Entered],
) -> Result<Option<usize>, Contradiction> {
    let inter = matches!(communicator.members, Members::Inter { .. });
    let mut named: Option<(u8, u32)> = None;
    for entered in calls {
        let claim = match entered.call.what.root {
            Root::Rank(rank) if inter => Some((1 - entered.side, rank)),
            Root::Rank(rank) => Some((entered.side, rank)),
            Root::Own => Some((entered.side, entered.rank)),
            Root::None | Root::OwnGroup => None,
        };
        if claim.is_some() && named.is_some() && claim != named {
            return Err(Contradiction);
        }
        named = named.or(claim);
    }
    let root = named.ok_or(Contradiction)?;
    Ok(calls.iter().position(|call| (call.side, call.rank) == root))
}

/// Participants of a rooted operation do not agree on a root.
struct Contradiction;
