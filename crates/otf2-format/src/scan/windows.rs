//! Collective operations on windows of one-sided communication.
//!
//! A record names the window, the operation, and a level of synchronisation. The level
//! is what the recorder thinks of such operations in general, also of a fence that is
//! asserted to end nothing; so it decides nothing here. A fence ends an epoch where a
//! process has accessed a window since the fence before, not under a lock and not between
//! start and complete: only then did the standard make everybody wait.
//!
//! Windows of `OpenSHMEM` have barriers.

use std::collections::HashMap;

use retime_model::{Collective, LogBuilder, Operation, Root};
use retime_otf2::schema::Class;
use retime_otf2::{CollectiveOp, LocalDefinitions, MappingTable, RmaWinRef};

use super::moment::Moment;
use crate::describe::{Description, Window};

/// The accesses of a location to a window since the last fence.
#[derive(Clone, Copy, Default)]
struct Epoch {
    accessed: bool,
    /// There may have been locks, or synchronisation of a part of the processes.
    otherwise: bool,
}

/// The windows of one location.
pub(super) struct Windows<'a> {
    description: &'a Description,
    table: Option<&'a MappingTable>,
    /// The epochs under way, by the location's own ids of windows.
    epochs: HashMap<RmaWinRef, Epoch>,
    /// True if all that the process did shows so far.
    is_whole: bool,
    /// True if a part of the processes has synchronised.
    pub(super) has_groups: bool,
}

impl<'a> Windows<'a> {
    pub(super) fn new(description: &'a Description, local: &'a LocalDefinitions) -> Self {
        Self {
            description,
            table: local.mappings.table(Class::RmaWin),
            epochs: HashMap::new(),
            is_whole: true,
            has_groups: false,
        }
    }

    /// The process has accessed memory of others.
    pub(super) fn accessed(&mut self, window: RmaWinRef) {
        self.epochs.entry(window).or_default().accessed = true;
    }

    /// The process has accessed memory, or will, by other means than fences.
    pub(super) fn otherwise(&mut self, window: RmaWinRef) {
        self.epochs.entry(window).or_default().otherwise = true;
    }

    /// A group has synchronised.
    pub(super) fn grouped(&mut self, window: RmaWinRef) {
        self.otherwise(window);
        self.has_groups = true;
    }

    /// Notes that not all that the process does with windows shows in the events of the location:
    /// some are not recorded, or others speak for it, too.
    pub(super) fn missed(&mut self) {
        self.is_whole = false;
    }

    /// The window as the definitions of the trace name it.
    pub(super) fn global(&self, local: RmaWinRef) -> RmaWinRef {
        match self.table {
            Some(table) => RmaWinRef(table.get(local.into()) as u32),
            None => local,
        }
    }

    /// A collective operation ends.
    pub(super) fn ended(
        &mut self,
        at: Moment,
        operation: CollectiveOp,
        local: RmaWinRef,
        log: &mut LogBuilder,
    ) {
        let window = self.global(local);
        let Some(known) = self.description.windows.get(&window) else {
            return log.collective_left_out();
        };
        let epoch = self.epochs.remove(&local).unwrap_or_default();
        let what = Collective {
            communicator: known.handle,
            operation: operation_of(known, operation),
            root: Root::None,
            sent: self.is_whole && epoch.accessed && !epoch.otherwise,
            received: false,
        };
        log.collective_end(at.event, at.time, what);
    }
}

const fn operation_of(window: &Window, operation: CollectiveOp) -> Operation {
    match operation {
        CollectiveOp::BARRIER if window.has_barriers => Operation::Barrier,
        _ if window.has_barriers => Operation::Other,
        CollectiveOp::BARRIER => Operation::Fence,
        CollectiveOp::CREATE_HANDLE | CollectiveOp::CREATE_HANDLE_AND_ALLOCATE => {
            Operation::CreateWindow
        }
        CollectiveOp::DESTROY_HANDLE | CollectiveOp::DESTROY_HANDLE_AND_DEALLOCATE => {
            Operation::FreeWindow
        }
        _ => Operation::Other,
    }
}
