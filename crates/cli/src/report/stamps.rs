//! Recorded stamps in seconds of the run, as viewers show them: since the first stamp of all.

use super::model::{TracePart, ViolationPart};

/// Two stamps of a clock, and when in the run they are, with as many digits as tell them apart.
pub(super) fn two_stamps(trace: &TracePart, after: u64, until: u64) -> String {
    let digits = digits(trace, until.saturating_sub(after));
    let of_run = |stamp| seconds(trace, stamp, digits);
    match (of_run(after), of_run(until)) {
        (Some(from), Some(to)) => format!("{after} and {until} ({from} s and {to} s of the run)"),
        _ => format!("{after} and {until}"),
    }
}

/// A stamp of a clock, and when in the run it is, to a millisecond.
pub(super) fn one_stamp(trace: &TracePart, stamp: u64) -> String {
    match seconds(trace, stamp, 3) {
        Some(of_run) => format!("{stamp} ({of_run} s of the run)"),
        None => stamp.to_string(),
    }
}

/// When in the run the cause of a dependency is, with as many digits as show how far it is reversed.
pub(super) fn caused_at(trace: &TracePart, violation: &ViolationPart) -> String {
    let digits = digits(trace, violation.latency_ticks.unsigned_abs());
    let of_run = seconds(trace, violation.caused_at.0, digits);
    of_run.map_or_else(String::new, |it| format!(" at {it} s of the run"))
}

/// The digits after the point that seconds need to show a difference of so many ticks to a tenth.
fn digits(trace: &TracePart, ticks: u64) -> usize {
    let seconds = ticks.max(1) as f64 / trace.ticks_per_second as f64;
    (1.0 - seconds.log10().floor()).clamp(0.0, 9.0) as usize
}

/// When in the run a stamp is, if its first stamp is known.
fn seconds(trace: &TracePart, stamp: u64, digits: usize) -> Option<String> {
    let ticks = stamp.saturating_sub(trace.first_stamp?.0) as f64;
    Some(format!(
        "{:.digits$}",
        ticks / trace.ticks_per_second as f64
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanoseconds_since(first: u64) -> TracePart {
        TracePart {
            path: String::new(),
            word: String::new(),
            format: "",
            locations: 0,
            processes: 0,
            nodes: 0,
            events: 0,
            communicating_events: 0,
            ticks_per_second: 1_000_000_000,
            began_at: None,
            first_stamp: Some(retime::Timestamp(first)),
            duration_seconds: 0.0,
        }
    }

    #[test]
    fn seconds_have_the_digits_that_tell_them_apart() {
        let trace = nanoseconds_since(1_000_000_000);
        for (after, until, shown) in [
            (7_916_810_971, 7_929_644_190, "6.917 s and 6.930 s"),
            (12_345_678_901, 14_900_000_000, "11.3 s and 13.9 s"),
            (1_000_000_000, 3_601_000_000_000, "0 s and 3600 s"),
            (
                1_000_000_005,
                1_000_000_005,
                "0.000000005 s and 0.000000005 s",
            ),
        ] {
            let expected = format!("{after} and {until} ({shown} of the run)");
            assert_eq!(two_stamps(&trace, after, until), expected);
        }
    }
}
