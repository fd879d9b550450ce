//! Random parallel programs with known truth.
//!
//! [`layout`] makes up locations and communicators, [`program`] runs a program
//! in true time, and [`Spec::trace`] stamps it by clocks that are wrong.

pub mod case;
mod collective;
pub mod constraints;
pub mod edges;
pub mod hand;
mod ids;
pub mod layout;
pub mod meetings;
pub mod naive;
pub mod oracle;
pub mod papers;
pub mod permuted;
pub mod program;
pub mod rng;
pub mod rounds;
pub mod stretched;
pub mod threads;
pub mod trace;
pub mod waits;
pub mod watched;

use proptest::prelude::*;
use retime::clock::{ClockError, Cycle, Gamma};
use retime::{
    Bandwidth, Clocks, DelayByLength, DelayTable, Grouping, Location, LocationIndex, MinimalDelay,
    TickRate, Ticks, TraceInfo,
};
use retime_testing::Effort;

use layout::Layout;
use program::Program;
use rng::Rng;
pub use trace::{Call, Edge, Event, Trace};

/// The cycle that keeps a clock from going on.
pub fn cycle<T>(run: Result<T, ClockError>) -> Cycle {
    match run {
        Err(ClockError::Cycle(cycle)) => cycle,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("no cycle"),
    }
}

/// Who reads one physical clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    Location,
    Process,
    Node,
}

/// What a random trace is made from.
#[derive(Clone, Debug)]
pub struct Spec {
    pub locations: usize,
    pub steps: usize,
    pub seed: u64,
    /// Whether ranks may have several threads.
    pub threads: bool,
    /// The tick of all clocks, in quarters of a unit of true time. With 1, no
    /// two events of one clock share a stamp.
    pub tick: u64,
    /// Clocks differ by this much at most, in the same quarters.
    pub offset: u64,
    /// Clocks run wrong by this much at most.
    pub drift_ppm: u64,
    pub sharing: Sharing,
}

/// The smallest stamp a trace may have, roughly.
const EPOCH: u64 = 7_400_000_000_000_000;

impl Spec {
    pub fn trace(&self) -> Trace {
        let mut rng = Rng::new(self.seed);
        // On a coarse clock the order of two threads may be lost.
        let fine = self.tick == 1 && self.sharing != Sharing::Location;
        let layout = Layout::random(self.locations, self.threads, fine, &mut rng);
        let program = Program::run(&layout, self.steps, rng.next());
        let physical = self.physical(&layout);
        let clocks: Vec<(i64, i64)> = (0..self.locations.max(1))
            .map(|_| (rng.around(self.offset), rng.around(self.drift_ppm)))
            .collect();
        let base = if rng.once_in(2) { EPOCH } else { 1 << 40 };
        let stamp = |location: usize, time: u64| {
            let (offset, drift) = clocks[physical[location]];
            let local = i128::from(time) * 4 * i128::from(1_000_000 + drift) / 1_000_000;
            base + ((i128::from(offset) + local + (1 << 36)) as u64) / self.tick
        };
        let events = program.events.iter().enumerate().map(|(location, events)| {
            let event = |&(truth, call): &(u64, Call)| Event {
                truth,
                raw: stamp(location, truth),
                call,
            };
            events.iter().map(event).collect()
        });
        Trace {
            events: events.collect(),
            messages: program.numbered(&program.messages),
            collectives: program.numbered(&program.collectives),
            physical,
            info: layout.info,
        }
    }

    fn physical(&self, layout: &Layout) -> Vec<usize> {
        let info = &layout.info;
        let first_like = |like: &dyn Fn(usize) -> bool, own: usize| {
            (0..info.locations.len())
                .find(|&other| like(other))
                .unwrap_or(own)
        };
        let process = |location: usize| info.locations[location].process;
        let node = |location: usize| info.processes[process(location)].node;
        let clock = |own: usize| match self.sharing {
            Sharing::Location => own,
            Sharing::Node if node(own).is_some() => {
                first_like(&|other| node(other) == node(own), own)
            }
            _ => first_like(&|other| process(other) == process(own), own),
        };
        (0..info.locations.len()).map(clock).collect()
    }
}

/// Specs of every kind; they shrink towards few locations and steps.
pub fn specs(most_steps: usize) -> impl Strategy<Value = Spec> {
    let sharing = prop_oneof![
        Just(Sharing::Location),
        Just(Sharing::Process),
        Just(Sharing::Node)
    ];
    let tick = prop_oneof![Just(1_u64), Just(40), Just(1_600), Just(20_000)];
    let offset = prop_oneof![Just(0_u64), Just(4_000), Just(400_000)];
    let drift = prop_oneof![Just(0_u64), Just(50)];
    (
        1..=8_usize,
        0..=most_steps,
        any::<u64>(),
        any::<bool>(),
        tick,
        offset,
        drift,
        sharing,
    )
        .prop_map(
            |(locations, steps, seed, threads, tick, offset, drift_ppm, sharing)| Spec {
                locations,
                steps,
                seed,
                threads,
                tick,
                offset,
                drift_ppm,
                sharing,
            },
        )
}

/// A configuration with so many cases, or a third of them where a sample is asked for; the
/// variable `RETIME_CASES` multiplies it.
pub fn cases(cases: u32) -> ProptestConfig {
    let factor = std::env::var("RETIME_CASES").ok();
    let factor: u32 = factor.and_then(|it| it.parse().ok()).unwrap_or(1);
    ProptestConfig {
        cases: (cases / Effort::asked().pick(3, 1, 1)).max(1) * factor,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

impl Spec {
    /// Groupings that join no two physical clocks.
    pub fn groupings(&self) -> &'static [Grouping] {
        match self.sharing {
            Sharing::Location => &[Grouping::Location],
            Sharing::Process => &[Grouping::Location, Grouping::Process],
            Sharing::Node => &[Grouping::Location, Grouping::Process, Grouping::Node],
        }
    }

    /// One of them.
    pub fn grouping(&self) -> Grouping {
        let all = self.groupings();
        all[(self.seed % 97) as usize % all.len()]
    }

    /// The clocks of that grouping as its name says: what is silent is stamped like
    /// the others, so it has to stay where it is.
    pub fn clocks(&self, info: &TraceInfo) -> Clocks {
        let owner = |(index, location): (usize, &Location)| {
            let process = location.process;
            match (self.grouping(), info.processes[process].node) {
                (Grouping::Location, _) => (2, index),
                (Grouping::Process, _) | (_, None) => (1, process),
                (_, Some(node)) => (0, node),
            }
        };
        let owners: Vec<_> = info.locations.iter().enumerate().map(owner).collect();
        Clocks::from_owners(&owners).0
    }

    /// Some minimal delay: one for all, or one per pair of locations; by the length of messages or not.
    pub fn delay(&self) -> MinimalDelay {
        let mut rng = Rng::new(!self.seed);
        let mut any = || {
            let most = [1, 2, 1_600 / self.tick + 1, 10_000][rng.index(4)];
            Ticks(rng.below(most) as i64)
        };
        let rate = TickRate::NANOSECONDS;
        // From a byte per tick to a thousand.
        let bandwidth = Bandwidth::per_second(10_u64.pow(9 + (self.seed % 4) as u32)).unwrap();
        match self.seed % 6 {
            0 | 1 => {}
            2 => return MinimalDelay::ByLength(DelayByLength::new(any(), bandwidth, rate)),
            _ => return MinimalDelay::Uniform(any()),
        }
        let by_length = self.seed.is_multiple_of(2);
        let mut any = || match any() {
            latency if by_length => DelayByLength::new(latency, bandwidth, rate),
            latency => latency.into(),
        };
        let mut table = DelayTable::default();
        table.set(None, None, any());
        for from in 0..self.locations as u32 {
            for to in 0..self.locations as u32 {
                let (from, to) = (LocationIndex(from), LocationIndex(to));
                match (from.0 + to.0) % 4 {
                    0 => table.set(Some(from), Some(to), any()),
                    1 => table.set(Some(from), None, any()),
                    2 => table.set(None, Some(to), any()),
                    _ => {}
                }
            }
        }
        MinimalDelay::PerPair(table)
    }
}

/// Control factors from the least to the most patient.
pub fn gammas() -> impl Strategy<Value = Gamma> {
    let texts = ["0", "0.5", "0.99", "0.99998", "0.9999999"];
    (0..texts.len()).prop_map(move |which| texts[which].parse().unwrap())
}
