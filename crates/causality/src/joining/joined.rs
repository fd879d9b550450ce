//! Operations that are joined, and those that are joined elsewhere.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use retime_model::{LocationIndex, TraceInfo};

use crate::calls::{Member, Ruling, across_sides};
use crate::collectives::{Collectives, Elsewhere, Participant};
use crate::ids::{Instance, Slot};
use crate::whole::Whole;

/// The operations of a communicator that are joined here: all calls of `first`, and of each
/// `every`-th after it, are known. Of other operations only own calls and those of neighbours are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// `None` if none is joined here.
    pub first: Option<usize>,
    /// How many parts take turns.
    pub every: usize,
}

/// Facts about calls that all parts of a trace know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared<'a> {
    /// Communicators of which each operation is joined in one part.
    pub(crate) turns: &'a FxHashMap<u32, Turns>,
    /// Locations with calls of which no begin is recorded.
    pub(crate) lack_begins: &'a FxHashSet<LocationIndex>,
}

/// The result of joining an operation, once all of its calls are known.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Whose operation it is.
    pub communicator: u32,
    pub(super) turn: u32,
    pub(super) ruling: Ruling,
}

/// The operations that are joined here, and what it takes to join the rest.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// Operations that are visited here.
    pub(crate) visited: Collectives,
    /// Operations that are visited elsewhere, though all of them is known here.
    pub(super) others: Collectives,
    /// Participants elsewhere of operations in turns that were joined here.
    pub(crate) ghost_participants: Vec<(Slot, LocationIndex)>,
    /// The outcomes of these operations.
    pub(crate) outcomes: Vec<Outcome>,
    /// Per communicator in turns: the members whose calls are all known here, by place.
    pub(super) awaiting: FxHashMap<u32, Vec<(u32, Member)>>,
}

impl Joined {
    /// Adds operations that were joined elsewhere, by part; and by part which own participants
    /// these have.
    pub(crate) fn complete(
        self,
        info: &TraceInfo,
        whole: &Whole,
        outcomes: Vec<Vec<Outcome>>,
    ) -> (Collectives, Vec<Vec<Slot>>) {
        let mut all = self.visited;
        if whole.is_here() {
            return (all, Vec::new());
        }
        let first = Instance(all.known_instances().len() as u32);
        all.append(&self.others);
        let first_incomplete = Slot(all.slots().len() as u32);
        let mut away = vec![Vec::new(); outcomes.len()];
        for (part, outcomes) in outcomes.into_iter().enumerate() {
            for outcome in outcomes {
                let communicator = info.communicators.get(outcome.communicator as usize);
                let members = self.awaiting.get(&outcome.communicator);
                let Some((communicator, members)) = communicator.zip(members) else {
                    continue;
                };
                let ruling = outcome.ruling;
                let known = members.iter().filter_map(|(place, member)| {
                    let call = member.calls.get(outcome.turn as usize)?;
                    Some(ruling.participant(*place, member.side, call))
                });
                let participants: Vec<Participant> = known.collect();
                let first = all.slots().len() as u32;
                let slots = (first..).map(Slot).zip(members);
                let own = slots.filter(|(_, (_, it))| whole.has(it.location.as_usize()));
                away[part].extend(own.map(|(slot, _)| slot));
                let across_sides = across_sides(communicator, ruling.class);
                all.push(ruling.class, across_sides, &participants);
            }
        }
        all.elsewhere = Some(Elsewhere {
            first,
            first_incomplete,
        });
        (all, away)
    }
}
