//! Repair: a logical clock that leaves no dependency violated.

use std::fmt;

use retime::clock::{
    AmortizationRate, CombinedConstants, Control, Cycle, Gamma, LogicalTimes, MultiPass,
    Regulation, amortize, controlled, lamport_order, mirror_back, multi_pass, regulated, simple,
    unamortized,
};
use retime::repair::Direction;
use retime::{Correction, TickRate, Ticks};

use super::{Input, Unsolved};

/// What controls the clock, with its constants.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClockControl {
    ByEvent(Control),
    Passes(MultiPass),
}

/// Which logical clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockKind {
    Controlled,
    Simple,
    Lamport,
}

/// A logical clock with its parameters in ticks.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    pub(super) kind: ClockKind,
    pub(super) rate: TickRate,
    pub(super) control: ClockControl,
    pub(super) distance: Ticks,
    pub(super) amortization: Option<AmortizationRate>,
    pub(super) backward: bool,
}

/// What a logical clock found.
pub(crate) struct Repaired {
    /// Events that were forced ahead of their own clock.
    pub(crate) jumps: u64,
    pub(crate) largest_jump: Ticks,
    /// Which way the clock ran; `None` if there was nothing to repair.
    pub(crate) direction: Option<Direction>,
    /// Before amortisation, if there was any; as of the recorded trace, neither
    /// aligned nor mirrored.
    pub(crate) times: Option<LogicalTimes>,
}

impl Repair {
    /// Runs the clock over a trace.
    pub(super) fn run(&self, input: &Input<'_>) -> Result<(Correction, Repaired), Unsolved> {
        if !self.backward {
            return self.forward(input).map_err(Unsolved::Cycle);
        }
        let causality = input.causality;
        let mirror = causality.mirrored();
        let (mirrored, repaired) = self
            .forward(&Input {
                causality: &mirror,
                delay: &input.delay.mirrored(),
                ..*input
            })
            .map_err(|cycle| Unsolved::Cycle(cycle.mirrored(causality)))?;
        let correction =
            mirror_back(causality, input.clocks, &mirrored).ok_or(Unsolved::BeforeZero)?;
        let repaired = Repaired {
            times: None,
            direction: Some(Direction::Backward),
            ..repaired
        };
        Ok((correction, repaired))
    }

    fn forward(&self, input: &Input<'_>) -> Result<(Correction, Repaired), Cycle> {
        let Input {
            causality,
            clocks,
            delay,
            ..
        } = *input;
        let times = match self.kind {
            ClockKind::Lamport => {
                let repaired = Repaired {
                    jumps: 0,
                    largest_jump: Ticks(0),
                    direction: Some(Direction::Forward),
                    times: None,
                };
                return Ok((lamport_order(causality)?, repaired));
            }
            ClockKind::Simple => simple(causality, clocks, delay, self.distance)?,
            ClockKind::Controlled => self.controlled(input)?,
        };
        let correction = match self.amortization() {
            Some(rate) => amortize(causality, clocks, delay, rate, &times),
            None => unamortized(causality, clocks, &times),
        };
        let repaired = Repaired {
            jumps: times.jumps(),
            largest_jump: times.largest_jump(),
            direction: Some(Direction::Forward),
            times: self.amortization().map(|_| times),
        };
        Ok((correction, repaired))
    }

    fn controlled(&self, input: &Input<'_>) -> Result<LogicalTimes, Cycle> {
        let Input {
            causality,
            clocks,
            delay,
            ..
        } = *input;
        match self.control {
            ClockControl::Passes(limits) => Ok(multi_pass(causality, clocks, delay, limits)?.times),
            ClockControl::ByEvent(Control::Constant(factor)) if self.distance == Ticks(0) => {
                controlled(causality, clocks, delay, Gamma::from_factor(factor))
            }
            ClockControl::ByEvent(control) => {
                let regulation = Regulation {
                    delay: delay.clone(),
                    distance: self.distance,
                    control,
                };
                regulated(causality, clocks, self.rate, &regulation)
            }
        }
    }

    /// The largest control factor, if the clock has one.
    pub(super) fn gamma_max(&self) -> Option<Gamma> {
        let factor = match self.control {
            ClockControl::Passes(_) => return None,
            ClockControl::ByEvent(Control::Constant(factor)) => factor,
            ClockControl::ByEvent(Control::Degressive(constants)) => constants.gamma_max,
            ClockControl::ByEvent(Control::Combined(constants)) => constants.gamma_max,
        };
        (self.kind == ClockKind::Controlled).then(|| Gamma::from_factor(factor))
    }

    /// The rate of amortisation, if there is any.
    pub(super) fn amortization(&self) -> Option<AmortizationRate> {
        self.amortization
            .filter(|_| self.kind == ClockKind::Controlled)
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            ClockKind::Controlled => "controlled logical clock",
            ClockKind::Simple => "simple logical clock",
            ClockKind::Lamport => "Lamport's clock",
        })?;
        match self.control {
            _ if self.kind != ClockKind::Controlled => {}
            ClockControl::ByEvent(Control::Constant(_)) => {}
            ClockControl::ByEvent(Control::Degressive(_)) => f.write_str(", controller of 1997")?,
            ClockControl::Passes(_) => f.write_str(", in several passes")?,
            ClockControl::ByEvent(Control::Combined(CombinedConstants { b, c, d, .. })) => {
                f.write_str(", controllers A")?;
                for (letter, takes_part) in [('B', b), ('C', c), ('D', d.is_some())] {
                    if takes_part {
                        write!(f, "{letter}")?;
                    }
                }
            }
        }
        if self.backward {
            f.write_str(", run backwards")?;
        }
        Ok(())
    }
}
