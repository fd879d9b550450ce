//! Threads that work together: the teams in which one works, their barriers, and what it [hands
//! over](super::handovers).
//!
//! A thread may work in a team within a team, so those that it has not left are a stack.
//! Each use of a team is a fork and a join, and has barriers between:
//!
//! ```text
//!  who forks   Fork TeamBegin  Enter Leave  TeamEnd Join
//!  others           TeamBegin  Enter Leave  TeamEnd
//!              \____________/  \_________/  \__________/
//!                  a fork        barrier       a join
//! ```
//!
//! Nothing but the order of the records tells to which fork a team belongs. Who else took
//! part in that fork is left to [`Causality`](retime_model::Operation::Fork): a team is used
//! again and again, and not by all of its threads each time.
//!
//! A barrier is left when all threads of the team have entered it *and* have completed the
//! tasks of the team. So a task that is completed within the barrier is its begin as seen
//! by the thread that has worked on it, if it was made before. It need not be: who
//! has not yet seen that all have come may take a task that another thread makes behind
//! the barrier. Which of the two it was shows when all threads are
//! [read](super::handovers).
//!
//! Sources: OTF2's descriptions of the records; `OpenMP` 5.2, sections 10.1 (parallel) and
//! 15.3 (barriers).

use retime_model::{
    Call, Collective, LocationIndex, LogBuilder, LogNode, Members, Operation, Root, Timestamp,
    TraceInfo,
};
use retime_otf2::schema::event_code as code;
use retime_otf2::{
    CommRef, Definitions, EventData, Glance, MappingTable, Paradigm, RegionRef, RegionRole,
    WireError,
};
use rustc_hash::FxHashSet;

use super::handovers::{Handovers, LockUse, Phase, TaskId, ThreadId, Worked};
use super::locking::{LockCalls, Locking};
use super::moment::Moment;
use super::partners::Partners;

/// Teams, their barriers and the calls of locks, as the definitions name them.
pub(crate) struct Teams {
    /// Regions that are barriers of teams.
    barriers: FxHashSet<RegionRef>,
    /// The team of each location that is in just one, ...
    only: Vec<Option<u32>>,
    /// ... and whether it is in any.
    any: Vec<bool>,
    lock_calls: LockCalls,
}

impl Teams {
    pub(crate) fn find(definitions: &Definitions, info: &TraceInfo) -> Self {
        let is_barrier = |role| [RegionRole::BARRIER, RegionRole::IMPLICIT_BARRIER].contains(&role);
        let regions = definitions.regions.iter();
        let barriers = regions.filter(|it| it.paradigm == Paradigm::OPENMP && is_barrier(it.role));
        let mut teams = Self {
            barriers: barriers.map(|it| it.id).collect(),
            only: vec![None; info.locations.len()],
            any: vec![false; info.locations.len()],
            lock_calls: LockCalls::find(definitions),
        };
        for (handle, communicator) in (0..).zip(&info.communicators) {
            let Members::Threads(threads) = &communicator.members else {
                continue;
            };
            for thread in threads.iter().map(|it| it.as_usize()) {
                if let Some(any) = teams.any.get_mut(thread) {
                    teams.only[thread] = (!*any).then_some(handle);
                    *any = true;
                }
            }
        }
        teams
    }
}

/// A team that a thread works in.
struct Team {
    /// Its communicator; `None` if that is not one of threads.
    handle: Option<u32>,
    /// True if this thread forked it.
    forked: bool,
    /// How many of its barriers this thread has entered.
    barriers: u32,
}

/// A barrier that a thread has entered.
struct Entered {
    region: RegionRef,
    team: Option<u32>,
    begin: LogNode,
    /// Between which barriers of the team it was entered, and the tasks that were
    /// completed since.
    phase: Option<Phase>,
    completed: Vec<(TaskId, LogNode)>,
    /// How many teams the thread is in.
    depth: usize,
}

/// A thread on its way through the trace.
pub(super) struct Threads<'a> {
    teams: &'a Teams,
    table: Option<&'a MappingTable>,
    own: LocationIndex,
    /// True if what the thread enters and leaves can be a barrier, or be for a lock.
    has_calls: bool,
    stack: Vec<Team>,
    /// A fork whose team has not begun.
    forked: Option<LogNode>,
    /// The end of a team that has not joined.
    ended: Option<(u32, LogNode)>,
    entered: Vec<Entered>,
    locking: Locking<'a>,
    /// True if it recorded that it works in a team.
    tells_of_teams: bool,
    /// Barriers of a thread that tells of no team.
    beside: Vec<(LogNode, LogNode)>,
    handovers: Handovers,
}

/// Events that only threads record.
const OF_THREADS: [u8; 18] = [
    code::OmpAcquireLock,
    code::OmpReleaseLock,
    code::OmpTaskCreate,
    code::OmpTaskSwitch,
    code::OmpTaskComplete,
    code::ThreadFork,
    code::ThreadJoin,
    code::ThreadTeamBegin,
    code::ThreadTeamEnd,
    code::ThreadAcquireLock,
    code::ThreadReleaseLock,
    code::ThreadTaskCreate,
    code::ThreadTaskSwitch,
    code::ThreadTaskComplete,
    code::ThreadCreate,
    code::ThreadBegin,
    code::ThreadWait,
    code::ThreadEnd,
];

impl<'a> Threads<'a> {
    pub(super) fn new(
        teams: &'a Teams,
        table: Option<&'a MappingTable>,
        own: LocationIndex,
    ) -> Self {
        let in_a_team = teams.any.get(own.as_usize()).is_some_and(|any| *any);
        let has_barriers = in_a_team && !teams.barriers.is_empty();
        Self {
            teams,
            table,
            own,
            has_calls: has_barriers || !teams.lock_calls.is_empty(),
            stack: Vec::new(),
            forked: None,
            ended: None,
            entered: Vec::new(),
            locking: Locking::new(&teams.lock_calls),
            tells_of_teams: false,
            beside: Vec::new(),
            handovers: Handovers::default(),
        }
    }

    /// The codes of events that are looked at.
    pub(super) fn codes(&self) -> impl Iterator<Item = u8> {
        let calls = [code::Enter, code::Leave].into_iter();
        let calls = calls.filter(|_| self.has_calls);
        OF_THREADS.into_iter().chain(calls)
    }

    /// Looks at an event with one of these [codes](Self::codes).
    #[inline(never)]
    pub(super) fn follow(
        &mut self,
        event: Glance<'_>,
        time: Timestamp,
        partners: &mut Partners<'_>,
        log: &mut LogBuilder,
    ) -> Result<(), WireError> {
        let at = Moment {
            event: event.number,
            time,
        };
        match event.code {
            code::Enter => {
                if let EventData::Enter { region } = event.data_of::<{ code::Enter }>()? {
                    self.enter(region, at, log);
                }
            }
            code::Leave => {
                if let EventData::Leave { region } = event.data_of::<{ code::Leave }>()? {
                    self.leave(region, at, log);
                }
            }
            _ => self.of_threads(&event.data()?, at, partners, log),
        }
        Ok(())
    }

    fn of_threads(
        &mut self,
        data: &EventData,
        at: Moment,
        partners: &mut Partners<'_>,
        log: &mut LogBuilder,
    ) {
        match *data {
            EventData::ThreadFork { .. } => self.forked = Some(at.begin(log)),
            EventData::ThreadJoin { .. } => self.joined(at, log),
            EventData::ThreadTeamBegin { thread_team } => {
                self.team_begins(thread_team, at, partners, log);
            }
            EventData::ThreadTeamEnd { .. } => self.team_ends(at, log),
            EventData::ThreadCreate {
                thread_contingent,
                sequence_count,
            }
            | EventData::ThreadBegin {
                thread_contingent,
                sequence_count,
            }
            | EventData::ThreadEnd {
                thread_contingent,
                sequence_count,
            }
            | EventData::ThreadWait {
                thread_contingent,
                sequence_count,
            } => {
                let id = (handle(partners, thread_contingent), sequence_count);
                self.of_life(data, id, at, log);
            }
            _ => match LockUse::of(data) {
                Some(of) => self.of_lock(data, of, at, log),
                None => self.of_task(data, at, partners, log),
            },
        }
    }

    fn of_life(&mut self, data: &EventData, id: ThreadId, at: Moment, log: &mut LogBuilder) {
        match data {
            EventData::ThreadCreate { .. } => self.handovers.creates(id, at.send(log)),
            EventData::ThreadBegin { .. } => self.handovers.begins(id, at.receive(log)),
            EventData::ThreadEnd { .. } => self.handovers.ends(id, at.send(log)),
            _ => self.handovers.waits(id, at.receive(log)),
        }
    }

    fn of_lock(&mut self, data: &EventData, of: LockUse, at: Moment, log: &mut LogBuilder) {
        match data {
            EventData::ThreadAcquireLock { .. } | EventData::OmpAcquireLock { .. } => {
                self.locking.acquires(of, at, &mut self.handovers, log);
            }
            _ => self.locking.releases(of, at, &mut self.handovers, log),
        }
    }

    fn of_task(
        &mut self,
        data: &EventData,
        at: Moment,
        partners: &mut Partners<'_>,
        log: &mut LogBuilder,
    ) {
        let (id, maker) = match *data {
            EventData::ThreadTaskCreate {
                thread_team,
                creating_thread,
                generation_number,
            }
            | EventData::ThreadTaskSwitch {
                thread_team,
                creating_thread,
                generation_number,
            }
            | EventData::ThreadTaskComplete {
                thread_team,
                creating_thread,
                generation_number,
            } => {
                let team = partners.comm(thread_team);
                let handle = team.map(|it| it.handle);
                let id = TaskId::of_team(handle, creating_thread, generation_number);
                (id, team.and_then(|it| it.location(creating_thread)))
            }
            EventData::OmpTaskCreate { task }
            | EventData::OmpTaskSwitch { task }
            | EventData::OmpTaskComplete { task } => (TaskId::named(task), None),
            _ => return,
        };
        match data {
            EventData::ThreadTaskCreate { .. } | EventData::OmpTaskCreate { .. } => {
                let phase = self.phase();
                self.handovers.creates_task(id, phase, at.begin(log));
            }
            EventData::ThreadTaskComplete { .. } | EventData::OmpTaskComplete { .. } => {
                self.completes(id, at, log);
            }
            // What it made itself it has not got from others.
            _ if maker == Some(self.own) => {}
            _ => self.switches(id, at, log),
        }
    }

    fn team_begins(
        &mut self,
        team: CommRef,
        at: Moment,
        partners: &mut Partners<'_>,
        log: &mut LogBuilder,
    ) {
        self.tells_of_teams = true;
        let comm = partners.comm(team);
        if comm.is_none() {
            log.unresolved(at.event);
        }
        let handle = comm.filter(|it| it.of_threads).map(|it| it.handle);
        let fork = self.forked.take();
        self.stack.push(Team {
            handle,
            forked: fork.is_some(),
            barriers: 0,
        });
        if let Some(handle) = handle {
            let end = at.end(log);
            log.called(Call {
                what: what(handle, Operation::Fork, fork.is_some()),
                begin: fork,
                end: Some(end),
            });
            self.handovers.team_begins(handle);
        }
    }

    fn team_ends(&mut self, at: Moment, log: &mut LogBuilder) {
        self.forked = None;
        self.never_joined(log);
        let Some(team) = self.stack.pop() else { return };
        self.entered.retain(|it| it.depth <= self.stack.len());
        let Some(handle) = team.handle else { return };
        self.ended = Some((handle, at.begin(log)));
        if !team.forked {
            self.never_joined(log);
        }
    }

    /// The thread that forked a team goes on alone.
    fn joined(&mut self, at: Moment, log: &mut LogBuilder) {
        self.forked = None;
        if let Some((handle, begin)) = self.ended.take() {
            let end = at.end(log);
            log.called(Call {
                what: what(handle, Operation::Join, true),
                begin: Some(begin),
                end: Some(end),
            });
        }
    }

    /// The thread has come to the end of a team, and waits for nobody.
    fn never_joined(&mut self, log: &mut LogBuilder) {
        if let Some((handle, begin)) = self.ended.take() {
            log.called(Call {
                what: what(handle, Operation::Join, false),
                begin: Some(begin),
                end: None,
            });
        }
    }

    fn enter(&mut self, region: RegionRef, at: Moment, log: &mut LogBuilder) {
        if !self.is_barrier(region) {
            return self.locking.enter(self.global(region), at, log);
        }
        let phase = self.phase();
        let team = self.stack.last_mut();
        let team = team.and_then(|team| {
            team.barriers += 1;
            team.handle
        });
        if team.is_some() || !self.tells_of_teams {
            self.entered.push(Entered {
                region,
                team,
                begin: at.begin(log),
                phase,
                completed: Vec::new(),
                depth: self.stack.len(),
            });
        }
    }

    /// Between which barriers of which team the thread works.
    fn phase(&self) -> Option<Phase> {
        let team = self.stack.last()?;
        Some(Phase {
            team: team.handle?,
            barriers: team.barriers,
        })
    }

    fn leave(&mut self, region: RegionRef, at: Moment, log: &mut LogBuilder) {
        let Some(left) = self.entered.pop_if(|it| it.region == region) else {
            return self.locking.leave(at, &mut self.handovers, log);
        };
        let end = at.end(log);
        match left.team {
            Some(team) => barrier(team, left.begin, Some(end), log),
            None => self.beside.push((left.begin, end)),
        }
        self.worked(left);
    }

    /// Hands over the tasks that the thread has completed in a barrier.
    fn worked(&mut self, it: Entered) {
        if let Some(phase) = it.phase {
            for (task, node) in it.completed {
                let entered = it.begin;
                self.handovers.works_on(
                    task,
                    Worked {
                        entered,
                        phase,
                        node,
                    },
                );
            }
        }
    }

    fn is_barrier(&self, region: RegionRef) -> bool {
        self.teams.barriers.contains(&self.global(region))
    }

    fn global(&self, region: RegionRef) -> RegionRef {
        match self.table {
            Some(table) => RegionRef(table.get(region.into()) as u32),
            None => region,
        }
    }

    fn switches(&mut self, task: TaskId, at: Moment, log: &mut LogBuilder) {
        // Of the first time all others follow.
        if self.handovers.is_new(task) {
            let node = at.end(log);
            self.handovers.begins_task(task, node);
        }
    }

    fn completes(&mut self, task: TaskId, at: Moment, log: &mut LogBuilder) {
        self.handovers.completes_task(task);
        let depth = self.stack.len();
        if let Some(barrier) = self.entered.last_mut().filter(|it| it.depth == depth) {
            barrier.completed.push((task, at.begin(log)));
        }
    }

    /// All events are reported.
    pub(super) fn finish(mut self, log: &mut LogBuilder) -> Handovers {
        self.never_joined(log);
        let of_teams = std::mem::take(&mut self.entered).into_iter();
        for it in of_teams {
            if let Some(team) = it.team {
                barrier(team, it.begin, None, log);
            }
            self.worked(it);
        }
        // Who tells of no team is in the one that is defined, if it is only one.
        let only = self.teams.only.get(self.own.as_usize()).copied().flatten();
        if let Some(team) = only.filter(|_| !self.tells_of_teams) {
            for &(begin, end) in &self.beside {
                barrier(team, begin, Some(end), log);
            }
        }
        self.handovers
    }
}

fn barrier(team: u32, begin: LogNode, end: Option<LogNode>, log: &mut LogBuilder) {
    log.called(Call {
        what: what(team, Operation::Barrier, false),
        begin: Some(begin),
        end,
    });
}

const fn what(communicator: u32, operation: Operation, is_root: bool) -> Collective {
    Collective {
        communicator,
        operation,
        root: if is_root { Root::Own } else { Root::None },
        sent: true,
        received: true,
    }
}

fn handle(partners: &mut Partners<'_>, comm: CommRef) -> Option<u32> {
    partners.comm(comm).map(|it| it.handle)
}
