//! The rules by which a minimal delay is learned from a trace.

use super::by_length::{LengthLine, learn_by_length};
use super::calls::{EmptyCalls, empty_calls};
use super::minimal_delay::{LearnedDelay, learn_minimal_delay};
use retime_causality::Causality;
use retime_causality::MinimalDelay;
use retime_model::{Cancelled, Clocks, Monitor, TickRate, Ticks};

/// How a minimal delay is learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DelayRule {
    /// An eighth of half the fastest round trip, 5 us at most ([`learn_minimal_delay`]).
    #[default]
    Fastest,
    /// An eighth of the line below what messages take by their length ([`learn_by_length`]).
    ByLength,
    /// A quarter of the most frequent round trip of an empty call ([`empty_calls`]).
    QuarterOfCall,
    /// 90 % of that.
    NinetyPercentOfQuarter,
}

impl DelayRule {
    /// True if the lengths of messages make a difference: they have to be
    /// [kept](retime_causality::CausalityOptions::keep_lengths).
    pub const fn looks_at_lengths(self) -> bool {
        !matches!(self, Self::Fastest)
    }

    /// Learns the delay by this rule, in a trace of so many ticks per second. Fails only if
    /// `monitor` says to give up.
    pub fn learn(
        self,
        causality: &Causality,
        clocks: &Clocks,
        rate: TickRate,
        monitor: &dyn Monitor,
    ) -> Result<RuledDelay, Cancelled> {
        // In any case: it tells whether another delay can be right.
        let fastest = learn_minimal_delay(causality, clocks, rate, monitor)?;
        let (delay, shown) = match self {
            Self::Fastest => (MinimalDelay::Uniform(fastest.enforced), None),
            Self::ByLength => {
                let line = learn_by_length(causality, clocks, monitor)?;
                let delay = MinimalDelay::ByLength(line.enforced(rate));
                (delay, Some(Shown::Line(line)))
            }
            Self::QuarterOfCall | Self::NinetyPercentOfQuarter => {
                let calls = empty_calls(causality, clocks, monitor)?;
                let delay = |it: EmptyCalls| match self {
                    Self::QuarterOfCall => it.quarter(),
                    _ => it.ninety_percent_of_quarter(),
                };
                let delay = calls.map_or(Ticks(0), delay);
                (MinimalDelay::Uniform(delay), calls.map(Shown::Calls))
            }
        };
        Ok(RuledDelay {
            delay,
            shown,
            fastest,
        })
    }
}

/// A minimal delay that was learned by a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledDelay {
    /// The delay to enforce.
    pub delay: MinimalDelay,
    /// The evidence that the rule found in the trace.
    pub shown: Option<Shown>,
    /// The delay of the fastest round trip.
    pub fastest: LearnedDelay,
}

/// The evidence that a rule found in a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown {
    /// The line below all round trips.
    Line(LengthLine),
    /// Round trips of calls.
    Calls(EmptyCalls),
}
