//! Calls that communicate and of which nothing is recorded but that they were entered and left.
//!
//! Recorders have no records for collective operations among neighbours, for messages in
//! partitions and for collective operations that are prepared once and started again and again. So
//! these calls show as regions only: who was waited for in them cannot be told, nor that nobody was.
//! They are counted, so that nobody takes a trace for sound of which little was looked at, or whoever
//! waited in them for somebody who worked.
//!
//! A call counts when it is left, if no record of communication lies in it: another recorder may have
//! one. The call that starts what was prepared starts messages as well, which are recorded. It
//! counts in traces only that define a call that prepares something else.

use retime_otf2::schema::{Class, event_code as code};
use retime_otf2::{Definitions, Glance, LocalDefinitions, MappingTable, RegionRef, WireError};
use rustc_hash::FxHashMap;

use super::postings::function_of;
use super::roles;

/// A kind of such a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SilentCall {
    /// A collective operation among neighbours.
    Neighbourhood,
    /// The start of something that was prepared.
    Start,
}

/// How many such calls a location has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnrecordedCalls {
    pub(crate) neighbourhood: u64,
    pub(crate) starts: u64,
}

impl UnrecordedCalls {
    /// How many numbers a location has.
    pub(crate) const NUMBERS: usize = 2;

    /// The counts as numbers, for whoever does not know this type.
    pub(crate) const fn numbers(self) -> [u64; Self::NUMBERS] {
        [self.neighbourhood, self.starts]
    }

    pub(crate) fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let &[neighbourhood, starts] = numbers else {
            return None;
        };
        Some(Self {
            neighbourhood,
            starts,
        })
    }
}

/// The calls of these kinds that a trace defines, by region.
pub(crate) struct SilentCalls(FxHashMap<RegionRef, SilentCall>);

impl SilentCalls {
    pub(crate) fn find(definitions: &Definitions) -> Self {
        let regions = definitions.regions.iter();
        let named = regions.map(|it| (it.id, function_of(&definitions.text(it.name))));
        let named: Vec<(RegionRef, String)> = named.collect();
        let are_prepared = named.iter().any(|(_, name)| prepares_silently(name));
        let kind = |name: &str| match name {
            "mpi_start" | "mpi_startall" => are_prepared.then_some(SilentCall::Start),
            _ => is_among_neighbours(name).then_some(SilentCall::Neighbourhood),
        };
        let kinds = named
            .iter()
            .filter_map(|(id, name)| Some((*id, kind(name)?)));
        Self(kinds.collect())
    }
}

fn is_among_neighbours(name: &str) -> bool {
    let is_called = ["mpi_neighbor_", "mpi_ineighbor_"].iter();
    is_called.clone().any(|it| name.starts_with(it)) && !name.ends_with("_init")
}

/// True if a call prepares something of which no start is recorded: a collective operation, or a
/// message in partitions. Calls that prepare other messages, and those that begin the use of MPI
/// or of a session, have names of the same form.
fn prepares_silently(name: &str) -> bool {
    let others = [
        "send_init",
        "ssend_init",
        "bsend_init",
        "rsend_init",
        "recv_init",
        "session_init",
    ];
    let own = name.strip_prefix("mpi_");
    own.is_some_and(|it| it.ends_with("_init") && !others.contains(&it))
}

/// The calls of one location, while it is read.
pub(super) struct Silence<'a> {
    calls: &'a SilentCalls,
    table: Option<&'a MappingTable>,
    /// The call that is open and has no record so far.
    open: Option<SilentCall>,
    /// How many regions were entered in it and not left.
    within: u64,
    pub(super) found: UnrecordedCalls,
}

impl<'a> Silence<'a> {
    /// Follows such calls of a location; `None` where the trace defines none.
    pub(super) fn new(calls: &'a SilentCalls, local: &'a LocalDefinitions) -> Option<Self> {
        (!calls.0.is_empty()).then(|| Self {
            calls,
            table: local.mappings.table(Class::Region),
            open: None,
            within: 0,
            found: UnrecordedCalls::default(),
        })
    }

    pub(super) fn follow(&mut self, event: Glance<'_>) -> Result<(), WireError> {
        match event.code {
            code::Enter if self.open.is_some() => self.within += 1,
            code::Enter => {
                let region = event.payload.clone().c32()?;
                let region = match self.table {
                    Some(table) => table.get(region.into()) as u32,
                    None => region,
                };
                self.open = self.calls.0.get(&RegionRef(region)).copied();
                self.within = 0;
            }
            code::Leave if self.within > 0 => self.within -= 1,
            code::Leave => match self.open.take() {
                Some(SilentCall::Neighbourhood) => self.found.neighbourhood += 1,
                Some(SilentCall::Start) => self.found.starts += 1,
                None => {}
            },
            _ if roles::CODES.contains(&event.code) => {
                self.open = None;
                self.within = 0;
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_prepared() {
        let silent = [
            "mpi_allreduce_init",
            "mpi_psend_init",
            "mpi_neighbor_alltoall_init",
        ];
        assert!(silent.iter().all(|it| prepares_silently(it)));
        let others = [
            "mpi_init",
            "mpi_send_init",
            "mpi_session_init",
            "shmem_init",
        ];
        assert!(!others.iter().any(|it| prepares_silently(it)));
    }

    #[test]
    fn preparing_is_no_exchange_among_neighbours() {
        assert!(is_among_neighbours("mpi_neighbor_alltoallw"));
        assert!(is_among_neighbours("mpi_ineighbor_allgather"));
        assert!(!is_among_neighbours("mpi_neighbor_allgather_init"));
        assert!(!is_among_neighbours("mpi_graph_neighbors"));
    }
}
