//! What a reader of the summary should know before trusting a trace.

use retime::causality::{Check, Defect};
use retime::{Clocks, Ticks};
use retime_otf2::{EventCounts, FileKind, schema};

use super::summary::plural;
use crate::delay::ResolvedDelay;
use crate::load::Loaded;

/// What a reader of the summary should know about the trace.
pub(crate) fn trace_warnings(
    loaded: &Loaded,
    clocks: &Clocks,
    check: &Check,
    delay: &ResolvedDelay,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for (kind, found) in loaded.causality.defects().iter() {
        let info = loaded.trace.info();
        let first = found.places.first().map(|place| {
            format!(
                ", first at event {} of {}",
                place.event,
                info.describe(place.location)
            )
        });
        let consequence = match kind {
            Defect::TimeRunsBackwards => "they keep their order in a corrected trace",
            _ => "left out of the correction",
        };
        warnings.push(format!(
            "{}{}; {consequence}",
            kind.describe(found.count),
            first.unwrap_or_default()
        ));
    }
    if check.reversed_within_clock() > 0 {
        warnings.push(format!(
            "{} reversed between locations of one clock, which no correction can repair; \
             try a finer grouping: --clocks process or --clocks location",
            plural(check.reversed_within_clock(), "dependency")
        ));
    }
    if clocks.len() > 1 && check.messages.total + check.collectives.total == 0 {
        warnings.push("no message and no collective relates the clocks of this trace; nothing can be said about them".into());
    }
    warnings.extend(delay_advice(loaded, delay));
    warnings.extend(definition_warnings(loaded));
    warnings
}

/// A delay that some round trip undercuts cannot be the minimum.
fn delay_advice(loaded: &Loaded, delay: &ResolvedDelay) -> Option<String> {
    let rate = loaded.trace.info().rate;
    let (_, largest) = delay.range();
    let half = delay.half_round_trip.filter(|half| *half < largest)?;
    if half < Ticks(0) {
        return Some(
            "some messages came back before they were sent, by the clock of one process: \
             clocks were set during the run, or stamps are defective"
                .into(),
        );
    }
    Some(format!(
        "a minimal delay of {} is more than half the fastest round trip, {}: clocks may run away; \
         give a smaller --min-delay, or leave it to auto",
        rate.format(largest),
        rate.format(half.max(Ticks(0))),
    ))
}

/// What is odd about the definitions; none of it changes a correction.
fn definition_warnings(loaded: &Loaded) -> Vec<String> {
    let definitions = loaded.trace.definitions();
    let mut warnings = Vec::new();
    if let Some(first) = definitions.oddities.first().first() {
        let others = definitions.oddities.total() - 1;
        let more = if others > 0 {
            format!(", and {} more", plural(others, "oddity"))
        } else {
            String::new()
        };
        warnings.push(format!("definitions: {first}{more}"));
    }
    let recorded = loaded.counts.iter().map(EventCounts::total);
    let declared = loaded.trace.info().locations.iter().map(|it| {
        definitions
            .locations
            .get(it.id)
            .map(|location| location.events)
    });
    let wrong = recorded
        .zip(declared)
        .filter(|(events, declared)| declared.is_some_and(|it| it != *events));
    let wrong = wrong.count() as u64;
    if wrong > 0 {
        warnings.push(format!(
            "definitions: {} with another number of events than recorded",
            plural(wrong, "location")
        ));
    }
    let of_codes = loaded.counts.iter().flat_map(EventCounts::iter);
    let unknown = of_codes.filter(|(code, _)| schema::lookup(FileKind::Events, *code).is_none());
    let unknown: u64 = unknown.map(|(_, count)| count).sum();
    if unknown > 0 {
        warnings.push(format!(
            "{} of an unknown type, kept as they are",
            plural(unknown, "event")
        ));
    }
    if definitions.unknown > 0 {
        warnings.push(format!(
            "{} of an unknown type, kept as they are",
            plural(definitions.unknown, "definition")
        ));
    }
    warnings
}
