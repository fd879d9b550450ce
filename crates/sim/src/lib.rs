//! Simulated parallel programs with known true times.
//!
//! A correction of timestamps can only be judged against the truth, and
//! recordings of real programs have none. Here programs are simulated: the
//! true time of every event is known, and the trace is stamped with clocks
//! that are wrong in a known way.
//!
//! ```text
//!  Network, Load      what messages and processes wait for
//!     |
//!  Scenario     who does what when, in true time     HaloExchange, FiniteElements,
//!     |                                              RingChain, OpposingPair,
//!     |                                              ProducerConsumer, RandomTraffic
//!  Experiment   adds a Clock for each rank           Spread draws them
//!     |
//!     +--> a trace, and the same with true times     write, write_with_truth
//!     +--> what a scan would find, and the truth     in_memory
//! ```
//!
//! Events go where they are wanted as they happen; a long trace needs no more
//! memory than a short one. [`Program`] is for the opposite: a handful of
//! events, each written down by hand.
//!
//! The same configuration gives the same bytes, on every machine.
//!
//! ```
//! use retime_sim::{HaloExchange, Spread};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let trace = scratch.path().join("skewed/traces.otf2");
//! # let truth = scratch.path().join("truth/traces.otf2");
//! let mut program = HaloExchange {
//!     grid: (2, 2),
//!     iterations: 50,
//!     seed: 1,
//!     ..HaloExchange::default()
//! };
//! let spread = Spread { offset: 100_000.0, drift: 2e-6, ..Spread::default() };
//! program.clocks = spread.per_process(&program.layout(), program.seed);
//!
//! let written = program.write_with_truth(&trace, &truth)?;
//! assert_eq!(written.statistics.messages, 50 * 4 * 4);
//! assert_eq!(written.trace.events, written.statistics.events);
//! # assert!(trace.exists() && truth.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beside;
mod clock;
mod congestion;
mod dependencies;
mod duration;
mod event;
mod experiment;
mod failure;
mod halo;
mod layout;
mod load;
mod memory;
mod network;
mod program;
mod random;
pub mod region;
mod roles;
mod scenario;
mod trace;

pub use self::{
    clock::{Clock, Glitch, Glitches, Jump, Jumps, Ntp, RandomWalk, Reader, Spread, Timer, Wander},
    congestion::Congestion,
    duration::{Duration, Tail},
    event::{Event, Recording, Sink},
    experiment::{Experiment, Written},
    failure::{Error, Result},
    halo::{Collective, HaloExchange},
    layout::{Layout, WORLD},
    load::{Load, Victims},
    memory::InMemory,
    network::{Network, Sent},
    program::{Peer, Program, Thread, from, to},
    random::Random,
    scenario::{
        Length, Scenario, Statistics, finite_elements::FiniteElements, opposing::OpposingPair,
        producer_consumer::ProducerConsumer, random_traffic::RandomTraffic, ring::RingChain,
    },
};
