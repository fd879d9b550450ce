//! Collective operations as single nodes of happened-before.
//!
//! What a collective proves depends on its class:
//!
//! | class | operations | dependency |
//! |---|---|---|
//! | 1-to-N | Bcast, Scatter(v) | root's begin -> every other end |
//! | N-to-1 | Reduce, Gather(v) | every other begin -> root's end |
//! | N-to-N | Barrier, Allreduce, Allgather(v), Alltoall, `Reduce_scatter(_block)`, creation of communicators | every other begin -> every end |
//! | prefix | Scan, Exscan | begins of lower ranks -> end |
//! | none | Alltoallv/w (totals do not prove who exchanged data), the rest | |
//!
//! The own begin never counts: local order covers it, and a minimal delay on
//! it would "correct" sound traces. Who gave no bytes is no cause, who got none
//! no effect; operations that carry no data (Barrier) are exempt.
//! The edges stay implicit: an operation keeps its participants' begins and
//! ends, and [`Collectives::latest_causes`] finds the latest begin of the others
//! from the two latest of all, never from n^2 edges.
//!
//! Which calls belong together: MPI orders collectives per communicator, so the
//! i-th of one member meets the i-th of the others. Members that recorded fewer
//! than the rest have lost some, and it cannot be told which. If all operations
//! of the communicator are N-to-N, every dependency that is certain is kept: a
//! member that lacks `k` has its i-th call somewhere between the others' i-th
//! and (i+k)-th, so it receives from the others' i-th and is a cause of their
//! (i+k)-th. Otherwise its calls there are left out, and counted.
//!
//! Source: Linford 2007, section 3.2; Rabenseifner 2000, section 4.6.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::CausalityOptions;
use super::log::{LocationLog, NONE, Part, Root};
use super::nodes::Nodes;
use super::oddity::{Oddities, Oddity};
use super::point_to_point::{by_endpoint, endpoint};
use crate::trace::{Communicator, LocationIndex, Members, TraceInfo};

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are MPI's")]
pub enum Operation {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Allreduce,
    Reduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    CreateHandle,
    Other,
}

/// What an operation proves about the order of its participants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Root's begin before every other end.
    OneToAll,
    /// Every other begin before root's end.
    AllToOne,
    /// Every other begin before every end.
    AllToAll,
    /// Begins of lower ranks before the end.
    Prefix,
    /// Nothing.
    None,
}

impl Operation {
    /// The class; `dense_alltoallv` takes Alltoallv/w for N-to-N.
    pub fn class(self, dense_alltoallv: bool) -> Class {
        match self {
            Self::Bcast | Self::Scatter | Self::Scatterv => Class::OneToAll,
            Self::Gather | Self::Gatherv | Self::Reduce => Class::AllToOne,
            Self::Barrier
            | Self::Allgather
            | Self::Allgatherv
            | Self::Alltoall
            | Self::Allreduce
            | Self::ReduceScatter
            | Self::ReduceScatterBlock
            | Self::CreateHandle => Class::AllToAll,
            Self::Alltoallv | Self::Alltoallw if dense_alltoallv => Class::AllToAll,
            Self::Scan | Self::Exscan => Class::Prefix,
            Self::Alltoallv | Self::Alltoallw | Self::Other => Class::None,
        }
    }

    /// Whether bytes say who took part; a barrier carries none.
    fn carries_data(self) -> bool {
        !matches!(self, Self::Barrier | Self::CreateHandle)
    }
}

/// One participant of a collective: the nodes of its begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    begin: u32,
    end: u32,
    /// 0, or 1 for the second group of an inter-communicator.
    pub side: u8,
}

impl Slot {
    /// The node of the begin, if it is a cause of others.
    #[inline]
    pub fn cause(&self) -> Option<u32> {
        (self.begin != NONE).then_some(self.begin)
    }

    /// The node of the end, if it is an effect of others.
    #[inline]
    pub fn effect(&self) -> Option<u32> {
        (self.end != NONE).then_some(self.end)
    }
}

/// One collective operation of all its participants.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// What it proves.
    pub class: Class,
    /// On an inter-communicator causes and effects are on different sides.
    pub across_sides: bool,
    first_slot: u32,
    end_slot: u32,
}

/// All collectives of a trace that prove anything.
#[derive(Debug, Default)]
pub struct Collectives {
    instances: Vec<Instance>,
    slots: Vec<Slot>,
    instance_of_slot: Vec<u32>,
}

impl Collectives {
    /// All operations.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Number of slots of all operations.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// The participants of an operation, in order of ranks.
    #[inline]
    pub fn slots(&self, instance: u32) -> &[Slot] {
        let it = &self.instances[instance as usize];
        &self.slots[it.first_slot as usize..it.end_slot as usize]
    }

    /// The operation a slot belongs to, and the slot's place in it.
    #[inline]
    pub fn locate(&self, slot: u32) -> (u32, usize) {
        let instance = self.instance_of_slot[slot as usize];
        (
            instance,
            (slot - self.instances[instance as usize].first_slot) as usize,
        )
    }

    /// For each effect of an operation the cause with the largest `value` among
    /// those of another `domain` (a slot's place, its clock, ...). Only the
    /// slots at `places`, in rising order, take part.
    #[inline]
    pub fn latest_causes<D: PartialEq + Copy>(
        &self,
        instance: u32,
        places: impl Iterator<Item = usize> + Clone,
        value: impl Fn(u32) -> i64,
        domain: impl Fn(usize) -> D,
        visit: impl FnMut(u32, u32),
    ) {
        let slots = self.slots(instance);
        let ends = places.map(|place| Ends {
            from: slots[place].begin,
            to: slots[place].end,
            side: slots[place].side,
            domain: domain(place),
        });
        sweep(self.instances[instance as usize], ends, value, visit);
    }

    /// For each cause of an operation the effect with the smallest `value` among
    /// those of another `domain`; the mirror of [`Self::latest_causes`].
    #[inline]
    pub fn earliest_effects<D: PartialEq + Copy>(
        &self,
        instance: u32,
        value: impl Fn(u32) -> i64,
        domain: impl Fn(usize) -> D,
        mut visit: impl FnMut(u32, u32),
    ) {
        let slots = self.slots(instance);
        let ends = (0..slots.len()).rev().map(|place| Ends {
            from: slots[place].end,
            to: slots[place].begin,
            side: slots[place].side,
            domain: domain(place),
        });
        let it = self.instances[instance as usize];
        sweep(
            it,
            ends,
            |node| -value(node),
            |effect, cause| visit(cause, effect),
        );
    }

    /// Visits all pairs of places of which the first precedes the second, where
    /// both are there. Quadratic: for bounds that differ from pair to pair.
    pub fn each_dependency(&self, instance: u32, mut visit: impl FnMut(usize, usize)) {
        let slots = self.slots(instance);
        for (to, _) in slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.end != NONE)
        {
            for (from, _) in slots
                .iter()
                .enumerate()
                .filter(|(_, slot)| slot.begin != NONE)
            {
                if self.depends(instance, from, to) {
                    visit(from, to);
                }
            }
        }
    }

    /// Whether the cause in slot `from` precedes the effect in slot `to`.
    #[inline]
    pub fn depends(&self, instance: u32, from: usize, to: usize) -> bool {
        let it = &self.instances[instance as usize];
        let slots = self.slots(instance);
        from != to
            && (it.class != Class::Prefix || from < to)
            && (!it.across_sides || slots[from].side != slots[to].side)
    }
}

/// A participant seen from one direction of time.
#[derive(Clone, Copy)]
struct Ends<D> {
    from: u32,
    to: u32,
    side: u8,
    domain: D,
}

/// The largest value seen, and the largest of another domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopTwo<D> {
    best: Option<(i64, u32, D)>,
    other: Option<(i64, u32)>,
}

impl<D> Default for TopTwo<D> {
    fn default() -> Self {
        Self {
            best: None,
            other: None,
        }
    }
}

impl<D: PartialEq + Copy> TopTwo<D> {
    pub(crate) fn push(&mut self, value: i64, node: u32, domain: D) {
        match self.best {
            Some((best, ..)) if value <= best => {
                let same = self.best.is_some_and(|(_, _, of)| of == domain);
                if !same && self.other.is_none_or(|(other, _)| value > other) {
                    self.other = Some((value, node));
                }
            }
            previous => {
                if let Some((value, node, of)) = previous
                    && of != domain
                {
                    self.other = Some((value, node));
                }
                self.best = Some((value, node, domain));
            }
        }
    }

    /// The largest value outside of `domain`, and its node.
    pub(crate) fn outside(&self, domain: D) -> Option<(i64, u32)> {
        match self.best {
            Some((value, node, of)) if of != domain => Some((value, node)),
            _ => self.other,
        }
    }
}

/// Visits `(from, to)` for each `to` with the largest `from` of another domain
/// (and of the other side, where the operation goes across).
fn sweep<D: PartialEq + Copy>(
    it: Instance,
    ends: impl Iterator<Item = Ends<D>> + Clone,
    value: impl Fn(u32) -> i64,
    mut visit: impl FnMut(u32, u32),
) {
    let mut top = [TopTwo {
        best: None,
        other: None,
    }; 2];
    let heap = |side: u8| usize::from(it.across_sides && side == 1);
    let push = |top: &mut [TopTwo<D>; 2], end: &Ends<D>| {
        if end.from != NONE {
            top[heap(end.side)].push(value(end.from), end.from, end.domain);
        }
    };
    let prefix = it.class == Class::Prefix;
    if !prefix {
        ends.clone().for_each(|end| push(&mut top, &end));
    }
    for end in ends {
        let source = heap(if it.across_sides {
            1 - end.side
        } else {
            end.side
        });
        if end.to != NONE
            && let Some((_, from)) = top[source].outside(end.domain)
        {
            visit(from, end.to);
        }
        if prefix {
            push(&mut top, &end);
        }
    }
}

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
