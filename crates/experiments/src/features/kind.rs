//! Clocks for which the thesis asks.

use retime_sim::{Jumps, RandomWalk, Spread};

/// The errors of clocks, besides an offset of up to 200 us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing else: all run at one rate.
    Offsets,
    /// A constant rate, up to 50 ppm.
    ConstantRate,
    /// A rate that changes: a swing of up to 40 us in each second, and a random
    /// walk within 50 ppm.
    VariableRate,
    /// Each clock is set twice, by up to 200 us; up to 20 ppm.
    Jumps,
    /// Ticks of 10 us, several message delays; up to 20 ppm.
    CoarseTicks,
}

impl Kind {
    /// Bounds within which clocks of that kind are drawn, for a run of so many
    /// nanoseconds.
    pub(super) fn spread(self, run: u64) -> Spread {
        let offsets = Spread {
            offset: 200_000.0,
            ..Spread::default()
        };
        let drifting = |drift| Spread { drift, ..offsets };
        match self {
            Self::Offsets => offsets,
            Self::ConstantRate => drifting(50e-6),
            Self::VariableRate => Spread {
                wander: 40_000.0,
                period: 1e9,
                walk: Some(RandomWalk {
                    every: 10_000_000,
                    change: 5e-6,
                    limit: 50e-6,
                    seed: 0,
                }),
                ..offsets
            },
            Self::Jumps => Spread {
                jumps: Some(Jumps {
                    count: 2,
                    size: 200_000.0,
                    until: run,
                }),
                ..drifting(20e-6)
            },
            Self::CoarseTicks => Spread {
                step: 10_000,
                ..drifting(20e-6)
            },
        }
    }
}
