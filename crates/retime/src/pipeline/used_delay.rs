//! The minimal delay of an analysis: where it comes from, and what it may be taken for.
//!
//! A delay that was *given* is a fact, and what is faster contradicts the clocks. One that was
//! learned is a guess: it is enforced where clocks are corrected, and contradicts nothing. The
//! default learns it again once clocks are aligned, which tells more; what was asked for by
//! name, or comes from an earlier analysis, stays as it is.

use retime_causality::Causality;
use retime_causality::MinimalDelay;
use retime_clocks::estimate::{DelayRule, Shown};
use retime_model::{Cancelled, Clocks, Monitor, TickRate, Ticks};

/// The minimal delay that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedDelay {
    /// Learned from the trace.
    Learned(DelayRule),
    /// Known, and true.
    Given(MinimalDelay),
    /// Learned from this trace before it was corrected, or from one like it.
    LearnedBefore(MinimalDelay),
}

impl Default for AskedDelay {
    fn default() -> Self {
        Self::Learned(DelayRule::default())
    }
}

impl AskedDelay {
    /// True if the lengths of messages make a difference: they have to be
    /// [kept](crate::CausalityOptions::keep_lengths).
    pub fn looks_at_lengths(&self) -> bool {
        match self {
            Self::Learned(rule) => rule.looks_at_lengths(),
            Self::Given(delay) | Self::LearnedBefore(delay) => delay.is_by_length(),
        }
    }

    /// The delay to use. Fails only if `monitor` says to give up.
    pub(super) fn of(
        &self,
        causality: &Causality,
        clocks: &Clocks,
        rate: TickRate,
        monitor: &dyn Monitor,
    ) -> Result<UsedDelay, Cancelled> {
        // That of round trips in any case: it tells whether a given delay can be right.
        let rule = match self {
            Self::Learned(rule) => *rule,
            Self::Given(_) | Self::LearnedBefore(_) => DelayRule::Fastest,
        };
        let learned = rule.learn(causality, clocks, rate, monitor)?;
        let (delay, standing) = match self {
            Self::Learned(DelayRule::Fastest) => (learned.delay, DelayStanding::Guess),
            Self::Learned(_) => (learned.delay, DelayStanding::Settled),
            Self::LearnedBefore(delay) => (delay.clone(), DelayStanding::Settled),
            Self::Given(delay) => (delay.clone(), DelayStanding::Given),
        };
        Ok(UsedDelay {
            delay,
            standing,
            shown: learned.shown,
            half_round_trip: learned.fastest.half_round_trip,
        })
    }
}

/// The standing of a minimal delay: condition, settled value or guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayStanding {
    /// A guess, which aligned clocks better.
    Guess,
    /// A guess that is not to be changed.
    Settled,
    /// A fact.
    Given,
}

/// The minimal delay in use.
#[derive(Clone, Debug)]
pub struct UsedDelay {
    /// The delay that is enforced.
    pub delay: MinimalDelay,
    /// Its standing.
    pub standing: DelayStanding,
    /// The evidence of the rule by which it was learned, if there is more to say than
    /// [`half_round_trip`](Self::half_round_trip).
    pub shown: Option<Shown>,
    /// Half of the fastest round trip, if clocks exchange enough to tell: no
    /// right delay is larger.
    pub half_round_trip: Option<Ticks>,
}

impl UsedDelay {
    /// True if what is faster contradicts the clocks.
    pub fn is_given(&self) -> bool {
        self.standing == DelayStanding::Given
    }
}
