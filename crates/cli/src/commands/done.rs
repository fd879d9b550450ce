//! The outcome of a command with a report, before anybody is told.

use crate::args::RunArgs;
use crate::drawn::Drawn;
use crate::error::CliError;
use crate::report::model::Report;

/// The outcome of a command: its report, its drawings and the exit code.
pub(crate) struct Done {
    pub(crate) report: Report,
    /// In one sentence.
    pub(crate) outcome: String,
    pub(crate) exit: u8,
    pub(crate) drawn: Drawn,
}

impl Done {
    /// Writes and prints what the options ask for.
    pub(crate) fn tell(&self, run: &RunArgs) -> Result<(), CliError> {
        self.drawn.print(&self.report, &self.outcome, run)
    }
}
