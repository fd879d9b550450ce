//! Clocks that are wrong: ahead, too fast, and set during the run.

use super::random::Random;
use super::world::{Kind, World};

/// Who reads one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    Node,
    Process,
    Thread,
}

#[derive(Clone, Debug)]
struct Clock {
    ahead: u64,
    /// Parts in a million.
    drift: u64,
    steps: Vec<(u64, u64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Clocks {
    pub(super) sharing: Sharing,
    /// By location.
    clocks: Vec<Clock>,
}

impl Clocks {
    pub(super) fn new(world: &World, random: &mut Random) -> Self {
        let sharing = match random.below(3) {
            0 => Sharing::Node,
            // Threads that call MPI for one rank need a clock in common.
            1 if !world.multiple => Sharing::Thread,
            _ => Sharing::Process,
        };
        let own = |(location, it): (usize, &super::world::Location)| {
            let process = &world.processes[it.process];
            match (sharing, it.kind) {
                (Sharing::Node, _) => process.node,
                (Sharing::Process, _) => it.process,
                (Sharing::Thread, Kind::Thread) => location,
                // Stamps of streams are converted to the clock of the first thread.
                (Sharing::Thread, Kind::Stream { .. }) => process.threads[0],
            }
        };
        let drawn: Vec<Clock> = world.locations.iter().map(|_| Clock::new(random)).collect();
        let locations = world.locations.iter().enumerate();
        let clocks = locations.map(|it| drawn[own(it)].clone()).collect();
        Self { sharing, clocks }
    }

    pub(super) fn show(&self, location: usize, time: u64) -> u64 {
        let it = &self.clocks[location];
        let set = it.steps.iter().filter(|(at, _)| *at <= time);
        let set: u64 = set.map(|(_, by)| by).sum();
        time + it.ahead + time * it.drift / 1_000_000 + set
    }
}

impl Clock {
    fn new(random: &mut Random) -> Self {
        let ahead = [0, 300, 20_000, 5_000_000];
        let ahead = *random.pick(&ahead);
        let steps = (0..random.below(3).saturating_sub(1)).map(|_| {
            let at = 1_000_000 + random.below(50_000) as u64;
            (at, random.below(30_000) as u64)
        });
        let steps = steps.collect();
        Self {
            ahead: random.below(ahead + 1) as u64,
            drift: random.below(200) as u64,
            steps,
        }
    }
}
