//! Post, start, complete and wait: synchronisation of a part of the processes of a window.
//!
//! An exposure ends when all origins have completed their accesses: `MPI_Win_wait`
//! returns only after each of them has entered `MPI_Win_complete`. The k-th completion of
//! an origin towards a target belongs to the k-th wait of that target for that origin;
//! so both can be named, by target, origin, window and k. That `MPI_Win_start` or
//! `MPI_Win_complete` waits for the post is up to the implementation, unless something
//! was fetched; see [`epochs`](super::epochs).

use std::collections::HashMap;
use std::sync::Arc;

use retime_model::{LocationIndex, MessageId, TraceInfo};
use retime_otf2::schema::Class;
use retime_otf2::{Definitions, GroupRef, LocalDefinitions, MappingTable, RmaWinRef};

/// The first byte of the spaces in which completions and posts are numbered, so that they
/// are not those of anything else.
const COMPLETIONS: u64 = 0x52 << 56;
const POSTS: u64 = 0x50 << 56;

/// How many bits of a space are for a location.
const LOCATION_BITS: u32 = 28;

/// The groups of a trace, as locations.
pub(crate) struct Groups(HashMap<GroupRef, Arc<[LocationIndex]>>);

impl Groups {
    pub(crate) fn find(definitions: &Definitions, info: &TraceInfo) -> Self {
        let locations = (0..).map(LocationIndex).zip(&info.locations);
        let index: HashMap<u64, LocationIndex> = locations.map(|(at, it)| (it.id, at)).collect();
        let resolve = |ids: &Arc<[u64]>| ids.iter().map(|id| index.get(id).copied()).collect();
        let groups = definitions.groups.iter();
        let resolved = groups.filter_map(|group| {
            let members: Option<Arc<[LocationIndex]>> =
                definitions.group_locations(group.id).and_then(resolve);
            Some((group.id, members?))
        });
        Self(resolved.collect())
    }
}

/// The part that a location takes in an exposure.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ExposurePart {
    /// It exposes its own memory (`MPI_Win_post`).
    Posts,
    /// It has fetched from the memory of others when it completes, so that they had posted before.
    Accesses,
    /// It tells these others that it is done (`MPI_Win_complete`).
    Completes,
    /// It waits until all who access its memory are done (`MPI_Win_wait`).
    Waits,
}

impl ExposurePart {
    const fn space(self) -> u64 {
        match self {
            Self::Posts | Self::Accesses => POSTS,
            Self::Completes | Self::Waits => COMPLETIONS,
        }
    }
}

/// The exposures that one location has a part in.
pub(super) struct Exposures<'a> {
    groups: &'a Groups,
    window_table: Option<&'a MappingTable>,
    group_table: Option<&'a MappingTable>,
    own: LocationIndex,
    counts: HashMap<(RmaWinRef, LocationIndex, ExposurePart), u32>,
    /// True if all are recorded so far, by this location.
    is_whole: bool,
}

impl<'a> Exposures<'a> {
    /// Follows the exposures of a location that speaks for `own`; `alone` if no other location
    /// does.
    pub(super) fn new(
        groups: &'a Groups,
        local: &'a LocalDefinitions,
        own: LocationIndex,
        alone: bool,
    ) -> Self {
        Self {
            groups,
            window_table: local.mappings.table(Class::RmaWin),
            group_table: local.mappings.table(Class::Group),
            own,
            counts: HashMap::new(),
            is_whole: alone,
        }
    }

    /// True if it is known which exposure the next one is.
    pub(super) fn are_counted(&self) -> bool {
        self.is_whole
    }

    /// Events are missing; how many exposures is not known.
    pub(super) fn missed(&mut self) {
        self.is_whole = false;
    }

    /// The names of what begins or ends now with each member of a group.
    pub(super) fn names(
        &mut self,
        part: ExposurePart,
        window: RmaWinRef,
        group: GroupRef,
    ) -> Vec<(LocationIndex, MessageId)> {
        let global = |table: Option<&MappingTable>, id: u32| match table {
            Some(table) => table.get(id.into()) as u32,
            None => id,
        };
        let window = RmaWinRef(global(self.window_table, window.0));
        let group = GroupRef(global(self.group_table, group.0));
        let Some(members) = self.groups.0.get(&group).filter(|_| self.is_whole) else {
            // What is not counted shifts all that follows.
            self.is_whole = false;
            return Vec::new();
        };
        let own = self.own;
        let counts = &mut self.counts;
        // Who is both is one thread, which waits for nobody.
        let others = members.iter().filter(|it| **it != own);
        let names = others.filter_map(|&other| {
            let count = counts.entry((window, other, part)).or_default();
            *count += 1;
            let (origin, target) = match part {
                ExposurePart::Accesses | ExposurePart::Completes => (own, other),
                ExposurePart::Posts | ExposurePart::Waits => (other, own),
            };
            let largest = 1 << LOCATION_BITS;
            let id = MessageId {
                space: part.space() | u64::from(origin.0) << LOCATION_BITS | u64::from(target.0),
                number: u64::from(window.0) << u32::BITS | u64::from(*count),
            };
            (origin.0 < largest && target.0 < largest).then_some((other, id))
        });
        names.collect()
    }
}
