//! Bounds of what the controlled clock can do to the local intervals of a trace.
//!
//! Two bounds of the same, the first from what the thesis takes to be known, the second from
//! the dependencies one by one:
//!
//! - by theorem 17, with the steepest ramp of each clock by its largest possible lead and its
//!   least distances ([`Reach`]), and by (5.69) what it usually comes to;
//! - by difference constraints: no ramp is steeper than the most that some receive can be
//!   forced, less what its clock leads by already, by its own distance from the send before it
//!   or by the length of ramps, and no interval is shortened by more than gamma takes.
//!
//! Both know of jumps that follow each other within a ramp, the first by
//! [`of_several_jumps`](super::gradient::of_several_jumps). The second is of changes
//! against what was recorded, as [`Distortion`](retime::Distortion) measures them; the first
//! has drift in it, too, so that it holds against true intervals. A ramp climbs against the
//! clock without its jumps, which is slower by gamma, and so what is divided by a distance is
//! divided by gamma, too. Stamps are whole ticks: each bound is of an interval of many ticks, and
//! [`Foreseen::SLACK`] is to be added to what it says of a short one.
//!
//! ```
//! # use retime::causality::{Causality, CausalityOptions};
//! use retime::{Grouping, MinimalDelay, Ticks};
//! use retime_methods::a_priori::{Constants, Foreseen, Reach};
//! # let trace = retime_testing::trace("0: send 1 @900, receive 1 @1000, send 1 @1005
//! #                                    1: receive 0 @906, send 0 @1010, receive 0 @1012")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Grouping::Process.clocks(&trace.info, &causality);
//! // The trace of `Reach`: 10 ticks within 100, 3 within 2.
//! let delay = MinimalDelay::Uniform(Ticks(0));
//! let constants = Constants { gamma_max: 0.99, gamma_d: None, a_def: 0.005, rho: 0.001 };
//! let reach = Reach::of_clocks(&causality, &clocks, &delay, &constants, &())?;
//! let foreseen = Foreseen::of(&reach, &constants);
//! assert!((foreseen.theorem_17 - (1.5 * 1.001 + 0.01 + 0.001)).abs() < 0.03);
//! assert!((foreseen.by_constraints - 1.5 / 0.99).abs() < 0.03);
//! assert!((foreseen.usual - 0.01).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why it holds
//!
//! Let `b` be the clock without its jumps and `S` their sum, as in amortisation. `b` advances
//! by between `gamma` and 1 of what was recorded. Between two events `S` rises by no more than
//! the lead at the later one and what was lost of leads between them, `h + (1 - gamma) d`. A
//! ramp of gradient `A` into every jump stays in the corridor of amortisation if it comes down
//! to `S` at each send before the jump and within the ramp's length, so where `A` is at least
//! that rise by `b` from any send, and by the ramp's length. The taut string has the smallest
//! largest gradient of all that stay in it.

use super::gradient::{of_several_jumps, steepest};
use super::{Constants, Reach};
use retime::Ticks;

/// Bounds of the relative change of local intervals. Infinite where events of one stamp can
/// be forced apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreseen {
    /// The largest relative error of an interval: (5.9), or (5.68) of theorem 17.
    pub theorem_17: f64,
    /// The share that this error mostly is a small multiple of: (5.69).
    pub usual: f64,
    /// The largest relative change of an interval against what was recorded, by difference
    /// constraints.
    pub by_constraints: f64,
}

impl Foreseen {
    /// The ticks by which an interval can change at most, by difference constraints: what is
    /// forced, the clock and its ramp are each rounded to whole ticks, and so is either end of
    /// the interval by which the ramp climbs.
    pub fn change(&self, interval: Ticks) -> f64 {
        self.by_constraints * (interval.0 as f64 + 2.0) + 3.0
    }

    /// The bounds of clocks whose [reach](Reach::of_clocks) is known.
    pub fn of(reach: &[Reach], constants: &Constants) -> Self {
        let least = constants.least_gamma();
        let largest = |of: &dyn Fn(&Reach) -> f64| reach.iter().map(of).fold(0.0, f64::max);
        let by_distances = largest(&|it| {
            let limited = it.send_to_receive.map_or(0.0, |d| steepest(it.lead, d));
            limited.max(free(constants, it))
        });
        // A ramp is no steeper than usual where it has room.
        let by_jumps = largest(&|it| {
            let elsewhere = it.elsewhere.max(constants.a_def).min(free(constants, it));
            it.after_sends.max(elsewhere)
        });
        let lost = (1.0 - least) / least;
        Self {
            theorem_17: constants.error(by_distances / least),
            usual: constants.usual(),
            by_constraints: if by_jumps > 0.0 {
                by_jumps / least + lost
            } else {
                0.0
            },
        }
    }
}

/// The steepest ramp of a clock away from sends; 0 of one that nothing can force.
fn free(constants: &Constants, reach: &Reach) -> f64 {
    if reach.lead <= Ticks(0) {
        return 0.0;
    }
    let jumps = f64::from(reach.at_once.max(1));
    let together = constants.a_def * jumps;
    let apart = reach.apart.unwrap_or(Ticks(i64::MAX));
    // Jumps of one moment are one of so many times the height.
    of_several_jumps(together, reach.lead, apart)
}
