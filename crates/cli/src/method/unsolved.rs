//! Why a method yields no correction.

use retime::clock::Cycle;
use retime::estimate::{BadEstimate, NoEstimate};
use retime::{Clocks, TraceInfo};

/// Why a method yields no correction.
#[derive(Debug)]
pub(crate) enum Unsolved {
    /// The estimator found nothing.
    NoEstimate(NoEstimate),
    /// It found what makes no clock.
    BadEstimate(BadEstimate),
    /// The clock that was asked for is related to no other.
    UnrelatedReference,
    /// Some clock's estimated time does not advance, so that there is no mean.
    NoMean,
    /// The dependencies contradict each other, or the common clocks.
    Cycle(Cycle),
    /// Run backwards, the clock would need stamps before 0.
    BeforeZero,
    /// Corrected stamps do not fit into 64 bits, or lie too far apart.
    TooFar,
}

impl Unsolved {
    /// In words, with the names of clocks.
    pub(crate) fn describe(&self, info: &TraceInfo, clocks: &Clocks) -> String {
        match self {
            Self::NoEstimate(reason) => reason.describe(info, clocks),
            Self::BadEstimate(reason) => reason.describe(info, clocks),
            Self::UnrelatedReference => {
                "no dependency relates the clock of --reference to another; \
                                         give another --reference"
                    .into()
            }
            Self::NoMean => {
                "the estimated time of a clock does not advance, so the clocks have no \
                             mean; give another --reference"
                    .into()
            }
            Self::Cycle(cycle) => cycle.describe(info),
            Self::BeforeZero => "run backwards, the clock would move events before time 0; \
                                 run it forwards"
                .into(),
            Self::TooFar => "corrected times would lie too far apart for a trace".into(),
        }
    }
}

impl From<NoEstimate> for Unsolved {
    fn from(reason: NoEstimate) -> Self {
        Self::NoEstimate(reason)
    }
}

impl From<BadEstimate> for Unsolved {
    fn from(reason: BadEstimate) -> Self {
        Self::BadEstimate(reason)
    }
}
