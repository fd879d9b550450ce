//! The methods that are compared: the recorded times, and every method of the
//! [table](retime_methods::METHODS) with its usual parameters.

use retime::Causality;
use retime::pipeline::{self, Choice, Solution, candidates};
use retime_methods::METHODS;

use super::case::Trace;

/// A way of correcting a trace, or none.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name: those of its parts.
    pub name: String,
    /// `None` for the recorded times.
    method: Option<pipeline::Method>,
}

/// The result of a method.
pub struct Solved {
    /// The trace at corrected times.
    pub times: Causality,
    /// The solution of the method; `None` where times are the recorded ones.
    pub solution: Option<Solution>,
}

/// All of them but those that search for an optimum, which take long, and those that take
/// measured offsets; the first three are what the others are compared with.
pub fn methods() -> Vec<Method> {
    let raw = Method {
        name: "raw".into(),
        method: None,
    };
    let slow = ["gentlest", "optimal"];
    let all = candidates(METHODS).into_iter();
    let all = all.filter(|it| !slow.contains(&it.method.name()));
    let all = all.filter(|it| !it.method.heeds(Choice::Offsets));
    let mut all: Vec<Method> = all
        .map(|it| Method {
            name: it.name,
            method: Some(it.method),
        })
        .collect();
    // What others are measured by comes first.
    all.sort_by_key(|it| it.name != "clc");
    std::iter::once(raw).chain(all).collect()
}

impl Method {
    /// The method of that name.
    pub fn named(name: &str) -> Option<Self> {
        methods().into_iter().find(|method| method.name == name)
    }

    /// True if it is an estimator followed by a logical clock.
    pub fn is_repaired(&self) -> bool {
        let method = self.method.as_ref();
        method.is_some_and(|it| it.heeds(Choice::Repair) && it.logical_clock().is_some())
    }

    /// Corrects a trace; an error says why it has no solution.
    pub fn run(&self, trace: &Trace) -> Result<Solved, String> {
        let causality = trace.analysis.causality();
        let Some(method) = &self.method else {
            return Ok(Solved {
                times: causality.clone(),
                solution: None,
            });
        };
        let solution = trace.analysis.solve(method, &());
        let solution = solution.map_err(|unsolved| unsolved.message)?;
        let times = causality.retimed(&solution.correction, &());
        Ok(Solved {
            times: times.map_err(|error| error.to_string())?,
            solution: Some(solution),
        })
    }
}
