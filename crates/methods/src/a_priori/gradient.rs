//! How steep the ramp ahead of a jump can become.
//!
//! A ramp begins so early that it climbs by `A_def` of local time. A message that was sent
//! inside it holds it down until then: what the jump still lacks has to be climbed between the
//! send and the receive. With a jump of at most `J` and at least `d` between them the gradient
//! is
//!
//! ```text
//! A  <=  max(A_def, J / d)                                                       (5.10)
//! ```
//!
//! At the start a jump can be as high as clocks differ, `D`:
//!
//! ```text
//! A  <=  max(A_def, kappa),  kappa = D / d                                       (5.15)-(5.17)
//! ```
//!
//! Later, looking only at receives whose messages took at most `1 + epsilon/2` of the least
//! time `m` of all, which follow each other within `T`, jumps are at most
//! `epsilon/2 m + T ((1 - gamma_max) + rho gamma_max)` (see [`jumps`](super::jumps)), and so
//!
//! ```text
//! A  <=  max(A_def, epsilon kappa_a (1 + kappa_b) / 2)                           (5.11), (5.12)
//! kappa_a = m / d                                                                (5.13)
//! kappa_b = T/m ((1 - gamma_max) + rho gamma_max) / (epsilon/2)                  (5.14)
//! ```
//!
//! The copy at hand is hard to read in the divisor of `kappa_b`. It is read as `epsilon/2`,
//! which is what makes both forms of (5.12) equal; the examples below agree with any.
//!
//! ```
//! use retime::Ticks;
//! use retime_methods::a_priori::{Constants, gradient::{self, AfterStart}};
//! let constants = Constants { gamma_max: 1.0 - 2e-5, gamma_d: None, a_def: 0.005, rho: 1e-4 };
//! // Example 1: kappa_a = 500 us / 300 us and kappa_b = 0.6, for 5 %, give 6.7 %.
//! let example = AfterStart {
//!     tolerance: 0.05,
//!     least_delay: Ticks(500),
//!     send_to_receive: Ticks(300),
//!     longest: Ticks(62_500),
//! };
//! assert!((example.kappa_a() - 1.67).abs() < 0.005);
//! assert!((example.kappa_b(&constants) - 0.6).abs() < 1e-4);
//! assert!((example.gradient(&constants) - 0.067).abs() < 0.0005);
//! // Example 2: clocks and gamma are off by more, receives nearer to each other.
//! let worse = Constants { gamma_max: 1.0 - 2e-4, ..constants };
//! let example = AfterStart { longest: Ticks(25_000), ..example };
//! assert!((example.kappa_b(&worse) - 0.6).abs() < 1e-4);
//! assert!((example.gradient(&worse) - 0.067).abs() < 0.0005);
//! // At the start clocks may differ by 1 ms.
//! assert_eq!(gradient::at_start(&constants, Ticks(1_000), Ticks(300)), 10.0 / 3.0);
//! ```
//!
//! # Several jumps
//!
//! (5.10) looks at one jump. Where a second follows within the ramp, the ramp has to climb
//! both: after a send, jumps of 6 at 10 and again at 11 mean a gradient of 12 / 11, not
//! 6 / 10. (5.15) holds all the same, since jumps together raise a clock by no more than `D`,
//! but for what it loses between them. Away from sends a ramp has its usual length
//! `L = J / A_def` and may have to climb `D`. With jumps that are at least `g` apart that is
//! no more than `J L / g + J` either, so
//!
//! ```text
//! A  <=  min(A_def D / J, A_def + J / g)  <=  (A_def + sqrt(A_def^2 + 4 A_def D / g)) / 2
//! ```
//!
//! whatever `J`, which nobody knows beforehand. [`of_several_jumps`] says that. (With ramps
//! of `D / A_def`, which the thesis takes where the difference of clocks is known, it would be
//! `A_def`; they would move events that are further away from the jump.)
//!
//! ```
//! # use retime::Ticks;
//! # use retime_methods::a_priori::gradient::of_several_jumps;
//! // Clocks that differ by 100 ticks, forced each 2,000: not 0.5 % but 1.9 %.
//! assert!((of_several_jumps(0.005, Ticks(100), Ticks(2_000)) - 0.01850).abs() < 1e-5);
//! ```
//!
//! Source: Rabenseifner 2000, section 5.2, (5.10) to (5.17) with examples 1 and 2; several
//! jumps are ours.

use super::Constants;
use retime::Ticks;

/// `rise / distance`, (5.10); infinite where there is no distance, and 0 where nothing rises.
pub fn steepest(rise: Ticks, distance: Ticks) -> f64 {
    match rise.0 {
        ..=0 => 0.0,
        rise => rise as f64 / distance.0.max(0) as f64,
    }
}

/// The steepest ramp of a clock that is forced by at most `difference` and whose receives
/// come at least `send_to_receive` after a send: (5.16) with (5.17).
pub fn at_start(constants: &Constants, difference: Ticks, send_to_receive: Ticks) -> f64 {
    steepest(difference, send_to_receive).max(constants.a_def)
}

/// The steepest ramp, away from sends, of a clock that all jumps together raise by at most
/// `difference`, with moments of jumps that are at least `apart` from each other.
pub fn of_several_jumps(a_def: f64, difference: Ticks, apart: Ticks) -> f64 {
    let packed = steepest(difference, apart);
    f64::midpoint(a_def, (a_def * a_def + 4.0 * a_def * packed).sqrt())
}

/// The receives of a clock once it has been forced for the first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AfterStart {
    /// The error that is tolerable, `epsilon`: receives of messages that took longer than
    /// `1 + epsilon/2` of the least time are not looked at.
    pub tolerance: f64,
    /// The least time that a message takes.
    pub least_delay: Ticks,
    /// Least distance from a send to such a receive.
    pub send_to_receive: Ticks,
    /// Largest distance from one such receive to the next.
    pub longest: Ticks,
}

impl AfterStart {
    /// (5.13).
    pub fn kappa_a(&self) -> f64 {
        steepest(self.least_delay, self.send_to_receive)
    }

    /// (5.14).
    pub fn kappa_b(&self, constants: &Constants) -> f64 {
        steepest(self.longest, self.least_delay) * constants.divergence() / (self.tolerance / 2.0)
    }

    /// (5.12).
    pub fn gradient(&self, constants: &Constants) -> f64 {
        let kappa_b = self.kappa_b(constants);
        let forced = self.tolerance * self.kappa_a() * f64::midpoint(1.0, kappa_b);
        forced.max(constants.a_def)
    }
}
