//! Controllers: how much of its intervals a leading clock keeps, event by event.
//!
//! A constant gamma suits clocks whose rates differ by less than `1 - gamma`;
//! otherwise the clocks run away from physical time. Controllers watch the
//! leads and lower gamma as far as needed. `gamma` for an event uses the state
//! before it; the first is `gamma_max`.

mod combined;
mod degressive;
mod tournament;

pub use combined::{Combined, CombinedConstants};
pub use degressive::{Degressive, DegressiveConstants};
