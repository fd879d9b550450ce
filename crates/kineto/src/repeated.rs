//! Events that stand in a file twice.
//!
//! Who puts profiles together, or writes one again before it is done, may leave events in it twice. What
//! communicates counts once: else each copy would pass for one more call, and nothing would tell which
//! of two belongs to which of two elsewhere. So do iterations, whose number says nothing where a file
//! has two of it.
//!
//! A stream or a thread does one thing at a time. So two events of one thread that say the same, last
//! equally long and overlap are one. Their times need not be equal: a correction may move the
//! end of one that waits for others, and the begin of its copy, by a nanosecond more.

use std::hash::{Hash, Hasher};
use std::path::Path;

use retime_model::{group_digits, printable_path};
use rustc_hash::{FxHashMap, FxHasher};

use crate::call::{Around, Call, Kernel, Posting, Tells};
use crate::columns::Columns;
use crate::few::few;
use crate::iterations::Iteration;
use crate::launch::Launches;
use crate::posted::Posted;
use crate::threads::Threads;
use crate::xla::Instruction;

/// An event that says something of communication.
pub(crate) trait Repeatable {
    fn event(&self) -> u32;

    /// True if another says the same, whichever event it is.
    fn says_as(&self, other: &Self) -> bool;

    /// Mixes in what tells it from most others.
    fn hash(&self, hasher: &mut FxHasher);
}

impl Repeatable for Call {
    fn event(&self) -> u32 {
        self.event
    }

    fn says_as(&self, other: &Self) -> bool {
        let all = |it: &Self| (it.what, it.sequence, it.members, it.tag, it.on);
        all(self) == all(other)
            && self.signature == other.signature
            && self.group == other.group
            && self.nothing_from == other.nothing_from
    }

    fn hash(&self, hasher: &mut FxHasher) {
        hasher.write(self.signature.as_bytes());
        hasher.write_u64(self.sequence.unwrap_or(u64::MAX));
        // Messages that one kernel sends and receives are equal but for that.
        self.what.hash(hasher);
    }
}

impl Repeatable for Instruction {
    fn event(&self) -> u32 {
        self.call.event
    }

    fn says_as(&self, other: &Self) -> bool {
        let all = |it: &Self| (it.device.clone(), it.members);
        all(self) == all(other) && self.call.says_as(&other.call)
    }

    fn hash(&self, hasher: &mut FxHasher) {
        self.call.hash(hasher);
    }
}

impl Repeatable for Kernel {
    fn event(&self) -> u32 {
        self.event
    }

    fn says_as(&self, other: &Self) -> bool {
        (self.launch, self.kind) == (other.launch, other.kind)
    }

    fn hash(&self, hasher: &mut FxHasher) {
        hasher.write_u64(self.launch.unwrap_or(u64::MAX));
    }
}

impl Repeatable for Posting {
    fn event(&self) -> u32 {
        self.event
    }

    fn says_as(&self, other: &Self) -> bool {
        (self.what, self.tag) == (other.what, other.tag) && self.signature == other.signature
    }

    fn hash(&self, hasher: &mut FxHasher) {
        hasher.write(self.signature.as_bytes());
    }
}

impl Repeatable for Around {
    fn event(&self) -> u32 {
        self.event
    }

    fn says_as(&self, other: &Self) -> bool {
        match (&self.tells, &other.tells) {
            (Tells::All(one), Tells::All(other)) => one.says_as(other),
            (one, other) => one == other,
        }
    }

    fn hash(&self, hasher: &mut FxHasher) {
        std::mem::discriminant(&self.tells).hash(hasher);
    }
}

impl Repeatable for Iteration {
    fn event(&self) -> u32 {
        self.event
    }

    fn says_as(&self, other: &Self) -> bool {
        self.number == other.number
    }

    fn hash(&self, hasher: &mut FxHasher) {
        hasher.write_u64(self.number);
    }
}

/// A range that says nothing else.
impl Repeatable for u32 {
    fn event(&self) -> u32 {
        *self
    }

    fn says_as(&self, _other: &Self) -> bool {
        true
    }

    fn hash(&self, _hasher: &mut FxHasher) {}
}

/// The number and the event of a launch.
impl Repeatable for (u64, u32) {
    fn event(&self) -> u32 {
        self.1
    }

    fn says_as(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn hash(&self, hasher: &mut FxHasher) {
        hasher.write_u64(self.0);
    }
}

/// The events of a file, among which copies are looked for.
pub(crate) struct Repeated<'a> {
    pub(crate) columns: &'a Columns,
    pub(crate) threads: &'a Threads,
}

impl Repeated<'_> {
    /// Leaves out each of `all` of which another is there already, and counts them.
    pub(crate) fn leave_out<T: Repeatable>(&self, all: &mut Vec<T>) -> u64 {
        // As signed numbers: times before 0 are not counted from elsewhere yet.
        let begin = |number: usize| {
            let event = all.get(number).map_or(0, Repeatable::event);
            (self.columns.begin(event) as i64, event)
        };
        let mut in_order: Vec<usize> = (0..all.len()).collect();
        in_order.sort_unstable_by_key(|&it| begin(it));
        // The last that is no copy, of those that are equally long on one thread.
        let mut last: FxHashMap<(u32, Option<u64>, u64), usize> = FxHashMap::default();
        let mut is_copy = vec![false; all.len()];
        for number in in_order {
            let Some(it) = all.get(number) else {
                continue;
            };
            let mut hasher = FxHasher::default();
            it.hash(&mut hasher);
            let thread = self.threads.track(self.columns.track(it.event()));
            let length = self.columns.length(it.event());
            let key = (thread, length, hasher.finish());
            let is_same = |earlier: usize| {
                let apart = begin(number).0.abs_diff(begin(earlier).0);
                let overlap = apart == 0 || apart < length.unwrap_or_default();
                overlap && all.get(earlier).is_some_and(|other| other.says_as(it))
            };
            if last.get(&key).copied().is_some_and(is_same) {
                if let Some(is_copy) = is_copy.get_mut(number) {
                    *is_copy = true;
                }
            } else {
                last.insert(key, number);
            }
        }
        let before = all.len();
        let mut is_copy = is_copy.into_iter();
        all.retain(|_| !is_copy.next().unwrap_or(false));
        (before - all.len()) as u64
    }

    /// Drops the copies of all that tells of kernels, and counts them.
    pub(crate) fn leave_out_of_launches(&self, launches: &mut Launches) -> u64 {
        self.leave_out(&mut launches.calls);
        self.leave_out(&mut launches.around);
        self.leave_out(&mut launches.kernels)
    }

    /// Drops the copies of messages of gloo, and counts them.
    pub(crate) fn leave_out_of_messages(&self, posted: &mut Posted) -> u64 {
        self.leave_out(&mut posted.postings);
        self.leave_out(&mut posted.under_way)
    }
}

/// Files that are named in one warning.
const NAMED: usize = 4;

/// A warning of the files in which calls stand twice, each with how many do; nothing if there are none.
pub(crate) fn warning<'a>(files: impl Iterator<Item = (&'a Path, u64)>) -> Option<String> {
    let in_words = |(path, calls): (&Path, u64)| {
        let name = Path::new(path.file_name().unwrap_or_default());
        format!("{} ({})", printable_path(name), group_digits(calls))
    };
    let files: Vec<String> = files.filter(|it| it.1 > 0).map(in_words).collect();
    let named = few(files.into_iter(), NAMED)?;
    Some(format!(
        "calls that communicate stand twice, with equal times, in {named}: each counts once"
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn equal_events_that_overlap_on_one_thread_are_one() {
        // 0 and 1 the same but for a nanosecond; 2 later; 3 of another length; 4 on another track;
        // 5 of another number; 6 on a track of the thread of 0.
        let columns = Columns {
            begins: vec![10, 11, 20, 10, 10, 10, 10],
            lengths: vec![10, 10, 10, 9, 10, 10, 10],
            tracks: vec![0, 0, 0, 0, 1, 0, 2],
            digits: Vec::new(),
        };
        let threads = Threads::of([None, None, Some(0)].into_iter());
        let repeated = Repeated {
            columns: &columns,
            threads: &threads,
        };
        let mut all: Vec<(u64, u32)> =
            [(7, 0), (7, 1), (7, 2), (7, 3), (7, 4), (8, 5), (7, 6)].into();
        assert_eq!(repeated.leave_out(&mut all), 2);
        assert_eq!(all, [(7, 0), (7, 2), (7, 3), (7, 4), (8, 5)]);
        assert_eq!(repeated.leave_out(&mut all), 0);
    }

    #[test]
    fn moments_are_one_at_one_time_only() {
        let columns = Columns {
            begins: vec![10, 10, 11],
            lengths: vec![0, 0, 0],
            tracks: vec![0; 3],
            digits: Vec::new(),
        };
        let threads = Threads::default();
        let repeated = Repeated {
            columns: &columns,
            threads: &threads,
        };
        let mut all = vec![0_u32, 1, 2];
        assert_eq!(repeated.leave_out(&mut all), 1);
        assert_eq!(all, [0, 2]);
    }
}
