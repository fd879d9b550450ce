//! How near to the truth times are likely to be, as ends of operations tell: apart from bounds, which
//! are certain.

use retime::{ApartPlace, EndsEvidence, EndsStep, TickRate, Ticks, format_seconds, plural};

use super::clock_names::the_clock;
use super::method;
use super::model::{EndsApartPart, EndsPart, EndsStepPart, Report};

/// The places of operations that end far apart, where a clock can have been set between them and all others.
const FIRST: &str = "first";
const LAST: &str = "last";

/// The evidence of a correction.
pub(super) fn part(ends: &EndsEvidence) -> EndsPart {
    EndsPart {
        operations: ends.operations,
        spread_ticks: ends.spread,
        decided_clocks: ends.decided,
        likely_within_ticks: ends.likely.clone(),
        apart: ends.apart.map(|it| EndsApartPart {
            operations: it.operations,
            by_ticks: it.by,
            place: match it.place {
                ApartPlace::First => FIRST,
                ApartPlace::Last => LAST,
                ApartPlace::Among => "among",
            },
        }),
        steps: ends.steps.iter().map(step_part).collect(),
    }
}

fn step_part(step: &EndsStep) -> EndsStepPart {
    EndsStepPart {
        clock: step.clock.0,
        after_ticks: step.after,
        until_ticks: step.until,
        by_ticks: step.by,
        alternatives: step.alternatives.iter().map(|it| it.0).collect(),
    }
}

/// The line on a clock that was set as ends show, and nothing that is certain.
fn only_ends_show(report: &Report, ends: &EndsPart, rate: TickRate) -> Option<String> {
    let step = ends.steps.first()?;
    let clock = the_clock(report, step.clock);
    let others = method::clocks_named(report, &step.alternatives);
    Some(seems_set(&clock, &others, step, ends.steps.len() - 1, rate))
}

/// Says where a clock seems to have been set, or one of `others` instead, and that `more` do.
fn seems_set(
    clock: &str,
    others: &str,
    step: &EndsStepPart,
    more: usize,
    rate: TickRate,
) -> String {
    let span = |ticks: f64| format_seconds(ticks / rate.get() as f64);
    let sign = if step.by_ticks > 0.0 { "+" } else { "" };
    let other = match others {
        "" => String::new(),
        others => format!(", or {others} by as much the other way"),
    };
    let more = match more {
        0 => String::new(),
        1 => "; another one seems to have been set, too".into(),
        more => format!("; {more} more seem to have been set, too"),
    };
    format!(
        "{clock} seems to have been set by {sign}{}, between {} and {} of the run{other}: ends of \
         operations agree before it and after it, but not across{more}. No dependency shows that, so it is \
         not corrected; if it was set, bounds may not hold, and its times are off by up to as much",
        rate.format(Ticks(step.by_ticks.round() as i64)),
        span(step.after_ticks),
        span(step.until_ticks),
    )
}

/// The most by which events may be off where a clock was set: between two of its stamps it is not known
/// when.
fn near_steps(report: &Report, rate: TickRate) -> Option<String> {
    let steps = &report.method.as_ref()?.alignment.as_ref()?.steps;
    let most = steps.iter().map(|it| it.by_ticks.saturating_abs()).max()?;
    Some(format!(
        "where a clock was set, events between the two stamps given above can be off by {}",
        rate.format(Ticks(most))
    ))
}

/// Says which operations end far apart, and what that may mean, where no step tells.
fn far_apart(ends: &EndsPart, rate: TickRate) -> Option<String> {
    let apart = ends.apart.as_ref().filter(|_| ends.steps.is_empty())?;
    let by = format_seconds(apart.by_ticks / rate.get() as f64);
    let (those, end) = match (apart.operations, apart.place) {
        (1, FIRST | LAST) => (format!("the {} of these", apart.place), "ends"),
        (1, _) => ("1 of these".to_owned(), "ends"),
        (some, FIRST | LAST) => (format!("the {} {some} of these", apart.place), "end"),
        (some, _) => (format!("{some} of these"), "end"),
    };
    let (when, side) = match apart.place {
        FIRST => ("after", "before"),
        LAST => ("before", "after"),
        _ => return Some(format!("{those} {end} up to {by} apart")),
    };
    let operations = if apart.operations == 1 { "it" } else { "them" };
    Some(format!(
        "{those} {end} up to {by} apart: if a clock was set {when} {operations}, bounds may not hold, and times \
         {side} that are off by as much"
    ))
}

/// The evidence in a report, if there is any.
fn ends(report: &Report) -> Option<&EndsPart> {
    report.method.as_ref()?.alignment.as_ref()?.ends.as_ref()
}

/// Within how many ticks the times of a clock are likely to be right.
pub(super) fn of_clock(report: &Report, clock: u32) -> Option<f64> {
    let all = &ends(report)?.likely_within_ticks;
    all.get(clock as usize).copied().flatten()
}

/// The line on ends of threads: they decide, but what is likely they do not tell.
fn of_threads(ends: &EndsPart, rate: TickRate) -> String {
    format!(
        "where dependencies leave clocks wide open, {} decided on {}: all participants leave together, \
         within {} (one standard deviation). That is likely, not certain",
        plural(ends.operations as u64, "operation"),
        plural(ends.decided_clocks as u64, "clock"),
        format_seconds(ends.spread_ticks / rate.get() as f64),
    )
}

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report, verbose: bool) -> Vec<(&'static str, String)> {
    let rate = TickRate::per_second(report.trace.ticks_per_second);
    let (Some(ends), Some(rate)) = (ends(report), rate) else {
        return Vec::new();
    };
    let span = |ticks: f64| format_seconds(ticks / rate.get() as f64);
    let told = ends.likely_within_ticks.iter().flatten();
    let Some(most) = told.copied().reduce(f64::max) else {
        return vec![("ends", of_threads(ends, rate))];
    };
    let of = match ends.likely_within_ticks.iter().flatten().count() {
        some if some < ends.likely_within_ticks.len() => {
            format!(" ({} of {} clocks)", some, ends.likely_within_ticks.len())
        }
        _ => String::new(),
    };
    let end = if ends.operations == 1 { "ends" } else { "end" };
    let first = format!(
        "within ±{} of the truth{of}, though only the bound is certain: {} {end} on all of \
         {} clocks within {} (one standard deviation)",
        span(most),
        plural(ends.operations as u64, "operation"),
        if ends.operations == 1 { "its" } else { "their" },
        span(ends.spread_ticks),
    );
    let mut lines = vec![("likely", first)];
    lines.extend(far_apart(ends, rate).map(|line| ("", line)));
    lines.extend(only_ends_show(report, ends, rate).map(|line| ("", line)));
    lines.extend(near_steps(report, rate).map(|line| ("", line)));
    if verbose {
        let clocks = ends.likely_within_ticks.iter().enumerate();
        lines.extend(clocks.map(|(clock, likely)| {
            let line = match likely {
                Some(likely) => format!("clock {clock}: likely within ±{}", span(*likely)),
                None => format!("clock {clock}: too few ends tell anything"),
            };
            ("", line)
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_seems_set_is_named_with_time_and_size() {
        let rate = TickRate::per_second(1_000_000_000);
        let said = |by_ticks: f64, others: &str, more| {
            let step = EndsStepPart {
                clock: 1,
                after_ticks: 2e9,
                until_ticks: 2.5e9,
                by_ticks,
                alternatives: Vec::new(),
            };
            rate.map(|rate| seems_set("the clock of rank 1", others, &step, more, rate))
                .unwrap_or_default()
        };
        let alone = said(30_000.0, "", 0);
        let begin = "the clock of rank 1 seems to have been set by +30 us, between 2 s and 2.5 s of the run: ";
        assert!(alone.starts_with(begin), "{alone}");
        let one_of_two = said(-30_000.0, "the clock of rank 0", 1);
        let begin = "the clock of rank 1 seems to have been set by -30 us, between 2 s and 2.5 s of the \
                     run, or the clock of rank 0 by as much the other way: ";
        assert!(one_of_two.starts_with(begin), "{one_of_two}");
        assert!(one_of_two.contains("; another one seems to have been set, too. "));
    }

    #[test]
    fn operations_that_end_far_apart_are_told_with_what_that_may_mean() {
        let rate = TickRate::per_second(1_000_000_000);
        let said = |operations, place| {
            let ends = EndsPart {
                operations: 10,
                spread_ticks: 156_000.0,
                decided_clocks: 1,
                likely_within_ticks: Vec::new(),
                apart: Some(EndsApartPart {
                    operations,
                    by_ticks: 5e6,
                    place,
                }),
                steps: Vec::new(),
            };
            rate.and_then(|rate| far_apart(&ends, rate))
                .unwrap_or_default()
        };
        assert_eq!(
            said(1, FIRST),
            "the first of these ends up to 5 ms apart: if a clock was set after it, bounds may not hold, and \
             times before that are off by as much"
        );
        assert!(said(2, LAST).starts_with(
            "the last 2 of these end up to 5 ms apart: if a clock was set before them"
        ));
        assert_eq!(said(3, "among"), "3 of these end up to 5 ms apart");
    }
}
