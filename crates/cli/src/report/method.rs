//! The method and what it took, in words.

use retime::{TickRate, Ticks, group_digits, plural};

use super::clock_names::{owner, the_clock};
use super::model::{AlignmentPart, Direction, MethodPart, RepairPart, Report, StepPart};
use super::slews::{RateEvent, rate_events};
use super::stamps::two_stamps;
use super::together::listed;

/// Steps of clocks that are listed.
const STEPS_SHOWN: usize = 8;
/// Clocks named that may have been set instead of one.
const ALTERNATIVES_SHOWN: usize = 2;
/// Clocks that were set together with one are named up to so many.
const TOGETHER_SHOWN: usize = 7;

/// Steps of half of the clocks are as good as steps of others.
const OTHERS: &str = "where half of the clocks that exchange anything, or more, were set at once, it may \
                      have been others: dependencies tell what clocks gained against each other";

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report, verbose: bool) -> Vec<(&'static str, String)> {
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
    lines.extend(alignment.map(|alignment| ("", aligned(report, alignment, rate))));
    let steps = alignment.map(|alignment| steps(report, alignment, rate));
    lines.extend(steps.into_iter().flatten().map(|step| ("", step)));
    let changes = alignment.map(|alignment| rate_changes(report, alignment, rate));
    lines.extend(changes.into_iter().flatten().map(|line| ("", line)));
    let knots = if verbose {
        let knots = plural(method.knots as u64, "knot");
        format!("; {knots} of the clock maps")
    } else {
        String::new()
    };
    lines.push(("", format!("{}{knots}", repaired(method, rate))));
    lines
}

/// Whose time the common one is, and what was done to the other clocks before anything else.
fn aligned(report: &Report, alignment: &AlignmentPart, rate: TickRate) -> String {
    let times = match alignment.reference_clock {
        Some(number) => {
            let owner = owner(report, number);
            let wander = alignment.ahead_of_reference_ticks.map(|by| {
                let by = rate.format(Ticks(by.round() as i64));
                format!(", less what it wanders against all clocks, {by} at most")
            });
            format!("times are those of {owner}{}", wander.unwrap_or_default())
        }
        None => "times are the mean of those of all clocks".into(),
    };
    // A common shift means nothing, but who compares stamps of the reference has to know of it.
    let later = alignment.moved_later_ticks.map_or_else(String::new, |by| {
        format!(
            ", moved {} later for all, since a stamp would be below 0",
            rate.format(Ticks(by))
        )
    });
    let moved = match alignment.pieces {
        0 => "shifted by a constant".into(),
        1 => "shifted and stretched once".into(),
        pieces => format!(
            "shifted and stretched in up to {} straight pieces",
            group_digits(pieces as u64)
        ),
    };
    let left_out = match alignment.left_out {
        0 => String::new(),
        some => format!(
            "; {} left out, which {} this",
            plural(some as u64, "dependency"),
            if some == 1 {
                "contradicts"
            } else {
                "contradict"
            }
        ),
    };
    format!("{times}{later}; each other clock was {moved}{left_out}")
}

/// Clocks that were set, the first few.
fn steps(report: &Report, alignment: &AlignmentPart, rate: TickRate) -> Vec<String> {
    let alone = report.clocks.count == 2;
    let step = |step: &StepPart| {
        let reference = alignment.reference_clock == Some(step.clock);
        let note = match (reference, alone) {
            (true, _) => "; the common time is what it showed before",
            (_, true) => ", unless it was the other: two clocks cannot tell",
            _ => "",
        };
        let instead = instead(report, &step.alternatives);
        let together = together(report, &step.together);
        format!(
            "{} {} by {} between its stamps {}{together}{instead}{note}",
            the_clock(report, step.clock),
            step.how,
            amount(step, rate),
            two_stamps(&report.trace, step.after, step.until)
        )
    };
    // Clocks that were set together are told of once.
    let is_first = |step: &&StepPart| step.together.iter().all(|it| *it > step.clock);
    let all = alignment.steps.iter().filter(is_first);
    let mut lines: Vec<String> = all.clone().take(STEPS_SHOWN).map(step).collect();
    let more = all.count().saturating_sub(STEPS_SHOWN);
    if more > 0 {
        let times = if more == 1 { "time" } else { "times" };
        lines.push(format!("{more} more {times} a clock was set"));
    }
    if alignment.half_were_set_at_once && !alone {
        lines.push(OTHERS.to_owned());
    }
    lines
}

/// Clocks whose rates changed, the first few times.
fn rate_changes(report: &Report, alignment: &AlignmentPart, rate: TickRate) -> Vec<String> {
    let line = |it: &RateEvent<'_>| {
        let note = if alignment.reference_clock == Some(it.clock()) {
            "; the common time goes on at its first rate"
        } else if report.clocks.count == 2 {
            ", unless it was the other: two clocks cannot tell"
        } else {
            ""
        };
        format!("{}{note}", it.words(report, rate))
    };
    let all = rate_events(&alignment.rate_changes);
    let mut lines: Vec<String> = all.iter().take(STEPS_SHOWN).map(line).collect();
    let more = all.len().saturating_sub(STEPS_SHOWN);
    if more > 0 {
        let times = if more == 1 { "time" } else { "times" };
        lines.push(format!("{more} more {times} a clock changed its rate"));
    }
    lines
}

/// Writes how much a clock gained by a step, and how far that is known.
pub(super) fn amount(step: &StepPart, rate: TickRate) -> String {
    let sign = if step.by_ticks > 0 { "+" } else { "" };
    let by = rate.format(Ticks(step.by_ticks));
    let known = step.known_to_ticks.map(|ticks| {
        let ticks = Ticks(i64::try_from(ticks).unwrap_or(i64::MAX));
        format!(", known to ±{},", rate.format(ticks))
    });
    format!("{sign}{by}{}", known.unwrap_or_default())
}

/// Names the clocks that were set together with one.
fn together(report: &Report, clocks: &[u32]) -> String {
    if clocks.is_empty() {
        return String::new();
    }
    let shown = clocks.iter().take(TOGETHER_SHOWN);
    let names = shown.map(|&it| owner(report, it));
    let more = clocks.len().saturating_sub(TOGETHER_SHOWN);
    let more = (more > 0).then(|| format!("{more} more"));
    let those = if clocks.len() == 1 { "that" } else { "those" };
    format!(
        ", together with {those} of {}",
        listed(names.chain(more).collect())
    )
}

/// Names the clocks that may have been set instead.
fn instead(report: &Report, clocks: &[u32]) -> String {
    match &*clocks_named(report, clocks) {
        "" => String::new(),
        names => format!(", unless it was {names}: dependencies cannot tell"),
    }
}

/// Names clocks of which it was one, the first few; nothing where there are none.
pub(super) fn clocks_named(report: &Report, clocks: &[u32]) -> String {
    let shown = clocks.iter().take(ALTERNATIVES_SHOWN);
    let names: Vec<String> = shown.map(|&it| the_clock(report, it)).collect();
    let more = match clocks.len().saturating_sub(ALTERNATIVES_SHOWN) {
        0 => String::new(),
        more => format!(" or {}", plural(more as u64, "other")),
    };
    format!("{}{more}", names.join(" or "))
}

fn repaired(method: &MethodPart, rate: TickRate) -> String {
    match &method.repair {
        None => "nothing repaired".into(),
        Some(_) if method.jumps == 0 => "nothing was left to repair".into(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_amount_of_a_step_is_as_uncertain_as_bounds_leave_it() {
        let step = |known_to_ticks| StepPart {
            clock: 1,
            after: 1_000_000,
            until: 2_000_000,
            by_ticks: 50_000,
            how: "was set",
            known_to_ticks,
            alternatives: Vec::new(),
            together: Vec::new(),
        };
        let said = |known: Option<u64>| {
            let rate = TickRate::per_second(1_000_000_000).unwrap();
            amount(&step(known), rate)
        };
        assert_eq!(said(None), "+50 us");
        assert_eq!(said(Some(60_000)), "+50 us, known to ±60 us,");
    }
}
