//! Why a logical clock gives a trace no correction.

use crate::correction::CorrectionError;
use crate::cycle::Cycle;
use retime_causality::Causality;
use retime_model::{Cancelled, LocationIndex};

/// Why a logical clock gives a trace no correction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// Happened-before has a cycle.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// The times that were found make no clock maps.
    #[error(transparent)]
    Correction(CorrectionError),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<CorrectionError> for ClockError {
    fn from(error: CorrectionError) -> Self {
        match error {
            CorrectionError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            reason => Self::Correction(reason),
        }
    }
}

impl ClockError {
    /// An error that was found in a [mirrored](Causality::mirrored) trace, as of the trace
    /// itself.
    #[must_use]
    pub fn mirrored(self, causality: &Causality) -> Self {
        match self {
            Self::Cycle(cycle) => Self::Cycle(cycle.mirrored(causality)),
            Self::Correction(CorrectionError::TooFar { raw, event }) => {
                let nodes = causality.nodes();
                let back = |(location, event): (LocationIndex, u64)| {
                    let count = nodes.event_count(location.as_usize());
                    (location, count.saturating_sub(event + 1))
                };
                Self::Correction(CorrectionError::TooFar {
                    raw: nodes.mirror_time(raw).unwrap_or(raw),
                    event: event.map(back),
                })
            }
            other => other,
        }
    }
}
