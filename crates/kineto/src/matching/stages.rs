//! Messages between stages of a pipeline, told by the iterations in which they were launched.
//!
//! Stages that have nothing but messages in common, on hosts whose clocks differ by about as much as a
//! microbatch lasts, leave several shifts possible. But a pipeline is empty at the end of an
//! iteration, before weights are changed: what is sent in one is received in it. So if both ends
//! have launched equally many in each [iteration](crate::iterations) that they have recorded in common,
//! but for the first and last of either, which profilers can cut, the first of an iteration is its first at
//! the other end:
//!
//! ```text
//! sends      | #10: s0 s1 s2 | #11: s3 s4 s5 |
//! receives        | #10: r0 r1 r2 | #11: r3 r4 r5 | #12: r6 ...        shift 0
//! ```
//!
//! A program that leaves messages under way at the end of an iteration receives others first. Then messages
//! there and back do not agree on any difference of clocks, and nothing is known.

use std::collections::BTreeMap;
use std::ops::Range;

use super::alignment::{Known, Messages, can_be_shift};

/// Iterations that both ends have to have in common: one alone may have been cut alike.
const COMMON: usize = 2;

/// The iterations of the messages of a way, at both ends.
#[derive(Clone, Copy, Default)]
pub(super) struct Launched<'a> {
    pub(super) sends: &'a [Option<u64>],
    pub(super) receives: &'a [Option<u64>],
}

impl Launched<'_> {
    /// The shift by which each iteration lies on the same one; none if they do not have equally many
    /// messages, but for the first and last of either, which can be cut.
    pub(super) fn shift(self) -> Option<i64> {
        let (sends, receives) = (places(self.sends)?, places(self.receives)?);
        let shift = common_shift(&sends, &receives);
        shift.or_else(|| common_shift(&whole(sends), &whole(receives)))
    }
}

/// The shift by which each iteration that both have lies on the same one.
fn common_shift(
    sends: &BTreeMap<u64, Range<usize>>,
    receives: &BTreeMap<u64, Range<usize>>,
) -> Option<i64> {
    let from = (*sends.keys().next()?).max(*receives.keys().next()?);
    let to = (*sends.keys().next_back()?).min(*receives.keys().next_back()?);
    if from > to {
        return None;
    }
    let (mut own, mut others) = (sends.range(from..=to), receives.range(from..=to));
    let (mut shift, mut common) = (None, 0);
    loop {
        let ((number, sends), (other, receives)) = match (own.next(), others.next()) {
            (Some(sends), Some(receives)) => (sends, receives),
            (None, None) => break,
            _ => return None,
        };
        let by = sends.start as i64 - receives.start as i64;
        if number != other || sends.len() != receives.len() || *shift.get_or_insert(by) != by {
            return None;
        }
        common += 1;
    }
    shift.filter(|_| common >= COMMON)
}

/// The messages of each iteration that cannot have been cut: of all but the first and the last.
fn whole(mut places: BTreeMap<u64, Range<usize>>) -> BTreeMap<u64, Range<usize>> {
    places.pop_first();
    places.pop_last();
    places
}

/// The messages of each iteration, if they follow each other.
fn places(launched: &[Option<u64>]) -> Option<BTreeMap<u64, Range<usize>>> {
    let mut places: BTreeMap<u64, Range<usize>> = BTreeMap::new();
    for (place, number) in launched.iter().enumerate() {
        let Some(number) = number else { continue };
        let known = places.entry(*number).or_insert(place..place);
        if known.end != place {
            return None;
        }
        known.end += 1;
    }
    Some(places)
}

/// Messages from one rank to another, with the iterations that they are of.
#[derive(Clone, Copy)]
pub(super) struct StageMessages<'a> {
    pub(super) messages: Messages<'a>,
    pub(super) launched: Launched<'a>,
}

impl StageMessages<'_> {
    /// Knowledge of the clocks of both ranks by the iterations of these messages.
    fn known(self) -> Option<Known> {
        let shift = self.launched.shift()?;
        let (sends, receives) = (self.messages.sends.items, self.messages.receives.items);
        can_be_shift(sends, receives, shift).then(|| Known::of(sends, receives, shift))
    }
}

/// Knowledge of the clocks of two ranks by the iterations of their messages there and back.
pub(super) fn known(there: StageMessages<'_>, back: StageMessages<'_>) -> Option<Known> {
    let known = there.known()?.and(&back.known()?.reversed());
    known.is_possible().then_some(known)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use std::fmt::Write as _;

    use super::super::matched;
    use super::*;
    use crate::chrome::Chrome;
    use crate::document::Document;
    use crate::profile::FileRead;

    /// Microbatches of an iteration, and microseconds from one to the next.
    const MICROBATCHES: u64 = 4;
    const EACH: u64 = 1_000;

    /// The profile of one of two stages, which hand on each microbatch and get it back, of three
    /// iterations, by a clock that is ahead by so many microseconds.
    fn stage(rank: u64, ahead: u64, are_iterations_named: bool) -> FileRead {
        let mut text = format!(
            r#"{{"distributedInfo":{{"rank":{rank},"world_size":2}},"traceEvents":[{{"ph":"M"}}"#
        );
        let mut event = |cat: &str, name: &str, (tid, ts, dur): (u32, u64, u64), args: &str| {
            write!(
                text,
                r#",{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":{tid},"ts":{ts},"dur":{dur},"args":{{{args}}}}}"#
            )
            .unwrap();
        };
        let iteration = MICROBATCHES * EACH;
        for number in (0..3).filter(|_| are_iterations_named) {
            let name = format!("ProfilerStep#{}", number + 10);
            let time = (7, ahead + iteration * number, iteration - 5);
            event("user_annotation", &name, time, "");
        }
        let mut launched = 0;
        for microbatch in 0..3 * MICROBATCHES {
            let at = ahead + EACH * microbatch;
            // From 500 on the first sends, for which the second waits since 100; and back.
            let [there, back] = match rank {
                0 => [("send", 500, 30), ("recv", 600, 330)],
                _ => [("recv", 100, 430), ("send", 900, 30)],
            };
            for (from, (name, begin, lasts)) in [(0, there), (1, back)] {
                launched += 1;
                let correlation = format!(r#""correlation":{launched}"#);
                let launch = (7, at + begin - 60, 2);
                event("cuda_runtime", "cudaLaunchKernelExC", launch, &correlation);
                let args = format!(
                    r#"{correlation},"Collective name":"{name}","In msg nelems":64,"dtype":"Float",
                    "Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]",
                    "Src Rank":{from},"Dst Rank":{}"#,
                    1 - from
                );
                event(
                    "kernel",
                    "ncclDevKernel_SendRecv",
                    (20, at + begin, lasts),
                    &args,
                );
            }
        }
        text.push_str("]}");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rank.json");
        std::fs::write(&path, text).unwrap();
        Chrome.read(&path, &()).unwrap()
    }

    /// Clocks that differ by one and a half of equal microbatches leave two shifts as likely.
    #[test]
    fn stages_are_told_by_iterations_where_clocks_leave_several_shifts() {
        let joined = |are_iterations_named: bool| {
            let files = [(0, 0), (1, EACH * 3 / 2)];
            let files = files.map(|(rank, ahead)| stage(rank, ahead, are_iterations_named));
            let found = matched(&files).joined;
            found.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(joined(false), [0, 0]);
        assert_eq!(joined(true), [24, 24]);
    }

    fn shift(sends: &[u64], receives: &[u64]) -> Option<i64> {
        let some = |of: &[u64]| {
            of.iter()
                .map(|it| (*it > 0).then_some(*it))
                .collect::<Vec<_>>()
        };
        let (sends, receives) = (&some(sends)[..], &some(receives)[..]);
        Launched { sends, receives }.shift()
    }

    #[test]
    fn iterations_lie_on_the_same_ones() {
        assert_eq!(shift(&[4, 4, 5, 5], &[4, 4, 5, 5]), Some(0));
        // The receiver began two iterations later, and recorded one more.
        assert_eq!(shift(&[3, 4, 5, 5, 6], &[5, 5, 6, 7]), Some(2));
        assert_eq!(shift(&[5, 5, 6], &[0, 4, 5, 5, 6]), Some(-2));
    }

    #[test]
    fn unequal_iterations_tell_nothing() {
        assert_eq!(shift(&[4, 4, 5, 5], &[4, 4, 5, 5, 5]), None);
        assert_eq!(shift(&[4, 4, 5, 6, 6], &[4, 4, 6, 6]), None);
        assert_eq!(shift(&[4, 4], &[4, 4]), None);
        assert_eq!(shift(&[4, 5], &[6, 7]), None);
        assert_eq!(shift(&[4, 5, 4], &[4, 5, 4]), None);
        assert_eq!(shift(&[], &[]), None);
        // The first of the one and the last of the other are cut.
        let whole = [3, 3, 4, 4, 5, 5, 6, 6];
        assert_eq!(shift(&[3, 4, 4, 5, 5, 6], &whole), Some(-1));
        assert_eq!(shift(&[3, 4, 5, 5, 6], &whole), None);
        assert_eq!(shift(&[3, 4, 4, 5], &whole), None);
        // As many, but with others between.
        assert_eq!(shift(&[4, 0, 5], &[4, 5]), None);
    }
}
