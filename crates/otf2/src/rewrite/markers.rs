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

use super::compressed::{CompressedField, with_values};
use crate::comms::Members;
use crate::definitions::Definitions;
use crate::error::{Result, WireError};
use crate::marker_scope::MarkerScope;
use crate::records::Entry;
use crate::refs::{LocationGroupRef, SystemTreeNodeRef};
use crate::schema::codes::MARKER;

/// Moves the markers of a trace.
pub(super) struct Markers<'a> {
    correction: &'a Correction,
    definitions: &'a Definitions,
    index: HashMap<u64, LocationIndex>,
}

struct Marker {
    time: CompressedField,
    duration: CompressedField,
    scope: MarkerScope,
}

impl Marker {
    fn read(entry: &Entry<'_>) -> Result<Self, WireError> {
        let mut payload = entry.payload();
        let (time, duration) = (
            CompressedField::read(&mut payload)?,
            CompressedField::read(&mut payload)?,
        );
        payload.c32()?;
        Ok(Self {
            time,
            duration,
            scope: MarkerScope::from_code_and_id(payload.u8()?, payload.c64()?),
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
        let location = self.location(marker.scope);
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

    fn location(&self, scope: MarkerScope) -> Option<LocationIndex> {
        match scope {
            MarkerScope::Location(id) => self.index.get(&id).copied(),
            MarkerScope::LocationGroup(id) => self.first(|group| group == id),
            MarkerScope::SystemTreeNode(node) => self.below(node),
            MarkerScope::Group(group) => self.listed(self.definitions.group_locations(group)?),
            MarkerScope::Comm(comm) => match self.definitions.comm_members(comm)? {
                Members::Own => None,
                Members::Intra(members)
                | Members::Global { members, .. }
                | Members::Inter(members, _) => self.listed(members),
            },
            MarkerScope::Global | MarkerScope::Other(..) => None,
        }
    }

    /// The first location whose location group is accepted.
    fn first(&self, accept: impl Fn(LocationGroupRef) -> bool) -> Option<LocationIndex> {
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
    fn below(&self, node: SystemTreeNodeRef) -> Option<LocationIndex> {
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
