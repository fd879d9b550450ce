//! The runs that decide.

use std::sync::Arc;

use retime_sim::{Duration, HaloExchange, Length, RandomTraffic, Spread};

use super::kind::Kind;
use crate::accuracy::{Case, Goal, Program, Trace};
use crate::simulated::Failure;

/// Nanoseconds that a run takes, about.
const RUN: u64 = 1_000_000_000;
/// The numbers that the randomness of each run derives from.
const SEEDS: std::ops::Range<u64> = 1..4;

/// Runs of a halo exchange with collectives and of random traffic, on so many
/// clocks of a kind.
pub fn traces(kind: Kind, clocks: u32) -> Result<Vec<Trace>, Failure> {
    let programs = SEEDS.flat_map(|seed| [halo(clocks, seed), traffic(clocks, seed)]);
    programs
        .map(|program| simulated(program, kind.spread(RUN)))
        .collect()
}

/// Runs of random traffic with few messages between any two of so many clocks of a kind: of
/// some pairs each line between the messages leaves some of other pairs reversed.
pub(super) fn sparse(kind: Kind, clocks: u32) -> Result<Vec<Trace>, Failure> {
    let programs = SEEDS.map(|seed| -> Program {
        Arc::new(RandomTraffic {
            compute: Duration::uniform(0, RUN / 20),
            ..random_traffic(clocks, seed)
        })
    });
    programs
        .map(|program| simulated(program, kind.spread(RUN)))
        .collect()
}

/// A longer run of random traffic, on four clocks that are up to so many
/// nanoseconds off to either side.
pub(super) fn long_run(offset: f64) -> Result<Trace, Failure> {
    let program = RandomTraffic {
        length: Length::time(4 * RUN),
        compute: Duration::uniform(0, 2_000_000),
        ..random_traffic(4, 1)
    };
    let spread = Spread {
        offset,
        ..Kind::ConstantRate.spread(RUN)
    };
    simulated(Arc::new(program), spread)
}

fn simulated(program: Program, spread: Spread) -> Result<Trace, Failure> {
    let clocks = spread.per_process(&program.layout(), program.seed());
    Case::new("", Goal::NoWorse, program, clocks).simulate()
}

fn halo(ranks: u32, seed: u64) -> Program {
    Arc::new(HaloExchange {
        grid: HaloExchange::square_grid(ranks),
        length: Length::time(RUN),
        seed,
        ranks_per_node: 1,
        compute: Duration::uniform(0, RUN / 1_000),
        ..HaloExchange::default()
    })
}

fn traffic(ranks: u32, seed: u64) -> Program {
    Arc::new(random_traffic(ranks, seed))
}

fn random_traffic(ranks: u32, seed: u64) -> RandomTraffic {
    RandomTraffic {
        ranks,
        ranks_per_node: 1,
        length: Length::time(RUN),
        seed,
        compute: Duration::uniform(0, RUN / 1_000),
        ..RandomTraffic::default()
    }
}
