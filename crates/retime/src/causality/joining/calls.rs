//! The calls of one operation, and what they prove.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use retime_model::{Class, Collective, Communicator, LocationIndex, Members};

use super::super::collectives::Participant;
use super::super::ids::EventNode;

/// A call, with its nodes in the whole trace.
#[derive(Clone, Copy, Debug)]
pub(in crate::causality) struct Call {
    pub(in crate::causality) what: Collective,
    pub(in crate::causality) begin: Option<EventNode>,
    pub(in crate::causality) end: Option<EventNode>,
    /// Where it is recorded: its end if there is one, or else its begin.
    pub(in crate::causality) place: EventNode,
}

/// One member's call of one operation.
#[derive(Clone, Copy)]
pub(in crate::causality) struct Entered {
    pub(in crate::causality) call: Call,
    pub(in crate::causality) side: u8,
    pub(in crate::causality) rank: u32,
}

/// Per communicator and endpoint: the calls in order.
pub(in crate::causality) type Recorded = FxHashMap<LocationIndex, Vec<Call>>;

/// The calls of one member of a communicator.
#[derive(Debug)]
pub(in crate::causality) struct Member {
    pub(in crate::causality) location: LocationIndex,
    pub(in crate::causality) side: u8,
    pub(in crate::causality) rank: u32,
    pub(in crate::causality) calls: Vec<Call>,
}

/// All members, each with the calls of it that are known here, which are taken out of
/// `recorded`.
pub(in crate::causality) fn members_with_calls(
    communicator: &Communicator,
    recorded: &mut Recorded,
) -> Vec<Member> {
    let sides = (0..).zip(communicator.groups());
    let ranks = sides.flat_map(|(side, ranks)| {
        let ranks = (0..).zip(ranks);
        ranks.map(move |(rank, location)| (side, rank, *location))
    });
    let member = |(side, rank, location): (u8, u32, LocationIndex)| Member {
        location,
        side,
        rank,
        calls: recorded.remove(&location).unwrap_or_default(),
    };
    ranks.map(member).collect()
}

/// The order that an operation proves, and its root.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::causality) struct Ruling {
    pub(in crate::causality) class: Class,
    /// The place of the root among the members.
    pub(in crate::causality) root: Option<u32>,
}

impl Ruling {
    /// The part that a member's call plays in the operation.
    pub(in crate::causality) fn participant(
        &self,
        place: u32,
        side: u8,
        call: &Call,
    ) -> Participant {
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

/// Calls that belong together by their turn are of different operations, or disagree on a
/// root; where the first of them is.
pub(in crate::causality) struct Mismatch(pub(in crate::causality) EventNode);

pub(in crate::causality) fn participants(ruling: Ruling, calls: &[Entered]) -> Vec<Participant> {
    let calls = (0..).zip(calls);
    let participant = |(place, it): (u32, &Entered)| ruling.participant(place, it.side, &it.call);
    calls.map(participant).collect()
}

pub(in crate::causality) fn proves_something(class: Class, participants: &[Participant]) -> bool {
    let effects = participants.iter().any(|it| it.end.is_some());
    let causes = participants.iter().any(|it| it.begin.is_some());
    class != Class::None && effects && causes
}

/// True if causes and effects are on different sides.
pub(in crate::causality) fn across_sides(communicator: &Communicator, class: Class) -> bool {
    matches!(communicator.members, Members::Inter { .. }) && class != Class::Prefix
}
