//! Who a rank is, found quickly: neighbouring events mostly name the same
//! communicator.

use retime_model::{LocationIndex, Members};
use retime_otf2::schema::Class;
use retime_otf2::{CommRef, LocalDefinitions, MappingTable};

use super::windows::Windows;
use crate::describe::Description;

/// A communicator as one location sees it.
#[derive(Clone, Copy)]
pub(super) struct Comm<'a> {
    /// Its handle in the description of the trace.
    pub(super) handle: u32,
    /// True if its members are threads.
    pub(super) of_threads: bool,
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
    description: &'a Description,
    table: Option<&'a MappingTable>,
    /// Who communicates for the location.
    pub(super) own: LocationIndex,
    last: Option<(CommRef, Option<Comm<'a>>)>,
    pub(super) windows: Windows<'a>,
}

impl<'a> Partners<'a> {
    pub(super) fn new(
        description: &'a Description,
        local: &'a LocalDefinitions,
        location: LocationIndex,
    ) -> Self {
        let described = description.info.locations.get(location.as_usize());
        Self {
            description,
            table: local.mappings.table(Class::Comm),
            own: described.map_or(location, |it| it.endpoint),
            last: None,
            windows: Windows::new(description, local),
        }
    }

    /// The communicator with the id that an event of the location names.
    #[inline]
    pub(super) fn comm(&mut self, local: CommRef) -> Option<Comm<'a>> {
        match self.last {
            Some((last, comm)) if last == local => comm,
            _ => self.look_up(local),
        }
    }

    fn look_up(&mut self, local: CommRef) -> Option<Comm<'a>> {
        let comm = match self.table {
            Some(table) => CommRef(table.get(local.into()) as u32),
            None => local,
        };
        let handle = self.description.handles.get(&comm);
        let seen = handle.and_then(|&handle| self.see(handle));
        self.last = Some((local, seen));
        seen
    }

    fn see(&self, handle: u32) -> Option<Comm<'a>> {
        let communicator = self.description.info.communicators.get(handle as usize)?;
        let mut own = None;
        let ranks: &[LocationIndex] = match &communicator.members {
            Members::Ranks(ranks) | Members::Threads(ranks) => ranks,
            Members::Inter { a, b } if a.contains(&self.own) => b,
            Members::Inter { a, .. } => a,
            Members::Own => {
                own = Some(self.own);
                &[]
            }
        };
        Some(Comm {
            handle,
            of_threads: matches!(communicator.members, Members::Threads(_)),
            ranks,
            own,
        })
    }
}
