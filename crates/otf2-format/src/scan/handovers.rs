//! Handing over between threads of a process: a lock, the life of a thread, a task.
//!
//! Each location says what it has given and got. Which belongs to which shows only when
//! all locations are read; what is certain gets an id then that both sides have in common.
//! The rest is mostly no defect: the last release of a lock has nobody who waited for it,
//! a detached thread ends unnoticed, and most tasks are done by the thread that made them. It stays
//! without an id. Only a thread that was made and never began, or that somebody waited for
//! and that never ended, is reported as the end of a message whose other end is missing.

mod creations;
mod given;
mod locks;
mod process;
mod tasks;

use std::collections::HashMap;

use retime_model::{
    Class, LocationIndex, LogNode, MessageId, NamedMessage, NamedOperation, OperationId, TraceInfo,
};
use retime_otf2::Trace;

use self::creations::Creations;
pub(super) use self::given::{Handovers, LockUse, Phase, TaskId, ThreadId, Worked};
use self::process::{At, by_process};
use self::tasks::Tasks;
use super::scanned::{Joined, Scanned};
use crate::error::TraceError;

/// The space in which messages and operations between threads are numbered; its lower
/// half is the process, so that numbers do not depend on which others are read.
const SPACE: u64 = (u32::from_be_bytes(*b"thrd") as u64) << u32::BITS;

/// Names what certainly belongs together, in the logs of some locations by rising index;
/// those of a process have to be there together.
pub(crate) fn name(
    scanned: Vec<Scanned>,
    info: &TraceInfo,
    trace: &Trace,
) -> Result<Vec<Scanned>, TraceError> {
    if scanned.iter().all(|it| it.handovers.is_empty()) {
        return Ok(scanned);
    }
    let mut names = HandoverNames::default();
    for (number, process) in by_process(&scanned, info) {
        names.begin(number);
        for (released, acquired) in locks::pairs(&process) {
            names.message(&[released, acquired]);
        }
        let creations = Creations::of(&process);
        for (given, got) in creations.pairs() {
            names.message(&[given, got]);
        }
        for alone in creations.unmatched() {
            names.message(&[alone]);
        }
        let tasks = Tasks::of(&process);
        for (created, begun) in tasks.started() {
            names.task(created, &begun);
        }
        for (entered, completed) in tasks.awaited() {
            names.waited(entered, completed);
        }
    }
    names.enter(scanned, info, trace)
}

/// The names that are added to the logs of locations.
#[derive(Default)]
struct HandoverNames {
    joined: HashMap<LocationIndex, Joined>,
    space: u64,
    next: u64,
}

impl HandoverNames {
    /// Goes on to a process.
    fn begin(&mut self, process: usize) {
        self.space = SPACE | process as u64;
        self.next = 0;
    }

    fn of(&mut self, location: LocationIndex) -> &mut Joined {
        self.joined.entry(location).or_default()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    fn message(&mut self, ends: &[At]) {
        let id = MessageId {
            space: self.space,
            number: self.number(),
        };
        for end in ends {
            let node = end.node;
            let message = NamedMessage { id, node };
            self.of(end.location).messages.push(message);
        }
    }

    fn task(&mut self, created: At, begun: &[At]) {
        let id = OperationId {
            space: self.space,
            number: self.number(),
        };
        let mut event = |at: At, expected: u32| {
            self.of(at.location).operations.push(NamedOperation {
                id,
                class: Class::OneToAll,
                rank: at.location.0,
                expected,
                node: at.node,
            });
        };
        event(created, 1);
        for &at in begun {
            event(at, begun.len() as u32);
        }
    }

    /// A barrier waits for a task that was completed in it; the last one counts.
    fn waited(&mut self, entered: At, completed: LogNode) {
        let begin = self.of(entered.location).begins.entry(entered.node);
        let begin = begin.or_insert(completed);
        *begin = completed.max(*begin);
    }

    fn enter(
        mut self,
        scanned: Vec<Scanned>,
        info: &TraceInfo,
        trace: &Trace,
    ) -> Result<Vec<Scanned>, TraceError> {
        let enter = |it: Scanned| {
            let location = it.log.location();
            let joined = self.joined.remove(&location).unwrap_or_default();
            let described = info.locations.get(location.as_usize());
            let id = described.map_or(u64::from(location.0), |it| it.id);
            it.with(joined, trace, id)
        };
        scanned.into_iter().map(enter).collect()
    }
}
