//! How near to the truth times are likely to be, as ends of operations tell: apart from bounds, which
//! are certain.

use retime::{EndsEvidence, TickRate, format_seconds, plural};

use super::model::{EndsPart, Report};

/// The evidence of a correction.
pub(super) fn part(ends: &EndsEvidence) -> EndsPart {
    EndsPart {
        operations: ends.operations,
        spread_ticks: ends.spread,
        likely_within_ticks: ends.likely.clone(),
    }
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

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report, verbose: bool) -> Vec<(&'static str, String)> {
    let rate = TickRate::per_second(report.trace.ticks_per_second);
    let (Some(ends), Some(rate)) = (ends(report), rate) else {
        return Vec::new();
    };
    let span = |ticks: f64| format_seconds(ticks / rate.get() as f64);
    let told = ends.likely_within_ticks.iter().flatten();
    let Some(most) = told.copied().reduce(f64::max) else {
        return Vec::new();
    };
    let of = match ends.likely_within_ticks.iter().flatten().count() {
        some if some < ends.likely_within_ticks.len() => {
            format!(" ({} of {} clocks)", some, ends.likely_within_ticks.len())
        }
        _ => String::new(),
    };
    let first = format!(
        "within ±{} of the truth{of}, though only the bound is certain: {} end on all of \
         their clocks within {} (one standard deviation)",
        span(most),
        plural(ends.operations as u64, "operation"),
        span(ends.spread_ticks),
    );
    let mut lines = vec![("likely", first)];
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
