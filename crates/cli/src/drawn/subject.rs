//! The parts of an analysed trace that are drawn.

use retime::format::Trace;
use retime::pipeline::{Analysis, Bounds, Solution};
use retime_picture::{Corrected, Subject};

use crate::analysed::Analysed;

/// The parts of a trace that are drawn.
pub(crate) fn subject<'a>(
    analysed: &'a Analysed,
    solution: Option<&'a Solution>,
    bounds: Option<&'a Bounds>,
) -> Subject<'a> {
    let recorded = recorded(&*analysed.opened.trace, &analysed.analysis);
    let enforced = solution.and_then(|it| it.enforced.as_ref());
    Subject {
        corrected: solution.map(|it| Corrected {
            correction: &it.correction,
            times: &it.times,
            steps: it.aligned.as_ref().map_or(&[][..], |it| &it.steps),
        }),
        delay: enforced.map_or(recorded.delay, |it| &it.delay),
        bounds,
        ..recorded
    }
}

/// The parts of a trace that are drawn as it was recorded.
pub(crate) fn recorded<'a>(trace: &'a dyn Trace, analysis: &'a Analysis) -> Subject<'a> {
    Subject {
        trace,
        info: analysis.info(),
        causality: analysis.causality(),
        clocks: analysis.clocks(),
        recorded: analysis.recorded(),
        corrected: None,
        delay: &analysis.delay().delay,
        bounds: None,
    }
}
