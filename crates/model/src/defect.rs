//! Recording defects: what a recording lacks or contradicts, counted by kind, with
//! the first places.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::packed_fields;
use crate::trace::LocationIndex;
use crate::words::group_digits;

/// The places kept per kind unless more are asked for; the rest is only counted.
const PLACES_KEPT: usize = 5;

/// A kind of defect in a recording. None of them stops a correction: the
/// dependency in question is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defect {
    /// A send whose receive is not in the trace.
    SendWithoutReceive,
    /// A receive whose send is not in the trace.
    ReceiveWithoutSend,
    /// A send, a receive or a call of a collective whose place among those of its channel
    /// or communicator is not known, since recording was off at one of its ends.
    PlaceUnknown,
    /// A send or receive of a channel whose messages have other lengths where they
    /// arrive than where they leave.
    LengthsDisagree,
    /// A posted receive that neither completed nor was cancelled.
    ReceiveNeverCompleted,
    /// The completion of a receive that was never posted.
    ReceiveNotPosted,
    /// The completion of a send whose request is not open.
    RequestUnknown,
    /// A request id used again before it completed.
    RequestReused,
    /// A rank outside its communicator, or an undefined communicator.
    UnknownPeer,
    /// A collective end without its begin.
    CollectiveWithoutBegin,
    /// A collective begin without its end.
    CollectiveWithoutEnd,
    /// A collective that some members of its communicator did not record.
    CollectiveIncomplete,
    /// Participants of one collective disagree on operation or root.
    CollectiveMismatch,
    /// A message or operation whose id more events carry than belong to it.
    IdNotUnique,
    /// An event stamped earlier than its predecessor on the same location.
    TimeRunsBackwards,
}

impl Defect {
    /// The defect in words; `count` decides the grammatical number.
    pub fn describe(self, count: u64) -> String {
        let plural = |one: &str, many: &str| {
            format!(
                "{} {}",
                group_digits(count),
                if count == 1 { one } else { many }
            )
        };
        match self {
            Self::SendWithoutReceive => plural("send without a receive", "sends without a receive"),
            Self::ReceiveWithoutSend => plural("receive without a send", "receives without a send"),
            Self::PlaceUnknown => plural(
                "operation without a certain partner, since recording was off",
                "operations without a certain partner, since recording was off",
            ),
            Self::LengthsDisagree => plural(
                "send or receive in a channel whose lengths disagree",
                "sends or receives in channels whose lengths disagree",
            ),
            Self::ReceiveNeverCompleted => plural(
                "posted receive never completed",
                "posted receives never completed",
            ),
            Self::ReceiveNotPosted => plural(
                "receive completed that was not posted",
                "receives completed that were not posted",
            ),
            Self::RequestUnknown => plural(
                "send completed that was not started",
                "sends completed that were not started",
            ),
            Self::RequestReused => plural(
                "request id reused while open",
                "request ids reused while open",
            ),
            Self::UnknownPeer => plural(
                "operation names an unknown rank or communicator",
                "operations name an unknown rank or communicator",
            ),
            Self::CollectiveWithoutBegin => plural(
                "collective end without a begin",
                "collective ends without a begin",
            ),
            Self::CollectiveWithoutEnd => plural(
                "collective begin without an end",
                "collective begins without an end",
            ),
            Self::CollectiveIncomplete => plural(
                "collective lacks a participant",
                "collectives lack a participant",
            ),
            Self::CollectiveMismatch => plural(
                "collective whose participants disagree",
                "collectives whose participants disagree",
            ),
            Self::IdNotUnique => plural(
                "event with an id that is used for others too",
                "events with an id that is used for others too",
            ),
            Self::TimeRunsBackwards => plural(
                "event stamped before its predecessor",
                "events stamped before their predecessor",
            ),
        }
    }
}

/// Where something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Hash)]
pub struct Place {
    /// The location.
    pub location: LocationIndex,
    /// The event, counted from 0 within the location.
    pub event: u64,
}

packed_fields!(Place {
    location: LocationIndex,
    event: u64,
});

/// Count and first places of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefectCount {
    /// How many there are.
    pub count: u64,
    /// The first few, by location and event.
    pub places: Vec<Place>,
}

impl DefectCount {
    /// Keeps a place, if it is one of the first `most`.
    fn keep(&mut self, place: Place, most: usize) {
        if self.places.len() >= most && self.places.last() <= Some(&place) {
            return;
        }
        let at = self.places.partition_point(|it| *it <= place);
        self.places.insert(at, place);
        self.places.truncate(most);
    }
}

/// All recording defects of a trace by kind.
///
/// ```
/// use retime_model::{Defect, Defects, LocationIndex, Place};
/// let mut all = Defects::keeping(100);
/// for event in 0..10 {
///     all.add(Defect::UnknownPeer, LocationIndex(0), event);
/// }
/// let place = |event| Place { location: LocationIndex(0), event };
/// assert_eq!(all.at(place(9)).collect::<Vec<_>>(), [Defect::UnknownPeer]);
/// assert_eq!(all.at(place(10)).count(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defects {
    by_kind: BTreeMap<Defect, DefectCount>,
    /// The most places kept of each kind.
    kept: usize,
}

impl Default for Defects {
    fn default() -> Self {
        Self::keeping(PLACES_KEPT)
    }
}

impl Defects {
    /// None yet, of which the first so many places will be kept of each kind.
    pub const fn keeping(places: usize) -> Self {
        Self {
            by_kind: BTreeMap::new(),
            kept: places,
        }
    }

    /// The kinds found at a place, as far as that is one of those kept.
    pub fn at(&self, place: Place) -> impl Iterator<Item = Defect> {
        let there = self
            .iter()
            .filter(move |(_, found)| found.places.binary_search(&place).is_ok());
        there.map(|(kind, _)| kind)
    }

    /// Notes one more of `kind`.
    pub fn add(&mut self, kind: Defect, location: LocationIndex, event: u64) {
        let found = self.by_kind.entry(kind).or_default();
        found.count += 1;
        found.keep(Place { location, event }, self.kept);
    }

    /// Joins what others found, in any order.
    pub fn merge(&mut self, other: Self) {
        for (kind, found) in other.by_kind {
            let own = self.by_kind.entry(kind).or_default();
            own.count += found.count;
            for place in found.places {
                own.keep(place, self.kept);
            }
        }
    }

    /// All kinds found, with counts and places.
    pub fn iter(&self) -> impl Iterator<Item = (Defect, &DefectCount)> {
        self.by_kind.iter().map(|(&kind, found)| (kind, found))
    }

    /// How many of `kind` were found.
    pub fn count(&self, kind: Defect) -> u64 {
        self.by_kind.get(&kind).map_or(0, |found| found.count)
    }

    /// True if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.by_kind.is_empty()
    }
}
