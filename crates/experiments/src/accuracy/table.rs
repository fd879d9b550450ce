//! The cases and what the methods make of them, as a table.

use super::case::{Case, Goal};
use super::cases::{Size, cases};
use super::method::METHODS;
use super::outcome::{Outcome, measure};
use crate::grid::{Grid, Watch, proceed};
use crate::simulated::Failure;

/// What every method made of a case; nothing where it has no solution.
#[derive(Clone)]
pub struct Compared {
    /// The case.
    pub case: Case,
    /// By name of the method, in their order.
    pub outcomes: Vec<(&'static str, Result<Outcome, String>)>,
}

impl Compared {
    /// Runs all methods.
    pub fn of(case: Case) -> Result<Self, Failure> {
        let trace = case.simulate()?;
        let all = METHODS.iter();
        let outcomes = all.map(|&method| Ok((method.name, measure(&trace, method)?)));
        let outcomes = outcomes.collect::<Result<_, Failure>>()?;
        Ok(Self { case, outcomes })
    }

    /// What a method made of it.
    pub fn by(&self, name: &str) -> Option<&Outcome> {
        let mut all = self.outcomes.iter();
        let found = all.find(|(method, _)| *method == name)?;
        found.1.as_ref().ok()
    }

    /// Whether `auto` comes as near to the truth as it has to.
    pub fn goal_met(&self) -> Option<bool> {
        let error = |name| self.by(name).map(|outcome| outcome.error);
        let (raw, clc, auto) = (error("raw")?, error("clc")?, error("auto")?);
        Some(match self.case.goal {
            Goal::Gain(factor) => auto <= raw && auto * factor <= clc,
            Goal::NoWorse => auto <= raw,
        })
    }

    /// The method nearest to the truth besides raw, clc and auto.
    fn best_other(&self) -> Option<(&'static str, &Outcome)> {
        let known = ["raw", "clc", "auto"];
        let others = self.outcomes.iter().filter(|it| !known.contains(&it.0));
        let solved = others.filter_map(|(name, outcome)| Some((*name, outcome.as_ref().ok()?)));
        solved.min_by(|a, b| a.1.error.total_cmp(&b.1.error))
    }

    fn row(&self) -> Vec<String> {
        let us = |outcome: Option<&Outcome>| match outcome {
            Some(outcome) => format!("{:.3}", outcome.error / 1e3),
            None => "-".into(),
        };
        let (clc, auto) = (self.by("clc"), self.by("auto"));
        let best = self.best_other();
        let gain = clc.zip(auto).map(|(clc, auto)| clc.error / auto.error);
        let goal = match self.case.goal {
            Goal::Gain(factor) => format!(">= {factor}"),
            Goal::NoWorse => "<= raw".into(),
        };
        let met = match self.goal_met() {
            Some(true) => goal,
            Some(false) => format!("{goal} MISSED"),
            None => "-".into(),
        };
        let bound = auto.and_then(|auto| auto.bound);
        let dash = || "-".to_owned();
        vec![
            self.case.name.into(),
            us(self.by("raw")),
            us(clc),
            us(auto),
            us(best.map(|best| best.1)),
            best.map_or("-", |best| best.0).into(),
            gain.map_or_else(dash, |gain| format!("{gain:.1}")),
            met,
            auto.map_or_else(dash, |auto| format!("{:.2}", auto.seconds)),
            bound.map_or_else(dash, |bound| format!("{:.2}", 100.0 * bound.inside)),
            bound.map_or_else(dash, |bound| format!("{:.2}", bound.mean / 1e3)),
            bound.map_or_else(dash, |bound| format!("{:.2}", bound.half_width / 1e3)),
            bound.map_or_else(dash, |bound| format!("{:.2}", bound.seconds)),
        ]
    }
}

const HEADING: [&str; 9] = [
    "case",
    "raw",
    "clc",
    "auto",
    "best other",
    "which",
    "gain",
    "goal",
    "auto s",
];

/// All cases; mean errors in microseconds.
pub fn table(watch: Watch<'_>) -> Result<Grid, Failure> {
    let mut rows = Vec::new();
    for case in cases(Size::Full) {
        proceed(watch, case.name)?;
        rows.push(Compared::of(case)?.row());
    }
    Ok(Grid {
        title: "mean error of event times against the truth, in us".into(),
        heading: HEADING.map(Into::into).to_vec(),
        rows,
        notes: vec![
            "Errors are means of |corrected - true time| over all events with edges, without \
             the mean of the errors. gain is how many times nearer to the truth auto comes \
             than clc; best other is the best of all methods besides these."
                .into(),
        ],
    })
}
