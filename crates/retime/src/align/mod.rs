//! Alignment: clocks that agree as well as the trace can tell.

mod latency;

pub use latency::shortest_latency;
