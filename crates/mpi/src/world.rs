//! All processes that `mpirun` has started.
//!
//! MPI's own waiting keeps a core busy. Processes wait long here: for process 0 while it
//! solves, and for each other where more of them run than there are cores. So they look
//! whether something has come or gone, and sleep in between, an eighth as long as they have
//! waited: so much later than it came, at most, it is seen. Answers that come at once are
//! not slept through.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

use mpi::environment::processor_name;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::request::scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, Destination, Source};
use mpi::{Rank, Tag};
use retime_parallel::{Communicator, Lost};

/// Counts of MPI are below 2^31; and a message of this size takes a while anyway.
const LONGEST: usize = 1 << 30;

/// Going to sleep and waking up takes about half of this: what comes sooner is not worth it.
const SOON: Duration = Duration::from_micros(100);
/// Clocks that go on in several processes hand over to each other thousands of times, and what
/// they wait for mostly comes at once. If both slept meanwhile, each would wait until the other
/// has woken up.
const HANDED_OVER: Duration = Duration::from_micros(500);
/// Looking a thousand times a second takes no time.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// Messages that one waits for from a certain process, and those that are posted.
const SENT: Tag = 0;
const POSTED: Tag = 1;

/// The processes of `MPI_COMM_WORLD`. Errors of MPI itself end all of them.
pub(crate) struct World {
    rank: usize,
    size: usize,
    /// Messages that others have posted while this process waited until its own were taken.
    early: Mutex<VecDeque<(usize, Vec<u8>)>>,
}

impl World {
    /// To be called once MPI is there.
    pub(crate) fn new() -> Self {
        let world = SimpleCommunicator::world();
        Self {
            rank: world.rank() as usize,
            size: world.size() as usize,
            early: Mutex::default(),
        }
    }

    fn early(&self) -> MutexGuard<'_, VecDeque<(usize, Vec<u8>)>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next message that anybody has posted, if one is there.
fn arrived() -> Option<(usize, Vec<u8>)> {
    let world = SimpleCommunicator::world();
    let message = world
        .any_process()
        .immediate_matched_probe_with_tag(POSTED)?;
    let (message, status) = message.matched_receive_vec();
    Some((status.source_rank() as usize, message))
}

/// Looks again and again, until there is something to see.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(found) = wait_within(Duration::MAX, SOON, &mut look) {
            return found;
        }
    }
}

/// Looks again and again, until there is something to see or the time is over; sleeps in between
/// if it does not come `soon`.
fn wait_within<T>(
    patience: Duration,
    soon: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> Option<T> {
    let start = Instant::now();
    loop {
        let found = look();
        if found.is_some() {
            return found;
        }
        match start.elapsed() {
            waited if waited >= patience => return None,
            // Where more processes run than there are cores, another of them may go on.
            waited if waited < soon => yield_now(),
            waited => sleep((waited / 8).min(LONGEST_PAUSE)),
        }
    }
}

/// Sends a message, and looks `meanwhile` after other things until it is gone.
fn send_as(tag: Tag, to: usize, message: &[u8], meanwhile: impl Fn()) {
    let world = SimpleCommunicator::world();
    let process = world.process_at_rank(to as Rank);
    scope(|scope| {
        let mut sending = Some(process.immediate_send_with_tag(scope, message, tag));
        wait_for(|| match sending.take()?.test() {
            Ok(_) => Some(()),
            Err(unfinished) => {
                sending = Some(unfinished);
                meanwhile();
                None
            }
        });
    });
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
        send_as(SENT, to, message, || ());
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, Lost> {
        let world = SimpleCommunicator::world();
        let process = world.process_at_rank(from as Rank);
        let message = wait_for(|| process.immediate_matched_probe_with_tag(SENT));
        Ok(message.matched_receive_vec().0)
    }

    fn post(&self, to: usize, message: &[u8]) -> Result<(), Lost> {
        // A long message goes once the other asks for it, who may be sending one to this process.
        send_as(POSTED, to, message, || self.early().extend(arrived()));
        Ok(())
    }

    fn posted(&self, patience: Duration) -> Result<Option<(usize, Vec<u8>)>, Lost> {
        let early = self.early().pop_front();
        Ok(early.or_else(|| wait_within(patience, HANDED_OVER, arrived)))
    }
}
