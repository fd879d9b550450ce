//! Bounds of what the controlled logical clock can do to local intervals, before it runs.

use retime::clock::{ClockError, Control};
use retime::pipeline::{Algorithm, Analysis, ClockControl, ClockKind, LogicalClock, Method};
use retime_methods::a_priori::{Constants, Foreseen, Reach};

use super::model::ForeseenPart;
use crate::error::CliError;
use crate::progress::Interrupts;

/// The bounds for a method; nothing for one whose clock the thesis does not bound, or where
/// clocks have no solution, which each method says in its row.
pub(super) fn foreseen(
    analysis: &Analysis,
    method: &Method,
    drift: f64,
) -> Result<Option<ForeseenPart>, CliError> {
    let is_controlled = method.name() == ClockKind::Controlled.name();
    let clock = method.options().clock.as_ref().filter(|_| is_controlled);
    let Some(constants) = clock.and_then(|it| constants(it, drift)) else {
        return Ok(None);
    };
    let (causality, clocks) = (analysis.causality(), analysis.clocks());
    let delay = &analysis.delay().delay;
    let reach = match Reach::of_clocks(causality, clocks, delay, &constants, &Interrupts) {
        Ok(reach) => reach,
        Err(ClockError::Cancelled(cancelled)) => return Err(cancelled.into()),
        Err(_) => return Ok(None),
    };
    let foreseen = Foreseen::of(&reach, &constants);
    let finite = |it: f64| it.is_finite().then_some(it);
    Ok(Some(ForeseenPart {
        by_theorem_17: finite(foreseen.theorem_17),
        usual: foreseen.usual,
        by_constraints: finite(foreseen.by_constraints),
    }))
}

/// The constants of a clock that runs forward under controllers A to D.
fn constants(clock: &LogicalClock, rho: f64) -> Option<Constants> {
    let (gamma_max, gamma_d) = match clock.control {
        ClockControl::ByEvent(Control::Constant(gamma)) => (gamma, None),
        ClockControl::ByEvent(Control::Combined(it)) => (it.gamma_max, Some(it.d.unwrap_or(0.0))),
        ClockControl::ByEvent(Control::Degressive(_)) | ClockControl::Passes(_) => return None,
    };
    let a_def = clock.amortization()?.factor();
    (!clock.backward).then_some(Constants {
        gamma_max,
        gamma_d,
        a_def,
        rho,
    })
}
