//! Who a rank is, found quickly: neighbouring events mostly name the same
//! communicator.

use std::collections::HashMap;

use retime_model::{LocationIndex, Members, TraceInfo};

use crate::local::LocalDefinitions;
use crate::mapping::MappingTable;
use crate::refs::CommRef;
use crate::schema::Class;

/// A communicator as one location sees it.
#[derive(Clone, Copy)]
pub(super) struct Comm<'a> {
    /// Its handle in the description of the trace.
    pub(super) handle: u32,
    ranks: &'a [LocationIndex],
    /// Rank 0 if there are no ranks.
    own: Option<LocationIndex>,
}

impl Comm<'_> {
    /// The location that a rank names.
    #[inline]
    pub(super) fn location(&self, rank: u32) -> Option<LocationIndex> {
        match self.ranks.get(rank as usize) {
            Some(&location) => Some(location),
            None => self.own.filter(|_| rank == 0),
        }
    }
}

/// The communicators of one location.
pub(super) struct Partners<'a> {
    info: &'a TraceInfo,
    handles: &'a HashMap<CommRef, u32>,
    table: Option<&'a MappingTable>,
    /// Who communicates for the location.
    own: LocationIndex,
    last: Option<(u32, Option<Comm<'a>>)>,
}

impl<'a> Partners<'a> {
    pub(super) fn new(
        info: &'a TraceInfo,
        handles: &'a HashMap<CommRef, u32>,
        local: &'a LocalDefinitions,
        location: LocationIndex,
    ) -> Self {
        let described = info.locations.get(location.as_usize());
        Self {
            info,
            handles,
            table: local.mappings.table(Class::Comm),
            own: described.map_or(location, |it| it.endpoint),
            last: None,
        }
    }

    /// The communicator with the id that an event of the location names.
    #[inline]
    pub(super) fn comm(&mut self, local_id: u32) -> Option<Comm<'a>> {
        match self.last {
            Some((last, comm)) if last == local_id => comm,
            _ => self.look_up(local_id),
        }
    }

    fn look_up(&mut self, local_id: u32) -> Option<Comm<'a>> {
        let id = match self.table {
            Some(table) => table.get(local_id.into()) as u32,
            None => local_id,
        };
        let comm = self
            .handles
            .get(&CommRef(id))
            .and_then(|&handle| self.see(handle));
        self.last = Some((local_id, comm));
        comm
    }

    fn see(&self, handle: u32) -> Option<Comm<'a>> {
        let communicator = self.info.communicators.get(handle as usize)?;
        let mut own = None;
        let ranks: &[LocationIndex] = match &communicator.members {
            Members::Ranks(ranks) => ranks,
            Members::Inter { a, b } if a.contains(&self.own) => b,
            Members::Inter { a, .. } => a,
            Members::Own => {
                own = Some(self.own);
                &[]
            }
        };
        Some(Comm { handle, ranks, own })
    }
}
