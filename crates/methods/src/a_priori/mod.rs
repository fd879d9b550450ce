//! How wrong local intervals can become under the controlled logical clock, said before it
//! runs.
//!
//! A correction is for messages; an interval between two events of one clock was right up to
//! the drift of that clock, and each jump, each ramp and each loss of lead makes it wrong. The
//! thesis bounds this by constants that are known beforehand: the control factors, the rate of
//! amortisation, the drift of clocks, and how far events are apart.
//!
//! ```text
//!  jumps         (5.7)           without amortisation
//!  gradient      (5.10)-(5.17)   how steep a ramp can become
//!  Constants     (5.9), (5.68), (5.69)   what follows for an interval
//!  oscillation   (5.58)-(5.66)   what controller B does where clocks differ by more than gamma
//!  Reach         how far the events of a trace can be forced, and how near they are
//!  Foreseen      all of this for a trace
//! ```
//!
//! Source: Rabenseifner 2000, chapter 5.

mod constants;
mod foreseen;
pub mod gradient;
pub mod jumps;
pub mod oscillation;
mod reach;
mod steps;

pub use constants::Constants;
pub use foreseen::Foreseen;
pub use reach::Reach;
