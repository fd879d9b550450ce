//! The effect of a correction on all events, also on those between the ones that communicate.

use retime::Distortion;
use retime::causality::{AllEvents, RetimingError};
use retime::pipeline::Solution;

use crate::analysed::Analysed;
use crate::error::CliError;
use crate::progress::Interrupts;

/// The changes of intervals between all events; `None` where other processes hold some of them.
pub(super) fn distortion(
    analysed: &Analysed,
    solution: &Solution,
) -> Result<Option<Distortion>, CliError> {
    if !analysed.analysis.causality().whole().is_here() {
        return Ok(None);
    }
    let all = analysed.all_events()?;
    let causality = all.causality();
    let after = if let Some(times) = settled(analysed, solution, &all)? {
        times
    } else {
        let retimed = causality.retimed(&solution.correction, &Interrupts);
        let retimed = retimed.map_err(|error| match error {
            RetimingError::TooFar => CliError::input(&analysed.opened.path, error.to_string()),
            RetimingError::Cancelled(_) => CliError::Interrupted,
        })?;
        retimed.into_timestamps()
    };
    let measured = Distortion::measure(causality, &after, &Interrupts)?;
    Ok(Some(measured))
}

/// The times of all events where the format cannot give them those of the correction.
fn settled(
    analysed: &Analysed,
    solution: &Solution,
    all: &AllEvents,
) -> Result<Option<Vec<retime::Timestamp>>, CliError> {
    let Some(trace) = analysed.opened.trace.rewriting() else {
        return Ok(None);
    };
    let nodes = all.causality().nodes();
    let of_location: Vec<_> = (0..nodes.locations()).map(|it| nodes.of(it)).collect();
    let events: Vec<&[u32]> = of_location.iter().map(|it| nodes.events(it)).collect();
    let settled = trace.settled(&solution.correction, &events, &Interrupts)?;
    Ok(settled.map(|times| times.concat()))
}
