//! The method and what it took, in words.

use retime::{TickRate, Ticks, plural};

use super::model::{AlignmentPart, Direction, MethodPart, RepairPart, Report, StepPart};

/// Steps of clocks that are listed.
const STEPS_SHOWN: usize = 8;

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report) -> Vec<(&'static str, String)> {
    let rate = TickRate::per_second(report.trace.ticks_per_second);
    let (Some(method), Some(rate)) = (&report.method, rate) else {
        return Vec::new();
    };
    let parameters = &report.parameters;
    let gamma = parameters.gamma_max;
    let gamma = gamma.map_or(String::new(), |gamma| format!(", gamma {gamma}"));
    let amortised = parameters.amortization_rate;
    let amortised = amortised.map(|rate| format!(", amortised at {} %", rate * 100.0));
    let name = format!("{}{gamma}{}", method.name, amortised.unwrap_or_default());
    let mut lines = vec![("method", name)];
    let offsets = method.offsets.as_ref();
    lines.extend(offsets.map(|path| ("", format!("by the offsets of {path}"))));
    let alignment = method.alignment.as_ref();
    lines.extend(alignment.map(|alignment| ("", aligned(alignment))));
    let alone = report.clocks.count == 2;
    let steps = alignment.map(|alignment| steps(alignment, rate, alone));
    lines.extend(steps.into_iter().flatten().map(|step| ("", step)));
    let knots = plural(method.knots as u64, "knot");
    lines.push((
        "",
        format!("{}; {knots} of the clock maps", repaired(method, rate)),
    ));
    lines
}

fn aligned(alignment: &AlignmentPart) -> String {
    let by = match alignment.reference_clock {
        Some(clock) => format!("clock {clock}"),
        None => "the mean of all clocks".into(),
    };
    let pieces = plural(alignment.pieces as u64, "straight piece");
    let left_out = match alignment.left_out {
        0 => String::new(),
        some => format!(
            "; {} left out: all others contradict {}",
            plural(some as u64, "dependency"),
            if some == 1 { "it" } else { "them" }
        ),
    };
    format!("by the time of {by}, differences of {pieces}{left_out}")
}

/// Clocks that were set, the first few; `alone` where there are only two clocks.
fn steps(alignment: &AlignmentPart, rate: TickRate, alone: bool) -> Vec<String> {
    let step = |step: &StepPart| {
        let reference = alignment.reference_clock == Some(step.clock);
        let note = match (reference, alone) {
            (true, _) => "; the common time is what it showed before",
            (_, true) => ", unless it was the other: two clocks cannot tell",
            _ => "",
        };
        let sign = if step.by_ticks > 0 { "+" } else { "" };
        let by = rate.format(Ticks(step.by_ticks));
        format!(
            "clock {} was set by {sign}{by} between its stamps {} and {}{note}",
            step.clock, step.after, step.until
        )
    };
    let all = alignment.steps.iter();
    let mut lines: Vec<String> = all.take(STEPS_SHOWN).map(step).collect();
    let more = alignment.steps.len().saturating_sub(STEPS_SHOWN);
    if more > 0 {
        lines.push(format!("{more} more times a clock was set"));
    }
    lines
}

fn repaired(method: &MethodPart, rate: TickRate) -> String {
    match &method.repair {
        None => "nothing repaired".into(),
        Some(_) if method.jumps == 0 => "nothing left to repair".into(),
        Some(RepairPart { direction }) => {
            let way = match direction {
                Some(Direction::Backward) if method.option == "auto" => " backwards",
                _ => "",
            };
            let largest = rate.format(Ticks(method.largest_jump_ticks));
            format!(
                "{}{way}, the largest by {largest}",
                plural(method.jumps, "jump")
            )
        }
    }
}
