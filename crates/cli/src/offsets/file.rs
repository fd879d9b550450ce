//! The lines of a file of measured offsets.
//!
//! One measurement per line: the id of the location, when it was made, and what had to be added
//! to that clock; `#` starts a comment:
//!
//! ```text
//! # location  stamp        offset
//! 0           0            0
//! 1           0            -1.5us
//! 1           12.5s        2.25us
//! 2           71234567890  30ticks  210ns
//! ```
//!
//! A fourth word says by how much the offset can be wrong, as who measured it knows; lines
//! that lie between measurements do not heed it. Tables of Open MPI's `mpisync` are read too.
//!
//! A stamp with a unit is that long after the first event of the trace, as 0 is
//! its first event; a stamp without one is what the clock showed, as the events of
//! the location show it.

use std::path::Path;

use retime::pipeline::MeasuredOffset;
use retime::{Delay, TraceInfo};

use super::mpisync;
use crate::error::CliError;
use crate::lines::{lines, location};
use crate::pipe;

/// The first event of the trace has the time `base`, which is below 0 where others may be.
pub(super) fn read(
    path: &Path,
    info: &TraceInfo,
    base: i128,
) -> Result<Vec<MeasuredOffset>, CliError> {
    let text = pipe::read_text(path)?;
    if mpisync::is_table(path, &text) {
        return mpisync::read(path, &text, info);
    }
    let mut measured = Vec::new();
    for line in lines(path, &text) {
        let [id, at, add] = line.words_before("LOCATION-ID STAMP OFFSET", 1)?;
        let wrong = |what: String| line.wrong(what);
        if let Some(bound) = line.word(3) {
            span(bound).map_err(wrong)?;
        }
        measured.push(MeasuredOffset {
            location: location(id, info, "a number").map_err(wrong)?,
            stamp: stamp(at, info, base).map_err(wrong)?,
            offset: offset(add, info).map_err(wrong)?,
        });
    }
    if measured.is_empty() {
        return Err(CliError::input(path, "no offset is given"));
    }
    Ok(measured)
}

/// In ticks since `base`.
fn stamp(word: &str, info: &TraceInfo, base: i128) -> Result<i64, String> {
    if word == "0" {
        return Ok(0);
    }
    let ticks = match word.parse::<i128>() {
        Ok(stamp) if stamp >= base.min(0) => i64::try_from(stamp - base).ok(),
        _ => span(word)?.to_ticks(info.rate).map(|ticks| ticks.0),
    };
    ticks.ok_or_else(|| format!("\"{word}\" lies too far from the events of the trace"))
}

/// In ticks; fractions of a tick count.
fn offset(word: &str, info: &TraceInfo) -> Result<f64, String> {
    let (sign, size) = match word.strip_prefix('-') {
        Some(size) => (-1.0, size),
        None => (1.0, word.strip_prefix('+').unwrap_or(word)),
    };
    Ok(match span(size)? {
        Delay::Ticks(ticks) => sign * ticks as f64,
        Delay::Picoseconds(ps) => sign * (ps as f64 * 1e-12) * info.rate.get() as f64,
    })
}

fn span(word: &str) -> Result<Delay, String> {
    word.parse()
        .map_err(|error: retime::ParseDelayError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime::{Location, LocationIndex, TickRate};

    /// Two locations, 2 ticks per ns.
    fn info() -> TraceInfo {
        let location = |id| Location {
            id,
            name: String::new(),
            process: 0,
            endpoint: LocationIndex(0),
        };
        TraceInfo {
            rate: TickRate::per_second(2_000_000_000).unwrap(),
            locations: vec![location(0), location(17)],
            processes: vec![],
            nodes: vec![],
            communicators: vec![],
            streams: Vec::new(),
            set_back: Vec::new(),
        }
    }

    fn parse(text: &str) -> Result<Vec<MeasuredOffset>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path(), &info(), 5_000).map_err(|error| {
            let path = file.path().display().to_string();
            error.to_string().replace(&path, "FILE")
        })
    }

    #[test]
    fn stamps_and_offsets() {
        let text = "# id at add\n0 0 0\n\n17 0 -1.25ns # start\n17 4000 +3ticks\n17 1us 0.5ms\n";
        let found = parse(text).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.location.0, it.stamp, it.offset))
            .collect();
        assert_eq!(
            found,
            [
                (0, 0, 0.0),
                (1, 0, -2.5),
                (1, -1_000, 3.0),
                (1, 2_000, 1_000_000.0)
            ]
        );
    }

    #[test]
    fn a_table_of_mpisync_has_a_line_for_each_rank() {
        let mut info = info();
        info.locations[1].id = 1;
        let file = tempfile::NamedTempFile::new().unwrap();
        let table = "node-a 0.000000 0.000000\nnode-b 0.000021 -0.000150\n";
        std::fs::write(file.path(), table).unwrap();
        let found = read(file.path(), &info, 5_000).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.location.0, it.stamp, it.offset))
            .collect();
        assert_eq!(found, [(0, 0, 0.0), (1, 0, -300_000.0)]);
    }

    #[test]
    fn a_bound_may_follow() {
        let found = parse("0 0 0 0\n17 9000 -5ticks 12ticks\n");
        assert_eq!(found, parse("0 0 0\n17 9000 -5ticks\n"));
    }

    #[test]
    fn stamps_are_below_0_where_the_first_event_is() {
        let at = |word: &str| stamp(word, &info(), -5_000);
        assert_eq!(at("-5000"), Ok(0));
        assert_eq!(at("-1"), Ok(4_999));
        assert_eq!(at("7"), Ok(5_007));
        assert!(at("-5001").is_err_and(|it| it.contains("is negative")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, message) in [
            ("", "FILE: no offset is given"),
            (
                "0 0\n",
                "FILE: line 1: expected \"LOCATION-ID STAMP OFFSET\", found \"0 0\"",
            ),
            (
                "\n* 0 0\n",
                "FILE: line 2: \"*\" is no location id; give a number",
            ),
            ("1 0 0\n", "FILE: line 1: the trace has no location 1"),
            (
                "0 -5 0\n",
                "FILE: line 1: \"-5\" is negative; a span of time, such as a delay, is 0 or more",
            ),
            (
                "0 18446744073709551615 0\n",
                "FILE: line 1: \"18446744073709551615\" lies too far from the events of the trace",
            ),
            (
                "0 0 3\n",
                "FILE: line 1: \"3\" lacks a unit: write for example 2us, 500ns, 1.5ms or 3ticks",
            ),
            (
                "0 0 --3us\n",
                "FILE: line 1: \"-3us\" is negative; a span of time, such as a delay, is 0 or more",
            ),
            (
                "0 0 3us 1\n",
                "FILE: line 1: \"1\" lacks a unit: write for example 2us, 500ns, 1.5ms or 3ticks",
            ),
            (
                "0 0 3us 1us 5\n",
                "FILE: line 1: expected \"LOCATION-ID STAMP OFFSET\", found \"0 0 3us 1us 5\"",
            ),
            (
                "a 0.000000 0.000000\nb 0.000001\n",
                "FILE: line 2: expected \"HOST ROUND-TRIP OFFSET\", found \"b 0.000001\"",
            ),
            (
                "a 0.000000 0.000000\nb 0.000001 0.000005\n",
                "FILE: line 2: rank 1 is no location of the trace",
            ),
            (
                "a 0.000000 0.000000\nb 0.000001 inf\n",
                "FILE: line 2: \"inf\" is no number of seconds",
            ),
        ] {
            assert_eq!(parse(text), Err(message.into()), "{text}");
        }
    }
}
