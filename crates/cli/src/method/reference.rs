//! `--reference`: whose time is the common one.
//!
//! Messages tell how clocks differ, not which of them is right.

use std::convert::Infallible;
use std::str::FromStr;

use retime::estimate::Reference;
use retime::{LocationIndex, TraceInfo};

use crate::error::CliError;

/// The clock to go by, as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceName {
    Ensemble,
    First,
    Mean,
    Named(String),
}

impl FromStr for ReferenceName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "ensemble" => Self::Ensemble,
            "first" => Self::First,
            "mean" => Self::Mean,
            name => Self::Named(name.into()),
        })
    }
}

impl ReferenceName {
    /// Finds what is named: a location or a process by its name, or a location
    /// by its id.
    pub(super) fn resolve(&self, info: &TraceInfo) -> Result<Reference, CliError> {
        let name = match self {
            Self::Ensemble => return Ok(Reference::Ensemble),
            Self::First => return Ok(Reference::First),
            Self::Mean => return Ok(Reference::Mean),
            Self::Named(name) => name,
        };
        let locations = || info.locations.iter();
        let process = |index: usize| info.processes.get(index).map(|it| &it.name);
        let found = locations()
            .position(|it| it.name == *name)
            .or_else(|| locations().position(|it| process(it.process) == Some(name)))
            .or_else(|| {
                let id: u64 = name.parse().ok()?;
                locations().position(|it| it.id == id)
            });
        let found = found.ok_or_else(|| {
            CliError::Usage(format!(
                "--reference: the trace has no location or process \"{name}\"; \
                 give ensemble, first, mean, one of their names, or the id of a location"
            ))
        })?;
        Ok(Reference::ClockOf(LocationIndex(found as u32)))
    }
}
