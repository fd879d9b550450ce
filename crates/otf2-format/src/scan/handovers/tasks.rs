//! Which thread has got which task from whom.
//!
//! A task is worked on after it was made, on whatever thread. It is named by its team, the
//! thread that made it and a number that this one gave it. A writer may count these over
//! the whole run, or anew in each use of the team. In the second case a name stands for
//! several tasks, and the use of the team, which is not recorded, has to tell them apart:
//! the k-th use of one thread is the k-th of another if both were in all of them, as the one is
//! that forks the team and so works in it most often. Two that were in it equally often, but less,
//! may have taken turns. If one of them was not in all, or a name comes twice in one
//! use, nothing is concluded; nor is it if recording was off for a thread of the process.
//!
//! Source: `OpenMP` 5.2, section 12.5: an explicit task is generated when a thread encounters
//! the construct, and it "may be immediately executed or deferred".

use std::collections::BTreeMap;

use retime_model::LocationIndex;

use super::{At, TaskId, Thread};

/// A record of a task, with the number of the use of its team.
#[derive(Clone, Copy)]
struct Record {
    at: At,
    use_of_team: u32,
}

/// All records of one name.
#[derive(Default)]
struct Named {
    created: Vec<Record>,
    begun: Vec<Record>,
}

/// The tasks of a process.
pub(super) struct Tasks<'a> {
    named: BTreeMap<TaskId, Named>,
    threads: &'a [Thread<'a>],
}

impl<'a> Tasks<'a> {
    pub(super) fn of(threads: &'a [Thread<'a>]) -> Self {
        let mut named: BTreeMap<TaskId, Named> = BTreeMap::new();
        let is_whole = !threads.iter().any(|it| it.gap);
        for thread in threads.iter().filter(|_| is_whole) {
            let record = |node, use_of_team| Record {
                at: At {
                    location: thread.location,
                    node,
                },
                use_of_team,
            };
            for &(id, used, node) in &thread.handovers.tasks_created {
                named
                    .entry(id)
                    .or_default()
                    .created
                    .push(record(node, used));
            }
            for &(id, used, node) in &thread.handovers.tasks_begun {
                named.entry(id).or_default().begun.push(record(node, used));
            }
        }
        Self { named, threads }
    }

    /// Where each task was made, and where it was begun by others.
    pub(super) fn started(&self) -> Vec<(At, Vec<At>)> {
        let started = self
            .named
            .iter()
            .flat_map(|(&id, it)| match &it.created[..] {
                [] => Vec::new(),
                &[only] => vec![(only.at, first(only, it.begun.iter()))],
                several => self.by_use(id, several, &it.begun),
            });
        started.filter(|(_, begun)| !begun.is_empty()).collect()
    }

    /// The same for a name that its thread has used again.
    fn by_use(&self, id: TaskId, created: &[Record], begun: &[Record]) -> Vec<(At, Vec<At>)> {
        let location = created[0].at.location;
        if id.team.is_none() || created.iter().any(|it| it.at.location != location) {
            return Vec::new();
        }
        let all = self
            .threads
            .iter()
            .map(|it| self.uses(id, it.location))
            .max();
        let in_all = |location: LocationIndex| Some(self.uses(id, location)) == all;
        if !in_all(location) {
            return Vec::new();
        }
        let comparable = begun.iter().filter(|it| in_all(it.at.location));
        let comparable: Vec<&Record> = comparable.collect();
        let same_use = |a: &Record, b: &Record| a.use_of_team == b.use_of_team;
        let once = created.chunk_by(same_use).filter(|it| it.len() == 1);
        let started = once.map(|it| {
            let own = comparable.iter().filter(|begun| same_use(begun, &it[0]));
            (it[0].at, first(it[0], own.copied()))
        });
        started.collect()
    }

    /// How often a thread has worked in the team of a task.
    fn uses(&self, id: TaskId, location: LocationIndex) -> u32 {
        let thread = self.threads.iter().find(|it| it.location == location);
        let uses = thread
            .zip(id.team)
            .map(|(it, team)| it.handovers.uses.get(&team));
        uses.flatten().copied().unwrap_or(0)
    }
}

/// The first begin on each location but that of the creation.
fn first<'r>(created: Record, begun: impl Iterator<Item = &'r Record>) -> Vec<At> {
    let mut first: BTreeMap<LocationIndex, At> = BTreeMap::new();
    for it in begun.filter(|it| it.at.location != created.at.location) {
        let known = first.entry(it.at.location).or_insert(it.at);
        *known = it.at.min(*known);
    }
    first.into_values().collect()
}
