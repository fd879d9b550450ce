//! The minimal delay of the correction that lies beside a trace.

use std::path::PathBuf;

use retime::TraceInfo;
use retime::format::Trace;
use retime::pipeline::AskedDelay;

use crate::error::CliError;
use crate::saved::{SavedCorrection, included};
use crate::saved_delay::SavedDelay;

/// The delay that is saved with a trace, once its correction was read.
#[derive(Default)]
pub(crate) struct DelayBeside(Option<(PathBuf, SavedDelay)>);

impl DelayBeside {
    /// The delay of the correction which belongs to a trace, if it has one and that tells it.
    pub(crate) fn of(trace: &dyn Trace) -> Result<Self, CliError> {
        let path = trace.rewriting().map(included).transpose()?.flatten();
        let Some(path) = path else {
            return Ok(Self::default());
        };
        let delay = SavedCorrection::read_delay(&path)?;
        Ok(Self(delay.map(|it| (path, it))))
    }

    /// True if there is one.
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// True if it depends on the lengths of messages.
    pub(crate) fn looks_at_lengths(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.1.is_by_length())
    }

    /// The delay that it asks for of a trace, if there is one.
    pub(crate) fn asked(&self, info: &TraceInfo) -> Result<Option<AskedDelay>, CliError> {
        let asked = self.0.as_ref().map(|(path, delay)| delay.asked(path, info));
        asked.transpose()
    }
}
