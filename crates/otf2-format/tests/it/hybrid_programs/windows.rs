//! One-sided communication.

use retime_otf2::{
    CollectiveOp, CollectiveRoot, EventData, LockType, RmaAtomicType, RmaSyncLevel, RmaWinRef,
};

use super::program::{Proof, Step};
use super::regions::{enter, leave};
use super::script::Script;
use super::world::World;

/// How a window is used now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Epoch {
    /// Between fences; with whether somebody has accessed it.
    Fences(bool),
    Others,
}

pub(super) struct Windows(Vec<Epoch>);

impl Windows {
    pub(super) fn new(world: &World) -> Self {
        Self(vec![Epoch::Others; world.windows.len()])
    }
}

impl Script<'_> {
    pub(super) fn one_sided(&mut self) {
        if self.world.windows.is_empty() {
            return;
        }
        let number = self.random.below(self.world.windows.len());
        let win = RmaWinRef(number as u32);
        let members = self.world.window_members(win);
        match (self.windows.0[number], self.random.below(3)) {
            (_, 0) | (Epoch::Fences(true), 2) => self.fence(win, &members),
            (Epoch::Fences(_), 1) => {
                self.windows.0[number] = Epoch::Fences(true);
                for process in self.random.some(&members, 1) {
                    self.access(process, win, &members);
                }
            }
            (_, 1) => {
                self.windows.0[number] = Epoch::Others;
                self.under_lock(win, &members);
            }
            _ => {
                self.windows.0[number] = Epoch::Others;
                self.exposure(win, &members);
            }
        }
    }

    fn first(&self, process: usize) -> usize {
        self.world.processes[process].threads[0]
    }

    /// A fence makes all wait if it ends an epoch with accesses; or else if it likes to.
    fn fence(&mut self, win: RmaWinRef, members: &[usize]) {
        let accessed = self.windows.0[win.0 as usize] == Epoch::Fences(true);
        let waits = accessed || self.random.percent(30);
        let proof = if accessed {
            Proof::Fence(self.world.windows[win.0 as usize])
        } else {
            Proof::Unused
        };
        let tokens: Vec<usize> = members.iter().map(|_| self.token()).collect();
        for (member, &process) in members.iter().enumerate() {
            let end = EventData::RmaCollectiveEnd {
                collective_op: CollectiveOp::BARRIER,
                sync_level: RmaSyncLevel::PROCESS,
                win,
                root: CollectiveRoot::None,
                bytes_sent: 0,
                bytes_received: 0,
            };
            let others = (0..members.len()).filter(|&it| waits && it != member);
            let others = others.map(|it| tokens[it]).collect();
            let steps = vec![
                Step::Record(EventData::RmaCollectiveBegin),
                Step::Give(tokens[member]),
                Step::Await(others, proof),
                Step::Record(end),
            ];
            let first = self.first(process);
            self.call(first, "MPI_Win_fence", steps);
        }
        self.windows.0[win.0 as usize] = Epoch::Fences(false);
    }

    /// Whether it needs something of the other.
    fn access(&mut self, process: usize, win: RmaWinRef, targets: &[usize]) -> Option<usize> {
        let first = self.first(process);
        let target = *self.random.pick(targets);
        let comm = self.world.windows[win.0 as usize];
        let remote = self.world.of(comm).rank(target);
        let (bytes, matching_id) = (8, self.number());
        let kind = self.random.below(3);
        let (name, data) = match kind {
            0 => (
                "MPI_Put",
                EventData::RmaPut {
                    win,
                    remote,
                    bytes,
                    matching_id,
                },
            ),
            1 => (
                "MPI_Get",
                EventData::RmaGet {
                    win,
                    remote,
                    bytes,
                    matching_id,
                },
            ),
            _ => (
                "MPI_Put",
                EventData::RmaAtomic {
                    win,
                    remote,
                    operation: RmaAtomicType::ACCUMULATE,
                    bytes_sent: bytes,
                    bytes_received: 0,
                    matching_id,
                },
            ),
        };
        let mut steps = vec![Step::Record(data)];
        if self.random.percent(50) {
            let complete = EventData::RmaOpCompleteNonBlocking { win, matching_id };
            steps.push(Step::Record(complete));
        }
        self.call(first, name, steps);
        (kind == 1).then_some(target)
    }

    fn under_lock(&mut self, win: RmaWinRef, members: &[usize]) {
        let process = *self.random.pick(members);
        let target = *self.random.pick(members);
        let comm = self.world.windows[win.0 as usize];
        let remote = self.world.of(comm).rank(target);
        let first = self.first(process);
        let (lock, lock_type) = (0, LockType::EXCLUSIVE);
        let acquire = EventData::RmaAcquireLock {
            win,
            remote,
            lock,
            lock_type,
        };
        self.call(first, "MPI_Win_lock", vec![Step::Record(acquire)]);
        self.access(process, win, &[target]);
        let release = EventData::RmaReleaseLock { win, remote, lock };
        self.call(first, "MPI_Win_unlock", vec![Step::Record(release)]);
    }

    /// Post, start, complete and wait. Accesses are buffered, so nobody waits for the post
    /// but who has to read something.
    fn exposure(&mut self, win: RmaWinRef, members: &[usize]) {
        if members.len() < 2 {
            return;
        }
        let mut all = members.to_vec();
        self.random.shuffle(&mut all);
        let (origins, targets) = all.split_at(1 + self.random.below(all.len() - 1));
        let some = 1 + self.random.below(targets.len());
        let targets = &targets[..some];
        let (origin_group, target_group) = (self.world.group(origins), self.world.group(targets));
        let sync = |group| {
            Step::Record(EventData::RmaGroupSync {
                sync_level: RmaSyncLevel::MEMORY,
                win,
                group,
            })
        };
        let posted: Vec<usize> = targets.iter().map(|_| self.token()).collect();
        for (&target, &token) in targets.iter().zip(&posted) {
            let first = self.first(target);
            let steps = vec![Step::Give(token), sync(origin_group)];
            self.call(first, "MPI_Win_post", steps);
        }
        let mut completed = Vec::new();
        for &origin in origins {
            let first = self.first(origin);
            self.call(first, "MPI_Win_start", vec![sync(target_group)]);
            let mut read = Vec::new();
            for _ in 0..self.random.below(3) {
                let target = self.access(origin, win, targets);
                let place = target.and_then(|it| targets.iter().position(|at| *at == it));
                read.extend(place.map(|it| posted[it]));
            }
            let token = self.token();
            completed.push(token);
            self.record(first, enter("MPI_Win_complete"));
            self.add(first, Step::Give(token));
            self.wait_for(first, read, Proof::Unused);
            self.steps[first].push(sync(target_group));
            self.record(first, leave("MPI_Win_complete"));
        }
        for &target in targets {
            let first = self.first(target);
            let wait = Step::Await(completed.clone(), Proof::Unused);
            self.call(first, "MPI_Win_wait", vec![wait, sync(origin_group)]);
        }
    }
}
