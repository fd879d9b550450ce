//! Dependencies that joined calls give already, so that an arrow which says one again adds none.
//!
//! Who puts the profiles of ranks into one file draws what was joined as arrows, from the moment
//! at which a call begins to that at which another call of its operation ends:
//!
//! ```text
//! rank 0   |-- all-reduce --|                an arrow from ^ to v says again that nobody
//! rank 1      ^------ all-reduce ----|       ends before all have begun
//!                  rank 0           v
//! ```
//!
//! Read again, calls are joined again, and such an arrow would be a second dependency of the same
//! two events.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::matching::{Joined, Matching, Part};
use crate::order::Side;
use crate::places::Places;
use crate::profile::FileRead;

/// A time of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Moment {
    process: usize,
    time: u64,
}

impl Moment {
    /// The moment at which an event of a file begins or ends.
    pub(crate) fn of(
        files: &[FileRead],
        places: &Places,
        file: usize,
        event: u32,
        side: Side,
    ) -> Option<Self> {
        let columns = &files.get(file)?.columns;
        let location = places.location(file, columns.track(event));
        Some(Self {
            process: places.info.locations.get(location.as_usize())?.process,
            time: match side {
                Side::End => columns.end(event),
                Side::Begin | Side::Moment => columns.begin(event),
            },
        })
    }
}

/// An operation or a message: its space and number, and which of both it is.
type Id = (u64, u64, bool);

/// The moments between which calls that were joined order anything.
#[derive(Debug, Default)]
pub(crate) struct JoinedMoments {
    causes: FxHashMap<Moment, Vec<Id>>,
    effects: FxHashSet<(Moment, Id)>,
}

impl JoinedMoments {
    /// The moments of calls, by the times of files, some of which draw arrows.
    pub(crate) fn of(files: &[FileRead], places: &Places, matching: &Matching) -> Self {
        let mut known = Self::default();
        if files.iter().all(|it| it.flows.is_empty()) {
            return known;
        }
        for (file, joined) in matching.joined.iter().enumerate() {
            for call in joined {
                let moment = |side| Moment::of(files, places, file, call.event, side);
                let (id, is_cause, is_effect) = roles(call);
                if let Some(begin) = moment(Side::Begin).filter(|_| is_cause) {
                    known.causes.entry(begin).or_default().push(id);
                }
                if let Some(end) = moment(Side::End).filter(|_| is_effect) {
                    known.effects.insert((end, id));
                }
            }
        }
        known
    }

    /// True if an operation leads from a moment to another.
    pub(crate) fn leads(&self, cause: Option<Moment>, effect: Option<Moment>) -> bool {
        let Some((cause, effect)) = cause.zip(effect) else {
            return false;
        };
        let mut ids = self.causes.get(&cause).into_iter().flatten();
        ids.any(|id| self.effects.contains(&(effect, *id)))
    }
}

/// The operation of a call, and whether others wait for it, and it for others.
fn roles(call: &Joined) -> (Id, bool, bool) {
    match call.part {
        Part::Collective {
            id, cause, effect, ..
        } => (
            (id.space, id.number, false),
            cause.is_some(),
            effect.is_some(),
        ),
        Part::Send(id) => ((id.space, id.number, true), true, false),
        Part::Receive(id) => ((id.space, id.number, true), false, true),
    }
}
