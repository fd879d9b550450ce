//! Collective operations of the simulated program.

use retime::causality::{Collective, Operation, Root};
use retime::{LocationIndex, Members};

use super::program::{LEAST_DELAY, Node, Program};
use super::trace::Call;

/// A non-blocking collective that one location has posted.
pub struct Pending {
    end: Call,
    earliest: u64,
    causes: Vec<Node>,
}

/// A participant while an operation is being made up.
struct Participant {
    endpoint: usize,
    location: usize,
    side: u8,
    what: Collective,
    begin: u64,
    node: Node,
}

/// Who waits for whom, written down from the MPI standard.
#[derive(Clone, Copy, PartialEq)]
enum Flow {
    FromRoot,
    ToRoot,
    Everybody,
    Upwards,
    Unknown,
}

const ALL: [(Operation, Flow); 19] = [
    (Operation::Barrier, Flow::Everybody),
    (Operation::Bcast, Flow::FromRoot),
    (Operation::Gather, Flow::ToRoot),
    (Operation::Gatherv, Flow::ToRoot),
    (Operation::Scatter, Flow::FromRoot),
    (Operation::Scatterv, Flow::FromRoot),
    (Operation::Allgather, Flow::Everybody),
    (Operation::Allgatherv, Flow::Everybody),
    (Operation::Alltoall, Flow::Everybody),
    (Operation::Alltoallv, Flow::Unknown),
    (Operation::Alltoallw, Flow::Unknown),
    (Operation::Allreduce, Flow::Everybody),
    (Operation::Reduce, Flow::ToRoot),
    (Operation::ReduceScatter, Flow::Everybody),
    (Operation::ReduceScatterBlock, Flow::Everybody),
    (Operation::Scan, Flow::Upwards),
    (Operation::Exscan, Flow::Upwards),
    (Operation::CreateHandle, Flow::Unknown),
    (Operation::Other, Flow::Unknown),
];

impl Program<'_> {
    /// All members of some communicator do some collective operation.
    pub(super) fn collective(&mut self) {
        let communicator = self.rng.index(self.layout.info.communicators.len());
        let members = &self.layout.info.communicators[communicator].members;
        let (operation, flow) = ALL[self.rng.index(ALL.len())];
        let with_side = |ranks: &[LocationIndex], side: u8| -> Vec<(usize, u8)> {
            let ranks = ranks.iter();
            ranks.map(|rank| (rank.as_usize(), side)).collect()
        };
        let mut inter = None;
        let ranks = match members {
            Members::Own => vec![(self.layout.endpoint(self.rng.index(self.now.len())), 0)],
            Members::Ranks(ranks) | Members::Threads(ranks) => with_side(ranks, 0),
            Members::Inter { a, b } => {
                if flow == Flow::Upwards {
                    return;
                }
                inter = Some(a.len());
                [with_side(a, 0), with_side(b, 1)].concat()
            }
        };
        if ranks.is_empty() {
            return;
        }
        let root = self.rng.index(ranks.len());
        let rooted = matches!(flow, Flow::FromRoot | Flow::ToRoot);
        let carries_data = !matches!(operation, Operation::Barrier | Operation::CreateHandle);
        let mut participants = Vec::new();
        for (place, &(endpoint, side)) in ranks.iter().enumerate() {
            let named = match inter {
                _ if !rooted => Root::None,
                None => Root::Rank(root as u32),
                Some(_) if place == root => Root::Own,
                Some(_) if side == ranks[root].1 => Root::OwnGroup,
                Some(of_a) => Root::Rank((if root < of_a { root } else { root - of_a }) as u32),
            };
            let what = Collective {
                communicator: communicator as u32,
                operation,
                root: named,
                sent: !self.rng.once_in(5),
                received: !self.rng.once_in(5),
            };
            participants.push(self.begin(endpoint, side, what));
        }
        let depends = |from: usize, to: usize| {
            from != to
                && (inter.is_none() || ranks[from].1 != ranks[to].1)
                && match flow {
                    Flow::FromRoot => from == root,
                    Flow::ToRoot => to == root,
                    Flow::Everybody => true,
                    Flow::Upwards => from < to,
                    Flow::Unknown => false,
                }
                && (!carries_data || participants[from].what.sent && participants[to].what.received)
        };
        let causes: Vec<Vec<usize>> = (0..ranks.len())
            .map(|to| (0..ranks.len()).filter(|&from| depends(from, to)).collect())
            .collect();
        self.end_all(&participants, &causes);
    }

    fn begin(&mut self, endpoint: usize, side: u8, what: Collective) -> Participant {
        let location = self.layout.speaker(&mut self.rng, endpoint);
        let after = self.last_begin.get(&(what.communicator, endpoint));
        let begin = self.advance(location, after.map_or(0, |after| after + 1));
        self.last_begin.insert((what.communicator, endpoint), begin);
        Participant {
            endpoint,
            location,
            side,
            what,
            begin,
            node: (location, self.nodes[location]),
        }
    }

    fn end_all(&mut self, participants: &[Participant], causes: &[Vec<usize>]) {
        let non_blocking = self.rng.once_in(3);
        let mut ends = Vec::new();
        for participant in participants {
            let (location, what) = (participant.location, participant.what);
            let (begin, end) = if non_blocking {
                let request = self.requests[location].take();
                let end = Call::CompleteCollective(what, request);
                (Call::PostCollective(request), end)
            } else {
                (Call::Begin, Call::End(what))
            };
            self.record(location, participant.begin, begin);
            ends.push(end);
        }
        for (to, participant) in participants.iter().enumerate() {
            let begun = causes[to].iter().map(|&from| participants[from].begin);
            let slack = LEAST_DELAY + self.rng.below(1_000);
            let pending = Pending {
                end: ends[to],
                earliest: begun.max().map_or(0, |begin| begin + slack),
                causes: causes[to]
                    .iter()
                    .map(|&from| participants[from].node)
                    .collect(),
            };
            debug_assert!(participant.side < 2 && participant.endpoint < self.now.len());
            if non_blocking {
                self.pending[participant.location].push(pending);
            } else {
                self.end(participant.location, &pending);
            }
        }
    }

    fn end(&mut self, location: usize, pending: &Pending) {
        let time = self.advance(location, pending.earliest);
        let node = self.record(location, time, pending.end);
        let edges = pending.causes.iter().map(|&cause| (cause, node));
        self.collectives.extend(edges);
    }

    pub(super) fn complete_collective(&mut self, location: usize) {
        self.complete_collective_of(location);
    }

    /// Completes some posted collective; false if there is none.
    pub(super) fn complete_collective_of(&mut self, location: usize) -> bool {
        if self.pending[location].is_empty() {
            return false;
        }
        let which = self.rng.index(self.pending[location].len());
        let pending = self.pending[location].remove(which);
        self.end(location, &pending);
        true
    }
}
