//! Kernels that begin before the call that launched them.
//!
//! ```text
//! cudaLaunchKernel 41246     on a thread     begins at 1000 us
//! some kernel 41246          on a stream     begins at  988 us
//! ```
//!
//! No device does what nobody has asked for yet. So the profiler has not converted the clock of
//! the device to that of the host well, as is known of some versions (kineto 1082). A
//! file is corrected as a whole: kernels stay as far from their launches as they are. It is
//! counted, so that nobody takes the differences between both for real.

use std::path::{Path, PathBuf};

use retime_model::{format_seconds, group_digits, printable_path};

use crate::columns::Columns;
use crate::few::few;
use crate::launch::Launches;

/// Kernels of a file that begin before their launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Early {
    /// How many do,
    pub(crate) kernels: u64,
    /// of so many with a launch,
    pub(crate) of: u64,
    /// and by how many nanoseconds at most.
    pub(crate) most: u64,
}

impl Early {
    /// Those among kernels `started`, each with the number of its launch.
    pub(crate) fn of(launches: &Launches, started: &[(u64, u32)], columns: &Columns) -> Self {
        let mut early = Self::default();
        // As signed numbers: times before 0 are not counted from elsewhere yet.
        let begin = |event: u32| columns.begin(event) as i64;
        for &(number, kernel) in started {
            let Some(launch) = launches.launch(number) else {
                continue;
            };
            early.of += 1;
            let before = begin(launch).saturating_sub(begin(kernel));
            if before > 0 {
                early.kernels += 1;
                early.most = early.most.max(before.unsigned_abs());
            }
        }
        early
    }
}

/// Files that are named in one warning.
const NAMED: usize = 4;

/// That such kernels are in files; nothing if none are.
pub(crate) fn warning<'a>(files: impl Iterator<Item = (&'a PathBuf, Early)>) -> Option<String> {
    let early: Vec<(&Path, Early)> = files
        .filter(|(_, early)| early.kernels > 0)
        .map(|(path, early)| (path.as_path(), early))
        .collect();
    let named = early.iter().map(|(path, early)| {
        let (kernels, of) = (group_digits(early.kernels), group_digits(early.of));
        let most = format_seconds(early.most as f64 / 1e9);
        let name = Path::new(path.file_name().unwrap_or_default());
        format!(
            "{} ({kernels} of {of}, by {most} at most)",
            printable_path(name)
        )
    });
    let named = few(named, NAMED)?;
    Some(format!(
        "kernels begin before the calls that launched them in {named}: the profiler has not \
         brought GPU and host to one clock, so times of the one do not tell when something \
         happened on the other to better than that; a correction keeps them apart as they are"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let started = [(3, 2), (8, 3), (9, 4)];
            let Early { kernels, of, most } = Early::of(launches, &started, &columns);
            (kernels, of, most)
        };
        assert_eq!(early(&launches), (1, 2, 2));
        launches.calls.extend([(9, 1), (9, 5)]);
        launches.sort();
        assert_eq!(early(&launches), (1, 2, 2));
        launches.calls.pop();
        assert_eq!(early(&launches), (2, 3, 10));
    }

    #[test]
    fn files_are_named() {
        let early = |kernels| Early {
            kernels,
            of: 1_234,
            most: 1_500,
        };
        let files = [3, 0, 1_000].map(|it| (PathBuf::from(format!("/a/rank{it}.json")), early(it)));
        let told = |count: usize| {
            let files = files.iter().take(count);
            warning(files.map(|(path, early)| (path, *early)))
        };
        let both = told(3).unwrap_or_default();
        let named = "in rank3.json (3 of 1,234, by 1.5 us at most), \
                     rank1000.json (1,000 of 1,234, by 1.5 us at most): the profiler";
        assert!(both.contains(named), "{both}");
        assert_eq!(
            warning(files[1..2].iter().map(|(path, early)| (path, *early))),
            None
        );
    }
}
