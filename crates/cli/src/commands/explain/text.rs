//! What `retime explain` says, for people.

use std::fmt::Write;

use retime::{TickRate, Ticks, group_digits, plural};

use super::model::{
    BoundPart, DependenciesPart, DependencyPart, EventPart, Explanation, UnusedList,
};

/// The column in which what is said begins.
const INDENT: usize = 11;
/// So many places of a kind are listed on a terminal; JSON has all.
const PLACES_SHOWN: usize = 100;

/// The text about one event.
pub(super) fn of(explanation: &Explanation) -> String {
    let mut text = Text::default();
    let rate = TickRate::per_second(explanation.ticks_per_second);
    let event = &explanation.event;
    text.line("event", &called(event));
    text.line("time", &times(event, rate));
    match explanation.role {
        Some(role) => text.line("role", role),
        None => text.line("role", &without_part(explanation)),
    }
    for recorded in &explanation.recorded_as {
        text.line("", recorded);
    }
    if let Some(rule) = explanation.rule {
        text.line("rule", rule);
    }
    if let Some(follows) = &explanation.follows {
        text.dependencies("follows", follows, rate);
    }
    if let Some(precedes) = &explanation.precedes {
        text.dependencies("precedes", precedes, rate);
    }
    for defect in &explanation.defects {
        text.line("defect", &defect.why);
    }
    if let Some(unused) = &explanation.unused {
        text.line("not used", &unused.why);
    }
    text.out
}

fn without_part(explanation: &Explanation) -> String {
    let mut line = "none: no dependency can rest on it".to_owned();
    if let Some(next) = &explanation.next {
        let _ = write!(
            line,
            "; the next event of its location on which one can is {}:{}",
            next.location, next.event
        );
    }
    line
}

/// The text about events that no dependency rests on.
pub(super) fn of_unused(list: &UnusedList) -> String {
    let mut text = Text::default();
    for kind in &list.kinds {
        let _ = writeln!(text.out, "{} ({})", kind.why, kind.kind);
        for place in kind.places.iter().take(PLACES_SHOWN) {
            let _ = writeln!(text.out, "  {}:{}", place.location, place.event);
        }
        let shown = kind.places.len().min(PLACES_SHOWN) as u64;
        if kind.count > shown {
            let more = group_digits(kind.count - shown);
            let _ = writeln!(text.out, "  and {more} more");
        }
    }
    for records in &list.without_use {
        let what = plural(records.count, records.kind);
        let say = if records.count == 1 { "says" } else { "say" };
        let _ = writeln!(
            text.out,
            "{what}, which {say} nothing of how processes differ"
        );
    }
    if list.calls_without_dependency > 0 {
        let calls = plural(list.calls_without_dependency, "collective call");
        let _ = writeln!(
            text.out,
            "{calls} on which no dependency rests; of one event retime explain TRACE \
             LOCATION:EVENT says why"
        );
    }
    if text.out.is_empty() {
        text.out = "Everything that was recorded of communication could be used.\n".into();
    }
    text.out
}

#[derive(Default)]
struct Text {
    out: String,
}

impl Text {
    fn line(&mut self, label: &str, content: &str) {
        let bold = anstyle::Style::new().bold();
        let gap = INDENT.saturating_sub(label.len());
        let _ = writeln!(self.out, "{bold}{label}{bold:#}{:gap$}{content}", "");
    }

    fn dependencies(&mut self, label: &str, part: &DependenciesPart, rate: Option<TickRate>) {
        let recorded = &part.tightest_recorded;
        if part.count == 1 {
            self.line(label, &called(&recorded.other));
            self.line("", &times(&recorded.other, rate));
            self.latency(recorded, rate);
            return;
        }
        let count = group_digits(part.count as u64);
        let nearest = called(&recorded.other);
        self.line(
            label,
            &format!("{count} events; as recorded the nearest is {nearest}"),
        );
        self.latency(recorded, rate);
        if let Some(corrected) = &part.tightest_corrected {
            let same = (corrected.other.location, corrected.other.event)
                == (recorded.other.location, recorded.other.event);
            if !same {
                let nearest = called(&corrected.other);
                self.line("", &format!("as corrected the nearest is {nearest}"));
                self.latency(corrected, rate);
            }
        }
    }

    fn latency(&mut self, part: &DependencyPart, rate: Option<TickRate>) {
        let recorded = part.recorded_latency_ticks;
        let mut line = format!("{} recorded", span(recorded, rate));
        if recorded < 0 {
            line += ", so the effect is stamped before its cause";
        }
        if let Some(corrected) = part.corrected_latency_ticks {
            let _ = write!(line, "; {} corrected", span(corrected, rate));
        }
        let _ = write!(line, "; at least {}", span(part.least_latency_ticks, rate));
        self.line("latency", &line);
        if part.within_clock {
            let both = "both ends read one clock, so it is checked and moves nothing";
            self.line("", both);
        }
    }
}

fn called(event: &EventPart) -> String {
    let EventPart {
        location,
        event: number,
        kind,
        location_name,
        ..
    } = event;
    let region = event.region.as_ref().map(|it| format!(" {it}"));
    let region = region.unwrap_or_default();
    format!(
        "{location}:{number} {kind}{region}, on {location_name} (clock {})",
        event.clock
    )
}

fn times(event: &EventPart, rate: Option<TickRate>) -> String {
    let mut line = format!("{} recorded", moment(event.recorded_ticks, rate));
    if let Some(corrected) = event.corrected_ticks {
        let moved = corrected - event.recorded_ticks;
        let _ = write!(
            line,
            "; {} corrected, moved by {}",
            moment(corrected, rate),
            span(moved, rate)
        );
    }
    if let Some(bound) = event.bound_ticks {
        line += &within(bound, rate);
    }
    line
}

fn within(bound: BoundPart, rate: Option<TickRate>) -> String {
    let ticks = |value: f64| span(value.ceil() as i64, rate);
    format!(
        "; the truth lies at most {} before and {} after",
        ticks(bound.before),
        ticks(bound.after)
    )
}

/// A time after the first event of the trace, to the tick.
fn moment(ticks: i64, rate: Option<TickRate>) -> String {
    match rate {
        Some(rate) => format!("{:.9} s", rate.seconds(Ticks(ticks))),
        None => format!("{ticks} ticks"),
    }
}

fn span(ticks: i64, rate: Option<TickRate>) -> String {
    match rate {
        Some(rate) => rate.format(Ticks(ticks)),
        None => format!("{ticks} ticks"),
    }
}
