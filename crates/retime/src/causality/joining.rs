//! Which calls of collectives belong together.
//!
//! MPI orders collectives per communicator, so the i-th of one member meets the
//! i-th of the others. Members that recorded fewer than the rest have lost some,
//! and it cannot be told which. If all operations of the communicator are N-to-N,
//! every dependency that is certain is kept: a member that lacks `k` has its i-th
//! call somewhere between the others' i-th and (i+k)-th, so it receives from the
//! others' i-th and is a cause of their (i+k)-th. Otherwise its calls there are
//! left out, and counted.

use rustc_hash::FxHashMap;

use super::CausalityOptions;
use super::collectives::{Class, Collectives, Instance, Slot};
use super::log::{LocationLog, NONE, Part, Root};
use super::nodes::Nodes;
use super::oddity::{Oddities, Oddity};
use super::point_to_point::{by_endpoint, endpoint};
use crate::trace::{Communicator, LocationIndex, Members, TraceInfo};

/// Joins the parts that participants recorded. Sets `partner` of every node
/// that is a cause or effect to its slot.
pub(super) fn join(
    info: &TraceInfo,
    logs: &[LocationLog],
    nodes: &Nodes,
    options: CausalityOptions,
    partner: &mut [u32],
    oddities: &mut Oddities,
) -> Collectives {
    let mut builder = Builder {
        options,
        nodes,
        partner,
        oddities,
        built: Collectives::default(),
    };
    let mut by_communicator = parts_by_communicator(info, logs, nodes);
    let mut communicators: Vec<u32> = by_communicator.keys().copied().collect();
    communicators.sort_unstable();
    for communicator in communicators {
        let recorded = by_communicator.remove(&communicator).unwrap_or_default();
        match info.communicators.get(communicator as usize) {
            Some(known) => builder.communicator(known, recorded),
            None => builder.strangers(recorded),
        }
    }
    builder.built
}

/// One member's call of one operation.
#[derive(Clone, Copy)]
struct Call {
    part: Part,
    side: u8,
    rank: u32,
}

/// Per communicator and endpoint: the calls in order.
type Recorded = FxHashMap<LocationIndex, Vec<Part>>;

fn parts_by_communicator(
    info: &TraceInfo,
    logs: &[LocationLog],
    nodes: &Nodes,
) -> FxHashMap<u32, Recorded> {
    let mut all: FxHashMap<u32, Recorded> = FxHashMap::default();
    for group in by_endpoint(info, logs) {
        for &position in &group {
            let log = &logs[position];
            let own = endpoint(info, log.location);
            let offset = |node: u32| {
                if node == NONE {
                    NONE
                } else {
                    node + nodes.first(position)
                }
            };
            for part in &log.parts {
                let recorded = all.entry(part.what.communicator).or_default();
                let part = Part {
                    begin: offset(part.begin),
                    end: offset(part.end),
                    ..*part
                };
                recorded.entry(own).or_default().push(part);
            }
        }
        if group.len() > 1 {
            // Several threads call for one rank: their calls in order of time.
            let own = endpoint(info, logs[group[0]].location);
            let calls = all
                .values_mut()
                .filter_map(|recorded| recorded.get_mut(&own));
            calls.for_each(|calls| {
                calls.sort_by_key(|part| {
                    nodes.timestamp(if part.begin == NONE {
                        part.end
                    } else {
                        part.begin
                    })
                });
            });
        }
    }
    all
}

struct Builder<'a> {
    options: CausalityOptions,
    nodes: &'a Nodes,
    partner: &'a mut [u32],
    oddities: &'a mut Oddities,
    built: Collectives,
}

/// The calls of one member of a communicator.
struct Member {
    location: LocationIndex,
    side: u8,
    rank: u32,
    calls: Vec<Part>,
}

fn members_of(
    ranks: &[LocationIndex],
    side: u8,
    member: &mut impl FnMut(usize, &LocationIndex, u8) -> Member,
) -> Vec<Member> {
    ranks
        .iter()
        .enumerate()
        .map(|(rank, location)| member(rank, location, side))
        .collect()
}

impl Builder<'_> {
    fn communicator(&mut self, communicator: &Communicator, mut recorded: Recorded) {
        let mut member = |rank: usize, location: &LocationIndex, side| Member {
            location: *location,
            side,
            rank: rank as u32,
            calls: recorded.remove(location).unwrap_or_default(),
        };
        let members: Vec<Member> = match &communicator.members {
            Members::Own => return,
            Members::Ranks(ranks) => members_of(ranks, 0, &mut member),
            Members::Inter { a, b } => {
                let mut both = members_of(a, 0, &mut member);
                both.extend(members_of(b, 1, &mut member));
                both
            }
        };
        self.strangers(recorded);
        if members.len() < 2 {
            return;
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
            if shiftable {
                self.shifted(communicator, &members, turn, most);
            } else {
                let calls = members
                    .iter()
                    .filter(|member| member.calls.len() == most)
                    .map(|member| Call {
                        part: member.calls[turn],
                        side: member.side,
                        rank: member.rank,
                    });
                let calls: Vec<Call> = calls.collect();
                self.joined(communicator, &calls);
            }
        }
    }

    /// Calls of those who are no members.
    fn strangers(&mut self, recorded: Recorded) {
        let mut ends: Vec<u32> = recorded
            .into_values()
            .flatten()
            .map(|part| part.end)
            .collect();
        ends.sort_unstable();
        for end in ends {
            self.note(Oddity::UnknownPeer, end);
        }
    }

    /// Whether everybody waits for everybody in each of `calls`.
    fn all_meet_all(&self, calls: &[Part]) -> bool {
        calls.iter().all(|call| {
            call.what.operation.class(self.options.dense_alltoallv) == Class::AllToAll
                && (!call.what.operation.carries_data() || (call.what.sent && call.what.received))
        })
    }

    fn note_incomplete(&mut self, members: &[Member], most: usize) {
        for member in members {
            for _ in member.calls.len()..most {
                match member.calls.last() {
                    Some(last) => self.note(Oddity::CollectiveIncomplete, last.end),
                    None => self
                        .oddities
                        .add(Oddity::CollectiveIncomplete, member.location, 0),
                }
            }
        }
    }

    fn note(&mut self, kind: Oddity, node: u32) {
        self.oddities
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
        let slots = members.iter().map(|member| {
            let lacking = most - member.calls.len();
            let begin = turn.checked_sub(lacking).and_then(|i| member.calls.get(i));
            Slot {
                begin: begin.map_or(NONE, |part| part.begin),
                end: member.calls.get(turn).map_or(NONE, |part| part.end),
                side: member.side,
            }
        });
        let slots: Vec<Slot> = slots.collect();
        self.push(communicator, Class::AllToAll, slots);
    }

    /// The i-th call of every member.
    fn joined(&mut self, communicator: &Communicator, calls: &[Call]) {
        let Some(first) = calls.first() else { return };
        let operation = first.part.what.operation;
        let class = operation.class(self.options.dense_alltoallv);
        let root = root_slot(communicator, calls);
        let rooted = matches!(class, Class::OneToAll | Class::AllToOne);
        if calls
            .iter()
            .any(|call| call.part.what.operation != operation)
            || (rooted && root.is_err())
        {
            self.note(Oddity::CollectiveMismatch, first.part.end);
            return;
        }
        let root = root.ok().flatten();
        let slots = calls.iter().enumerate().map(|(place, call)| {
            let Part { what, begin, end } = call.part;
            let silent = operation.carries_data();
            let cause = (!silent || what.sent) && (class != Class::OneToAll || Some(place) == root);
            let effect =
                (!silent || what.received) && (class != Class::AllToOne || Some(place) == root);
            Slot {
                begin: if cause { begin } else { NONE },
                end: if effect { end } else { NONE },
                side: call.side,
            }
        });
        let slots: Vec<Slot> = slots.collect();
        self.push(communicator, class, slots);
    }

    fn push(&mut self, communicator: &Communicator, class: Class, slots: Vec<Slot>) {
        let effects = slots.iter().filter(|slot| slot.end != NONE).count();
        let causes = slots.iter().filter(|slot| slot.begin != NONE).count();
        if class == Class::None || effects == 0 || causes == 0 {
            return;
        }
        let number = self.built.instances.len() as u32;
        let first_slot = self.built.slots.len() as u32;
        for (place, slot) in slots.iter().enumerate() {
            for node in [slot.begin, slot.end] {
                if node != NONE {
                    self.partner[node as usize] = first_slot + place as u32;
                }
            }
        }
        self.built
            .instance_of_slot
            .extend(slots.iter().map(|_| number));
        self.built.slots.extend(slots);
        self.built.instances.push(Instance {
            class,
            across_sides: matches!(communicator.members, Members::Inter { .. })
                && class != Class::Prefix,
            first_slot,
            end_slot: self.built.slots.len() as u32,
        });
    }
}

/// The place of the root among `calls`: `Ok(None)` if the root itself is not
/// among them, `Err` if the participants name different roots or none.
fn root_slot(communicator: &Communicator, calls: &[Call]) -> Result<Option<usize>, Contradiction> {
    let inter = matches!(communicator.members, Members::Inter { .. });
    let mut named: Option<(u8, u32)> = None;
    for call in calls {
        let claim = match call.part.what.root {
            Root::Rank(rank) if inter => Some((1 - call.side, rank)),
            Root::Rank(rank) => Some((call.side, rank)),
            Root::Own => Some((call.side, call.rank)),
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
