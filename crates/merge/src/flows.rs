//! Arrows that a document draws itself: which slices each joins.
//!
//! `s` begins an arrow, `t` leads it on and `f` ends it; those of one category, name and id
//! belong together. Where programs use an id again, each `s` begins another arrow. An end is
//! in the slice around it, or with an `f` that does not say `"bp": "e"`, at the next one.

use retime_chrome_json::members::members;
use retime_kineto::{EventText, Member};
use rustc_hash::FxHashMap;

use crate::slices::{Stay, around, next};

/// An end of an arrow, as the document has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEnd {
    thread: u32,
    at: i64,
    event: u32,
    /// The key that all ends of an arrow have in common.
    key: u32,
    is_begin: bool,
    /// True if it is in the slice around it.
    is_enclosed: bool,
}

/// The ends of a document.
#[derive(Debug, Default)]
pub(crate) struct FlowEnds {
    ends: Vec<FlowEnd>,
    keys: FxHashMap<Box<[u8]>, u32>,
}

/// The arrows at the events of a document.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    /// The event of the slice, and the number of the arrow, sorted.
    at_slices: Vec<(u32, u64)>,
    /// The event that is an end without a slice, likewise.
    alone: Vec<(u32, u64)>,
}

/// True if events of this type are ends of arrows.
pub(crate) fn is_end(ph: &[u8]) -> bool {
    matches!(ph, b"s" | b"t" | b"f")
}

impl FlowEnds {
    pub(crate) fn take(&mut self, event: EventText<'_>, number: u32, thread: u32, at: i64) {
        let key = [
            event.text(Member::Cat),
            b"\n",
            event.text(Member::Name),
            b"\n",
            event.text(Member::Id),
        ]
        .concat();
        let count = self.keys.len() as u32;
        let key = *self.keys.entry(key.into()).or_insert(count);
        let ph = event.text(Member::Ph);
        let binds = || members(event.bytes()).find(|it| it.0 == b"bp");
        self.ends.push(FlowEnd {
            thread,
            at,
            event: number,
            key,
            is_begin: ph == b"s",
            is_enclosed: ph != b"f" || binds().is_some_and(|it| it.1 == b"\"e\""),
        });
    }

    /// Finds the slices, of stays that are sorted by thread and time; numbers are given from
    /// `first` on.
    pub(crate) fn bind(mut self, stays: &[Stay], first: u64) -> Flows {
        self.ends.sort_by_key(|it| (it.key, it.at, !it.is_begin));
        let mut flows = Flows::default();
        let mut number = first;
        for own in self.ends.chunk_by(|a, b| a.key == b.key) {
            let begins = own.iter().filter(|it| it.is_begin).count();
            number += 1;
            let mut met = 0;
            for end in own {
                // What comes before the only beginning belongs to it all the same.
                met += usize::from(end.is_begin);
                if end.is_begin && begins > 1 && met > 1 {
                    number += 1;
                }
                let found = if end.is_enclosed {
                    around(stays, end.thread, end.at)
                } else {
                    next(stays, end.thread, end.at)
                };
                match found {
                    Some(stay) => flows.at_slices.push((stay.event, number)),
                    None => flows.alone.push((end.event, number)),
                }
            }
        }
        flows.at_slices.sort_unstable();
        flows.at_slices.dedup();
        flows.alone.sort_unstable();
        flows
    }
}

impl Flows {
    /// The arrows that begin or end at the slice of an event.
    pub(crate) fn at_slice(&self, event: u32) -> impl Iterator<Item = u64> + '_ {
        of_event(&self.at_slices, event)
    }

    /// The arrow that an event without a slice around it is an end of.
    pub(crate) fn alone(&self, event: u32) -> Option<u64> {
        of_event(&self.alone, event).next()
    }
}

fn of_event(all: &[(u32, u64)], event: u32) -> impl Iterator<Item = u64> + '_ {
    let from = all.partition_point(|it| it.0 < event);
    let own = all.get(from..).unwrap_or_default().iter();
    own.take_while(move |it| it.0 == event).map(|it| it.1)
}
