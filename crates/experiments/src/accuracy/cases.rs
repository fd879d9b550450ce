//! The list of cases.
//!
//! No clock is true, that of rank 0 neither: messages tell how clocks differ, and
//! nothing about the rate that they share.

use std::sync::Arc;

use retime_sim::{
    Clock, Congestion, Duration, FiniteElements, Glitch, HaloExchange, Jump, Length, Load, Network,
    ProducerConsumer, RandomTraffic, RandomWalk, RingChain, Scenario, Spread, Tail, Victims,
};

use super::case::{Case, Goal, Program};

/// How long the programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The size that the tables have.
    Full,
    /// A tenth of that, in fewer processes, for tests.
    Small,
}

/// The number that all randomness derives from.
const SEED: u64 = 20;
/// Drifting clocks have to be met this much better than by the clock alone.
const DRIFTING: Goal = Goal::Gain(8.0);
/// Clocks that differ by constants only.
const CONSTANT: Goal = Goal::Gain(3.0);
/// Drifting clocks in ticks as coarse as a message takes: where in a tick an event
/// was is left of the error whoever corrects it.
const COARSE: Goal = Goal::Gain(3.0);
/// Nanoseconds that a short run takes.
const SHORT_RUN: u64 = 32_000_000;
/// Nanoseconds that most runs take.
const RUN: u64 = 2_000_000_000;

/// All cases.
pub fn cases(size: Size) -> Vec<Case> {
    let mut all = by_clocks(size);
    all.extend(by_number(size));
    all.extend(by_defect(size));
    all.extend(by_steps(size));
    all.extend(by_program(size));
    all.extend(by_load(size));
    all.extend(hard(size));
    all
}

impl Size {
    fn of(self, full: u64) -> u64 {
        match self {
            Self::Full => full,
            Self::Small => full / 10,
        }
    }

    fn ranks(self, full: u32) -> u32 {
        match self {
            Self::Full => full,
            Self::Small => full.min(16),
        }
    }
}

/// A halo exchange of so many processes, each on a node of its own. The run
/// takes the same time however many iterations there are.
fn halo(size: Size, ranks: u32, iterations: u64) -> HaloExchange {
    HaloExchange {
        grid: HaloExchange::square_grid(size.ranks(ranks)),
        iterations: size.of(iterations),
        seed: SEED,
        ranks_per_node: 1,
        compute: Duration::uniform(0, RUN / iterations),
        ..HaloExchange::default()
    }
}

/// Errors of clocks that drift: up to 200 us at the start, and this rate.
fn drifting(drift: f64) -> Spread {
    Spread {
        offset: 200_000.0,
        drift,
        ..Spread::default()
    }
}

/// One clock for each rank. Where clocks wander, that of rank 0 drifts instead: of
/// what the reference does beside a constant rate no trace tells anything, and
/// only a line is taken out of the errors.
fn clocks(spread: Spread, program: &dyn Scenario) -> Vec<Clock> {
    let mut clocks = spread.per_process(&program.layout(), SEED);
    if spread.wander > 0.0 || spread.walk.is_some() {
        let steady = drifting(20e-6).per_process(&program.layout(), SEED);
        clocks.splice(..1, steady.into_iter().take(1));
    }
    clocks
}

/// How clocks differ.
fn by_clocks(size: Size) -> Vec<Case> {
    let program = halo(size, 4, 5_000);
    let of = |name, goal, spread| {
        let clocks = clocks(spread, &program);
        Case::new(name, goal, Arc::new(program.clone()), clocks)
    };
    let wander = Spread {
        wander: size.of(40_000) as f64,
        period: size.of(RUN) as f64,
        ..drifting(0.0)
    };
    let walk = Spread {
        walk: Some(RandomWalk {
            every: 10_000_000,
            change: 5e-6,
            limit: 50e-6,
            seed: 0,
        }),
        ..drifting(0.0)
    };
    vec![
        of("offsets", CONSTANT, drifting(0.0)),
        of("drift 2 ppm", DRIFTING, drifting(2e-6)),
        of("drift 20 ppm", DRIFTING, drifting(20e-6)),
        of("drift 100 ppm", DRIFTING, drifting(100e-6)),
        of("wander", DRIFTING, wander),
        of("random walk", DRIFTING, walk),
    ]
}

/// How many clocks.
fn by_number(size: Size) -> Vec<Case> {
    let of = |name, ranks, iterations| {
        let program = halo(size, ranks, iterations);
        let clocks = clocks(drifting(20e-6), &program);
        Case::new(name, DRIFTING, Arc::new(program), clocks)
    };
    let shared = HaloExchange {
        ranks_per_node: 4,
        ..halo(size, 16, 2_000)
    };
    let per_node = drifting(20e-6).per_node(&shared.layout(), SEED);
    vec![
        of("16 clocks", 16, 2_000),
        of("64 clocks", 64, 600),
        of("256 clocks", 256, 200),
        Case::new("node clocks", DRIFTING, Arc::new(shared), per_node),
    ]
}

/// Cases in which clocks have other errors than their rates.
fn by_defect(size: Size) -> Vec<Case> {
    let program = halo(size, 4, 5_000);
    let of = |name, goal, step: u64, set: &dyn Fn(&mut Vec<Clock>)| {
        let spread = Spread {
            step,
            ..drifting(20e-6)
        };
        let mut clocks = clocks(spread, &program);
        set(&mut clocks);
        Case::new(name, goal, Arc::new(program.clone()), clocks)
    };
    let end = size.of(RUN);
    let step = |by: i64| {
        move |clocks: &mut Vec<Clock>| {
            clocks[2].jumps.push(Jump {
                at: end / 5 * 2,
                by,
            });
        }
    };
    let glitches = |clocks: &mut Vec<Clock>| {
        for (number, ahead) in [-700_000, 1_000_000, 60_000, -1_000_000, 500_000]
            .into_iter()
            .enumerate()
        {
            clocks[number % 4].glitches.push(Glitch {
                at: end / 6 * (number as u64 + 1),
                by: ahead,
            });
        }
    };
    vec![
        of("step of 200 us", DRIFTING, 1, &step(200_000)),
        of("step of -200 us", DRIFTING, 1, &step(-200_000)),
        of("tick 1 us", COARSE, 1_000, &|_| ()),
        of("tick 10 us", COARSE, 10_000, &|_| ()),
        of("5 glitches", DRIFTING, 1, &glitches),
    ]
}

/// Which clocks are set, and how often.
fn by_steps(size: Size) -> Vec<Case> {
    let four = halo(size, 4, 5_000);
    let eight = halo(size, 8, 2_000);
    let traffic = RandomTraffic {
        ranks: 8,
        ranks_per_node: 1,
        length: Length::iterations(size.of(10_000)),
        seed: SEED,
        compute: Duration::uniform(0, 400_000),
        ..RandomTraffic::default()
    };
    let short = HaloExchange {
        iterations: size.of(1_000),
        compute: Duration::uniform(0, 2 * SHORT_RUN / 1_000),
        ..eight.clone()
    };
    let of = |name, program: Program, steps: &[(usize, u64, i64)]| {
        let mut clocks = clocks(drifting(20e-6), &*program);
        for &(clock, at, by) in steps {
            clocks[clock].jumps.push(Jump { at, by });
        }
        Case::new(name, DRIFTING, program, clocks)
    };
    let run = size.of(RUN) / 2;
    vec![
        of(
            "reference set",
            Arc::new(four),
            &[(0, run / 5 * 3, 200_000)],
        ),
        of(
            "7 of 8, 5 us",
            Arc::new(eight.clone()),
            &each(1, run, 5_000),
        ),
        of("8 of 8, 500 us", Arc::new(eight), &each(0, run, 500_000)),
        of(
            "8 of 8 in 32 ms",
            Arc::new(short),
            &each(0, size.of(SHORT_RUN), 500_000),
        ),
        of("random, 8 of 8", Arc::new(traffic), &each(0, run, 50_000)),
    ]
}

/// A step for each of 8 clocks from `first` on: half as large to as large as said,
/// forwards and back in turn, all over the run but not in the order of the clocks.
fn each(first: usize, run: u64, size: i64) -> Vec<(usize, u64, i64)> {
    let step = |clock: usize| {
        let place = (clock * 3 % 8) as u64;
        let by = size / 2 + size / 14 * (clock * 5 % 8) as i64;
        let at = run / 10 + run / 10 * place;
        (clock, at, if clock.is_multiple_of(2) { by } else { -by })
    };
    (first..8).map(step).collect()
}

/// A program on clocks that drift moderately.
fn moderate(name: &'static str, goal: Goal, program: Program) -> Case {
    let clocks = clocks(drifting(20e-6), &*program);
    Case::new(name, goal, program, clocks)
}

/// Other programs.
fn by_program(size: Size) -> Vec<Case> {
    let of = |name, program| moderate(name, DRIFTING, program);
    let elements = FiniteElements {
        grid: (4, 4),
        length: Length::iterations(size.of(2_000)),
        network: Network::of(Duration::exponential(20_000, 10_000.0)),
        seed: SEED,
        ..FiniteElements::default()
    };
    let dense = HaloExchange {
        compute: HaloExchange::default().compute,
        ..halo(size, 16, 10_000)
    };
    let traffic = RandomTraffic {
        ranks: 8,
        ranks_per_node: 1,
        length: Length::iterations(size.of(10_000)),
        seed: SEED,
        compute: Duration::uniform(0, 400_000),
        ..RandomTraffic::default()
    };
    let ring = RingChain {
        ranks: 8,
        length: Length::iterations(size.of(5_000)),
        seed: SEED,
        network: Network::default(),
        period: 400_000,
        ..RingChain::default()
    };
    let chain = HaloExchange {
        grid: (1, 8),
        periodic: false,
        collective_every: 0,
        ..halo(size, 8, 5_000)
    };
    vec![
        of("dense exchange", Arc::new(dense)),
        of("finite elements", Arc::new(elements)),
        of("random traffic", Arc::new(traffic)),
        of("ring", Arc::new(ring)),
        of("chain", Arc::new(chain)),
    ]
}

/// Cases of load that makes messages late for seconds, and is no change of a clock: stretches next
/// to each other foretell each other's delays. Messages are rare, so that few are fast while that
/// lasts.
fn by_load(size: Size) -> Vec<Case> {
    let idle = HaloExchange {
        compute: Duration::uniform(1_000_000, 3_000_000),
        collective_every: 10,
        ..halo(size, 4, 5_000)
    };
    let slow = HaloExchange {
        load: Load {
            share: 1.0,
            victims: Victims::Rank(1),
            ..Load::default()
        },
        ..idle.clone()
    };
    let congestion = Congestion {
        share: 0.5,
        lasts: size.of(1_000_000_000),
        delay: Duration::exponential(0, 50_000.0),
        seed: SEED,
    };
    let congested = HaloExchange {
        network: Network {
            congestion: Some(congestion),
            ..idle.network
        },
        ..idle
    };
    let sparse = RandomTraffic {
        ranks: 4,
        ranks_per_node: 1,
        length: Length::iterations(size.of(500)),
        seed: SEED,
        compute: Duration::uniform(10_000_000, 30_000_000),
        network: Network::of(Duration {
            least: 500,
            tail: 5_000.0,
            shape: Tail::Heavy { index: 1.5 },
        }),
        load: Load {
            share: 0.5,
            ..Load::default()
        },
        ..RandomTraffic::default()
    };
    vec![
        moderate("a slow rank", DRIFTING, Arc::new(slow)),
        moderate("congested ways", DRIFTING, Arc::new(congested)),
        moderate("bursts of load", DRIFTING, Arc::new(sparse)),
    ]
}

/// Cases in which events do not tell how clocks differ, and no method can know.
fn hard(size: Size) -> Vec<Case> {
    let one_way = ProducerConsumer {
        producers: 2,
        consumers: 2,
        length: Length::iterations(size.of(20_000)),
        seed: SEED,
        production: Duration::uniform(0, 200_000),
        ..ProducerConsumer::default()
    };
    let asymmetric = HaloExchange {
        collective_every: 0,
        network: Network {
            uphill: 2.0,
            ..Network::default()
        },
        ..halo(size, 4, 5_000)
    };
    let short = HaloExchange {
        iterations: size.of(100),
        ..halo(size, 4, 5_000)
    };
    vec![
        moderate("one direction", DRIFTING, Arc::new(one_way)),
        moderate("asymmetric ways", Goal::NoWorse, Arc::new(asymmetric)),
        moderate("a short run", Goal::NoWorse, Arc::new(short)),
    ]
}
