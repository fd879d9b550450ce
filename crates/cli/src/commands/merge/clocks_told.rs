//! Which clocks were off, by how much, plus or minus what: the first lines of what is said.

use retime::{format_seconds, group_digits, plural, printable};

use super::part::Part;
use crate::clock_offsets::{ClockOffsets, Evidence};

/// Rates of any two quartzes differ by no more: who knows less of a drift knows nothing.
const QUARTZES_PPM: f64 = 100.0;

/// The most clocks that are named.
const NAMED: usize = 4;

/// A line for the clocks of each trace, and one for its dependencies; and that nothing relates
/// several traces.
pub(super) fn lines(parts: &[Part]) -> Vec<String> {
    let mut lines = Vec::new();
    for part in parts {
        let whose = if parts.len() > 1 {
            format!("{}: ", part.offsets.path)
        } else {
            String::new()
        };
        let before = &part.report.before;
        lines.push(format!("{whose}{}", clocks(part)));
        let all = before.messages.total + before.collectives.total;
        if all == 0 {
            lines.push(format!(
                "{whose}no dependency that could contradict the times"
            ));
            continue;
        }
        // The last line counts what is left in the same way.
        let (recorded, what) = if part.report.parameters.min_delay.is_condition {
            (
                before.short + before.reversed_within_clock,
                "are reversed or faster than the minimal delay",
            )
        } else {
            (before.reversed, "have their effect before their cause")
        };
        lines.push(format!(
            "{whose}{}, of which {} as recorded and {} as corrected {what}",
            plural(all, "dependency"),
            group_digits(recorded),
            group_digits(part.shown.left)
        ));
    }
    if parts.len() > 1 {
        let stand = "profiles whose clocks show about the same stand at the times of these, all \
                     others begin where the file does";
        lines.push(format!(
            "warning: nothing relates these {} to each other: {stand}, and how far they are apart \
             is not known",
            plural(parts.len() as u64, "trace")
        ));
    }
    lines
}

fn clocks(part: &Part) -> String {
    let offsets = &part.offsets;
    let numbered = (0..).zip(&offsets.clocks);
    let mut off: Vec<(u32, &ClockOffsets)> = numbered.filter(|(_, it)| is_off(it)).collect();
    off.sort_by(|(_, a), (_, b)| b.offset_ns.abs().total_cmp(&a.offset_ns.abs()));
    let count = plural(offsets.clocks.len() as u64, "clock");
    let unrelated = unrelated(&offsets.clocks);
    if off.is_empty() {
        if offsets.clocks.len() == 1 {
            return format!("{count}, which all events are stamped by");
        }
        if offsets.clocks.iter().all(is_unrelated) {
            return format!(
                "{count}: nothing relates them, so how far they are apart is not known"
            );
        }
        // Bounds are of the whole run, so also of what comes before all dependencies and after them.
        let though = if part.report.before.reversed > 0 {
            " over the whole run, though some were off, as dependencies show"
        } else {
            ""
        };
        let none = "none was off by more than is known of it";
        return format!("{count}: {none}{though}{unrelated}");
    }
    let told = off.iter().take(NAMED);
    let told = told.map(|&(number, it)| clock(it, was_set(part, number)));
    let named: Vec<String> = told.collect();
    let more = match off.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let named = named.join("; ");
    format!("{} of {count}: {named}{more}{unrelated}", off.len())
}

fn is_unrelated(clock: &ClockOffsets) -> bool {
    clock.evidence == Evidence::Unrelated
}

/// A clause that names the clocks that nothing relates to the others.
fn unrelated(clocks: &[ClockOffsets]) -> String {
    let all: Vec<&ClockOffsets> = clocks.iter().filter(|it| is_unrelated(it)).collect();
    if all.is_empty() {
        return String::new();
    }
    let named: Vec<String> = all.iter().take(NAMED).map(|it| whose(it)).collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "; nothing relates {}{more} to the others, so how far off is not known",
        named.join(", ")
    )
}

/// True if a clock, or the reference, was set: what it gained over the run is no drift then.
fn was_set(part: &Part, number: u32) -> bool {
    let method = part.report.method.as_ref();
    let alignment = method.and_then(|it| it.alignment.as_ref());
    alignment.is_some_and(|it| {
        let set = it.steps.iter().map(|step| step.clock);
        let ends = it.ends.iter().flat_map(|ends| &ends.steps);
        let mut all = set.chain(ends.map(|step| step.clock));
        all.any(|clock| clock == number || Some(clock) == it.reference_clock)
    })
}

/// True if a clock was off for certain, or if there is no telling how far it may have been.
fn is_off(clock: &ClockOffsets) -> bool {
    let within = clock.bound_ns.map_or(0.0, |it| it[0].max(it[1]));
    clock.offset_ns.abs() > within
}

fn clock(clock: &ClockOffsets, was_set: bool) -> String {
    let way = if clock.offset_ns < 0.0 {
        "ahead"
    } else {
        "behind"
    };
    let by = format_seconds(clock.offset_ns.abs() / 1e9);
    let within = match (clock.bound_ns, clock.evidence) {
        (Some([before, after]), _) => format!(" ± {}", format_seconds(before.max(after) / 1e9)),
        (None, Evidence::OneSide) => ", bounded on one side only".into(),
        (None, Evidence::NotBounded) => ", and no error bounds were asked for".into(),
        (None, _) => ", nothing bounds by how much for certain".into(),
    };
    // What has to be added falls where a clock runs fast. Without a bound nothing is said of it.
    let is_known = |within: &f64| !was_set && *within <= QUARTZES_PPM;
    let drift = clock.rate_within_ppm.filter(is_known);
    let drift = drift.map_or(String::new(), |it| {
        // Never "-0.00" of a clock that did not drift.
        let rate = 0.0 - clock.rate_ppm;
        format!(", drift {rate:+.2} ± {it:.2} ppm")
    });
    format!("{} was {by} {way}{within}{drift}", whose(clock))
}

fn whose(clock: &ClockOffsets) -> String {
    let ranks = match (clock.ranks.first(), clock.ranks.last()) {
        (Some(first), Some(last)) if last > first => format!("ranks {first} to {last}"),
        (Some(only), _) => format!("rank {only}"),
        (None, _) => match clock.processes.as_slice() {
            [only] if !only.is_empty() => printable(only).into_owned(),
            [] | [_] => format!(
                "location {}",
                clock.locations.first().copied().unwrap_or_default()
            ),
            several => plural(several.len() as u64, "process"),
        },
    };
    match clock.hosts.as_slice() {
        [] => ranks,
        [host] => format!("{} ({ranks})", printable(host)),
        hosts => format!(
            "{} and {} more ({ranks})",
            printable(&hosts[0]),
            hosts.len() - 1
        ),
    }
}
