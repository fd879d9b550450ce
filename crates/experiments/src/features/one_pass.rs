//! Testing if a method could do with one pass.
//!
//! A method that reads events once, in order, and gives each out after some
//! delay, cannot know what comes later. So its corrections of the events up to a
//! time must be the same whether the trace ends there or goes on, except in a
//! last stretch as long as that delay. The trace is cut at one half and at three
//! quarters; what differs earliest tells the delay. If it is longer than a
//! quarter of what came before the cut, it is taken to grow with the trace: the
//! method needs it whole.

use retime::causality::EventNode;
use retime::pipeline::{Analysis, AnalysisOptions};
use retime::{Cancelled, Causality, Timestamp};

use super::cell::Cell;
use crate::accuracy::{Method, Trace};

/// The delay that the method needs, if it is bounded.
pub(super) fn one_pass(method: &Method, trace: &Trace) -> Cell {
    let Ok(whole) = method.run(trace) else {
        return Cell::no("none");
    };
    let nodes = trace.analysis.causality().nodes();
    let first = nodes.base().0;
    let last = nodes.timestamps().iter().max().map_or(first, |last| last.0);
    let mut longest = 0;
    for quarters in [2, 3] {
        let span = (last - first) / 4 * quarters;
        let cut = Timestamp(first + span);
        let part = cut_at(trace, cut).map_err(|cancelled| cancelled.to_string());
        let Ok(part) = part.and_then(|part| method.run(&part)) else {
            return Cell::no("none");
        };
        let delay = cut.0
            - earliest_difference(trace.analysis.causality(), [&whole.times, &part.times], cut).0;
        if delay > span / 4 {
            return Cell::no("-");
        }
        longest = longest.max(delay);
    }
    Cell::yes(format!("{} ms", longest.div_ceil(1_000_000)))
}

/// Without the dependencies after a time.
fn cut_at(trace: &Trace, cut: Timestamp) -> Result<Trace, Cancelled> {
    let options = AnalysisOptions {
        window: Some((Timestamp(0), cut)),
        ..trace.analysis.options().clone()
    };
    let (info, causality) = (trace.analysis.info(), trace.analysis.causality());
    Ok(Trace {
        analysis: Analysis::of(info.clone(), causality.clone(), options, &())?,
        truth: trace.truth.clone(),
    })
}

/// The first recorded time at which corrections differ by more than a tick; the
/// cut if none before it does.
fn earliest_difference(recorded: &Causality, times: [&Causality; 2], cut: Timestamp) -> Timestamp {
    let nodes = recorded.nodes();
    let differs = |&node: &EventNode| {
        let [one, other] = times.map(|times| times.nodes().timestamp(node).0);
        one.abs_diff(other) > 1
    };
    let before = |node| nodes.timestamp(node);
    nodes
        .all()
        .filter(differs)
        .map(before)
        .min()
        .map_or(cut, |first| first.min(cut))
}
