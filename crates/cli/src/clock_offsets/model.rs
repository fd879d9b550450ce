//! The file of offsets: what it holds, how it is read, and the correction that it gives.

use std::io::Read;
use std::path::Path;

use retime::{Knot, SavedClock, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::origin::Origin;
use crate::pipe;

/// The value of `format` in a file of offsets.
const FORMAT: &str = "retime offsets";
const VERSION: u32 = 1;

/// A file of offsets.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with format, version and traces"
)]
pub(crate) struct Offsets {
    format: String,
    version: u32,
    pub(crate) traces: Vec<TraceOffsets>,
}

/// The clocks of a trace.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceOffsets {
    /// The path of the trace.
    pub(crate) path: String,
    /// The format of the trace.
    pub(crate) kind: String,
    pub(crate) ticks_per_second: u64,
    /// The stamp that its files call 0.
    pub(crate) zero_ticks: u64,
    /// The share by which rates of clocks may wander; bounds rest on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) drift_bound: Option<f64>,
    /// The marks that tell the trace from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<Origin>,
    pub(crate) clocks: Vec<ClockOffsets>,
}

/// The evidence for the offset of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Evidence {
    /// The time of the clock is the common one.
    Reference,
    /// Dependencies bound it on both sides, which is a proof as long as clocks wander no more
    /// than the drift bound.
    BothSides,
    /// Dependencies bound it on one side.
    OneSide,
    /// Nothing relates it to others; it keeps its time.
    Unrelated,
    /// Bounds were not asked for.
    NotBounded,
}

/// A clock.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClockOffsets {
    pub(crate) hosts: Vec<String>,
    pub(crate) ranks: Vec<u64>,
    pub(crate) processes: Vec<String>,
    /// The ids of the locations that read it.
    pub(crate) locations: Vec<u64>,
    pub(crate) evidence: Evidence,
    /// The first and the last recorded stamp.
    pub(crate) from_ticks: Option<u64>,
    pub(crate) to_ticks: Option<u64>,
    /// The one offset that is the least wrong: the middle of the least and the most that has
    /// to be added between these stamps.
    pub(crate) offset_ns: f64,
    /// The largest difference between `offset_ns` and the pieces.
    pub(crate) offset_error_ns: f64,
    /// The share by which the clock runs slow, in the mean from `from_ticks` to `to_ticks`.
    pub(crate) rate_ppm: f64,
    /// The largest error of `rate_ppm`, as the bounds of both ends say.
    pub(crate) rate_within_ppm: Option<f64>,
    /// The most by which the truth can lie before and after the corrected time.
    pub(crate) bound_ns: Option<[f64; 2]>,
    /// Within how much corrected times are likely to be right, as ends of operations tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) likely_ns: Option<f64>,
    pub(crate) pieces: Vec<OffsetPiece>,
    /// `[stamp, location, event, corrected stamp]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<[u64; 4]>,
}

/// A stretch in which what has to be added changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OffsetPiece {
    pub(crate) from_ticks: Option<u64>,
    pub(crate) to_ticks: Option<u64>,
    pub(crate) add_ticks: [i64; 2],
    /// The ticks that are added, in nanoseconds, rounded to a thousandth of one.
    pub(crate) offset_ns: [f64; 2],
    pub(crate) rate_ppm: f64,
    pub(crate) bound_ns: Option<[f64; 2]>,
}

impl Offsets {
    pub(crate) fn new(traces: Vec<TraceOffsets>) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            traces,
        }
    }

    /// Reads a file that was named, which may come from a pipe.
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        Self::parse(path, pipe::read(path)?)
    }

    fn parse(path: &Path, text: impl Read) -> Result<Self, CliError> {
        let refused = |what: String| CliError::input(path, what);
        let read: Self = serde_json::from_reader(text).map_err(|error| {
            refused(format!(
                "is no file of offsets as --offsets-out writes it: {error}"
            ))
        })?;
        if read.format != FORMAT {
            return Err(refused(format!(
                "is no file of offsets: \"format\" must be \"{FORMAT}\""
            )));
        }
        if read.version != VERSION {
            return Err(refused(format!(
                "has version {}; this retime reads version {VERSION}",
                read.version
            )));
        }
        if read.traces.is_empty() {
            return Err(refused("has the offsets of no trace".into()));
        }
        Ok(read)
    }
}

impl ClockOffsets {
    /// The clock of a saved correction that this is; `Err` names the piece that does not
    /// follow the one before it.
    pub(crate) fn saved(&self) -> Result<SavedClock, usize> {
        let is_open_at = |piece: Option<&OffsetPiece>, side: fn(&OffsetPiece) -> Option<u64>| {
            piece.is_none_or(|it| side(it).is_none())
        };
        if !is_open_at(self.pieces.first(), |it| it.from_ticks) {
            return Err(0);
        }
        if !is_open_at(self.pieces.last(), |it| it.to_ticks) {
            return Err(self.pieces.len() - 1);
        }
        let knot = |(number, pair): (usize, &[OffsetPiece])| {
            let [before, after] = pair else {
                return Err(number);
            };
            let raw = before
                .to_ticks
                .filter(|_| before.to_ticks == after.from_ticks);
            let raw = raw.ok_or(number + 1)?;
            Ok(Knot {
                raw: Timestamp(raw),
                arrive: Timestamp(raw.wrapping_add_signed(before.add_ticks[1])),
                leave: Timestamp(raw.wrapping_add_signed(after.add_ticks[0])),
            }
            .into())
        };
        let knots = self.pieces.windows(2).enumerate().map(knot);
        Ok(SavedClock {
            locations: Some(self.locations.clone()),
            knots: knots.collect::<Result<_, _>>()?,
            steps: self.steps.clone(),
            distance: None,
        })
    }
}

impl TraceOffsets {
    /// The clocks of a saved correction; `path` is the file of offsets.
    pub(crate) fn saved(&self, path: &Path) -> Result<Vec<SavedClock>, CliError> {
        let clocks = self.clocks.iter().enumerate().map(|(number, clock)| {
            clock.saved().map_err(|piece| {
                let message = format!(
                    "piece {piece} of clock {number} does not begin where the one before it ends; \
                     the first has no from_ticks and the last no to_ticks"
                );
                CliError::input(path, message)
            })
        });
        clocks.collect()
    }
}
