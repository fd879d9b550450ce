//! Two processes that exchange messages without delay at fixed times.
//!
//! The scenario in which the thesis analyses controller B: at every multiple of
//! `interval` both processes send to each other, and what they send is there at
//! once. Process 0 has a true clock; that of process 1 is behind at first but
//! faster. With `rho` the excess of its rate and `D` how far it is behind, the
//! lead of the controlled clock over the clock of process 0, in units of
//! `D sqrt((R-1)/R)` with `R = gamma_max (1 + rho)`, is
//!
//! ```text
//! o_j = max(o_(j-1) + f - f o_(j-1)^2, 0),   f = interval/D sqrt(R (R-1))
//! ```
//!
//! Source: Rabenseifner 2000, section 5.3, scenario 2.

use crate::{
    clock::Clock,
    duration::Duration,
    event::Sink,
    failure::Result,
    layout::Layout,
    load::Load,
    network::Network,
    scenario::{
        Length, Scenario, Statistics,
        machine::{Letter, Machine},
        none_is_zero,
    },
};

/// Two processes that send to each other at the same time, again and again.
///
/// Each exchange is four events at one true time: each process sends, then
/// receives.
///
/// ```
/// use retime_sim::{Experiment, Length, OpposingPair};
///
/// let pair = OpposingPair { interval: 1_000_000, length: Length::iterations(3) };
/// let clocks = OpposingPair::clocks(500, 1e-3);
/// let memory = Experiment::new(&pair).clocks(clocks.to_vec()).in_memory()?;
/// let epoch = 1_000_000_000;
/// let stamps: Vec<i64> = memory.stamps.iter().map(|it| it.0 as i64 - epoch).collect();
/// assert_eq!(stamps[..6], [0, 0, 1_000_000, 1_000_000, 2_000_000, 2_000_000]);
/// assert_eq!(stamps[6..], [-500, -500, 1_000_500, 1_000_500, 2_001_500, 2_001_500]);
/// # Ok::<(), retime_sim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpposingPair {
    /// Nanoseconds from one exchange to the next. The first is at time 0.
    pub interval: u64,
    /// How many exchanges.
    pub length: Length,
}

impl OpposingPair {
    /// A true clock, and one that is so many nanoseconds behind at the start
    /// and faster by `faster`, 1e-3 for a thousandth.
    pub fn clocks(behind: u64, faster: f64) -> [Clock; 2] {
        let other = Clock {
            offset: -(behind as i64),
            drift: faster,
            ..Clock::TRUE
        };
        [Clock::TRUE, other]
    }
}

impl Scenario for OpposingPair {
    fn layout(&self) -> Layout {
        Layout::node_per_rank(2)
    }

    fn seed(&self) -> u64 {
        0
    }

    fn run(&self, sink: &mut dyn Sink) -> Result<Statistics> {
        none_is_zero([("the interval", self.interval)])?;
        let network = Network::of(Duration::constant(0));
        let machine = Machine::new(self, network, Load::default(), sink);
        let letter = |rank: u32| Letter {
            peer: 1 - rank,
            tag: 0,
            bytes: 8,
        };
        machine.run(&self.length, |machine, round| {
            for rank in 0..2 {
                machine.idle_until(rank, round.saturating_mul(self.interval));
                machine.send_now(rank, letter(rank))?;
            }
            (0..2).try_for_each(|rank| machine.receive_now(rank, letter(rank)))
        })
    }
}
