//! Tables of `mpisync`, which Open MPI has: a line for each rank, in their order.
//!
//! ```text
//! # host  round trip  offset      both in seconds
//! node-a  0.000000    0.000000
//! node-b  0.000021    -0.000150
//! ```
//!
//! An offset is what has to be added to the clock of the rank; `mpisync` reads the time of day.
//! It measures once, so that the offset holds for the whole run. Source:
//! `ompi/tools/mpisync/sync.c` of Open MPI.

use std::path::Path;

use retime::pipeline::MeasuredOffset;
use retime::{LocationIndex, TraceInfo};

use crate::error::CliError;
use crate::lines::{Line, lines};

const WORDS: &str = "HOST ROUND-TRIP OFFSET";

/// True if the first line ends with two numbers with a point and without a unit, which no
/// other file of offsets has.
pub(crate) fn is_table(path: &Path, text: &str) -> bool {
    let number = |word: Option<&str>| {
        word.is_some_and(|it| it.contains('.') && it.parse::<f64>().is_ok_and(f64::is_finite))
    };
    let first = lines(path, text).next();
    first.is_some_and(|line| number(line.word(1)) && number(line.word(2)))
}

/// Reads a table of `mpisync`; rank `r` is the location of that id.
pub(crate) fn read(
    path: &Path,
    text: &str,
    info: &TraceInfo,
) -> Result<Vec<MeasuredOffset>, CliError> {
    let ranks = lines(path, text).enumerate();
    let ranks = ranks.map(|(rank, line)| of_rank(rank as u64, &line, info));
    ranks.collect()
}

fn of_rank(rank: u64, line: &Line<'_>, info: &TraceInfo) -> Result<MeasuredOffset, CliError> {
    let [_, _, offset] = line.words(WORDS)?;
    let seconds = offset.parse::<f64>().ok().filter(|it| it.is_finite());
    let seconds =
        seconds.ok_or_else(|| line.wrong(format!("\"{offset}\" is no number of seconds")))?;
    let index = { info.locations.iter() }.position(|location| location.id == rank);
    let index =
        index.ok_or_else(|| line.wrong(format!("rank {rank} is no location of the trace")))?;
    Ok(MeasuredOffset {
        location: LocationIndex(index as u32),
        stamp: 0,
        offset: seconds * info.rate.get() as f64,
    })
}
