//! Tasks on a file for whoever has it in [hands](retime_model::format::FileHolders), and their answers.

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::Arc;

use retime_model::format::{FileHolders, FormatError};
use retime_model::{LocationIndex, LocationLog, Monitor, PartCorrection};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::apart::Apart;
use crate::compiled;
use crate::error::KinetoError;
use crate::matching::Joined;

/// A task on a file. All but the first come once it is settled what the file is among others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task<'a> {
    /// To read it; answered by its [extract](crate::extract).
    Read,
    /// To take it for what it is among others; answered by the times of its extract.
    Settle(Cow<'a, Settlement>),
    /// To tell what its tracks did, given the parts that events of the extract have; answered by
    /// [`Logs`].
    Logs(Cow<'a, [Joined]>),
    /// To look up when events of each track are; answered by timelines.
    Timelines(Vec<Cow<'a, [u32]>>),
    /// To tell when events will be once times are corrected; answered by the times of the extract.
    Move(PartCorrection),
    /// To tell when events of each track will be once times are corrected; answered by their times.
    MoveEvents(PartCorrection, Vec<Cow<'a, [u32]>>),
    /// To copy it to a new path; not answered.
    Copy(OsString),
    /// To write it with other times to a new path; answered by undo data, as JSON text. The disk
    /// may not have it yet.
    Write(PartCorrection, OsString),
    /// To wait until the disk has what was written; not answered.
    Sync,
}

/// The facts about a file that all files of its run tell together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Settlement {
    /// Its number among them.
    pub(crate) number: u32,
    /// The location of its first track.
    pub(crate) first: LocationIndex,
    /// How many nanoseconds before 0 times count from.
    pub(crate) origin: u64,
    /// The operations of compiled programs that are calls.
    pub(crate) all: compiled::All,
    /// Its devices with clocks of their own.
    pub(crate) apart: Apart,
}

/// The logs of the tracks of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Logs {
    pub(crate) logs: Vec<LocationLog>,
    /// True if its host and devices depend on each other.
    pub(crate) are_driven: bool,
}

/// A value as bytes.
pub(crate) fn encoded(value: &impl Serialize) -> Result<Vec<u8>, FormatError> {
    postcard::to_allocvec(value).map_err(|_| KinetoError::Garbled.into())
}

/// The value of bytes.
pub(crate) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FormatError> {
    postcard::from_bytes(bytes).map_err(|_| KinetoError::Garbled.into())
}

/// The holders of the files of a run, if that is not this process alone.
#[derive(Clone)]
pub(crate) struct OtherHands(pub(crate) Arc<dyn FileHolders>);

impl OtherHands {
    /// The answer to a task on each file or why there is none, in order.
    pub(crate) fn try_each<'a, T: DeserializeOwned>(
        &self,
        tasks: impl Iterator<Item = Task<'a>>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Result<T, FormatError>>, FormatError> {
        let tasks: Vec<Vec<u8>> = tasks.map(|it| encoded(&it)).collect::<Result<_, _>>()?;
        let asked = tasks.len();
        let answers = self.0.each(tasks, monitor)?;
        if answers.len() != asked {
            return Err(KinetoError::Garbled.into());
        }
        let answers = answers.into_iter();
        Ok(answers.map(|it| decoded(&it?)).collect())
    }

    /// The answers to a task on each file, in order; or the first failure.
    pub(crate) fn each<'a, T: DeserializeOwned>(
        &self,
        tasks: impl Iterator<Item = Task<'a>>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<T>, FormatError> {
        self.try_each(tasks, monitor)?.into_iter().collect()
    }
}
