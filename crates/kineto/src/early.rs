//! Kernels that begin before the call that launched them.
//!
//! ```text
//! cudaLaunchKernel 41246     on a thread     begins at 1000 us
//! some kernel 41246          on a stream     begins at  988 us
//! ```
//!
//! No device does what nobody has asked for yet. So the profiler has not converted the clock of
//! the device to that of the host well, as is known of some versions (kineto 1082). They are counted,
//! so that nobody takes the differences between both for real, and the device gets a clock of [its
//! own](crate::apart).

use std::path::Path;

use retime_model::{format_seconds, group_digits, printable_path};
use serde::{Deserialize, Serialize};

use crate::columns::Columns;
use crate::devices::Driven;
use crate::few::few;

/// Kernels that begin before their launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Early {
    /// How many do,
    pub(crate) kernels: u64,
    /// of so many with a launch,
    pub(crate) of: u64,
    /// and by how many nanoseconds at most.
    pub(crate) most: u64,
    /// True if all of them are of one moment, as where the clock was set back.
    pub(crate) are_at_once: bool,
}

/// Early kernels whose numbers do not tell it are of one moment if, in the stretch of time that has them all,
/// no more than one of so many kernels begins, or no more than one of so many that begin there is early.
const AT_ONCE_OF: u64 = 2;

impl Early {
    /// The early kernels among those that are `wanted`.
    pub(crate) fn of(driven: &Driven, columns: &Columns, wanted: impl Fn(u32) -> bool) -> Self {
        let mut early = Self::default();
        let wanted = || driven.kernels.iter().filter(|it| wanted(it.1));
        let mut unexplained = Unexplained::default();
        for &(launch, kernel) in wanted() {
            early.of += 1;
            // As signed numbers: times before 0 may not be counted from elsewhere yet.
            let [launched, begun] = [launch, kernel].map(|it| columns.begin(it) as i64);
            if launched <= begun {
                continue;
            }
            let before = launched.saturating_sub(begun).unsigned_abs();
            early.kernels += 1;
            early.most = early.most.max(before);
            if driven.astride.binary_search(&kernel).is_err() {
                unexplained.kernels += 1;
                unexplained.most = unexplained.most.max(before);
                unexplained.spans.push((begun, launched));
            }
        }
        let begins = || wanted().map(|it| columns.begin(it.1) as i64);
        early.are_at_once = early.kernels > 0 && unexplained.are_at_once(begins, early.of);
        early
    }

    /// True if they show that devices read clocks of their own.
    pub(crate) const fn shows_two_clocks(&self) -> bool {
        self.kernels > 0 && !self.are_at_once
    }
}

/// Early kernels whose numbers do not tell that they are [astride](crate::astride) a moment at which the
/// clock was set back.
#[derive(Default)]
struct Unexplained {
    kernels: u64,
    most: u64,
    /// The begin of each, and of its launch.
    spans: Vec<(i64, i64)>,
}

impl Unexplained {
    /// True if all are of one moment, given when all kernels begin, and how many these are.
    fn are_at_once<I: Iterator<Item = i64>>(&self, begins: impl Fn() -> I, of: u64) -> bool {
        let begun = || self.spans.iter().map(|it| it.0);
        let launched = || self.spans.iter().map(|it| it.1);
        let (Some(from), Some(to)) = (begun().min(), launched().max()) else {
            return true;
        };
        // By how much a clock is set back launches before that seem later than kernels behind it, and so
        // long it shows stamps twice.
        if to.abs_diff(from) > self.most.saturating_mul(2) {
            return false;
        }
        let meanwhile = begins().filter(|it| (from..=to).contains(it)).count() as u64;
        // Those that were under way when the clock was set are all before their launches, others not.
        let were_under_way =
            begun().max() < launched().min() && AT_ONCE_OF * self.kernels <= meanwhile;
        AT_ONCE_OF * meanwhile <= of || were_under_way
    }
}

/// Files that are named in one warning.
const NAMED: usize = 4;

/// The early kernels of a file.
pub(crate) struct EarlyInFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) early: Early,
    /// True if the devices of the file have clocks of their own.
    pub(crate) is_apart: bool,
}

/// Warnings of the files that hold early kernels, apart by whether the devices of a file have clocks
/// of their own; none without such kernels.
pub(crate) fn warnings<'a>(files: impl Iterator<Item = EarlyInFile<'a>>) -> Vec<String> {
    let (at_once, others): (Vec<_>, Vec<_>) = files
        .filter(|it| it.early.kernels > 0)
        .partition(|it| it.early.are_at_once && !it.is_apart);
    let (apart, other): (Vec<_>, Vec<_>) = others.into_iter().partition(|it| it.is_apart);
    let told = |files: Vec<EarlyInFile<'_>>, what: &str| {
        let named = few(files.iter().map(in_words), NAMED)?;
        let begin = "kernels begin before the calls that launched them in";
        Some(format!("{begin} {named}: {what}"))
    };
    [
        told(apart, APART),
        told(other, TOGETHER),
        told(at_once, AT_ONCE),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The meaning of such kernels for devices with clocks of their own,
const APART: &str = "GPU and host read two clocks, since the profiler has not converted the one to \
                     the other well; each is corrected by itself, but with --clocks node";
/// and where devices cannot be told from their hosts.
const TOGETHER: &str = "the profiler has not brought GPU and host to one clock, so times of the \
                        one do not tell when something happened on the other to better than that; \
                        both stand on one track, and a correction keeps them apart as they are";

/// and where all of them are of one moment.
const AT_ONCE: &str = "all of them at one moment, at which their clock was set back";

fn in_words(file: &EarlyInFile<'_>) -> String {
    let EarlyInFile { path, early, .. } = file;
    let (kernels, of) = (group_digits(early.kernels), group_digits(early.of));
    let most = format_seconds(early.most as f64 / 1e9);
    let name = Path::new(path.file_name().unwrap_or_default());
    format!(
        "{} ({kernels} of {of}, by {most} at most)",
        printable_path(name)
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::devices::Correlated;
    use crate::launch::Launches;

    #[test]
    fn kernels_before_their_launch_are_counted() {
        // Launches at -5 and 100, kernels at -7, 130 and 90; the last has no launch, or two.
        let columns = Columns {
            begins: [-5, 100, -7, 130, 90, 100_i64].map(|it| it as u64).to_vec(),
            lengths: vec![1; 6],
            tracks: vec![0; 6],
            digits: Vec::new(),
        };
        let mut launches = Launches {
            calls: vec![(8, 1), (3, 0)],
            ..Launches::default()
        };
        launches.sort();
        let early = |launches: &Launches| {
            let mut started = Correlated::default();
            started.kernels.extend([(3, 2), (8, 3), (9, 4)]);
            let driven = started.joined(launches, &columns);
            let early = Early::of(&driven, &columns, |_| true);
            let Early {
                kernels, of, most, ..
            } = early;
            (kernels, of, most)
        };
        assert_eq!(early(&launches), (1, 2, 2));
        launches.calls.extend([(9, 1), (9, 5)]);
        launches.sort();
        assert_eq!(early(&launches), (1, 2, 2));
        launches.calls.pop();
        assert_eq!(early(&launches), (2, 3, 10));
    }

    /// A kernel each millisecond, launched 10 us before, by a clock that is set back by 3 ms in the middle;
    /// the one under way then begins before its launch.
    #[test]
    fn early_kernels_of_one_moment_are_no_clock_of_the_device() {
        let early = |shown: fn(u64, u64) -> u64| {
            let mut columns = Columns {
                lengths: vec![1; 80],
                tracks: vec![0; 80],
                ..Columns::default()
            };
            let (mut launches, mut started) = (Launches::default(), Correlated::default());
            for number in 0..40_u32 {
                let begin = 50_000_000 + 1_000_000 * u64::from(number);
                let both = [begin - 10_000, begin].map(|it| shown(u64::from(number), it));
                columns.begins.extend(both);
                launches.calls.push((u64::from(number), 2 * number));
                started.kernels.push((u64::from(number), 2 * number + 1));
            }
            launches.sort();
            Early::of(&started.joined(&launches, &columns), &columns, |_| true)
        };
        let set_back = early(|_, at| at - if at >= 70_000_000 { 3_000_000 } else { 0 });
        assert_eq!((set_back.kernels, set_back.most), (1, 2_990_000));
        assert!(set_back.are_at_once && !set_back.shows_two_clocks());
        let by_half = early(|_, at| at - if at >= 70_000_000 { 15_000_000 } else { 0 });
        assert_eq!((by_half.kernels, by_half.most), (1, 14_990_000));
        assert!(by_half.are_at_once);
        let behind = early(|number, at| {
            at - if at % 1_000_000 == 0 {
                12_000 * (number % 2)
            } else {
                0
            }
        });
        assert_eq!((behind.kernels, behind.most), (20, 2_000));
        assert!(behind.shows_two_clocks());
    }

    /// Bursts of launches 200 us apart, whose kernels but the first wait for 3 ms, by stamps that are `shown`.
    fn bursts(shown: impl Fn(u64, bool) -> u64) -> Early {
        let mut columns = Columns {
            lengths: vec![1; 400],
            tracks: [0, 1].repeat(200),
            ..Columns::default()
        };
        let (mut launches, mut started) = (Launches::default(), Correlated::default());
        for number in 0..200_u32 {
            let (burst, place) = (u64::from(number / 20), u64::from(number % 20));
            let launch = 50_000_000 + 9_000_000 * burst + 200_000 * place;
            let waits = if place == 0 { 10_000 } else { 3_000_000 };
            let both = [shown(launch, false), shown(launch + waits, true)];
            columns.begins.extend(both);
            launches.calls.push((u64::from(number) + 1, 2 * number));
            started
                .kernels
                .push((u64::from(number) + 1, 2 * number + 1));
        }
        launches.sort();
        Early::of(&started.joined(&launches, &columns), &columns, |_| true)
    }

    /// Kernels that wait for 3 ms when a clock is set back by 5 ms are 2 ms early each.
    #[test]
    fn waiting_kernels_are_told_by_their_numbers_where_the_clock_is_set_back() {
        let set_back = |at, _| at - if at >= 97_900_000 { 5_000_000 } else { 0 };
        let set_back = bursts(set_back);
        assert_eq!((set_back.kernels, set_back.most), (14, 2_000_000));
        assert!(set_back.are_at_once);
        let behind = bursts(|at, is_device| {
            let is_off = is_device && (60_000_000..100_000_000).contains(&at);
            at - if is_off { 50_000 } else { 0 }
        });
        assert_eq!((behind.kernels, behind.most), (4, 40_000));
        assert!(behind.shows_two_clocks());
    }

    #[test]
    fn files_are_named() {
        let early = |kernels| Early {
            kernels,
            of: 1_234,
            most: 1_500,
            are_at_once: false,
        };
        let files = [3, 0, 1_000].map(|it| (PathBuf::from(format!("/a/rank{it}.json")), early(it)));
        let told = |which: std::ops::Range<usize>, is_apart: bool| {
            let files = files.get(which).unwrap_or_default().iter();
            warnings(files.map(|(path, early)| EarlyInFile {
                path,
                early: *early,
                is_apart,
            }))
        };
        let named = "in rank3.json (3 of 1,234, by 1.5 us at most), \
                     rank1000.json (1,000 of 1,234, by 1.5 us at most): ";
        let apart = told(0..3, true);
        assert!(apart.len() == 1 && apart[0].contains(&format!("{named}GPU and host read two")));
        let together = told(0..3, false);
        assert!(together.len() == 1 && together[0].contains(&format!("{named}the profiler has")));
        assert!(told(1..2, true).is_empty());
    }
}
