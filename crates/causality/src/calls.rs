//! The calls of one operation, and what they prove.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use retime_model::{Class, Collective, Communicator, LocationIndex, Members};

use crate::collectives::Participant;
use crate::ids::EventNode;

/// A call, with its nodes in the whole trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) what: Collective,
    pub(crate) begin: Option<EventNode>,
    pub(crate) end: Option<EventNode>,
    /// Where it is recorded: its end if there is one, or else its begin.
    pub(crate) place: EventNode,
}

/// One member's call of one operation.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    pub(crate) call: Call,
    pub(crate) side: u8,
    pub(crate) rank: u32,
}

/// Per communicator and endpoint: the calls in order.
pub(crate) type Recorded = FxHashMap<LocationIndex, Vec<Call>>;

/// The calls of one member of a communicator.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) location: LocationIndex,
    pub(crate) side: u8,
    pub(crate) rank: u32,
    pub(crate) calls: Vec<Call>,
}

/// All members, each with the calls of it that are known here, which are taken out of
/// `recorded`.
pub(crate) fn members_with_calls(
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
pub(crate) struct Ruling {
    pub(crate) class: Class,
    /// The place of the root among the members.
    pub(crate) root: Option<u32>,
}

impl Ruling {
    /// The part that a member's call plays in the operation.
    pub(crate) fn participant(&self, place: u32, side: u8, call: &Call) -> Participant {
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
pub(crate) struct Mismatch(pub(crate) EventNode);

pub(crate) fn participants(ruling: Ruling, calls: &[Entered]) -> Vec<Participant> {
    let calls = (0..).zip(calls);
    let participant = |(place, it): (u32, &Entered)| ruling.participant(place, it.side, &it.call);
    calls.map(participant).collect()
}

pub(crate) fn proves_something(class: Class, participants: &[Participant]) -> bool {
    let effects = participants.iter().any(|it| it.end.is_some());
    let causes = participants.iter().any(|it| it.begin.is_some());
    class != Class::None && effects && causes
}

/// True if causes and effects are on different sides.
pub(crate) fn across_sides(communicator: &Communicator, class: Class) -> bool {
    matches!(communicator.members, Members::Inter { .. }) && class != Class::Prefix
}
