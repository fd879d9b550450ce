//! Whose group kernels are of that do not say it.
//!
//! PyTorch gives each process group a stream of its own on each device, and versions before
//! 2.3 do not say which. Kernels of a file that are all on one stream are of one group. Which
//! ranks are its members nobody says, but how many is told by kernels of version 2.2 ("Group
//! size"), and by how much more elements come out of an `all_gather` than go in. So calls are
//! taken for those of a group of all ranks
//!
//! - if they are the only ones of a stream of which one says that its group has as many members
//!   as the job has ranks, and none says another number;
//! - if none says a number, if there is one stream alone, and the job has one group at most. Kernels
//!   on other streams that tell nothing, as those of messages between stages of a pipeline, are of
//!   other groups.
//!
//! All others belong to no group that could be told, and are not joined.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::{Call, Label, On};
use crate::columns::Columns;
use crate::header::Header;

/// How calls are counted whose group cannot be told, in words that take a plural.
pub(crate) const UNKNOWN_GROUP: &str = "ungrouped communication kernel";

/// Gives the calls on streams a group that do not say theirs, and leaves out those of which it
/// cannot be told, given the header that holds for each track, and the tracks of kernels that tell
/// nothing; how many these are.
pub(crate) fn label(
    calls: &mut Vec<Call>,
    columns: &Columns,
    headers: &[&Header],
    untold: &BTreeSet<u32>,
) -> u64 {
    let mut doubtful = 0;
    let mut left = std::mem::take(calls);
    // Ranks whose profiles were put into one file have a header each.
    for header in distinct(headers) {
        let is_own = |track: u32| {
            let own = headers.get(track as usize);
            own.is_some_and(|it| std::ptr::eq(*it, header))
        };
        let of_own = |it: &mut Call| is_own(columns.track(it.event));
        let mut own: Vec<Call> = left.extract_if(.., of_own).collect();
        let untold: Vec<u32> = untold.iter().copied().filter(|it| is_own(*it)).collect();
        doubtful += label_own(&mut own, columns, header, &untold);
        calls.append(&mut own);
    }
    calls.append(&mut left);
    doubtful
}

/// The headers, each once.
fn distinct<'a>(headers: &[&'a Header]) -> Vec<&'a Header> {
    let mut distinct = headers.to_vec();
    distinct.sort_by_key(|it| std::ptr::from_ref::<Header>(it));
    distinct.dedup_by(|a, b| std::ptr::eq(*a, *b));
    distinct
}

/// Labels the calls of those that a header is of.
fn label_own(calls: &mut Vec<Call>, columns: &Columns, header: &Header, untold: &[u32]) -> u64 {
    let is_open = |call: &Call| call.on == On::Stream && call.group.is_none();
    let mut streams: BTreeMap<u32, Sizes> = BTreeMap::new();
    for call in calls.iter().filter(|it| is_open(it)) {
        let sizes = streams.entry(columns.track(call.event)).or_default();
        sizes.add(call.members, header.world_size);
    }
    let whole = |sizes: &Sizes| sizes.whole && !sizes.parts;
    let mut of_all = streams.iter().filter(|(_, sizes)| whole(sizes));
    let chosen = match (of_all.next(), of_all.next()) {
        (Some((stream, _)), None) => Some(*stream),
        (Some(_), Some(_)) => None,
        (None, _) => {
            lone(&streams, calls, header).filter(|stream| untold.iter().all(|it| it == stream))
        }
    };
    let label = of_all_ranks(header);
    let before = calls.len();
    calls.retain_mut(|call| {
        if is_open(call) {
            if Some(columns.track(call.event)) != chosen {
                return false;
            }
            call.group = Some(label.clone());
        }
        true
    });
    (before - calls.len()) as u64
}

/// The only stream, if the job has no second group.
fn lone(streams: &BTreeMap<u32, Sizes>, calls: &[Call], header: &Header) -> Option<u32> {
    let says_group = |call: &Call| call.on == On::Stream && call.group.is_some();
    let mut all = streams.iter();
    let (stream, sizes) = all.next()?;
    let is_alone = all.next().is_none() && !sizes.parts && header.groups.len() <= 1;
    (is_alone && !calls.iter().any(says_group)).then_some(*stream)
}

/// The sizes of their group that the calls of a stream state.
#[derive(Default)]
struct Sizes {
    /// One of them says that it has as many members as the job has ranks,
    whole: bool,
    /// or another number.
    parts: bool,
}

impl Sizes {
    fn add(&mut self, members: Option<u32>, ranks: Option<u32>) {
        match members {
            None => {}
            Some(members) if Some(members) == ranks => self.whole = true,
            Some(_) => self.parts = true,
        }
    }
}

/// The group of all ranks, as the file calls it.
fn of_all_ranks(header: &Header) -> Label {
    let named = header.groups.iter().find(|it| {
        let members = u32::try_from(it.ranks.len()).ok();
        members.is_some() && members == header.world_size
    });
    Label {
        name: named.map_or_else(|| String::from("of all ranks"), |it| it.name.clone()),
        ranks: String::new(),
    }
}
