//! The cases and what the methods make of them, as a table.

use super::case::{Case, Goal};
use super::cases::{Size, cases};
use super::method::methods;
use super::outcome::{Outcome, measure};
use crate::grid::{Grid, Watch, proceed};
use crate::simulated::Failure;

/// The outcome of every method on a case.
#[derive(Clone)]
pub struct Compared {
    /// The case.
    pub case: Case,
    /// The outcome of each method by its name, in their order; or why it has no solution.
    pub outcomes: Vec<(String, Result<Outcome, String>)>,
}

impl Compared {
    /// Runs all methods.
    pub fn of(case: Case) -> Result<Self, Failure> {
        let trace = case.simulate()?;
        let mut outcomes = Vec::new();
        for method in methods() {
            let outcome = measure(&trace, &method)?;
            outcomes.push((method.name, outcome));
        }
        Ok(Self { case, outcomes })
    }

    /// The outcome of a method; `None` where it has no solution.
    pub fn by(&self, name: &str) -> Option<&Outcome> {
        let mut all = self.outcomes.iter();
        let found = all.find(|(method, _)| method == name)?;
        found.1.as_ref().ok()
    }

    /// True if `auto` comes as near to the truth as it has to.
    pub fn goal_met(&self) -> Option<bool> {
        let error = |name| self.by(name).map(|outcome| outcome.error);
        let (raw, clc, auto) = (error("raw")?, error("clc")?, error("auto")?);
        Some(match self.case.goal {
            Goal::Gain(factor) => auto <= raw && auto * factor <= clc,
            Goal::NoWorse => auto <= raw,
        })
    }

    /// The method nearest to the truth besides raw, clc and auto.
    fn best_other(&self) -> Option<(&str, &Outcome)> {
        let known = ["raw", "clc", "auto"];
        let others = self
            .outcomes
            .iter()
            .filter(|it| !known.contains(&it.0.as_str()));
        let solved =
            others.filter_map(|(name, outcome)| Some((name.as_str(), outcome.as_ref().ok()?)));
        solved.min_by(|a, b| a.1.error.total_cmp(&b.1.error))
    }

    fn row(&self) -> Vec<String> {
        let us = |outcome: Option<&Outcome>| match outcome {
            Some(outcome) => format!("{:.3}", outcome.error / 1e3),
            None => "-".into(),
        };
        let (clc, auto) = (self.by("clc"), self.by("auto"));
        let best = self.best_other();
        let bound = auto.and_then(|auto| auto.bound);
        let dash = || "-".to_owned();
        vec![
            self.case.name.into(),
            us(self.by("raw")),
            us(clc),
            us(auto),
            us(best.map(|best| best.1)),
            best.map_or("-", |best| best.0).into(),
            clc.zip(auto)
                .map_or_else(dash, |(clc, auto)| self.gain(clc.error / auto.error)),
            auto.map_or_else(dash, |auto| format!("{:.3}", auto.plain / 1e3)),
            bound.map_or_else(dash, |bound| format!("{:.2}", 100.0 * bound.inside)),
            bound
                .filter(|bound| bound.unbounded < 0.5)
                .map_or_else(dash, |bound| format!("{:.2}", bound.half_width / 1e3)),
        ]
    }

    /// How many times nearer, with a mark where that is too little.
    fn gain(&self, times: f64) -> String {
        let mark = match self.goal_met() {
            Some(false) => "!",
            _ => "",
        };
        let decimals = usize::from(times < 100.0);
        format!("{mark}{times:.decimals$}")
    }
}

const HEADING: [&str; 10] = [
    "case", "raw", "clc", "auto", "best", "other", "gain", "plain", "inside", "half",
];

/// All cases; mean errors in microseconds.
pub fn table(watch: Watch<'_>) -> Result<Grid, Failure> {
    let mut rows = Vec::new();
    for case in cases(Size::Full) {
        proceed(watch, case.name)?;
        rows.push(Compared::of(case)?.row());
    }
    Ok(Grid {
        title: "mean error of relative event times against the truth, in us".into(),
        heading: HEADING.map(Into::into).to_vec(),
        rows,
        notes: NOTES.iter().map(|&note| note.into()).collect(),
    })
}

const NOTES: &[&str] = &[
    "Errors are means of |corrected - true time| over all events with edges, without the straight \
     line over true time that all of them share. best is that of the best of all methods besides \
     raw, clc and auto; plain is that of auto without the mean of the errors only.",
    "gain is how many times nearer to the truth auto comes than clc. It has to be 8 where clocks \
     drift or wander, 3 where they differ by constants or have coarse ticks, and auto never \
     further from it than the recorded times; ! where it fails. For the last two cases only the \
     latter counts.",
    "inside is the share of events, in percent, whose true time lies within the error bounds, for \
     clocks that wander by at most 100 ppm; half is the mean half width of these, below which \
     no method can promise any error.",
];
