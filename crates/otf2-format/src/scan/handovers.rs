//! What threads of a process hand over to each other: a lock, the life of a thread, a task.
//!
//! Each location says what it has given and got. Which belongs to which shows only when
//! all locations are read; what is certain gets an id then that both sides have in common.
//! The rest is mostly no defect: the last release of a lock has nobody who waited for it,
//! a detached thread ends unnoticed, and most tasks are done by who made them. It stays
//! without an id. Only a thread that was made and never began, or that somebody waited for
//! and that never ended, is reported as the end of a message whose other end is missing.

mod creations;
mod locks;
mod tasks;

use std::collections::{BTreeMap, HashMap, HashSet};

use retime_model::{
    Class, LocationIndex, LogNode, MessageId, NamedMessage, NamedOperation, OperationId, TraceInfo,
};
use retime_otf2::{EventData, Paradigm, Trace};

use self::creations::Creations;
use self::tasks::Tasks;
use super::{Joined, Scanned};
use crate::error::TraceError;

/// The space in which messages and operations between threads are numbered; its lower
/// half is the process, so that numbers do not depend on which others are read.
const SPACE: u64 = (u32::from_be_bytes(*b"thrd") as u64) << u32::BITS;

/// An acquisition of a lock, as its records say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LockUse {
    lock: (Paradigm, u32),
    order: u32,
}

impl LockUse {
    /// The one that an event begins or ends, if it does so.
    pub(super) const fn of(data: &EventData) -> Option<Self> {
        let (model, lock, order) = match *data {
            EventData::ThreadAcquireLock {
                model,
                lock,
                acquisition_order,
            }
            | EventData::ThreadReleaseLock {
                model,
                lock,
                acquisition_order,
            } => (model, lock, acquisition_order),
            EventData::OmpAcquireLock {
                lock,
                acquisition_order,
            }
            | EventData::OmpReleaseLock {
                lock,
                acquisition_order,
            } => (Paradigm::OPENMP, lock, acquisition_order),
            _ => return None,
        };
        Some(Self {
            lock: (model, lock),
            order,
        })
    }
}

/// A task, as its records say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TaskId {
    team: Option<u32>,
    number: u64,
}

impl TaskId {
    /// By the thread of a team that made it, and a number that this one gave it.
    pub(super) fn of_team(team: Option<u32>, thread: u32, generation: u32) -> Self {
        Self {
            team,
            number: u64::from(thread) << 32 | u64::from(generation),
        }
    }

    /// By its number in the process.
    pub(super) const fn named(number: u64) -> Self {
        Self { team: None, number }
    }
}

/// Where a thread is in a use of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) team: u32,
    /// How many barriers it has entered before.
    pub(super) barriers: u32,
}

/// A task was completed within a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worked {
    /// The event by which the barrier was entered.
    pub(super) entered: LogNode,
    /// Where that was.
    pub(super) phase: Phase,
    pub(super) node: LogNode,
}

/// By what the creator of a thread and the thread itself name it: the contingent and a
/// number in it.
pub(super) type ThreadId = (Option<u32>, u64);

/// What a location has given or got.
#[derive(Default)]
pub(crate) struct Handovers {
    acquired: Vec<(LockUse, LogNode)>,
    released: Vec<(LockUse, LogNode)>,
    created: Vec<(ThreadId, LogNode)>,
    begun: Vec<(ThreadId, LogNode)>,
    ended: Vec<(ThreadId, LogNode)>,
    awaited: Vec<(ThreadId, LogNode)>,
    /// With the number of the use of their team.
    tasks_created: Vec<(TaskId, u32, Option<Phase>, LogNode)>,
    tasks_begun: Vec<(TaskId, u32, LogNode)>,
    tasks_in_barriers: Vec<(TaskId, u32, Worked)>,
    /// Tasks that it works on, or has worked on and may do so again.
    open_tasks: HashSet<TaskId>,
    /// How often it has begun to work in each team.
    uses: HashMap<u32, u32>,
}

impl Handovers {
    pub(super) fn acquires(&mut self, of: LockUse, node: LogNode) {
        self.acquired.push((of, node));
    }

    pub(super) fn releases(&mut self, of: LockUse, node: LogNode) {
        self.released.push((of, node));
    }

    pub(super) fn creates(&mut self, thread: ThreadId, node: LogNode) {
        self.created.push((thread, node));
    }

    pub(super) fn begins(&mut self, thread: ThreadId, node: LogNode) {
        self.begun.push((thread, node));
    }

    pub(super) fn ends(&mut self, thread: ThreadId, node: LogNode) {
        self.ended.push((thread, node));
    }

    pub(super) fn waits(&mut self, thread: ThreadId, node: LogNode) {
        self.awaited.push((thread, node));
    }

    pub(super) fn team_begins(&mut self, team: u32) {
        *self.uses.entry(team).or_default() += 1;
    }

    pub(super) fn creates_task(&mut self, task: TaskId, phase: Option<Phase>, node: LogNode) {
        let used = self.uses_of(task);
        self.tasks_created.push((task, used, phase, node));
    }

    pub(super) fn works_on(&mut self, task: TaskId, worked: Worked) {
        let used = self.uses_of(task);
        self.tasks_in_barriers.push((task, used, worked));
    }

    /// Whether the location begins to work on a task, and does not return to it.
    pub(super) fn is_new(&mut self, task: TaskId) -> bool {
        self.open_tasks.insert(task)
    }

    pub(super) fn begins_task(&mut self, task: TaskId, node: LogNode) {
        self.tasks_begun.push((task, self.uses_of(task), node));
    }

    pub(super) fn completes_task(&mut self, task: TaskId) {
        self.open_tasks.remove(&task);
    }

    /// How often the location has begun to work in the team of a task.
    fn uses_of(&self, task: TaskId) -> u32 {
        let uses = task.team.and_then(|team| self.uses.get(&team));
        uses.copied().unwrap_or(0)
    }

    fn is_empty(&self) -> bool {
        let threads = [&self.created, &self.begun, &self.ended, &self.awaited];
        self.acquired.is_empty()
            && self.released.is_empty()
            && threads.iter().all(|it| it.is_empty())
            && self.tasks_created.is_empty()
            && self.tasks_begun.is_empty()
    }
}

/// An event of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    location: LocationIndex,
    node: LogNode,
}

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
    let mut names = Names::default();
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

/// A location with what it has given and got.
struct Thread<'a> {
    location: LocationIndex,
    handovers: &'a Handovers,
    /// Whether recording was off for some time.
    gap: bool,
}

/// The locations of each process.
fn by_process<'a>(scanned: &'a [Scanned], info: &TraceInfo) -> BTreeMap<usize, Vec<Thread<'a>>> {
    let mut processes: BTreeMap<usize, Vec<Thread<'a>>> = BTreeMap::new();
    for it in scanned {
        let location = it.log.location();
        if let Some(described) = info.locations.get(location.as_usize()) {
            let process = processes.entry(described.process).or_default();
            process.push(Thread {
                location,
                handovers: &it.handovers,
                gap: it.log.columns().gap.is_some(),
            });
        }
    }
    processes
}

/// What is added to the logs of locations.
#[derive(Default)]
struct Names {
    joined: HashMap<LocationIndex, Joined>,
    space: u64,
    next: u64,
}

impl Names {
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
            it.with(joined, (trace, id))
        };
        scanned.into_iter().map(enter).collect()
    }
}
