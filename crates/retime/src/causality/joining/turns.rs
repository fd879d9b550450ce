//! Joining where processes take turns: what the host rules, and what guests make of it.
//!
//! The i-th calls of all members belong together. The [host](super::super::hosting) has them
//! all, and joins them as one process would; what it rules goes to the other processes with
//! members. Each of these enters its own calls, and those of neighbours, as participants of an
//! operation of which it knows no others.

use rustc_hash::FxHashMap;

use retime_model::{Cancelled, Class, Communicator, Defect, TraceInfo};

use super::super::collectives::{Collectives, Participant, Shared};
use super::super::hosting::{Guests, Hosting, Ruling, Turns};
use super::super::ids::Slot;
use super::{
    Builder, Call, Entered, Member, Mismatch, Recorded, across_sides, members_with_calls,
    participants, proves_something,
};
use crate::pace::Pace;
use crate::share::Share;

/// What this process has joined, and what it takes to join the rest.
pub(in crate::causality) struct Joined {
    /// Operations that this process visits.
    pub(in crate::causality) visited: Collectives,
    /// Operations that others visit, though all of them is known here.
    pub(super) others: Collectives,
    guests: Guests,
    /// By process what is to be said to it of operations that are hosted here, with their
    /// communicators and turns.
    rulings: Vec<Vec<(u32, u32, Ruling)>>,
    /// By communicator of which processes take turns the members whose calls are all known
    /// here, by place.
    awaiting: FxHashMap<u32, Vec<(u32, Member)>>,
}

impl Joined {
    pub(super) fn nothing(processes: usize, hosting: &Hosting) -> Self {
        Self {
            visited: Collectives::default(),
            others: Collectives::default(),
            guests: Guests::none(processes, hosting.is_any()),
            rulings: vec![Vec::new(); processes],
            awaiting: FxHashMap::default(),
        }
    }

    /// Says to guests what operations prove, and hears it of those that are hosted elsewhere.
    pub(in crate::causality) fn told(self, info: &TraceInfo, share: &Share) -> Collectives {
        let mut all = self.visited;
        if share.is_whole() {
            return all;
        }
        let own = all.known_instances().len() as u32;
        all.append(&self.others);
        let mut guests = self.guests;
        for (host, rulings) in share.exchanged(self.rulings).into_iter().enumerate() {
            for (number, turn, ruling) in rulings {
                let communicator = info.communicators.get(number as usize);
                let members = self.awaiting.get(&number);
                let Some((communicator, members)) = communicator.zip(members) else {
                    continue;
                };
                let known = members.iter().filter_map(|(place, member)| {
                    let call = member.calls.get(turn as usize)?;
                    Some(ruling.participant(*place, member.side, call))
                });
                let participants: Vec<Participant> = known.collect();
                let first = all.slots().len() as u32;
                let slots = (first..).map(Slot).zip(members);
                let away = slots.filter(|(_, (_, it))| share.owns_location(it.location));
                guests.away[host].extend(away.map(|(slot, _)| slot));
                let across_sides = across_sides(communicator, ruling.class);
                all.push(ruling.class, across_sides, &participants);
            }
        }
        all.shared = Some(Shared { own, guests });
        all
    }
}

impl Ruling {
    /// The part that a member's call plays in the operation.
    pub(super) fn participant(&self, place: u32, side: u8, call: &Call) -> Participant {
        let Call {
            what, begin, end, ..
        } = *call;
        let silent = what.operation.carries_data();
        let is_root = Some(place) == self.root;
        let cause = (!silent || what.sent) && (self.class != Class::OneToAll || is_root);
        let effect = (!silent || what.received) && (self.class != Class::AllToOne || is_root);
        Participant {
            begin: begin.filter(|_| cause).into(),
            end: end.filter(|_| effect).into(),
            side,
        }
    }
}

impl Builder<'_, '_> {
    /// The operations of a communicator that are hosted here.
    pub(super) fn in_turns(
        &mut self,
        (number, communicator): (u32, &Communicator),
        mut recorded: Recorded,
        turns: &Turns,
        pace: &mut Pace<'_>,
    ) -> Result<(), Cancelled> {
        let share = self.nodes.share();
        let (rank, _) = share.place();
        let owner = |it: &Member| share.owner(it.location.as_usize());
        let members = members_with_calls(communicator, &mut recorded);
        let most = { members.iter() }.map(|it| it.calls.len()).max();
        let most = most.unwrap_or(0);
        // Of members of other processes that are no neighbours, there are only the calls of
        // operations that are hosted here.
        let knows_all = |it: &Member| it.calls.len() == most;
        for turn in (0..most).filter(|&turn| turns.host(turn) == rank) {
            pace.events(members.len())?;
            let of_turn = |it: &Member| {
                let place = if knows_all(it) {
                    turn
                } else {
                    turn / turns.hosts().len()
                };
                Some(Entered {
                    call: *it.calls.get(place)?,
                    side: it.side,
                    rank: it.rank,
                })
            };
            let calls: Vec<Entered> = members.iter().filter_map(of_turn).collect();
            let ruling = match self.ruling(communicator, &calls) {
                Ok(ruling) => ruling,
                Err(Mismatch(place)) => {
                    let (location, event) = (self.nodes.location(place), self.nodes.event(place));
                    self.defects
                        .alone(Defect::CollectiveMismatch, location, event);
                    continue;
                }
            };
            let participants = participants(ruling, &calls);
            if !proves_something(ruling.class, &participants) {
                continue;
            }
            let first = self.built.visited.slots().len() as u32;
            let across = across_sides(communicator, ruling.class);
            self.built.visited.push(ruling.class, across, &participants);
            for (slot, guest) in (first..).map(Slot).zip(members.iter().map(owner)) {
                if guest != rank {
                    self.built.guests.hosted[guest].push(slot);
                }
            }
            for &guest in turns.hosts().iter().filter(|&&it| it != rank) {
                self.built.rulings[guest].push((number, turn as u32, ruling));
            }
        }
        let known = (0..).zip(members).filter(|(_, it)| knows_all(it));
        self.built.awaiting.insert(number, known.collect());
        Ok(())
    }
}
