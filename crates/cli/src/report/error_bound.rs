//! Error bounds and the gentlest correction, in words.

use retime::pipeline::SLEWED_DRIFT_BOUND;
use retime::{TickRate, Ticks, format_seconds, group_digits, plural, printable};

use super::clock_names::{owner, the_clock};
use super::method::amount;
use super::model::{BoundsPart, GentlestPart, Report, StepPart, UnfoundStepPart};
use super::place::PlacePart;
use super::share::share;
use super::slews::rate_events;
use super::stamps::two_stamps;

/// Dependencies of the forcing cycle that are shown.
const FORCING_SHOWN: usize = 6;
/// Places where the drift bound is contradicted, or clocks were set, that are shown.
const PLACES_SHOWN: usize = 4;

/// Nodes that are named whose processes are taken to share a clock.
const NODES_SHOWN: usize = 3;

/// Bounds are to hold for all but one event in so many; where a step could go unseen beside more, the
/// summary says so.
const UNSEEN_OF: u64 = 1000;

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report, verbose: bool) -> Vec<(&'static str, String)> {
    let Some(rate) = TickRate::per_second(report.trace.ticks_per_second) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    if let Some(bounds) = &report.bounds {
        let label = match &report.after {
            Some(_) => "accuracy",
            None => "recorded",
        };
        lines.extend(first(label, bound(bounds, rate)));
        lines.extend(refuted(bounds).map(|line| ("", line)));
        lines.extend(contradicted(report, bounds, rate).map(|line| ("", line)));
        let set = resting_on_steps(report, bounds, rate).into_iter();
        lines.extend(set.map(|line| ("", line)));
        let changed = resting_on_rate_changes(report, bounds, rate).into_iter();
        lines.extend(changed.map(|line| ("", line)));
        let set_back = set_back_unfound(report, bounds);
        lines.extend(set_back.map(|line| ("", line)));
        lines.extend(unseen(bounds).map(|line| ("", line)));
        lines.extend(one_sided(bounds).map(|line| ("", line)));
        lines.extend(bounds.truth.as_ref().map(|truth| {
            let (share, of) = (100.0 * truth.share, plural(truth.events, "event"));
            (
                "",
                format!("this holds for {share:.3} % of {of} of other clocks"),
            )
        }));
        if verbose {
            lines.extend(details(report, bounds, rate).map(|line| ("", line)));
        }
    }
    if let Some(gentlest) = report.gentlest.as_ref().filter(|_| verbose) {
        lines.extend(first("gentlest", forced(gentlest, rate)));
    }
    lines
}

/// The first with the label, the others below.
fn first(label: &'static str, lines: Vec<String>) -> impl Iterator<Item = (&'static str, String)> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    labels.zip(lines)
}

fn bound(bounds: &BoundsPart, rate: TickRate) -> Vec<String> {
    let span = |ticks: f64| format_seconds(ticks / rate.get() as f64);
    let drift = (bounds.drift_bound * 1e9).round() / 1e3;
    let all = &bounds.all;
    if all.events == 0 {
        return vec!["nothing bounds the time of any event on both sides".into()];
    }
    let only = if all.unbounded > 0 {
        let share = all.events as f64 / (all.events + all.unbounded) as f64;
        format!(", for {:.1} % of the events", 100.0 * share)
    } else {
        String::new()
    };
    vec![
        format!(
            "±{} on average, ±{} at worst at events that communicate{only} (certain if clocks {}wander less than {drift} ppm{}{})",
            span(all.mean),
            span(all.largest),
            not_set(bounds),
            if_shared(bounds),
            if_with_host(bounds.if_with_host),
        ),
        match bounds.largest_over_run {
            Some(largest) => format!(
                "±{} at worst over the whole run, before the first message and after the last too",
                span(largest)
            ),
            None => "not bounded over the whole run".into(),
        },
        format!(
            "no method can guarantee better than ±{} on average",
            span(all.mean_half_width)
        ),
    ]
}

/// The condition that no clock was set; lines of their own say of which that is known.
fn not_set(bounds: &BoundsPart) -> &'static str {
    if !bounds.if_set.is_empty() || !bounds.contradicted.is_empty() {
        ""
    } else if bounds.set_back.is_empty() {
        "were not set and "
    } else {
        "were not set elsewhere and "
    }
}

/// The condition that processes share the clock of their node, where they are taken to.
fn if_shared(bounds: &BoundsPart) -> String {
    let names = bounds.if_shared.iter();
    let mut names: Vec<String> = names.map(|it| printable(&it.node).to_string()).collect();
    // A node can have several clocks, each read by several processes.
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    let more = match names.len().saturating_sub(NODES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(NODES_SHOWN);
    format!(
        ", and if processes of one node read one clock: on {}{more}",
        names.join(", ")
    )
}

/// The condition that devices read the clock of their host, where others do not.
fn if_with_host(devices: usize) -> String {
    match devices {
        0 => String::new(),
        1 => ", and if the other device reads the clock of its host".into(),
        some => format!(", and if {some} other devices read the clocks of their hosts"),
    }
}

/// Says that a larger drift bound was taken than the usual one, and why.
fn refuted(bounds: &BoundsPart) -> Option<String> {
    let usual = bounds.refuted_drift_bound?;
    let is_by_alignment = bounds.drift_bound > SLEWED_DRIFT_BOUND;
    let [usual, taken] = [usual, bounds.drift_bound].map(|it| (it * 1e9).round() / 1e3);
    (usual < taken).then(|| {
        if is_by_alignment {
            format!(
                "{usual} ppm are contradicted and {taken} ppm are not, by which the best alignment has \
                 clocks wander, as where a time service slewed them"
            )
        } else {
            format!(
                "{usual} ppm are contradicted in several places and {taken} ppm in none, as where a time \
                 service slewed clocks"
            )
        }
    })
}

/// Says where the drift bound is contradicted, the first few places, and that bounds rest on it.
fn contradicted(
    report: &Report,
    bounds: &BoundsPart,
    rate: TickRate,
) -> impl Iterator<Item = String> {
    let place = move |it: &StepPart| {
        format!(
            "the drift bound is contradicted by {} or more: {} between its stamps {}",
            rate.format(Ticks(it.by_ticks)),
            the_clock(report, it.clock),
            two_stamps(&report.trace, it.after, it.until)
        )
    };
    let all = bounds.contradicted.as_slice();
    let shown = all.iter().take(PLACES_SHOWN).map(place);
    let more = all.len().saturating_sub(PLACES_SHOWN);
    let more = (more > 0).then(|| format!("and in {}", plural(more as u64, "more place")));
    let rest = (!all.is_empty() && bounds.all.events > 0).then(|| {
        let is_tried = bounds.refuted_drift_bound.is_some();
        let slewed = if bounds.drift_bound < SLEWED_DRIFT_BOUND && !is_tried {
            ", as where a time service slewed them: --drift-bound 500ppm allows for that"
        } else {
            ""
        };
        format!(
            "bounds hold if these clocks were set there, and no others: else --drift-bound is too \
             low{slewed}"
        )
    });
    shown.chain(more).chain(rest)
}

/// Says that bounds rest on the steps that an alignment found: they follow a clock that was set there,
/// and hold for no other. Where a method found them, its lines tell which these are. The words about
/// a contradicted drift bound say so by themselves.
fn resting_on_steps(report: &Report, bounds: &BoundsPart, rate: TickRate) -> Vec<String> {
    let set = &bounds.if_set;
    if set.is_empty() || !bounds.contradicted.is_empty() || bounds.all.events == 0 {
        return Vec::new();
    }
    let alignment = report.method.as_ref().and_then(|it| it.alignment.as_ref());
    if alignment.is_some_and(|it| !it.steps.is_empty()) {
        let line = "bounds hold if clocks were set where the method found it, and nowhere else";
        return vec![line.into()];
    }
    let first = "bounds hold if clocks were set as follows, and nowhere else:".to_owned();
    let place = |it: &StepPart| {
        format!(
            "{} by {} between its stamps {}",
            the_clock(report, it.clock),
            amount(it, rate),
            two_stamps(&report.trace, it.after, it.until)
        )
    };
    let shown = set.iter().take(PLACES_SHOWN).map(place);
    let more = set.len().saturating_sub(PLACES_SHOWN);
    let more = (more > 0).then(|| format!("and in {}", plural(more as u64, "more place")));
    std::iter::once(first).chain(shown).chain(more).collect()
}

/// Says that bounds rest on the changes of rates that an alignment found: they are by clocks without these.
/// Where a method found them, its lines tell which they are.
fn resting_on_rate_changes(report: &Report, bounds: &BoundsPart, rate: TickRate) -> Vec<String> {
    let changes = &bounds.if_rates_change;
    if changes.is_empty() || bounds.all.events == 0 {
        return Vec::new();
    }
    let alignment = report.method.as_ref().and_then(|it| it.alignment.as_ref());
    if alignment.is_some_and(|it| !it.rate_changes.is_empty()) {
        let line = "bounds hold if rates changed where the method found it, and no clock wanders more beside that";
        return vec![line.into()];
    }
    let first = "bounds hold if rates changed as follows, and no clock wanders more beside that:";
    let events = rate_events(changes);
    let shown = events.iter().take(PLACES_SHOWN);
    let shown = shown.map(|it| it.words(report, rate));
    let more = events.len().saturating_sub(PLACES_SHOWN);
    let more = (more > 0).then(|| format!("and in {}", plural(more as u64, "more place")));
    std::iter::once(first.to_owned())
        .chain(shown)
        .chain(more)
        .collect()
}

/// Says which clocks the trace shows to have been set back, though no alignment found by how much.
fn set_back_unfound(report: &Report, bounds: &BoundsPart) -> impl Iterator<Item = String> {
    let place = move |it: &UnfoundStepPart| {
        format!(
            "{} was set back between its stamps {}, but nothing tells by how much: times on one side of \
             that are off by as much, and bounds allow for any",
            the_clock(report, it.clock),
            two_stamps(&report.trace, it.after, it.until)
        )
    };
    let more = bounds.set_back.len().saturating_sub(PLACES_SHOWN);
    let more = (more > 0).then(|| format!("and in {}", plural(more as u64, "more place")));
    bounds
        .set_back
        .iter()
        .take(PLACES_SHOWN)
        .map(place)
        .chain(more)
}

/// Says how many events are where a step of their clock would go unseen, if it is not next to none.
fn unseen(bounds: &BoundsPart) -> Option<String> {
    let clocks = (0..).zip(&bounds.clocks);
    let others = clocks.filter(|it| it.0 != bounds.reference_clock && it.1.all.events > 0);
    let (mut beyond, mut all) = (0, 0);
    for (_, clock) in others {
        beyond += clock.steps.events_beyond;
        all += clock.all.events + clock.all.unbounded;
    }
    (beyond > all / UNSEEN_OF).then(|| {
        format!(
            "{} of {} {} before or after the stretch in which {} both sends and receives: there this is \
             certain only if it was not set",
            group_digits(beyond),
            plural(all, "event"),
            if beyond == 1 { "lies" } else { "lie" },
            if beyond == 1 { "its clock" } else { "their clock" },
        )
    })
}

/// Says how many events are of clocks that are bounded on one side only: no step of these would be seen.
fn one_sided(bounds: &BoundsPart) -> Option<String> {
    (bounds.one_sided > 0 && bounds.all.events > 0).then(|| {
        let of_clocks = match bounds.one_sided {
            1 => "is of a clock that is bounded on one side only: that side holds only if it was not set",
            _ => "are of clocks that are bounded on one side only: that side holds only if these were not set",
        };
        format!("{} {of_clocks}", plural(bounds.one_sided, "event"))
    })
}

/// Per clock, and what was left out.
fn details(report: &Report, bounds: &BoundsPart, rate: TickRate) -> impl Iterator<Item = String> {
    let span = move |ticks: f64| format_seconds(ticks / rate.get() as f64);
    let clocks = bounds.clocks.iter().enumerate();
    let bounded = clocks.filter(|(_, clock)| clock.all.events > 0);
    let left_out = (bounds.left_out > 0).then(|| {
        let (verb, were) = match bounds.left_out {
            1 => ("contradicts", "was"),
            _ => ("contradict", "were"),
        };
        format!(
            "{} {verb} this drift bound and {were} left out",
            plural(bounds.left_out as u64, "fact")
        )
    });
    bounded
        .map(move |(number, clock)| {
            let steps = match (clock.steps.from, clock.steps.until) {
                // The bounds are where those by messages before a step and those by messages behind it
                // meet, so that they may be far narrower than a step that goes unseen.
                (Some(from), Some(until)) => {
                    let is_reference = number as u32 == bounds.reference_clock;
                    let seen = if is_reference {
                        ", as one of all others,"
                    } else {
                        ""
                    };
                    format!(
                        "a step larger than messages leave open would show{seen} from {from} until \
                         {until}"
                    )
                }
                _ => "no step would show".into(),
            };
            format!(
                "{}: ±{}, on average ±{}, at best ±{}; {steps}",
                owner(report, number as u32),
                span(clock.all.largest),
                span(clock.all.mean),
                span(clock.all.mean_half_width)
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
            "no correction can keep all local intervals within {}: {} {} {} over {} of local time{}",
            share(distortion),
            plural(gentlest.forced_by.len() as u64, "dependency"),
            if gentlest.forced_by.len() == 1 {
                "misses"
            } else {
                "miss"
            },
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
