//! Files of another run of the job, left behind among those of this one.
//!
//! Their calls have the same groups and numbers, but by their clocks they were recorded before the others, or
//! after them, and calls of equal numbers do not belong together:
//!
//! ```text
//! rank 0                               |-- 18 19 20 --|
//! rank 1                                |-- 18 19 20 --|
//! rank 2   |-- 18 19 20 --|                                     no difference of clocks allows these to be
//! ```
//!
//! A clock can be off by as much, too, as where a file does not say what its times are relative to. Then some
//! straight difference of clocks allows all calls of equal numbers, or [two](super::stepped) if it was set.

use std::collections::{BTreeMap, BTreeSet};

use retime_model::format_seconds;

use super::alignment::between;
use super::calls::{Calls, Sequence};
use super::item::Item;
use super::stepped::Lines;
use crate::call::{Label, What};
use crate::few::few;

/// A recording that does not meet those of most others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FarRecording {
    /// One of these,
    from: usize,
    /// and the nanoseconds between both, negative if that is the later one.
    by: i64,
}

/// Files whose recordings do not meet those of most others.
#[derive(Debug, Default)]
pub(super) struct OtherRuns {
    apart: BTreeMap<usize, FarRecording>,
    /// The files among them of whose numbers nothing belongs together.
    pub(super) refuted: BTreeSet<usize>,
}

impl OtherRuns {
    pub(super) fn of(calls: &Calls<'_>, labelled: &BTreeMap<Label, Vec<Sequence>>) -> Self {
        let apart = apart(calls);
        let mut others = Self {
            apart,
            refuted: BTreeSet::new(),
        };
        if others.apart.is_empty() {
            return others;
        }
        let numbered: Vec<BTreeMap<Number<'_>, Item>> = (0..calls.files.len())
            .map(|file| numbered(calls, labelled, file))
            .collect();
        let is_refuted = |file: usize| {
            let own = numbered.get(file)?;
            let common = |other: usize| {
                let its = numbered.get(other)?;
                let pair = |(number, item)| Some((its.get(number)?, item));
                Some(own.iter().filter_map(pair).collect::<Vec<(&Item, &Item)>>())
            };
            let of_most = (0..numbered.len()).filter(|it| !others.apart.contains_key(it));
            let pairs = of_most.filter_map(common).max_by_key(Vec::len)?;
            let intervals = pairs.iter().filter_map(|(a, b)| between(a, b));
            Lines::of(2, intervals.collect(), 0)
                .is_none()
                .then_some(file)
        };
        others.refuted = others
            .apart
            .keys()
            .filter_map(|&it| is_refuted(it))
            .collect();
        others
    }

    /// The files among them that share no operation with most others, and in words how far each is from one of
    /// these, given whether two files share any.
    pub(super) fn unrelated(
        &self,
        calls: &Calls<'_>,
        share: impl Fn(usize, usize) -> bool,
    ) -> BTreeMap<usize, String> {
        let has_calls = |file: usize| calls.files.get(file).is_some_and(|it| !it.calls.is_empty());
        let of_most = |it: &usize| !self.apart.contains_key(it);
        let unrelated = self.apart.iter().filter(|(file, _)| {
            let mut others = (0..calls.files.len()).filter(of_most);
            has_calls(**file) && !others.any(|other| share(**file, other))
        });
        let named = unrelated.map(|(&file, it)| {
            let far = format_seconds(it.by.unsigned_abs() as f64 / 1e9);
            let when = if it.by < 0 { "before" } else { "after" };
            let (own, other) = (calls.name(file), calls.name(it.from));
            (file, format!("{own} was recorded {far} {when} {other}"))
        });
        named.collect()
    }
}

/// Recordings that are named in one warning.
const NAMED: usize = 3;

/// Warns of recordings that share nothing with the others.
pub(super) fn warning(unrelated: &BTreeMap<usize, String>) -> Option<String> {
    let named = few(unrelated.values().cloned(), NAMED)?;
    Some(format!(
        "by their clocks {named}, and no difference of clocks makes their calls meet, so that these are not \
         joined: a file of another run, or of another part of it; give files that were recorded together"
    ))
}

/// Warns of recordings that share nothing with the others though they have numbers in the same groups, by name.
pub(super) fn warning_of_numbers(strangers: &BTreeMap<usize, String>) -> Option<String> {
    let its = if strangers.len() == 1 { "its" } else { "their" };
    let named = few(strangers.values().cloned(), NAMED)?;
    Some(format!(
        "no call of {named} is one that other ranks made in the same groups, by number and sizes, so that \
         nothing tells how {its} times stand to those of the others: a file of another run, or of another part of it; \
         give files that were recorded together"
    ))
}

/// The recordings that do not meet those of most others.
fn apart(calls: &Calls<'_>) -> BTreeMap<usize, FarRecording> {
    let files = 0..calls.files.len();
    let windows = files.map(|file| (calls.window(file), file));
    let mut windows: Vec<((i64, i64), usize)> = windows.filter(|it| it.0.0 <= it.0.1).collect();
    windows.sort_unstable();
    // Those that meet, directly or through others.
    let mut together: Vec<((i64, i64), Vec<usize>)> = Vec::new();
    for (window, file) in windows {
        match together.last_mut() {
            Some((whole, files)) if window.0 <= whole.1 => {
                whole.1 = whole.1.max(window.1);
                files.push(file);
            }
            _ => together.push((window, vec![file])),
        }
    }
    let most = together.iter().rev().max_by_key(|it| it.1.len());
    let Some((most, from)) = most.and_then(|it| Some((it.0, *it.1.iter().min()?))) else {
        return BTreeMap::new();
    };
    let others = together.iter().filter(|it| it.0 != most);
    let apart = others.flat_map(|(window, files)| {
        let by = if window.1 < most.0 {
            window.1.saturating_sub(most.0)
        } else {
            window.0.saturating_sub(most.1)
        };
        files
            .iter()
            .map(move |&file| (file, FarRecording { from, by }))
    });
    apart.collect()
}

/// Group, number and signature of a collective.
type Number<'a> = (&'a Label, u64, u32);

/// The collectives of a file that have a number which no other of its group has.
fn numbered<'a>(
    calls: &Calls<'_>,
    labelled: &'a BTreeMap<Label, Vec<Sequence>>,
    file: usize,
) -> BTreeMap<Number<'a>, Item> {
    let mut found: BTreeMap<Number<'a>, Option<Item>> = BTreeMap::new();
    for (label, members) in labelled {
        let group = calls.group(label, members);
        let own = members.iter().filter(|it| it.0 == file);
        for &call in own.flat_map(|it| &it.1) {
            let number = calls.call(file, call).and_then(|it| match it.what {
                What::Collective(_) => it.sequence,
                What::Send(_) | What::Receive(_) => None,
            });
            if let (Some(number), Some(signature)) = (number, calls.signature(file, call)) {
                let item = calls.item(&group, file, call);
                let known = found.entry((label, number, signature));
                known.and_modify(|it| *it = None).or_insert(item);
            }
        }
    }
    let known = found.into_iter();
    known
        .filter_map(|(number, item)| Some((number, item?)))
        .collect()
}
