//! A simulated trace by its name.

use std::sync::Arc;

use retime::Timestamp;
use retime::pipeline::{Analysis, AnalysisOptions};
use retime_sim::{Clock, Experiment, Scenario};

use crate::simulated::Failure;

/// How much nearer to the truth than the controlled logical clock alone a
/// correction has to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// So many times nearer.
    Gain(f64),
    /// Not further away than the recorded times; what the trace says does not
    /// suffice for more.
    NoWorse,
}

/// A program to simulate.
pub type Program = Arc<dyn Scenario + Send + Sync>;

/// A program and the clocks that stamp it.
#[derive(Clone)]
pub struct Case {
    /// A few words.
    pub name: &'static str,
    /// The accuracy that the default method has to reach.
    pub goal: Goal,
    scenario: Program,
    clocks: Vec<Clock>,
}

/// A simulated trace as a correction sees it, and its truth.
#[derive(Debug)]
pub struct Trace {
    /// The trace, its clocks as it lets them be told apart, and its minimal delay as
    /// it is learned.
    pub analysis: Analysis,
    /// The true time of each node.
    pub truth: Vec<Timestamp>,
}

impl Case {
    /// A program, and the clock of each of its ranks.
    pub fn new(name: &'static str, goal: Goal, scenario: Program, clocks: Vec<Clock>) -> Self {
        Self {
            name,
            goal,
            scenario,
            clocks,
        }
    }

    /// Simulates it. Times are in nanoseconds.
    pub fn simulate(&self) -> Result<Trace, Failure> {
        let experiment = Experiment::new(&*self.scenario).clocks(self.clocks.clone());
        let mut memory = experiment.in_memory()?;
        let causality = memory.causality()?;
        Ok(Trace {
            analysis: Analysis::of(memory.info, causality, AnalysisOptions::default(), &())?,
            truth: memory.truth,
        })
    }
}
