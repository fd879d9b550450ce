//! All processes that `mpirun` has started.
//!
//! MPI's own waiting keeps a core busy. Processes wait long here: for process 0 while it
//! solves, and for each other where more of them run than there are cores. So they look
//! whether something has come or gone, and sleep in between, an eighth as long as they have
//! waited: so much later than it came, at most, it is seen. Answers that come at once are
//! not slept through.

use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

use mpi::Rank;
use mpi::environment::processor_name;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::request::scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, Destination, Source};
use retime_parallel::{Communicator, Lost};

/// Counts of MPI are below 2^31; and a message of this size takes a while anyway.
const LONGEST: usize = 1 << 30;

/// Going to sleep and waking up takes about half of this: what comes sooner is not worth it.
const SOON: Duration = Duration::from_micros(100);
/// Looking a thousand times a second takes no time.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// The processes of `MPI_COMM_WORLD`. Errors of MPI itself end all of them.
pub(crate) struct World {
    rank: usize,
    size: usize,
}

impl World {
    /// To be called once MPI is there.
    pub(crate) fn new() -> Self {
        let world = SimpleCommunicator::world();
        Self {
            rank: world.rank() as usize,
            size: world.size() as usize,
        }
    }
}

/// Looks again and again, until there is something to see.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        match start.elapsed() {
            // Where more processes run than there are cores, another of them may go on.
            waited if waited < SOON => yield_now(),
            waited => sleep((waited / 8).min(LONGEST_PAUSE)),
        }
    }
}

impl Communicator for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn node(&self) -> String {
        // Where MPI has no name for it, there is nothing to tell machines by.
        processor_name().unwrap_or_default()
    }

    fn longest(&self) -> usize {
        LONGEST
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), Lost> {
        let world = SimpleCommunicator::world();
        scope(|scope| {
            let mut sending = Some(
                world
                    .process_at_rank(to as Rank)
                    .immediate_send(scope, message),
            );
            wait_for(|| match sending.take()?.test() {
                Ok(_) => Some(()),
                Err(unfinished) => {
                    sending = Some(unfinished);
                    None
                }
            });
        });
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, Lost> {
        let world = SimpleCommunicator::world();
        let process = world.process_at_rank(from as Rank);
        let message = wait_for(|| process.immediate_matched_probe());
        Ok(message.matched_receive_vec().0)
    }
}
