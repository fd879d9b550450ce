//! The error of a local interval where jumps are left as they are.
//!
//! Two receives that force a clock follow one another. At each the clock is put where its
//! message says, late by what the message took beyond the least; between them it is off by
//! what gamma and drift let it diverge. So the second jump is at most
//!
//! ```text
//! |m - m'| + T ((1 - gamma_max) + rho gamma_max)
//! ```
//!
//! with `m` and `m'` what the messages took and `T` the time between the receives. All of it
//! falls into the interval just before the receive, and as that can be as short as `d`, the
//! relative error of an interval is at most
//!
//! ```text
//! max |m - m'| / d  +  (max T / d + 1) ((1 - gamma_max) + rho gamma_max)                 (5.7)
//! ```
//!
//! It does not hold for the first jump of a clock, which is as high as clocks differ. For real
//! traces it is above 1 by powers of ten: that is why jumps are amortised.
//!
//! ```
//! use retime::Ticks;
//! use retime_methods::a_priori::{Constants, jumps::error};
//! let constants = Constants { gamma_max: 1.0 - 2e-5, gamma_d: None, a_def: 0.005, rho: 1e-4 };
//! // Messages take 300 to 800 us, receives are 250 ms apart, events 10 us, in ns.
//! let [variation, longest, shortest] = [500_000, 250_000_000, 10_000].map(Ticks);
//! let error = error(&constants, variation, longest, shortest);
//! assert!((error - (50.0 + 25_001.0 * 1.19998e-4)).abs() < 1e-6);
//! ```
//!
//! Source: Rabenseifner 2000, section 5.2, scenario 1 with (5.3) to (5.7).

use super::Constants;
use retime::Ticks;

/// The largest relative error of a local interval of a clock whose messages take times that
/// differ by at most `variation`, whose receives follow each other within `longest`, and whose
/// events are at least `shortest` apart: (5.7). Infinite where events can coincide.
pub fn error(constants: &Constants, variation: Ticks, longest: Ticks, shortest: Ticks) -> f64 {
    let by_shortest = |it: Ticks| super::gradient::steepest(it, shortest);
    by_shortest(variation) + (by_shortest(longest) + 1.0) * constants.divergence()
}
