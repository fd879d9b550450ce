//! Markers with new times.
//!
//! A marker has no clock of its own. It moves with the location that it is
//! about, or with the first one of the process, node, group or communicator
//! that it is about; a marker about everything moves with the first location
//! of the trace. Its time is global already, so clock offsets do not apply.
//!
//! People set markers, at times that need not make sense. One that would leave
//! the range of times stays as it is; it must not hold up a correction.

use std::collections::{HashMap, HashSet};

use retime_model::{Correction, LocationIndex, Timestamp};

use super::compressed::{Field, with_values};
use crate::comms::Members;
use crate::definitions::Definitions;
use crate::error::{Result, WireError};
use crate::records::Entry;

/// Code of a marker; definitions of markers have another.
const MARKER: u8 = 6;

/// What a marker is about, by the number in the record.
mod scope {
    pub(super) const LOCATION: u8 = 1;
    pub(super) const LOCATION_GROUP: u8 = 2;
    pub(super) const SYSTEM_TREE_NODE: u8 = 3;
    pub(super) const GROUP: u8 = 4;
    pub(super) const COMM: u8 = 5;
}

/// Moves the markers of a trace.
pub(super) struct Markers<'a> {
    correction: &'a Correction,
    definitions: &'a Definitions,
    index: HashMap<u64, LocationIndex>,
}

struct Marker {
    time: Field,
    duration: Field,
    scope: u8,
    scope_id: u64,
}

impl Marker {
    fn read(entry: &Entry<'_>) -> Result<Self, WireError> {
        let mut payload = entry.payload();
        let (time, duration) = (Field::read(&mut payload)?, Field::read(&mut payload)?);
        payload.c32()?;
        Ok(Self {
            time,
            duration,
            scope: payload.u8()?,
            scope_id: payload.c64()?,
        })
    }
}

impl<'a> Markers<'a> {
    pub(super) fn new(correction: &'a Correction, definitions: &'a Definitions) -> Self {
        let ids = definitions.location_ids().into_iter();
        let index = (0..).map(LocationIndex);
        Self {
            correction,
            definitions,
            index: ids.zip(index).collect(),
        }
    }

    /// The record with its new times; `None` if it is no marker or stays.
    pub(super) fn rewrite(&self, entry: &Entry<'_>) -> Result<Option<Vec<u8>>> {
        if entry.record().code != MARKER || self.index.is_empty() {
            return Ok(None);
        }
        let marker = Marker::read(entry).map_err(|error| entry.error(error))?;
        let (time, duration) = self.times(&marker);
        if (time, duration) == (marker.time.value, marker.duration.value) {
            return Ok(None);
        }
        let chunk = entry.chunk();
        Ok(Some(with_values(
            chunk.bytes(),
            entry.record(),
            chunk.header().endian,
            &[(&marker.time, time), (&marker.duration, duration)],
        )))
    }

    /// New time and duration.
    fn times(&self, marker: &Marker) -> (u64, u64) {
        let location = self.location(marker.scope, marker.scope_id);
        let location = location.unwrap_or(LocationIndex(0));
        let mut cursor = self.correction.map_of(location).cursor(location);
        let mut map = |time| cursor.map_time(Timestamp(time)).map(|new| new.0);
        let (begin, duration) = (marker.time.value, marker.duration.value);
        let Some(new_begin) = map(begin) else {
            return (begin, duration);
        };
        let new_end = begin.checked_add(duration).and_then(map);
        let new_duration = new_end.and_then(|end| end.checked_sub(new_begin));
        (new_begin, new_duration.unwrap_or(duration))
    }

    fn location(&self, scope: u8, id: u64) -> Option<LocationIndex> {
        let small = u32::try_from(id);
        match scope {
            scope::LOCATION => self.index.get(&id).copied(),
            scope::LOCATION_GROUP => self.first(|group| small.is_ok_and(|id| id == group)),
            scope::SYSTEM_TREE_NODE => self.below(small.ok()?),
            scope::GROUP => self.listed(self.definitions.group_locations(small.ok()?)?),
            scope::COMM => match self.definitions.comm_members(small.ok()?)? {
                Members::Own => None,
                Members::Intra(members) | Members::Inter(members, _) => self.listed(members),
            },
            _ => None,
        }
    }

    /// The first location whose location group is accepted.
    fn first(&self, accept: impl Fn(u32) -> bool) -> Option<LocationIndex> {
        let mut locations = self.definitions.locations.iter();
        let found = locations.find(|it| it.group.is_some_and(&accept))?;
        self.index.get(&found.id).copied()
    }

    fn listed(&self, ids: &[u64]) -> Option<LocationIndex> {
        ids.iter()
            .filter_map(|id| self.index.get(id))
            .min()
            .copied()
    }

    /// The first location below a node of the system tree.
    fn below(&self, node: u32) -> Option<LocationIndex> {
        self.first(|group| {
            let group = self.definitions.location_groups.get(group);
            let mut next = group.and_then(|group| group.system_tree_parent);
            let mut seen = HashSet::new();
            while let Some(above) = next.filter(|&above| seen.insert(above)) {
                if above == node {
                    return true;
                }
                let parent = self.definitions.system_tree.get(above);
                next = parent.and_then(|parent| parent.parent);
            }
            false
        })
    }
}
