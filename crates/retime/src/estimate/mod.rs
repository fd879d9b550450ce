//! What a trace tells about its clocks and messages without correcting it.

mod minimal_delay;

pub use minimal_delay::{LearnedDelay, learn_minimal_delay, round_trip_halves};
