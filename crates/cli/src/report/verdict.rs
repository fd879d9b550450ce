//! The verdict on a trace, in one sentence: it leads the summary and the page, and stands in JSON.

use anstyle::{AnsiColor, Style};
use retime::{TickRate, Ticks, group_digits, plural};
use serde::Serialize;

use super::examined;
use super::model::{CheckPart, Report};

/// The gravity of a verdict; it has its colour in a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Gravity {
    /// Nothing is contradicted.
    Sound,
    /// Little or nothing could be looked at.
    Unknown,
    /// Times contradict each other.
    Contradicted,
}

impl Gravity {
    pub(super) fn style(self) -> Style {
        let colour = match self {
            Self::Sound => AnsiColor::Green,
            Self::Unknown => AnsiColor::Yellow,
            Self::Contradicted => AnsiColor::Red,
        };
        Style::new().bold().fg_color(Some(colour.into()))
    }
}

/// The verdict, and how grave it is.
#[derive(Debug, Serialize)]
pub(super) struct Sentence {
    pub(super) gravity: Gravity,
    #[serde(rename = "sentence")]
    pub(super) text: String,
}

/// A report with its verdict.
#[derive(Debug, Serialize)]
pub(crate) struct Judged<'a> {
    #[serde(flatten)]
    report: &'a Report,
    verdict: Sentence,
}

impl Report {
    /// The report with its verdict, as it is written.
    pub(crate) fn judged(&self) -> Judged<'_> {
        Judged {
            report: self,
            verdict: verdict(self),
        }
    }
}

/// Judges what was found in a trace or, if that was corrected, what the corrected one keeps.
pub(super) fn verdict(report: &Report) -> Sentence {
    let (gravity, text) = match &report.after {
        Some(after) => corrected(report, after),
        None => recorded(report),
    };
    Sentence { gravity, text }
}

fn recorded(report: &Report) -> (Gravity, String) {
    if let Some(found) = contradiction(report, &PRESENT) {
        return (Gravity::Contradicted, found);
    }
    if let Some(found) = examined::alone(report) {
        return (Gravity::Unknown, found);
    }
    match examined::instead_of_sound(&report.examined) {
        None => {
            let text = "No contradiction: every effect is stamped at or after its cause";
            (Gravity::Sound, text.into())
        }
        Some(found) => (Gravity::Unknown, found),
    }
}

fn corrected(report: &Report, after: &CheckPart) -> (Gravity, String) {
    let found = contradiction(report, &PAST);
    let found = found.unwrap_or_else(|| "nothing was reversed".into());
    let short = if report.parameters.min_delay.is_condition {
        after.short
    } else {
        0
    };
    match after.reversed.max(short) + after.out_of_order {
        0 => (Gravity::Sound, format!("{found}; none is now")),
        left => {
            let still = if left == 1 { "still is" } else { "still are" };
            let text = format!("{found}; {} {still}", group_digits(left));
            (Gravity::Contradicted, text)
        }
    }
}

/// "To be", of one and of several.
struct Verb {
    one: &'static str,
    several: &'static str,
}

const PRESENT: Verb = Verb {
    one: "is",
    several: "are",
};
const PAST: Verb = Verb {
    one: "was",
    several: "were",
};

/// The gravest contradiction of recorded times.
fn contradiction(report: &Report, to_be: &Verb) -> Option<String> {
    let before = &report.before;
    let verb = |count: u64| if count == 1 { to_be.one } else { to_be.several };
    if before.reversed > 0 {
        return Some(format!(
            "{} of {} {} reversed{}",
            group_digits(before.reversed),
            plural(
                before.messages.total + before.collectives.total,
                "dependency"
            ),
            verb(before.reversed),
            by_at_most(report)
        ));
    }
    if before.out_of_order > 0 {
        let events = plural(before.out_of_order, "event");
        let verb = verb(before.out_of_order);
        return Some(format!(
            "{events} {verb} stamped before the one recorded earlier"
        ));
    }
    (report.parameters.min_delay.is_condition && before.short > 0).then(|| {
        let short = plural(before.short, "dependency");
        let verb = verb(before.short);
        format!("{short} {verb} faster than the minimal delay that was given")
    })
}

fn by_at_most(report: &Report) -> String {
    let worst = report.before.smallest_latency_ticks.filter(|it| *it < 0);
    let rate = TickRate::per_second(report.trace.ticks_per_second);
    match worst.zip(rate) {
        Some((ticks, rate)) => format!(", the worst by {}", rate.format(Ticks(-ticks))),
        None => String::new(),
    }
}
