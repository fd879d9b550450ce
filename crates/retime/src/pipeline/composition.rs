//! A repair after an alignment, until nothing is violated.

use super::problem::Problem;
use super::unsolved::Unsolved;
use retime_causality::{Causality, check};
use retime_logical_clocks::compose;
use retime_model::Correction;

/// How often a repair is repeated at most: each time fewer events wait for one of
/// their own clock, so that a handful is far more than is ever needed.
const REPAIRS: usize = 8;

/// `correction` followed by what `repair` finds for the trace that it leaves.
pub(super) fn followed(
    problem: &Problem<'_>,
    correction: &Correction,
    repair: impl FnOnce(&Causality) -> Result<Correction, Unsolved>,
) -> Result<Correction, Unsolved> {
    let now = problem.causality.retimed(correction, problem.monitor)?;
    let found = repair(&now)?;
    Ok(compose(
        correction,
        &found,
        problem.causality,
        problem.monitor,
    )?)
}

/// Where locations share a clock, a composition may make an event wait for one
/// that is stamped earlier (see [`compose`]); what that violates is
/// repaired again.
pub(super) fn settled(
    problem: &Problem<'_>,
    mut correction: Correction,
    repair: impl Fn(&Causality) -> Result<Correction, Unsolved>,
) -> Result<Correction, Unsolved> {
    if problem.clocks.len() == problem.causality.nodes().locations() {
        return Ok(correction);
    }
    for _ in 0..REPAIRS {
        let now = problem.causality.retimed(&correction, problem.monitor)?;
        let times = now.nodes().timestamps();
        let left = check(&now, problem.clocks, problem.delay, times, problem.monitor)?;
        if left.short() == 0 {
            break;
        }
        correction = followed(problem, &correction, &repair)?;
    }
    Ok(correction)
}
