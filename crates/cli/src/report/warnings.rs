//! Warnings to a reader of the summary, before the trace is trusted.

use retime::causality::Defect;
use retime::pipeline::Analysis;
use std::path::PathBuf;

use retime::{ClockAttribution, Grouping, Ticks, plural, printable};

use super::{build, examined};
use crate::load::Opened;

/// Warnings about the trace, for a reader of the summary.
pub(crate) fn trace_warnings(opened: &Opened, analysis: &Analysis) -> Vec<String> {
    let (check, info) = (analysis.recorded(), analysis.info());
    let mut warnings = Vec::new();
    for (kind, found) in analysis.causality().defects().iter() {
        let first = found.places.first().map(|place| {
            format!(
                ", first at event {} of {}",
                place.event,
                info.describe(place.location)
            )
        });
        let consequence = match kind {
            Defect::TimeRunsBackwards => match found.count {
                1 => "it keeps its place in a corrected trace",
                _ => "they keep their order in a corrected trace",
            },
            Defect::CollectiveIncomplete => "what is certain of the others is used",
            _ => "left out of the correction",
        };
        warnings.push(format!(
            "{}{}; {consequence}",
            kind.describe(found.count),
            first.unwrap_or_default()
        ));
    }
    if check.violated_within_clock() > 0 {
        // As fine as can be, or split by all that contradicts it: it is within one location.
        let finer = match analysis.options().grouping {
            Grouping::Node => "; try a finer grouping: --clocks process or --clocks location",
            Grouping::Process => "; try a finer grouping: --clocks location",
            Grouping::Location | Grouping::Auto => "",
        };
        let between = if finer.is_empty() {
            "within"
        } else {
            "between locations of"
        };
        warnings.push(format!(
            "{} reversed {between} one clock, which no correction can repair{finer}",
            plural(check.violated_within_clock(), "dependency")
        ));
    }
    if analysis.faster_within_clocks() > 0 {
        warnings.push(format!(
            "{} faster than the minimal delay that was given between locations of one clock, which no \
             correction changes, and not counted; where it holds between them, too, give \
             --clocks process or --clocks location",
            plural(analysis.faster_within_clocks(), "dependency")
        ));
    }
    if analysis.clocks().len() > 1 && !analysis.attributions().contains(&ClockAttribution::Tied) {
        let stretch = build::stretch_part(analysis);
        let when = stretch.map_or_else(String::new, |it| format!(" {}", examined::when(&it)));
        warnings.push(format!(
            "no message and no collective{when} relates the clocks of this trace; nothing can be said \
             about them"
        ));
    }
    warnings.extend(delay_advice(analysis));
    warnings.extend(opened.trace.warnings(&opened.contents));
    warnings.extend(of_other_kind(&opened.of_other_kind));
    warnings
}

/// The profiles that are no part of the trace, though they are of the same job.
fn of_other_kind(files: &[PathBuf]) -> Option<String> {
    const NAMED: usize = 3;
    let name = |it: &PathBuf| {
        printable(&it.file_name()?.to_string_lossy())
            .into_owned()
            .into()
    };
    let named: Vec<String> = files.iter().filter_map(name).take(NAMED).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!files.is_empty()).then(|| {
        format!(
            "{} of another kind (Chrome's JSON, Perfetto's packets, JAX's xplane) beside those of \
             the trace: no part of it, and in a copy with times as recorded: {}{more}",
            plural(files.len() as u64, "profile"),
            named.join(", "),
        )
    })
}

/// A delay that some round trip undercuts cannot be the minimum.
fn delay_advice(analysis: &Analysis) -> Option<String> {
    let (rate, delay) = (analysis.info().rate, analysis.delay());
    let (_, largest) = delay.delay.range();
    let half = delay.half_round_trip.filter(|half| *half < largest)?;
    if half < Ticks(0) {
        let why = if analysis.shared_clocks().is_empty() {
            "a clock was set or slewed, or its frequency declared wrongly, or stamps are wrong"
        } else {
            "a clock was set or slewed, its frequency declared wrongly, stamps are wrong, or processes of \
             one node do not read one clock (try --clocks process)"
        };
        return Some(format!(
            "some messages came back before they were sent, by one clock, and by more than clocks \
             drift apart meanwhile: {why}"
        ));
    }
    Some(format!(
        "a minimal delay of {} is more than half the fastest round trip, {}: clocks may run away; \
         give a smaller --min-delay, or leave it to auto",
        rate.format(largest),
        rate.format(half.max(Ticks(0))),
    ))
}
