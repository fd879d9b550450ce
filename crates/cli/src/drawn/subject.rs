//! The parts of an analysed trace that are drawn.

use retime::pipeline::{Bounds, Solution};
use retime_picture::{Corrected, Subject};

use crate::analysed::Analysed;

/// The parts of a trace that are drawn.
pub(crate) fn subject<'a>(
    analysed: &'a Analysed,
    solution: Option<&'a Solution>,
    bounds: Option<&'a Bounds>,
) -> Subject<'a> {
    let analysis = &analysed.analysis;
    Subject {
        trace: &*analysed.opened.trace,
        info: analysis.info(),
        causality: analysis.causality(),
        clocks: analysis.clocks(),
        recorded: analysis.recorded(),
        corrected: solution.map(|it| Corrected {
            correction: &it.correction,
            times: &it.times,
            steps: it.aligned.as_ref().map_or(&[][..], |it| &it.steps),
        }),
        delay: solution
            .and_then(|it| it.enforced.as_ref())
            .map_or(&analysis.delay().delay, |it| &it.delay),
        bounds: bounds.map(|it| &it.errors),
    }
}
