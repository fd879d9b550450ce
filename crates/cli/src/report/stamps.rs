//! Recorded stamps, as reports name them.

use super::model::TracePart;

/// Two stamps of a clock, and when in the run they are, as viewers show it: in seconds since the first
/// stamp of all, with as many digits as tell the two apart.
pub(super) fn two_stamps(trace: &TracePart, after: u64, until: u64) -> String {
    let of_run = trace.first_stamp.map(|first| {
        let ticks = |stamp: u64| stamp.saturating_sub(first.0);
        seconds(ticks(after), ticks(until), trace.ticks_per_second as f64)
    });
    match of_run {
        Some([after_seconds, until_seconds]) => {
            format!("{after} and {until} ({after_seconds} s and {until_seconds} s of the run)")
        }
        None => format!("{after} and {until}"),
    }
}

/// Two numbers of ticks in seconds, with one digit more than the first in which they differ.
fn seconds(earlier: u64, later: u64, ticks_per_second: f64) -> [String; 2] {
    let apart = later.saturating_sub(earlier).max(1) as f64 / ticks_per_second;
    let digits = (1.0 - apart.log10().floor()).clamp(0.0, 9.0) as usize;
    [earlier, later].map(|ticks| format!("{:.digits$}", ticks as f64 / ticks_per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_the_digits_that_tell_them_apart() {
        let nanoseconds = |earlier, later| seconds(earlier, later, 1e9);
        assert_eq!(
            nanoseconds(7_916_810_971, 7_929_644_190),
            ["7.917", "7.930"]
        );
        assert_eq!(
            nanoseconds(12_345_678_901, 14_900_000_000),
            ["12.3", "14.9"]
        );
        assert_eq!(nanoseconds(0, 3_600_000_000_000), ["0", "3600"]);
        assert_eq!(nanoseconds(5, 5), ["0.000000005", "0.000000005"]);
        assert_eq!(seconds(3, 4, 2.0), ["1.50", "2.00"]);
    }
}
