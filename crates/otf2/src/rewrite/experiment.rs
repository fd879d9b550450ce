//! Experiments of Score-P and Scalasca: traces with more in their directory than the archive.
//!
//! Score-P puts its settings and a profile beside the trace, Scalasca what its analysis found.
//! A corrected copy of the whole goes on to be an experiment, which those tools open, except for
//! results computed from the recorded times: wait states and statistics of messages that arrive
//! before they were sent would pass for those of the corrected trace. They are set aside:
//!
//! ```text
//!  EXPERIMENT/scorep.cfg       ->  COPY/scorep.cfg
//!  EXPERIMENT/profile.cubex    ->  COPY/profile.cubex         times within a process only
//!  EXPERIMENT/scout.cubex      ->  COPY/uncorrected/scout.cubex
//!  EXPERIMENT/trace.stat       ->  COPY/uncorrected/trace.stat
//! ```
//!
//! Source: Score-P User Manual, "Experiment directory contents"; Scalasca User Guide, "Automatic
//! trace analysis" (`scout.cubex` holds wait states, `trace.cubex` is derived from it,
//! `trace.stat` has the statistics of instances).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use retime_model::printable_path;

/// Files by which the directory of a measurement or an analysis is known.
const MARKS: [&str; 6] = [
    "scorep.cfg",
    "profile.cubex",
    "summary.cubex",
    "scout.cubex",
    "trace.cubex",
    "trace.stat",
];

/// Results that depend on how clocks of several processes compare.
const OUTDATED: [&str; 3] = ["scout.cubex", "trace.cubex", "trace.stat"];

/// The directory for results that are set aside.
const ASIDE: &str = "uncorrected";

/// The directory of a measurement, with what an analysis may have left in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// True if results in it were computed from the recorded times, which a corrected copy has
    /// no more.
    pub is_analysed: bool,
}

impl Experiment {
    /// The experiment in whose directory these entries lie, if it is one.
    pub(super) fn of(entries: &[PathBuf]) -> Option<Self> {
        let names = || entries.iter().filter_map(|it| it.file_name());
        let is_mark = |name: &OsStr| MARKS.iter().any(|mark| name == *mark);
        names().any(is_mark).then(|| Self {
            is_analysed: names().any(|it| is_outdated(Path::new(it))),
        })
    }
}

/// True if a tool computed a file of an experiment, by its path in there, from the recorded times.
pub(super) fn is_outdated(name: &Path) -> bool {
    OUTDATED.iter().any(|it| name == Path::new(it))
}

/// True if an OTF2 archive lies in the directory that has these entries.
pub(super) fn has_a_trace(entries: &[PathBuf]) -> bool {
    let is_anchor = |it: &PathBuf| it.extension().is_some_and(|it| it == "otf2");
    entries.iter().any(is_anchor)
}

/// The name of a directory for what is set aside, unlike any that `is_used`.
pub(super) fn unused_directory(is_used: impl Fn(&str) -> bool) -> PathBuf {
    let numbered = (2_u64..).map(|number| format!("{ASIDE}-{number}"));
    let mut names = std::iter::once(ASIDE.to_owned()).chain(numbered);
    // A directory has fewer entries than there are numbers.
    names.find(|it| !is_used(it)).unwrap_or_default().into()
}

/// Says where a result of a tool lies in a copy.
pub(super) fn moved(name: &Path, in_copy: &Path) -> String {
    format!(
        "{} was computed from the recorded times: the copy has it as {}, and undo puts it back",
        printable_path(name),
        printable_path(in_copy)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_aside_hides_nothing() {
        assert_eq!(unused_directory(|_| false), Path::new("uncorrected"));
        let used = ["uncorrected", "uncorrected-2"];
        let unused = unused_directory(|it| used.contains(&it));
        assert_eq!(unused, Path::new("uncorrected-3"));
    }

    #[test]
    fn only_results_of_the_experiment_itself_are_outdated() {
        assert!(is_outdated(Path::new("trace.stat")));
        assert!(!is_outdated(Path::new("earlier/trace.stat")));
        assert!(!is_outdated(Path::new("profile.cubex")));
    }

    #[test]
    fn experiments_are_known_by_their_files() {
        let of =
            |name: &str| Experiment::of(&[Path::new("run").join(name), "run/traces.otf2".into()]);
        let known = |is_analysed| Some(Experiment { is_analysed });
        assert_eq!(of("scorep.cfg"), known(false));
        assert_eq!(of("scout.cubex"), known(true));
        assert_eq!(of("notes.txt"), None);
    }
}
