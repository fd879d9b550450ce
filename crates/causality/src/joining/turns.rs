//! Joining operations where each is joined in one part of the trace.
//!
//! The i-th calls of all members belong together. The part whose [turn](super::Turns) it is has them
//! all, and joins them as they would be joined if the whole trace were here; the [outcome](super::Outcome)
//! goes to the other parts with members. Each of these enters its own calls, and those of
//! neighbours, as participants of an operation of which it knows no others.

use retime_model::{Cancelled, Communicator, Defect};

use super::Builder;
use super::joined::{Outcome, Turns};
use crate::calls::{
    Entered, Member, Mismatch, Recorded, across_sides, members_with_calls, participants,
    proves_something,
};
use crate::ids::Slot;
use retime_model::pace::Pace;

impl Builder<'_, '_> {
    /// The operations of a communicator whose turns are here.
    pub(super) fn in_turns(
        &mut self,
        number: u32,
        communicator: &Communicator,
        mut recorded: Recorded,
        turns: Turns,
        pace: &mut Pace<'_>,
    ) -> Result<(), Cancelled> {
        let members = members_with_calls(communicator, &mut recorded);
        let most = members.iter().map(|it| it.calls.len()).max();
        let most = most.unwrap_or(0);
        // Of members elsewhere that are no neighbours, there are only the calls of operations
        // that are joined here.
        let knows_all = |it: &Member| it.calls.len() == most;
        let here = turns.first.unwrap_or(most)..most;
        for turn in here.step_by(turns.every.max(1)) {
            pace.events(members.len())?;
            let of_turn = |it: &Member| {
                let place = if knows_all(it) {
                    turn
                } else {
                    turn / turns.every
                };
                Some(Entered {
                    call: *it.calls.get(place)?,
                    side: it.side,
                    rank: it.rank,
                })
            };
            let calls: Vec<Entered> = members.iter().filter_map(of_turn).collect();
            self.turn(number, turn as u32, communicator, &members, &calls);
        }
        let known = (0..).zip(members).filter(|(_, it)| knows_all(it));
        self.built.awaiting.insert(number, known.collect());
        Ok(())
    }

    /// One of them, with the calls of all members.
    fn turn(
        &mut self,
        number: u32,
        turn: u32,
        communicator: &Communicator,
        members: &[Member],
        calls: &[Entered],
    ) {
        let nodes = self.nodes;
        let ruling = match self.ruling(communicator, calls) {
            Ok(ruling) => ruling,
            Err(Mismatch(place)) => {
                let (location, event) = (nodes.location(place), nodes.event(place));
                self.defects
                    .alone(Defect::CollectiveMismatch, location, event);
                return;
            }
        };
        let participants = participants(ruling, calls);
        if !proves_something(ruling.class, &participants) {
            return;
        }
        let first = self.built.visited.slots().len() as u32;
        let across = across_sides(communicator, ruling.class);
        self.built.visited.push(ruling.class, across, &participants);
        let slots = (first..).map(Slot).zip(members);
        let ghosts = slots.filter(|(_, it)| !nodes.whole().has(it.location.as_usize()));
        let ghosts = ghosts.map(|(slot, it)| (slot, it.location));
        self.built.ghost_participants.extend(ghosts);
        self.built.outcomes.push(Outcome {
            communicator: number,
            turn,
            ruling,
        });
    }
}
