//! Locks, threads and tasks that a location has given to other threads, or got from them.

use std::collections::{HashMap, HashSet};

use retime_model::LogNode;
use retime_otf2::{EventData, Paradigm};

/// An acquisition of a lock, as its records say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scan) struct LockUse {
    pub(super) lock: (Paradigm, u32),
    pub(super) order: u32,
}

impl LockUse {
    /// The one that an event begins or ends, if it does so.
    pub(in crate::scan) const fn of(data: &EventData) -> Option<Self> {
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
pub(in crate::scan) struct TaskId {
    pub(super) team: Option<u32>,
    pub(super) number: u64,
}

impl TaskId {
    /// Names a task by the thread of a team that made it, and a number that this thread gave it.
    pub(in crate::scan) fn of_team(team: Option<u32>, thread: u32, generation: u32) -> Self {
        Self {
            team,
            number: u64::from(thread) << 32 | u64::from(generation),
        }
    }

    /// Names a task by its number in the process.
    pub(in crate::scan) const fn named(number: u64) -> Self {
        Self { team: None, number }
    }
}

/// Where a thread is in a use of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scan) struct Phase {
    pub(in crate::scan) team: u32,
    /// How many barriers it has entered before.
    pub(in crate::scan) barriers: u32,
}

/// A task was completed within a barrier.
#[derive(Clone, Copy, Debug)]
pub(in crate::scan) struct Worked {
    /// The event by which the barrier was entered.
    pub(in crate::scan) entered: LogNode,
    /// Where that was.
    pub(in crate::scan) phase: Phase,
    pub(in crate::scan) node: LogNode,
}

/// The name that the creator of a thread and the thread itself give it: the contingent and a number
/// in it.
pub(in crate::scan) type ThreadId = (Option<u32>, u64);

/// Locks, threads and tasks that a location has given or got.
#[derive(Default)]
pub(crate) struct Handovers {
    pub(super) acquired: Vec<(LockUse, LogNode)>,
    pub(super) released: Vec<(LockUse, LogNode)>,
    pub(super) created: Vec<(ThreadId, LogNode)>,
    pub(super) begun: Vec<(ThreadId, LogNode)>,
    pub(super) ended: Vec<(ThreadId, LogNode)>,
    pub(super) awaited: Vec<(ThreadId, LogNode)>,
    /// With the number of the use of their team.
    pub(super) tasks_created: Vec<(TaskId, u32, Option<Phase>, LogNode)>,
    pub(super) tasks_begun: Vec<(TaskId, u32, LogNode)>,
    pub(super) tasks_in_barriers: Vec<(TaskId, u32, Worked)>,
    /// Tasks that it works on, or has worked on and may do so again.
    open_tasks: HashSet<TaskId>,
    /// How often it has begun to work in each team.
    pub(super) uses: HashMap<u32, u32>,
}

impl Handovers {
    pub(in crate::scan) fn acquires(&mut self, of: LockUse, node: LogNode) {
        self.acquired.push((of, node));
    }

    pub(in crate::scan) fn releases(&mut self, of: LockUse, node: LogNode) {
        self.released.push((of, node));
    }

    pub(in crate::scan) fn creates(&mut self, thread: ThreadId, node: LogNode) {
        self.created.push((thread, node));
    }

    pub(in crate::scan) fn begins(&mut self, thread: ThreadId, node: LogNode) {
        self.begun.push((thread, node));
    }

    pub(in crate::scan) fn ends(&mut self, thread: ThreadId, node: LogNode) {
        self.ended.push((thread, node));
    }

    pub(in crate::scan) fn waits(&mut self, thread: ThreadId, node: LogNode) {
        self.awaited.push((thread, node));
    }

    pub(in crate::scan) fn team_begins(&mut self, team: u32) {
        *self.uses.entry(team).or_default() += 1;
    }

    pub(in crate::scan) fn creates_task(
        &mut self,
        task: TaskId,
        phase: Option<Phase>,
        node: LogNode,
    ) {
        let used = self.uses_of(task);
        self.tasks_created.push((task, used, phase, node));
    }

    pub(in crate::scan) fn works_on(&mut self, task: TaskId, worked: Worked) {
        let used = self.uses_of(task);
        self.tasks_in_barriers.push((task, used, worked));
    }

    /// True if the location begins to work on a task, and does not return to it.
    pub(in crate::scan) fn is_new(&mut self, task: TaskId) -> bool {
        self.open_tasks.insert(task)
    }

    pub(in crate::scan) fn begins_task(&mut self, task: TaskId, node: LogNode) {
        self.tasks_begun.push((task, self.uses_of(task), node));
    }

    pub(in crate::scan) fn completes_task(&mut self, task: TaskId) {
        self.open_tasks.remove(&task);
    }

    /// How often the location has begun to work in the team of a task.
    fn uses_of(&self, task: TaskId) -> u32 {
        let uses = task.team.and_then(|team| self.uses.get(&team));
        uses.copied().unwrap_or(0)
    }

    pub(super) fn is_empty(&self) -> bool {
        let threads = [&self.created, &self.begun, &self.ended, &self.awaited];
        self.acquired.is_empty()
            && self.released.is_empty()
            && threads.iter().all(|it| it.is_empty())
            && self.tasks_created.is_empty()
            && self.tasks_begun.is_empty()
    }
}
