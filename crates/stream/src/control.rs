//! How the clocks of a filter go on by themselves.

use retime_logical_clocks::{
    CombinedConstants, Control, Controllers, DegressiveConstants, Gamma, Lead,
};
use retime_model::ClockId;
use retime_model::TickRate;

/// How gamma is found in a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FilterControl {
    /// Always the same factor.
    Constant(Gamma),
    /// The controller of 1997, clock by clock.
    Degressive(DegressiveConstants),
    /// The controllers A to D of 2000.
    Combined(CombinedConstants),
}

/// Successive events may come at once.
const NO_DISTANCE: i64 = 0;

/// The law of all clocks.
#[derive(Debug)]
pub(crate) enum Law {
    Constant(Gamma),
    Controlled(Controllers),
}

impl Law {
    pub(crate) fn new(control: FilterControl, clocks: usize, rate: TickRate) -> Self {
        let controlled = |control| Self::Controlled(Controllers::new(control, clocks, rate));
        match control {
            FilterControl::Constant(gamma) => Self::Constant(gamma),
            FilterControl::Degressive(constants) => controlled(Control::Degressive(constants)),
            FilterControl::Combined(constants) => controlled(Control::Combined(constants)),
        }
    }

    /// True if the order in which clocks are computed does not matter.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }

    /// Where a clock alone is at raw time `raw`.
    #[inline]
    pub(crate) fn own(&self, clock: ClockId, lead: Lead, raw: i64) -> i64 {
        match self {
            Self::Constant(gamma) => raw + lead.at(raw, *gamma),
            Self::Controlled(controllers) => {
                raw + controllers.advanced(clock, lead, raw, NO_DISTANCE).amount()
            }
        }
    }

    /// A time before which a clock cannot be at raw time `raw`, whatever comes.
    #[inline]
    pub(crate) fn least(&self, lead: Lead, raw: i64) -> i64 {
        match self {
            Self::Constant(gamma) => raw + lead.at(raw, *gamma),
            Self::Controlled(_) => lead.value().map_or(raw, |value| value.max(raw)),
        }
    }

    /// The raw time between two others at which a lead is gone.
    #[inline]
    pub(crate) fn gone(&self, lead: Lead, from: i64, to: i64) -> Option<i64> {
        match self {
            Self::Constant(gamma) => lead.gone_between(from, to, *gamma),
            Self::Controlled(_) => None,
        }
    }

    /// An event with a gate was computed; the lead from there on.
    #[inline]
    pub(crate) fn computed(&mut self, clock: ClockId, lead: Lead, now: Now) -> Lead {
        let amount = now.value - now.raw;
        match self {
            Self::Constant(gamma) if now.value > now.own => {
                lead.after(now.raw, *gamma).forced(amount)
            }
            Self::Constant(_) => lead,
            Self::Controlled(controllers) => {
                let alone = controllers.advanced(clock, lead, now.raw, NO_DISTANCE);
                controllers.computed(clock, now.raw, now.simple, amount);
                alone.forced(amount)
            }
        }
    }

    /// A clock has no event left.
    pub(crate) fn ended(&mut self, clock: ClockId) {
        if let Self::Controlled(controllers) = self {
            controllers.ended(clock);
        }
    }
}

/// A clock at an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) raw: i64,
    /// Where the clock alone would be.
    pub(crate) own: i64,
    /// Where it is.
    pub(crate) value: i64,
    /// Where the simple logical clock is.
    pub(crate) simple: i64,
}
