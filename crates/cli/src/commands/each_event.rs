//! The effect of a correction on all events, also on those between the ones that communicate.
//!
//! Events pass one after another, so that no more of them are in memory than of a list.

use rayon::prelude::*;
use retime::causality::{Nodes, Place};
use retime::format::{CorrectedEvents, EventNumbers, Trace};
use retime::pipeline::Solution;
use retime::{Changes, Correction, Distortion, LocationIndex, Timestamp};

use crate::analysed::Analysed;
use crate::error::CliError;
use crate::progress::{Interrupts, check_interrupt};

/// Events after which to look whether to go on.
const STEP: u64 = 1 << 14;

/// The changes of intervals between all events; `None` where other processes hold some of them.
pub(super) fn distortion(
    analysed: &Analysed,
    solution: &Solution,
) -> Result<Option<Distortion>, CliError> {
    let nodes = analysed.analysis.causality().nodes();
    if !nodes.whole().is_here() {
        return Ok(None);
    }
    let trace = &*analysed.opened.trace;
    let counts: Vec<u64> = (0..nodes.locations())
        .map(|it| nodes.event_count(it))
        .collect();
    let settled = settled(trace, &solution.correction, &counts)?;
    let changes = (0..counts.len()).into_par_iter().map(|at| {
        let location = LocationIndex(at as u32);
        let settled = settled.as_ref().map(|times| times[at].as_slice());
        changes(trace, nodes, location, &solution.correction, settled)
    });
    let changes = changes.collect::<Result<Vec<Changes>, CliError>>()?;
    Ok(Some(Distortion::of(changes)))
}

/// The times of all events, where the format cannot give them those of the correction.
fn settled(
    trace: &dyn Trace,
    correction: &Correction,
    counts: &[u64],
) -> Result<Option<Vec<Vec<Timestamp>>>, CliError> {
    let Some(rewriting) = trace.rewriting() else {
        return Ok(None);
    };
    // Most formats can, and need no list of all events to say so.
    let none: Vec<&[u32]> = vec![&[]; counts.len()];
    if rewriting.settled(correction, &none, &Interrupts)?.is_none() {
        return Ok(None);
    }
    let numbers = EventNumbers::of(counts.iter().copied());
    Ok(rewriting.settled(correction, &numbers.by_location(), &Interrupts)?)
}

/// The changes of one location.
fn changes(
    trace: &dyn Trace,
    nodes: &Nodes,
    location: LocationIndex,
    correction: &Correction,
    settled: Option<&[Timestamp]>,
) -> Result<Changes, CliError> {
    let mut changes = Changes::default();
    let mut communicating = nodes.of(location.as_usize()).peekable();
    let mut events = CorrectedEvents::open(trace, location, Some(correction))?;
    while let Some(event) = events.read()? {
        let after = match settled {
            Some(times) => times.get(event.number as usize).copied(),
            None => event.corrected,
        };
        debug_assert!(
            after.is_some(),
            "each event of a corrected trace has a time"
        );
        let place = Place {
            location,
            event: event.number,
        };
        let node = communicating.next_if(|node| nodes.event(*node) == event.number);
        let role = node.filter(|node| !nodes.is_between(*node));
        let role = role.map(|node| nodes.role(node));
        changes.event(event.latest, after.unwrap_or(event.latest), place, role);
        if event.number.is_multiple_of(STEP) {
            check_interrupt()?;
        }
    }
    Ok(changes)
}
