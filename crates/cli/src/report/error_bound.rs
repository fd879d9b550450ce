//! Error bounds and the gentlest correction, in words.

use retime::{TickRate, Ticks, format_seconds};

use super::model::{BoundsPart, GentlestPart, PlacePart, Report};
use super::summary::{group_digits, plural, share};

/// Dependencies of the forcing cycle that are shown.
const FORCING_SHOWN: usize = 6;

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report, verbose: bool) -> Vec<(&'static str, String)> {
    let Some(rate) = TickRate::per_second(report.trace.ticks_per_second) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    if let Some(bounds) = &report.bounds {
        lines.push(("bound", bound(bounds, rate)));
        lines.extend(bounds.truth.as_ref().map(|truth| {
            let of = group_digits(truth.events);
            (
                "",
                format!("it holds for {} of {of} events", share(truth.share)),
            )
        }));
        if verbose {
            lines.extend(details(bounds, rate).map(|line| ("", line)));
        }
    }
    if let Some(gentlest) = report.gentlest.as_ref().filter(|_| verbose) {
        let all = forced(gentlest, rate);
        let label = |index: usize| if index == 0 { "gentlest" } else { "" };
        lines.extend(
            all.into_iter()
                .enumerate()
                .map(|(index, line)| (label(index), line)),
        );
    }
    lines
}

fn bound(bounds: &BoundsPart, rate: TickRate) -> String {
    let span = |ticks: f64| format_seconds(ticks / rate.get() as f64);
    let drift = (bounds.drift_bound * 1e9).round() / 1e3;
    let all = &bounds.all;
    if all.events == 0 {
        return "none: nothing bounds the time of any event on both sides".into();
    }
    let only = match all.unbounded {
        0 => String::new(),
        _ => format!(
            " for {} of the events",
            share(all.events as f64 / (all.events + all.unbounded) as f64)
        ),
    };
    format!(
        "±{} at most, ±{} on average{only} (clocks wander less than {drift} ppm); \
         no method can guarantee better than ±{}",
        span(all.largest),
        span(all.mean),
        span(all.mean_half_width),
    )
}

/// Per clock, and what was left out.
fn details(bounds: &BoundsPart, rate: TickRate) -> impl Iterator<Item = String> {
    let span = move |ticks: f64| format_seconds(ticks / rate.get() as f64);
    let clocks = bounds.clocks.iter().enumerate();
    let bounded = clocks.filter(|(_, clock)| clock.events > 0);
    let left_out = (bounds.left_out > 0).then(|| {
        format!(
            "{} contradict this drift bound and were left out",
            plural(bounds.left_out as u64, "fact")
        )
    });
    bounded
        .map(move |(number, clock)| {
            format!(
                "clock {number}: ±{} at most, ±{} on average, ±{} at best",
                span(clock.largest),
                span(clock.mean),
                span(clock.mean_half_width)
            )
        })
        .chain(left_out)
}

fn forced(gentlest: &GentlestPart, rate: TickRate) -> Vec<String> {
    let span = |ticks: i64| rate.format(Ticks(ticks));
    let found = match gentlest.distortion {
        None => "the dependencies contradict each other, so no correction satisfies all".into(),
        Some(0.0) if gentlest.complete => {
            "constant shifts satisfy all dependencies; no local interval has to change".into()
        }
        Some(distortion) => format!(
            "no correction can keep all local intervals within {}: {} miss {} over {} of local time{}",
            share(distortion),
            plural(gentlest.forced_by.len() as u64, "dependency"),
            span(gentlest.needed_ticks),
            span(gentlest.width_ticks),
            if gentlest.complete {
                ""
            } else {
                " (the search was stopped early: it may be more)"
            },
        ),
    };
    let place = |at: &PlacePart| format!("event {} of location {}", at.event, at.location);
    let shown = gentlest.forced_by.iter().take(FORCING_SHOWN);
    let mut lines = vec![found];
    lines.extend(shown.map(|part| {
        let (cause, effect) = (place(&part.cause), place(&part.effect));
        match part.needed_ticks {
            0.. => format!(
                "{cause} -> {effect}, which comes {} too early",
                span(part.needed_ticks)
            ),
            _ => format!(
                "{cause} -> {effect}, which could come {} earlier",
                span(-part.needed_ticks)
            ),
        }
    }));
    let more = gentlest.forced_by.len().saturating_sub(FORCING_SHOWN);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}
