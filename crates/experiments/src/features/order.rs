//! Requirements that runs over whole traces decide: order, errors, local intervals.

use retime::Accuracy;
use retime::causality::check;
use retime::{Causality, MinimalDelay, Ticks};

use super::cell::Cell;
use crate::accuracy::{Method, Trace};
use crate::simulated::Failure;

/// No effect before its cause, in any of the traces; else the largest share of
/// dependencies that are still violated.
pub(super) fn order(method: &Method, traces: &[Trace]) -> Cell {
    worst(method, traces, 0.0, |trace, retimed| {
        let none = MinimalDelay::Uniform(Ticks(0));
        let stamps = retimed.nodes().timestamps();
        let left = check(
            trace.analysis.causality(),
            trace.analysis.clocks(),
            &none,
            stamps,
            &(),
        )?;
        let total = left.messages.total + left.collectives.total;
        Ok(left.violated() as f64 / total.max(1) as f64)
    })
}

/// A quarter of the error of the recorded relative times at most; else the largest
/// share.
pub(super) fn near(method: &Method, traces: &[Trace]) -> Cell {
    worst(method, traces, 0.25, |trace, retimed| {
        let error = |times: &Causality| -> Result<f64, Failure> {
            Ok(accuracy(trace, times)?.relative.mean_abs)
        };
        Ok(error(retimed)? / error(trace.analysis.causality())?)
    })
}

/// Local intervals wrong by a thousandth of the run time at most; else the
/// largest share.
pub(super) fn local(method: &Method, traces: &[Trace]) -> Cell {
    worst(method, traces, 1e-3, |trace, retimed| {
        Ok(accuracy(trace, retimed)?.deviation)
    })
}

fn accuracy(trace: &Trace, times: &Causality) -> Result<Accuracy, Failure> {
    let stamps = times.nodes().timestamps();
    Ok(Accuracy::measure(
        trace.analysis.causality(),
        stamps,
        &trace.truth,
    )?)
}

/// The largest figure of all traces against a limit.
fn worst(
    method: &Method,
    traces: &[Trace],
    limit: f64,
    figure: impl Fn(&Trace, &Causality) -> Result<f64, Failure>,
) -> Cell {
    let mut worst: f64 = 0.0;
    for trace in traces {
        let Ok(solved) = method.run(trace) else {
            return Cell::no("none");
        };
        match figure(trace, &solved.times) {
            Ok(figure) => worst = worst.max(figure),
            Err(_) => return Cell::no("none"),
        }
    }
    if worst <= limit {
        Cell::yes("+")
    } else {
        Cell::no(percent(worst))
    }
}

/// With two digits, but never as if it were nothing.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent < 0.1 => "<0.1 %".into(),
        _ if percent < 10.0 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}
