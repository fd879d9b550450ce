//! `--from`, `--to` of a correction: dependencies of a stretch of time only.

use clap::Args;
use retime::causality::Nodes;
use retime::{Delay, TickRate, Timestamp};

use super::to_ticks;
use crate::error::CliError;

/// Which dependencies are enforced.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct WindowArgs {
    /// Enforce dependencies from this time after the first event on
    #[arg(long, value_name = "TIME")]
    from: Option<Delay>,
    /// Enforce dependencies up to this time after the first event
    #[arg(long, value_name = "TIME")]
    to: Option<Delay>,
}

impl WindowArgs {
    /// True if neither `--from` nor `--to` is given, so that all dependencies are enforced.
    pub(crate) fn is_all(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// The stretch of time that `--from` and `--to` leave of a trace.
    pub(crate) fn window(
        &self,
        nodes: &Nodes,
        rate: TickRate,
    ) -> Result<Option<(Timestamp, Timestamp)>, CliError> {
        let base = nodes.base();
        if self.from.is_none() && self.to.is_none() {
            return Ok(None);
        }
        let stamp = |delay: Option<Delay>, or: u64| -> Result<Timestamp, CliError> {
            let ticks = delay.map(|delay| to_ticks(delay, rate)).transpose()?;
            Ok(Timestamp(ticks.map_or(or, |ticks| {
                base.0.saturating_add(ticks.0.unsigned_abs())
            })))
        };
        let (from, to) = (stamp(self.from, 0)?, stamp(self.to, u64::MAX)?);
        if from > to {
            return Err(CliError::Usage("--from lies after --to".into()));
        }
        let extents = (0..nodes.locations()).filter_map(|it| nodes.extent(it));
        if let Some(last) = extents.map(|it| it.last).max()
            && from > last
        {
            return Err(CliError::Usage(format!(
                "--from lies after the end of the trace, which takes {}",
                rate.format(nodes.relative(last))
            )));
        }
        Ok(Some((from, to)))
    }
}
