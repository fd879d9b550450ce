//! The method and what it took, in words.

use retime::{TickRate, Ticks};

use super::model::{AlignmentPart, Direction, MethodPart, RepairPart, Report};
use super::summary::plural;

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
    let alignment = method.alignment.as_ref();
    lines.extend(alignment.map(|alignment| ("", aligned(alignment))));
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
            "; {} left out as defective",
            plural(some as u64, "dependency")
        ),
    };
    format!("by the time of {by}, differences of {pieces}{left_out}")
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
