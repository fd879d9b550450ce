//! One method on the trace.

use std::time::Instant;

use retime::causality::check;
use retime::{Correction, Distortion, Timestamp};

use super::candidate::Candidate;
use super::memory;
use super::model::{AccuracyPart, MethodPart, ResultPart};
use crate::commands::check::Analysed;
use crate::error::CliError;
use crate::method::{Method, Solution, Unsolved};

/// Runs a method, and says what it did or why it has no solution.
pub(super) fn candidate(
    candidate: &Candidate,
    analysed: &Analysed,
) -> Result<MethodPart, CliError> {
    let info = analysed.loaded.trace.info();
    let part = |reason, result| MethodPart {
        name: candidate.name.clone(),
        options: candidate.options.clone(),
        reason,
        result,
    };
    if candidate.method.is_none() {
        let stamps = analysed.loaded.causality.nodes().timestamps();
        return Ok(part(None, Some(of_times(analysed, stamps)?)));
    }
    let method = Method::with_options(&candidate.options, &analysed.loaded)?;
    let start = Instant::now();
    let (solved, memory) = memory::of(|| method.solve(&analysed.input(model)));
    let seconds = start.elapsed().as_secs_f64();
    let result =
        solved.and_then(|solution| Ok((stamps(analysed, &solution.correction)?, solution)));
    let (stamps, solution) = match result {
        Ok(solved) => solved,
        Err(unsolved) => {
            let reason = unsolved.describe(info, &analysed.clocks);
            return Ok(part(Some(reason), None));
        }
    };
    let result = ResultPart {
        largest_jump_ticks: largest_jump(&solution),
        knots: solution.correction.knots(),
        seconds: Some(seconds),
        memory_bytes: memory,
        ..of_times(analysed, &stamps)?
    };
    Ok(part(None, Some(result)))
}

fn stamps(analysed: &Analysed, correction: &Correction) -> Result<Vec<Timestamp>, Unsolved> {
    let retimed = analysed.loaded.causality.retimed(correction);
    let retimed = retimed.ok_or(Unsolved::TooFar)?;
    Ok(retimed.nodes().timestamps().to_vec())
}

/// How far an event was forced ahead of its own clock, where a logical clock ran.
fn largest_jump(solution: &Solution) -> Option<i64> {
    let repaired = solution.repaired.as_ref()?;
    Some(repaired.largest_jump.0)
}

/// What can be said of times, whatever made them.
fn of_times(analysed: &Analysed, stamps: &[Timestamp]) -> Result<ResultPart, CliError> {
    let Analysed {
        loaded,
        clocks,
        delay,
        truth,
        ..
    } = analysed;
    let left = check(&loaded.causality, clocks, &delay.delay, stamps);
    let distortion = Distortion::measure(&loaded.causality, stamps);
    let accuracy = truth
        .as_ref()
        .map(|truth| truth.against(loaded, stamps))
        .transpose()?;
    Ok(ResultPart {
        reversed: left.reversed(),
        short: left.short(),
        interval_change_mean: distortion.mean,
        interval_change_largest: distortion.largest,
        largest_jump_ticks: None,
        knots: 0,
        seconds: None,
        memory_bytes: None,
        accuracy: accuracy.map(|it| AccuracyPart {
            synchronization_ticks: it.synchronization_ticks,
            message_delay_ticks: it.message_delay_ticks,
        }),
    })
}
