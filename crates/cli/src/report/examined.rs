//! How much of the communication in a trace was looked at, in words.

use retime::format::SILENT_RANK;
use retime::pipeline::Verdict;
use retime::{format_seconds, group_digits, plural, printable};

use super::model::{ExaminedPart, RelatedPart, Report, StretchPart};
use crate::error::UNEXAMINED;

/// How the last line begins where no contradiction was found, but that says little;
/// `None` where it says that the trace is sound.
pub(crate) fn instead_of_sound(part: &ExaminedPart) -> Option<String> {
    let found = match part.verdict {
        Verdict::MostUsed => {
            let of_stretch = part.stretch.as_ref().map(of_stretch);
            return of_stretch
                .or_else(|| between_none(part))
                .or_else(|| Some(format!("No contradiction found, but {}", unrelated(part)?)));
        }
        Verdict::NothingRecorded => {
            return Some("The trace has no record of communication".into());
        }
        Verdict::NothingUsed => "No contradiction found, but nothing was looked at",
        Verdict::SmallPart => "No contradiction found, but little was looked at",
    };
    Some(format!("{found}: {}", share(part)?))
}

/// The verdict where all that was looked at is within processes, of which there are several.
fn between_none(part: &ExaminedPart) -> Option<String> {
    let within = part.examined.used_within_clock;
    (within > 0 && part.examined.telling() == 0).then(|| {
        "No contradiction found, but nothing that is recorded leads from one process to another"
            .into()
    })
}

/// How the last line begins where no contradiction was found in a stretch of the trace.
fn of_stretch(stretch: &StretchPart) -> String {
    let when = when(stretch);
    match stretch.dependencies {
        0 => {
            format!("No contradiction found, but nothing was looked at: no dependency lies {when}")
        }
        _ => format!("No contradiction {when}"),
    }
}

/// The stretch of time in words that follow what lies in it.
pub(crate) fn when(stretch: &StretchPart) -> String {
    let [from, to] = [stretch.from_seconds, stretch.to_seconds].map(|it| it.map(format_seconds));
    match (from, to) {
        (Some(from), Some(to)) => format!("between {from} and {to}"),
        (Some(from), None) => format!("after {from}"),
        (None, Some(to)) => format!("before {to}"),
        (None, None) => "in all of the trace".into(),
    }
}

/// The sentence about a trace in which nobody is there to communicate with.
pub(crate) fn alone(report: &Report) -> Option<String> {
    let is_silent = report.examined.verdict == Verdict::NothingRecorded;
    (is_silent && report.trace.locations == 1)
        .then(|| "The trace has one location, so there is nothing to compare".into())
}

/// Sets of clocks that are named one by one, and clocks of each.
const SETS_NAMED: usize = 4;
const CLOCKS_NAMED: usize = 3;

/// A clause that names the clocks that nothing relates to each other, if there are such.
fn unrelated(part: &ExaminedPart) -> Option<String> {
    let (first, others) = part.unrelated.split_first()?;
    let named = others.iter().take(SETS_NAMED - 1).map(names_of);
    let named: Vec<String> = named.collect();
    let more = match others.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(", or those of {more} more sets"),
    };
    Some(format!(
        "nothing recorded relates the times of {} to those of {}{more}: by how much these are apart is not known",
        names_of(first),
        named.join(", or those of "),
    ))
}

/// Clocks of a set: "node0, node1 and 2 more".
fn names_of(set: &RelatedPart) -> String {
    let names = set.names.iter().map(|it| printable(it).to_string());
    let names: Vec<String> = names.collect();
    let (named, more) = names.split_at(names.len().min(CLOCKS_NAMED));
    match (named, more.len()) {
        ([others @ .., last], 0) if !others.is_empty() => {
            format!("{} and {last}", others.join(", "))
        }
        (named, 0) => named.concat(),
        (named, more) => format!("{} and {more} more", named.join(", ")),
    }
}

/// A sentence that warns, whatever was found, if too little was looked at, or clocks are not related.
pub(crate) fn warning(part: &ExaminedPart) -> Option<String> {
    let clauses = [share(part), unrelated(part)].into_iter().flatten();
    let clauses: Vec<String> = clauses.collect();
    (!clauses.is_empty()).then(|| format!("Mind that {}.", clauses.join(", and that ")))
}

/// A clause that says, after another sentence, that too little was looked at.
pub(crate) fn caveat(part: &ExaminedPart) -> Option<String> {
    Some(format!(" {}", warning(part)?))
}

/// The exit code of a command that has found or left no contradiction.
pub(crate) fn exit_code(part: &ExaminedPart) -> u8 {
    match part.verdict {
        Verdict::NothingUsed | Verdict::SmallPart => UNEXAMINED,
        Verdict::MostUsed if part.stretch.as_ref().is_some_and(|it| it.dependencies == 0) => {
            UNEXAMINED
        }
        Verdict::MostUsed if !part.unrelated.is_empty() => UNEXAMINED,
        Verdict::NothingRecorded | Verdict::MostUsed => 0,
    }
}

/// How much was used, and if an option may change that, which one.
fn share(part: &ExaminedPart) -> Option<String> {
    let said = share_used(part)?;
    let count = part.examined.usage.maybe_dense;
    if 2 * count <= part.examined.missed() {
        return Some(said);
    }
    let calls = plural(count, "call");
    Some(format!(
        "{said}; if all ranks send to all others in the {calls} of Alltoallv and Alltoallw, give --dense-alltoallv"
    ))
}

fn share_used(part: &ExaminedPart) -> Option<String> {
    let records = |count: u64| plural(count, "record");
    match part.verdict {
        Verdict::NothingUsed if are_silent(part) => Some(format!(
            "no communication of {} is recorded",
            plural(part.recorded, "rank")
        )),
        Verdict::NothingUsed => Some(format!(
            "none of {} of communication could be used",
            records(part.recorded)
        )),
        Verdict::SmallPart if part.examined.telling() == 0 => Some(format!(
            "none of {} of communication between clocks could be used",
            records(part.examined.missed())
        )),
        Verdict::SmallPart => Some(format!(
            "only {} of {} of communication could be used",
            group_digits(part.examined.telling()),
            records(part.examined.telling() + part.examined.missed())
        )),
        Verdict::NothingRecorded | Verdict::MostUsed => None,
    }
}

/// True if all that is counted are ranks of which nothing is recorded.
fn are_silent(part: &ExaminedPart) -> bool {
    let mut silent = part.examined.unused.iter();
    let silent = silent.find(|it| it.kind == SILENT_RANK);
    silent.is_some_and(|it| it.records == part.recorded)
}

/// Lists for the summary the communication that was not used; `None` if there are only ends of
/// messages and calls, few of them, which warnings locate.
pub(super) fn unused(part: &ExaminedPart) -> Option<String> {
    let usage = &part.examined.usage;
    let (messages, calls) = (usage.message_ends.unused(), usage.calls.unused());
    let few = part.verdict == Verdict::MostUsed;
    if few && part.examined.unused.is_empty() {
        return None;
    }
    let matched = [(messages, "message end"), (calls, "collective call")];
    let matched = matched.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = matched.map(|(count, noun)| plural(count, noun)).collect();
    for it in &part.examined.unused {
        let within = match it.within_clock {
            0 => String::new(),
            all if all == it.records => " within one clock".into(),
            some => format!(" ({} within one clock)", group_digits(some)),
        };
        parts.push(format!("{}{within}", plural(it.records, it.kind)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
