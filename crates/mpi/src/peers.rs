//! The processes of `MPI_COMM_WORLD` while they measure their clocks.

use std::convert::Infallible;

use mpi::Rank;
use mpi::datatype::Equivalence;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _, Destination, Root, Source};
use retime_measure::{ClockSource, Exchange, Measured, Tree, Words};
use retime_model::Timestamp;

/// This process among all others. Errors of MPI itself end all of them.
pub(crate) struct Peers {
    world: SimpleCommunicator,
    clock: ClockSource,
}

impl Peers {
    /// To be called once MPI is there.
    pub(crate) fn new(clock: ClockSource) -> Self {
        let world = SimpleCommunicator::world();
        Self { world, clock }
    }

    /// One process of each node first. Processes that can share memory are on one node.
    pub(crate) fn tree(&self) -> Tree {
        let node = self.world.split_shared(self.world.rank());
        let mut first = self.world.rank();
        node.process_at_rank(0).broadcast_into(&mut first);
        let nodes = self.all_gathered(&[first]);
        Tree::new(&nodes.iter().map(|it| *it as usize).collect::<Vec<_>>())
    }

    /// Gathers an equal number of values from each process, in their order, known to all.
    pub(crate) fn all_gathered<T: Equivalence + Clone>(&self, own: &[T]) -> Vec<T> {
        let size = self.world.size() as usize;
        let mut all: Vec<T> = { own.iter().cycle() }
            .take(own.len() * size)
            .cloned()
            .collect();
        self.world.all_gather_into(own, &mut all[..]);
        all
    }

    /// The measurements of all processes.
    pub(crate) fn measured_by_all(&self, own: Option<Measured>) -> Vec<Option<Measured>> {
        let words = self.all_gathered(&Measured::to_words(own));
        let (ranks, _) = words.as_chunks();
        ranks.iter().map(|it| Measured::from_words(*it)).collect()
    }

    /// Lets all processes know the answer of process 0.
    pub(crate) fn told(&self, mut own: bool) -> bool {
        self.world.process_at_rank(0).broadcast_into(&mut own);
        own
    }
}

impl Exchange for Peers {
    type Error = Infallible;

    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn send(&mut self, to: usize, words: Words) -> Result<(), Infallible> {
        self.world.process_at_rank(to as Rank).send(&words[..]);
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Words, Infallible> {
        let mut words = Words::default();
        let process = self.world.process_at_rank(from as Rank);
        process.receive_into(&mut words[..]);
        Ok(words)
    }

    fn now(&mut self) -> Timestamp {
        self.clock.now()
    }
}
