//! Collective operations, with what each process must have got before it goes on.

use retime_otf2::{CollectiveOp, CollectiveRoot, CommRef, EventData};

use super::program::{Proof, Step};
use super::script::{Pending, Script};
use super::world::{ANY, Comm, OWN};

/// An operation on a communicator: who gives something to whom.
struct Operation {
    kind: CollectiveOp,
    comm: CommRef,
    /// Processes and sides.
    members: Vec<(usize, usize)>,
    root: Option<usize>,
    /// Whether the second needs something from the first.
    needs: Vec<Vec<bool>>,
    /// Whether each says that it has sent and received anything.
    sent: Vec<bool>,
    received: Vec<bool>,
}

const INTRA: [CollectiveOp; 19] = [
    CollectiveOp::BARRIER,
    CollectiveOp::BCAST,
    CollectiveOp::GATHER,
    CollectiveOp::GATHERV,
    CollectiveOp::SCATTER,
    CollectiveOp::SCATTERV,
    CollectiveOp::ALLGATHER,
    CollectiveOp::ALLGATHERV,
    CollectiveOp::ALLTOALL,
    CollectiveOp::ALLTOALLV,
    CollectiveOp::ALLTOALLW,
    CollectiveOp::ALLREDUCE,
    CollectiveOp::REDUCE,
    CollectiveOp::REDUCE_SCATTER,
    CollectiveOp::REDUCE_SCATTER_BLOCK,
    CollectiveOp::SCAN,
    CollectiveOp::EXSCAN,
    CollectiveOp::CREATE_HANDLE,
    CollectiveOp::DESTROY_HANDLE,
];

/// Those that inter-communicators have, too.
const INTER: usize = 17 - 2;

impl Script<'_> {
    pub(super) fn collective(&mut self) {
        let comm = CommRef(self.random.below(self.world.comms.len()) as u32);
        let members = match self.world.of(comm) {
            Comm::Threads(..) => return,
            Comm::Own => vec![(self.any_process(), 0)],
            other => other.processes(self.world.processes.len()),
        };
        let callers: Vec<usize> = members.iter().map(|it| self.calls_on(comm, it.0)).collect();
        let is_there = |(caller, it): (&usize, &(usize, usize))| self.active[it.0].contains(caller);
        if !callers.iter().zip(&members).all(is_there) {
            return;
        }
        let operation = self.operation(comm, members);
        self.call_all(&operation, &callers);
    }

    /// One thread of each process calls on a communicator, so that calls have an order.
    fn calls_on(&self, comm: CommRef, process: usize) -> usize {
        let threads = &self.world.processes[process].threads;
        let is_odd = self.world.multiple && comm.0 % 2 == 1 && comm != OWN && comm != ANY;
        *threads.get(1).filter(|_| is_odd).unwrap_or(&threads[0])
    }

    fn operation(&mut self, comm: CommRef, members: Vec<(usize, usize)>) -> Operation {
        use CollectiveOp as C;
        let is_inter = matches!(self.world.of(comm), Comm::Inter(..));
        let kinds = if is_inter {
            &INTRA[..INTER]
        } else {
            &INTRA[..]
        };
        let kind = *self.random.pick(kinds);
        let n = members.len();
        let root = self.random.below(n);
        let is_empty = self.random.percent(10);
        let counts = matches!(
            kind,
            C::GATHERV | C::SCATTERV | C::ALLGATHERV | C::REDUCE_SCATTER
        );
        // What each gives, or of what the root or all give, gets.
        let shares: Vec<bool> = (0..n)
            .map(|_| !(is_empty || counts && self.random.percent(30)))
            .collect();
        let all = shares.iter().any(|it| *it);
        let mut it = Operation {
            kind,
            comm,
            root: None,
            needs: vec![vec![false; n]; n],
            sent: vec![false; n],
            received: vec![false; n],
            members,
        };
        let across =
            |a: usize, b: usize| a != b && (!is_inter || it.members[a].1 != it.members[b].1);
        let mut gives = |rule: &mut dyn FnMut(usize, usize) -> bool| {
            for (from, to) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
                let in_rule = rule(from, to);
                if (across(from, to) || from == to && !is_inter) && in_rule {
                    it.sent[from] = true;
                    it.received[to] = true;
                    it.needs[from][to] = from != to;
                }
            }
        };
        match kind {
            C::BARRIER => {
                for (from, to) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))) {
                    it.needs[from][to] = across(from, to);
                }
            }
            C::BCAST => gives(&mut |from, to| from == root && to != root && !is_empty),
            C::SCATTER | C::SCATTERV => gives(&mut |from, to| from == root && shares[to]),
            C::GATHER | C::GATHERV | C::REDUCE => gives(&mut |from, to| to == root && shares[from]),
            C::ALLGATHER | C::ALLGATHERV => gives(&mut |from, _| shares[from]),
            C::ALLTOALL | C::ALLREDUCE => gives(&mut |_, _| all),
            C::REDUCE_SCATTER | C::REDUCE_SCATTER_BLOCK => gives(&mut |_, to| shares[to]),
            C::ALLTOALLV | C::ALLTOALLW => gives(&mut |_, _| self.random.percent(40)),
            C::SCAN => gives(&mut |from, to| all && from <= to),
            C::EXSCAN => gives(&mut |from, to| all && from < to),
            _ => {}
        }
        let has_root = matches!(
            kind,
            C::BCAST | C::SCATTER | C::SCATTERV | C::GATHER | C::GATHERV | C::REDUCE
        );
        it.root = has_root.then_some(root);
        it
    }

    fn call_all(&mut self, it: &Operation, callers: &[usize]) {
        let tokens: Vec<usize> = callers.iter().map(|_| self.token()).collect();
        let is_told = !matches!(it.kind, CollectiveOp::ALLTOALLV | CollectiveOp::ALLTOALLW);
        let used = is_told && !(self.hands_over && self.world.multiple);
        let proof = if used {
            Proof::Collective(it.comm)
        } else {
            Proof::Unused
        };
        for (member, &caller) in callers.iter().enumerate() {
            let causes = (0..callers.len()).filter(|&from| it.needs[from][member]);
            let causes = causes.map(|from| tokens[from]).collect();
            let wait = Step::Await(causes, proof);
            let begun = Step::Give(tokens[member]);
            let (collective_op, communicator, root) = (it.kind, it.comm, self.root(it, member));
            let size_sent = 8 * u64::from(it.sent[member]);
            let size_received = 8 * u64::from(it.received[member]);
            if self.random.percent(35) {
                let request = self.number();
                let posted = EventData::NonBlockingCollectiveRequest { request };
                self.call(caller, "MPI_Icollective", vec![Step::Record(posted), begun]);
                let record = Step::Record(EventData::NonBlockingCollectiveComplete {
                    collective_op,
                    communicator,
                    root,
                    size_sent,
                    size_received,
                    request,
                });
                self.pending[caller].push(Pending { wait, record });
            } else {
                let end = EventData::MpiCollectiveEnd {
                    collective_op,
                    communicator,
                    root,
                    size_sent,
                    size_received,
                };
                let begin = Step::Record(EventData::MpiCollectiveBegin);
                let steps = vec![begin, begun, wait, Step::Record(end)];
                self.call(caller, "MPI_Collective", steps);
            }
        }
    }

    /// The root, as a member speaks of it.
    fn root(&self, it: &Operation, member: usize) -> CollectiveRoot {
        let Some(root) = it.root else {
            return CollectiveRoot::None;
        };
        let (process, side) = it.members[root];
        let is_inter = matches!(self.world.of(it.comm), Comm::Inter(..));
        if is_inter && member == root {
            CollectiveRoot::Itself
        } else if is_inter && it.members[member].1 == side {
            CollectiveRoot::ThisGroup
        } else {
            CollectiveRoot::Rank(self.world.of(it.comm).rank(process))
        }
    }
}
