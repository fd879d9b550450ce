//! Why a method yields no correction.

use retime_causality::RetimingError;
use retime_clocks::estimate::{BadEstimate, NoEstimate};
use retime_logical_clocks::CorrectionError;
use retime_logical_clocks::{ClockError, Cycle};
use retime_model::{Cancelled, TraceInfo};
use retime_model::{ClockId, Clocks};

/// Why a method yields no correction. Clocks have no names here:
/// [`describe`](Self::describe) says the same with them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsolved {
    /// The estimator found nothing.
    #[error(transparent)]
    NoEstimate(NoEstimate),
    /// It found what makes no clock.
    #[error(transparent)]
    BadEstimate(#[from] BadEstimate),
    /// The clock that was asked for is related to no other.
    #[error("no dependency relates the clock of --reference to another; give another --reference")]
    UnrelatedReference,
    /// Some clock's estimated time does not advance, so that there is no mean.
    #[error(
        "the estimated time of a clock does not advance, so the clocks have no mean; \
         give another --reference"
    )]
    NoMean,
    /// The dependencies contradict each other, or the common clocks.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// The times that were found make no clock maps.
    #[error(transparent)]
    Correction(CorrectionError),
    /// Corrected stamps do not fit into 64 bits, or lie too far apart.
    #[error("corrected times would lie too far apart for a trace")]
    TooFar,
    /// A clock was found to be set at stamps that do not fit into 64 bits.
    #[error("clock {} was set at stamps that do not fit into 64 bits", clock.0)]
    StepTooFar {
        /// Which.
        clock: ClockId,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl Unsolved {
    /// In words, with the names of clocks and locations.
    pub fn describe(&self, info: &TraceInfo, clocks: &Clocks) -> String {
        match self {
            Self::NoEstimate(reason) => reason.describe(info, clocks),
            Self::BadEstimate(reason) => reason.describe(info, clocks),
            Self::Cycle(cycle) => cycle.describe(info),
            Self::Correction(reason) => reason.describe(info),
            Self::StepTooFar { clock } => format!("{self} ({})", clocks.describe(info, *clock)),
            other => other.to_string(),
        }
    }
}

impl From<NoEstimate> for Unsolved {
    fn from(error: NoEstimate) -> Self {
        match error {
            NoEstimate::Cancelled(cancelled) => Self::Cancelled(cancelled),
            reason => Self::NoEstimate(reason),
        }
    }
}

impl From<RetimingError> for Unsolved {
    fn from(error: RetimingError) -> Self {
        match error {
            RetimingError::TooFar => Self::TooFar,
            RetimingError::Cancelled(cancelled) => Self::Cancelled(cancelled),
        }
    }
}

impl From<ClockError> for Unsolved {
    fn from(error: ClockError) -> Self {
        match error {
            ClockError::Cycle(cycle) => Self::Cycle(cycle),
            ClockError::Correction(reason) => Self::Correction(reason),
            ClockError::Cancelled(cancelled) => Self::Cancelled(cancelled),
        }
    }
}

impl From<CorrectionError> for Unsolved {
    fn from(error: CorrectionError) -> Self {
        match error {
            CorrectionError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            reason => Self::Correction(reason),
        }
    }
}

/// A trace that a method has no valid solution for, with what the user may try.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotSolved {
    /// Why.
    pub reason: Unsolved,
    /// The reason in words, with the names of clocks and what may help.
    pub message: String,
}

impl From<Cancelled> for NotSolved {
    fn from(cancelled: Cancelled) -> Self {
        Self {
            reason: cancelled.into(),
            message: cancelled.to_string(),
        }
    }
}

impl NotSolved {
    /// For a method; `shared` where locations that share a clock are to blame.
    pub(super) fn new(
        reason: Unsolved,
        method: &str,
        info: &TraceInfo,
        clocks: &Clocks,
        shared: bool,
    ) -> Self {
        let words = reason.describe(info, clocks);
        let message = match (&reason, shared) {
            (Unsolved::Cycle(_), true) => format!(
                "{words}\nif locations that share a clock should not, give a finer --clocks"
            ),
            (Unsolved::Cycle(_), false) => words,
            _ => format!("--method {method} finds no correction: {words}"),
        };
        Self { reason, message }
    }
}
