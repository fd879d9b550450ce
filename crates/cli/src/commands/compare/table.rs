//! The comparison for people: one line per method, in 100 columns.

use std::fmt::Write;

use retime::{format_seconds, group_digits, plural};

use super::advice::{advice, are_left_alone};
use super::model::{ComparedPart, Comparison, ResultPart};
use crate::report::columns::{columns, wrapped};
use crate::report::examined;
use crate::report::share::share;
use crate::report::width;

const HEADING: [&str; 8] = [
    "method", "reversed", "short", "change", "largest", "jump", "time", "memory",
];
const NEAR_HEADING: [&str; 9] = [
    "method", "bound", "largest", "relative", "largest", "error", "largest", "delays", "largest",
];

const FORESEEN_HEADING: [&str; 6] = ["method", "theorem", "usual", "bound", "tighter", "measured"];

const NOTE: &str = "reversed: effects stamped before their cause. short: after it, or not, by less \
    than the minimal delay. change: of local intervals, mean and largest. jump: the furthest that \
    an event was forced ahead of its own clock. memory: beyond that of the trace. \
    *: the same with the controlled \
    clock afterwards (METHOD, clc), which had nothing to repair.";
const BOUND_NOTE: &str = "bound: mean and largest distance at which the truth can be from the \
    corrected times.";
const FORESEEN_NOTE: &str = "Foreseen before the clock runs, for every local interval: the largest \
    error by theorem 17 (5.68) of Rabenseifner 2000 and what it usually is a small multiple of (5.69); the \
    bound by difference constraints on the change from the recorded interval, how many times tighter that \
    is, and the largest change measured. Stamps are whole ticks: intervals of a few ticks can change by \
    more.";
const TRUTH_NOTE: &str = "relative: mean and largest of |corrected - true time|, without the straight \
    line over true time that all events have in common: no trace tells the rate that its clocks \
    share. error: the same without their common mean only. delays: the same of message delays.";

/// The bar of recorded times has so many cells,
const BAR_OF_RECORDED: usize = 3;
/// and the longest.
const BAR_LONGEST: usize = 6;
const BAR_HEADING: &str = "off    ";

/// The text; `verbose` adds the options of each method.
pub(super) fn render(comparison: &Comparison, verbose: bool) -> String {
    let rate = comparison.trace.ticks_per_second as f64;
    let mut text = heading(comparison, rate);
    let solved = folded(comparison);
    let rows = solved.iter().map(|it| row(it, rate)).collect::<Vec<_>>();
    text += &columns(&HEADING, &rows);
    let near = solved.iter().map(|it| near(it, rate)).collect::<Vec<_>>();
    text += &near_table(comparison, &near);
    text += &foreseen_table(comparison);
    text += &unsolved(comparison);
    let _ = write!(text, "\n{}", paragraph(NOTE));
    text += &near_notes(comparison);
    if comparison.methods.iter().any(|it| it.foreseen.is_some()) {
        text += &paragraph(FORESEEN_NOTE);
    }
    // The last sentence says it where recorded times are left alone.
    if !are_left_alone(comparison)
        && let Some(warning) = examined::warning(&comparison.examined)
    {
        let _ = write!(text, "\n{}", paragraph(&warning));
    }
    if verbose {
        text += &options(comparison);
    }
    let _ = write!(text, "\n{}", paragraph(&advice(comparison)));
    text
}

/// A row: a method, and the one that follows if it did exactly the same.
struct ComparedRow<'a> {
    name: String,
    result: &'a ResultPart,
}

/// The methods that have a result. A logical clock that had nothing to repair after a method has no row
/// of its own.
fn folded(comparison: &Comparison) -> Vec<ComparedRow<'_>> {
    let mut rows: Vec<ComparedRow<'_>> = Vec::new();
    for method in &comparison.methods {
        let Some(result) = &method.result else {
            continue;
        };
        let repaired = rows
            .last_mut()
            .filter(|it| method.name == format!("{}, clc", it.name) && result.is_like(it.result));
        match repaired {
            Some(row) => row.name += " *",
            None => rows.push(ComparedRow {
                name: method.name.clone(),
                result,
            }),
        }
    }
    rows
}

fn heading(comparison: &Comparison, rate: f64) -> String {
    let trace = &comparison.trace;
    let delay = &comparison.min_delay;
    format!(
        "{}: {}, {}, {}, minimal delay {}\n\n",
        trace.path,
        plural(trace.events, "event"),
        plural(trace.locations as u64, "location"),
        plural(comparison.clocks as u64, "clock"),
        span(delay.largest_ticks as f64, rate),
    )
}

fn row(row: &ComparedRow<'_>, rate: f64) -> Vec<String> {
    let result = row.result;
    let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "-".into());
    let jump = result.largest_jump_ticks;
    vec![
        row.name.clone(),
        group_digits(result.reversed),
        group_digits(result.short),
        share(result.interval_change_mean),
        share(result.interval_change_largest),
        or_dash(jump.map(|jump| span(jump as f64, rate))),
        or_dash(result.seconds.map(|seconds| format!("{seconds:.2} s"))),
        or_dash(result.memory_bytes.map(bytes)),
    ]
}

fn near(row: &ComparedRow<'_>, rate: f64) -> Vec<String> {
    let result = row.result;
    let bound = result.bound.as_ref();
    let bound = bound.map_or([None; 2], |it| {
        [Some(it.mean_ticks), Some(it.largest_ticks)]
    });
    let errors = result.accuracy.as_ref().map_or(Vec::new(), |it| {
        let kinds = [
            it.relative_ticks,
            it.synchronization_ticks,
            it.message_delay_ticks,
        ];
        let both = kinds.iter().flat_map(|it| [it.mean_abs, it.max]);
        both.map(Some).collect()
    });
    let cells = bound.into_iter().chain(errors);
    let cells = cells.map(|cell| cell.map_or_else(|| "-".into(), |ticks| span(ticks, rate)));
    std::iter::once(row.name.clone()).chain(cells).collect()
}

/// Bounds, and errors if the truth is known; nothing if nothing is known.
fn near_table(comparison: &Comparison, rows: &[Vec<String>]) -> String {
    let known = |row: &Vec<String>| row.iter().skip(1).any(|cell| cell != "-");
    let shown = match comparison.truth {
        Some(_) => NEAR_HEADING.len(),
        None => 3,
    };
    if !rows.iter().any(known) {
        return String::new();
    }
    let bars = bars(comparison);
    let rows = rows.iter().zip(bars).map(|(row, bar)| {
        let cells = row.iter().take(shown).cloned();
        cells.chain(std::iter::once(bar)).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let heading: Vec<&str> = { NEAR_HEADING.iter().copied().take(shown) }
        .chain(std::iter::once(BAR_HEADING))
        .collect();
    format!("\n{}", columns(&heading, &rows))
}

/// For each row how far times are off on average, beside recorded ones: the error where the truth is
/// known, else the bound.
fn bars(comparison: &Comparison) -> Vec<String> {
    let off = |result: &ResultPart| {
        let error = result
            .accuracy
            .as_ref()
            .map(|it| it.relative_ticks.mean_abs);
        error.or_else(|| result.bound.as_ref().map(|it| it.mean_ticks))
    };
    let rows = folded(comparison);
    let recorded = rows.first().and_then(|it| off(it.result));
    let bar = |row: &ComparedRow<'_>| {
        let share = off(row.result).zip(recorded).filter(|(_, of)| *of > 0.0);
        let cells = share.map_or(0.0, |(off, of)| (off / of * BAR_OF_RECORDED as f64).ceil());
        let beyond = if cells > BAR_LONGEST as f64 { "+" } else { "" };
        let bar = "█".repeat((cells as usize).min(BAR_LONGEST));
        format!(
            "{:<width$}",
            format!("{bar}{beyond}"),
            width = BAR_LONGEST + 1
        )
    };
    rows.iter().map(bar).collect()
}

/// The bounds of clocks from before they ran; nothing if there are none.
fn foreseen_table(comparison: &Comparison) -> String {
    let methods = comparison.methods.iter();
    let rows: Vec<Vec<String>> = methods.filter_map(foreseen).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n{}", columns(&FORESEEN_HEADING, &rows))
}

fn foreseen(method: &ComparedPart) -> Option<Vec<String>> {
    let (foreseen, result) = (method.foreseen.as_ref()?, method.result.as_ref()?);
    let or_none = |it: Option<f64>| it.map_or_else(|| "none".into(), share);
    let both = foreseen.by_theorem_17.zip(foreseen.by_constraints);
    let tighter = both.filter(|(_, bound)| *bound > 0.0);
    Some(vec![
        method.name.clone(),
        or_none(foreseen.by_theorem_17),
        share(foreseen.usual),
        or_none(foreseen.by_constraints),
        tighter.map_or_else(
            || "-".into(),
            |(theorem, bound)| format!("{:.1}", theorem / bound),
        ),
        share(result.interval_change_largest),
    ])
}

fn near_notes(comparison: &Comparison) -> String {
    let mut text = String::new();
    let results = || {
        comparison
            .methods
            .iter()
            .filter_map(|it| it.result.as_ref())
    };
    if results().any(|it| it.bound.is_some()) {
        let wander = (comparison.drift_bound * 1e9).round() / 1e3;
        text += &paragraph(&format!(
            "{BOUND_NOTE} Clocks wander by at most {wander} ppm."
        ));
    }
    if comparison.truth.is_some() {
        text += &paragraph(TRUTH_NOTE);
    }
    if let Some(inside) = comparison.inside_bounds {
        let inside = 100.0 * inside;
        text += &paragraph(&format!(
            "The truth lies within the bounds for {inside:.3} % of the events of other clocks than \
             the reference."
        ));
    }
    text
}

/// Why methods have no solution, or one that cannot be right.
fn unsolved(comparison: &Comparison) -> String {
    let mut text = String::new();
    for method in &comparison.methods {
        if let Some(reason) = &method.reason {
            let _ = write!(
                text,
                "\n{}",
                paragraph(&format!("{}: {reason}", method.name))
            );
        }
        if let Some(reason) = &method.refused {
            let line = format!("{}: refused by retime correct: {reason}", method.name);
            let _ = write!(text, "\n{}", paragraph(&line));
        }
    }
    text
}

/// The command lines that give the result of each method.
fn options(comparison: &Comparison) -> String {
    let mut text = String::from("\n");
    for method in comparison
        .methods
        .iter()
        .filter(|it| !it.options.is_empty())
    {
        let _ = writeln!(text, "{}: retime correct {}", method.name, method.options);
    }
    text
}

/// A paragraph: in one line for terminals, to whose width that is broken later.
fn paragraph(text: &str) -> String {
    match width::of_terminal() {
        Some(_) => format!("{text}\n"),
        None => wrapped(text),
    }
}

fn span(ticks: f64, rate: f64) -> String {
    format_seconds(ticks / rate)
}

fn bytes(bytes: u64) -> String {
    match bytes {
        _ if bytes < 1 << 20 => "<1 MB".into(),
        _ => format!("{} MB", bytes >> 20),
    }
}
