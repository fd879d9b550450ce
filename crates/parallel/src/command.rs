//! Commands that process 0 gives the others, and their answers.

use std::borrow::Cow;
use std::error::Error;
use std::ffi::OsString;

use retime_model::format::{Contents, Difference, FormatError};
use retime_model::{Cancelled, LocationIndex, MessageId, PartCorrection};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::communicator::Lost;

/// A command to another process. Traces are numbered as they are opened.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Command<'a> {
    /// To open a trace; answered by nothing.
    Open {
        trace: u32,
        format: Cow<'a, str>,
        path: OsString,
        /// The mark that tells it from other traces.
        mark: u64,
    },
    /// To open a trace for work on its files; answered by nothing.
    OpenFiles {
        trace: u32,
        format: Cow<'a, str>,
        path: OsString,
        /// The mark that tells its files from others.
        mark: u64,
    },
    /// To do tasks on files; answered by what has become of each.
    Work {
        trace: u32,
        tasks: Vec<(u32, Bytes)>,
    },
    /// To read its part of a trace; answered by whether that has to be done thoroughly.
    Scan {
        trace: u32,
        part: Cow<'a, [LocationIndex]>,
        thoroughly: bool,
    },
    /// To deliver what it has read, in the order of its part; answered in batches until all are
    /// sent.
    Deliver,
    /// To look up times of events; answered by their timelines.
    Timelines {
        trace: u32,
        events: Vec<(LocationIndex, Cow<'a, [u32]>)>,
    },
    /// To keep what it has read, for steps of an analysis; answered by what is in it besides.
    Keep {
        trace: u32,
        /// The process of each location.
        owners: Cow<'a, [u32]>,
    },
    /// To read the times of all events of its part, for steps that look at each of them; answered
    /// by nothing.
    ShowAllEvents { trace: u32 },
    /// To take a step of the analysis together with process 0; not answered.
    Step(Cow<'a, [u8]>),
    /// To compare its part of a copy with what the analysis has computed; answered by the first
    /// difference.
    Verify { trace: u32 },
    /// To write its part of a trace; answered by what undoes that.
    Write {
        trace: u32,
        part: Cow<'a, [LocationIndex]>,
        correction: Option<PartCorrection>,
        to: OsString,
    },
    /// To forget a trace; not answered.
    Close { trace: u32 },
    /// To go home; answered by what it took.
    Dismiss,
}

/// Bytes, as they are sent.
#[derive(Debug)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer).map(|it| Self(it.to_vec()))
    }
}

/// The content of a process's part besides logs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// Each location with its content besides times, and the numbers that the format has concluded.
    pub(crate) locations: Vec<(LocationIndex, Contents, Vec<u64>)>,
    /// Names of messages that were sent here and may have arrived elsewhere,
    pub(crate) sent: Vec<MessageId>,
    /// and the other way round.
    pub(crate) received: Vec<MessageId>,
}

/// A location of which the copy is not what was to be written, and how.
pub(crate) type Differs = Option<(LocationIndex, Difference)>;

/// The answer of a process: a result, or why there is none.
pub(crate) type Answer<T> = Result<T, Failure>;

/// Why a process could not do what it was asked for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Failure {
    /// It was interrupted.
    Cancelled,
    /// Anything else, in the words that it has for it.
    Failed {
        why: String,
        /// Where it was, once it is sent to others.
        node: String,
    },
}

impl Failure {
    fn failed(why: &dyn Error) -> Self {
        Self::Failed {
            why: why.to_string(),
            node: String::new(),
        }
    }

    /// Says that it was on a machine.
    pub(crate) fn on(self, node: String) -> Self {
        match self {
            Self::Cancelled => Self::Cancelled,
            Self::Failed { why, .. } => Self::Failed { why, node },
        }
    }

    /// The error that the machine `here` reports if another process failed so. What is wrong on
    /// another machine may be right on this one.
    pub(crate) fn of(self, rank: usize, here: &str) -> FormatError {
        match self {
            Self::Cancelled => Cancelled.into(),
            Self::Failed { why, node } if node == here => FormatError::failed(Told(why)),
            Self::Failed { why, node } => {
                FormatError::failed(Told(format!("on {node} (process {rank}): {why}")))
            }
        }
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Cancelled(_) => Self::Cancelled,
            FormatError::Failed(error) => Self::failed(&*error),
        }
    }
}

impl From<Lost> for Failure {
    fn from(lost: Lost) -> Self {
        Self::failed(&lost)
    }
}

/// An error that another process had.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Told(String);
