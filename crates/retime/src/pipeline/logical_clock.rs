//! A logical clock with its parameters: what leaves no dependency violated.

use std::fmt;

use super::problem::Problem;
use super::solution::Repaired;
use super::unsolved::Unsolved;
use crate::repair::Direction;
use retime_logical_clocks::{
    AmortizationMethod, AmortizationRate, ClockError, CombinedConstants, Control, Gamma,
    LogicalTimes, MultiPass, PrintedRamp, Regulation, Steps, amortize_as_printed,
    amortize_with_ramp, controlled, lamport_order, mirror_back, passes, regulated, simple,
    unamortized,
};
use retime_model::Correction;
use retime_model::{MinimalDistance, Ticks};
use serde::{Deserialize, Serialize};

/// The control of a clock, with its constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClockControl {
    /// Event by event.
    ByEvent(Control),
    /// With ever smaller constants, until no clock ends too far ahead.
    Passes(MultiPass),
}

/// Which logical clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClockKind {
    /// The controlled one.
    Controlled,
    /// The simple one.
    Simple,
    /// Lamport's.
    Lamport,
}

/// A logical clock with its parameters. By default the controlled one, with the
/// constants that its papers recommend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogicalClock {
    /// Which one.
    pub kind: ClockKind,
    /// The control of gamma.
    pub control: ClockControl,
    /// Least time between successive events of a location: of all, where a trace [shows
    /// them](super::Analysis::show_all_events), else of those that communicate.
    pub distance: MinimalDistance,
    /// The events at which a control that changes takes its steps.
    pub steps: Steps,
    /// How fast a correction may grow ahead of a jump; `None` for jumps as they
    /// are.
    pub amortization: Option<AmortizationRate>,
    /// How jumps become ramps then.
    pub amortization_method: AmortizationMethod,
    /// The difference of clocks to reckon with before any is seen: ramps are at least as long as
    /// a jump of so many ticks takes.
    pub expected_difference: Ticks,
    /// True if it runs from the end of the trace to its beginning.
    pub backward: bool,
}

impl Default for LogicalClock {
    fn default() -> Self {
        Self::of_kind(ClockKind::Controlled)
    }
}

impl LogicalClock {
    /// One of a kind, with its usual parameters.
    pub fn of_kind(kind: ClockKind) -> Self {
        Self {
            kind,
            control: ClockControl::ByEvent(Control::Constant(Gamma::default().factor())),
            distance: MinimalDistance::default(),
            steps: Steps::default(),
            amortization: Some(AmortizationRate::default()),
            amortization_method: AmortizationMethod::default(),
            expected_difference: Ticks(0),
            backward: false,
        }
    }

    /// True if an event follows from more than what arrives at its own clock.
    pub(super) fn sees_all_clocks(&self) -> bool {
        let combined = matches!(self.control, ClockControl::ByEvent(Control::Combined(_)));
        self.kind == ClockKind::Controlled && combined
    }

    /// True if what it does depends on events between those that take part in happened-before.
    pub fn looks_at_all_events(&self) -> bool {
        match self.kind {
            // Counters count from event to event forwards, and no other has a part in that.
            ClockKind::Lamport => self.backward,
            ClockKind::Simple => !self.distance.is_zero(),
            ClockKind::Controlled => {
                let changes = match self.control {
                    ClockControl::ByEvent(Control::Constant(_)) | ClockControl::Passes(_) => false,
                    ClockControl::ByEvent(Control::Degressive(_) | Control::Combined(_)) => true,
                };
                !self.distance.is_zero() || changes && self.steps == Steps::Every
            }
        }
    }

    /// Runs the clock over a trace, and over all of its events if it looks at them.
    pub(super) fn run(&self, problem: &Problem<'_>) -> Result<(Correction, Repaired), Unsolved> {
        let Some(all) = problem.all_events.filter(|_| self.looks_at_all_events()) else {
            return self.run_over(problem);
        };
        let (correction, repaired) = self.run_over(&Problem {
            causality: all.causality(),
            ..*problem
        })?;
        let times = repaired.times.map(|times| times.of(all.nodes()));
        Ok((correction, Repaired { times, ..repaired }))
    }

    /// Runs the clock over the nodes of a trace.
    fn run_over(&self, problem: &Problem<'_>) -> Result<(Correction, Repaired), Unsolved> {
        if !self.backward {
            return Ok(self.forward(problem)?);
        }
        let causality = problem.causality;
        let mirror = causality.mirrored();
        let mirrored = self.forward(&Problem {
            causality: &mirror,
            delay: &problem.delay.mirrored(),
            ..*problem
        });
        let (mirrored, repaired) = mirrored.map_err(|error| error.mirrored(causality))?;
        // Counters count for locations, whatever clocks these share.
        let clocks = mirrored.clocks();
        let correction = mirror_back(causality, clocks, &mirrored, problem.monitor)?;
        let repaired = Repaired {
            times: None,
            direction: Some(Direction::Backward),
            ..repaired
        };
        Ok((correction, repaired))
    }

    fn forward(&self, problem: &Problem<'_>) -> Result<(Correction, Repaired), ClockError> {
        let Problem {
            causality,
            clocks,
            delay,
            monitor,
            ..
        } = *problem;
        let times = match self.kind {
            ClockKind::Lamport => {
                let repaired = Repaired {
                    jumps: 0,
                    largest_jump: Ticks(0),
                    direction: Some(Direction::Forward),
                    times: None,
                };
                return Ok((lamport_order(causality, monitor)?, repaired));
            }
            ClockKind::Simple => simple(causality, clocks, delay, &self.distance, monitor)?,
            ClockKind::Controlled => self.controlled(problem)?,
        };
        let correction = match self.amortization() {
            Some(rate) => {
                let expected = self.expected_difference;
                match self.amortization_method {
                    AmortizationMethod::Gentlest => {
                        let ramp = Ticks(rate.ramp(times.largest_jump().max(expected).0));
                        amortize_with_ramp(causality, clocks, delay, ramp, &times, monitor)?
                    }
                    AmortizationMethod::Printed => {
                        let ramp = PrintedRamp { rate, expected };
                        amortize_as_printed(causality, clocks, delay, ramp, &times, monitor)?
                    }
                }
            }
            None => unamortized(causality, clocks, &times, monitor)?,
        };
        let repaired = Repaired {
            jumps: times.jumps(),
            largest_jump: times.largest_jump(),
            direction: Some(Direction::Forward),
            times: self.amortization().map(|_| times),
        };
        Ok((correction, repaired))
    }

    fn controlled(&self, problem: &Problem<'_>) -> Result<LogicalTimes, ClockError> {
        let Problem {
            info,
            causality,
            clocks,
            delay,
            monitor,
            ..
        } = *problem;
        match self.control {
            ClockControl::Passes(limits) => {
                let run = |gamma: Gamma| {
                    let control = ClockControl::ByEvent(Control::Constant(gamma.factor()));
                    Self {
                        control,
                        ..self.clone()
                    }
                    .controlled(problem)
                };
                Ok(passes(causality, clocks, limits, run)?.times)
            }
            ClockControl::ByEvent(Control::Constant(factor)) if self.distance.is_zero() => {
                controlled(
                    causality,
                    clocks,
                    delay,
                    Gamma::from_factor(factor),
                    monitor,
                )
            }
            ClockControl::ByEvent(control) => {
                let regulation = Regulation {
                    delay: delay.clone(),
                    distance: self.distance.clone(),
                    control,
                    steps: self.steps,
                };
                regulated(causality, clocks, info.rate, &regulation, monitor)
            }
        }
    }

    /// The largest control factor, if the clock has one.
    pub fn gamma_max(&self) -> Option<Gamma> {
        let factor = match self.control {
            ClockControl::Passes(_) => return None,
            ClockControl::ByEvent(Control::Constant(factor)) => factor,
            ClockControl::ByEvent(Control::Degressive(constants)) => constants.gamma_max,
            ClockControl::ByEvent(Control::Combined(constants)) => constants.gamma_max,
        };
        (self.kind == ClockKind::Controlled).then(|| Gamma::from_factor(factor))
    }

    /// The rate of amortisation, if there is any: only the controlled clock is
    /// amortised.
    pub fn amortization(&self) -> Option<AmortizationRate> {
        self.amortization
            .filter(|_| self.kind == ClockKind::Controlled)
    }
}

impl fmt::Display for LogicalClock {
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
        if self.steps == Steps::Every && self.looks_at_all_events() {
            f.write_str(", stepping at every event")?;
        }
        if self.amortization_method == AmortizationMethod::Printed && self.amortization().is_some()
        {
            f.write_str(", ramps as printed")?;
        }
        if self.backward {
            f.write_str(", run backwards")?;
        }
        Ok(())
    }
}
