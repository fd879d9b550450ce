//! Logical clocks as methods: they correct recorded times as these are.

use super::algorithm::{Algorithm, Variant};
use super::logical_clock::{ClockControl, ClockKind, LogicalClock};
use super::options::{Choice, Options};
use super::problem::{Found, Problem};
use super::unsolved::Unsolved;
use retime_logical_clocks::{CombinedConstants, Control, DegressiveConstants, MultiPass};

impl Algorithm for ClockKind {
    fn name(&self) -> &'static str {
        match self {
            Self::Controlled => "clc",
            Self::Simple => "simple",
            Self::Lamport => "lamport",
        }
    }

    fn help(&self) -> &'static str {
        match self {
            Self::Controlled => "Controlled logical clock: local intervals stay nearly exact",
            Self::Simple => "Simple logical clock: a clock that is ahead stands still",
            Self::Lamport => {
                "Lamport's clock: times become counters, for the order of events alone"
            }
        }
    }

    fn describe(&self, options: &Options) -> String {
        self.with(options).to_string()
    }

    fn choices(&self, _: &Options) -> Vec<Choice> {
        self.own_choices().to_vec()
    }

    fn solve(&self, problem: &Problem<'_>, options: &Options) -> Result<Found, Unsolved> {
        let (correction, repaired) = self.with(options).run(problem)?;
        Ok(Found {
            repaired: Some(repaired),
            ..Found::new(correction)
        })
    }

    fn keeps_time(&self) -> bool {
        *self != Self::Lamport
    }

    /// The controlled clock under each control.
    fn variants(&self) -> Vec<Variant> {
        let usual = LogicalClock::of_kind(*self);
        let variant = |name: &str, words: &str, clock: LogicalClock| Variant {
            name: name.into(),
            words: format!("--method {}{words}", self.name()),
            options: Options {
                clock: Some(clock),
                ..Options::default()
            },
        };
        if *self != Self::Controlled {
            return vec![variant(self.name(), "", usual)];
        }
        let control = |control| LogicalClock {
            control,
            ..usual.clone()
        };
        let by_event = |it: Control| control(ClockControl::ByEvent(it));
        let backward = LogicalClock {
            backward: true,
            ..usual.clone()
        };
        let degressive = by_event(Control::Degressive(DegressiveConstants::default()));
        let combined = by_event(Control::Combined(CombinedConstants::default()));
        let passes = control(ClockControl::Passes(MultiPass::default()));
        vec![
            variant("clc", "", usual.clone()),
            variant("clc, backward", " --backward", backward),
            variant("clc, 1997", " --controller 1997", degressive),
            variant("clc, abcd", " --controller abcd", combined),
            variant("clc, passes", " --controller passes", passes),
        ]
    }
}

impl ClockKind {
    /// The options with a part in the clock, alone or after an estimate.
    pub(super) const fn own_choices(self) -> &'static [Choice] {
        match self {
            Self::Controlled => &[Choice::Control, Choice::Distance, Choice::Direction],
            Self::Simple => &[Choice::Distance, Choice::Direction],
            Self::Lamport => &[Choice::Direction],
        }
    }

    /// This clock with the parameters of the options, or the usual ones.
    pub(super) fn with(self, options: &Options) -> LogicalClock {
        LogicalClock {
            kind: self,
            ..options.clock.clone().unwrap_or_default()
        }
    }
}
