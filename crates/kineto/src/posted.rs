//! Messages of gloo, told by the call that posted them.
//!
//! The program asks for a message by a call that says peer and tag, and within it begins
//! another range, which says nothing but how long the message takes:
//!
//! ```text
//! c10d::send   peer 1, tag 0      the data may leave from here on
//!    gloo:send                    until it was waited for
//!
//! c10d::recv_  peer 0, tag 0      returns at once
//!    gloo:recv                    ends when the data have come, and somebody waited for them
//! ```
//!
//! So no `gloo:recv` ends before the `c10d::send` of its message begins: `finish` of a work in
//! `ProcessGroupGloo.cpp` ends the range, after the wait. On a real recording that holds for all
//! 144 messages, and `gloo:send` begins after its receive has ended in 16 of them.
//!
//! Data leave only when their receive is posted (`Pair::send` of gloo's `tcp/pair.cc` announces
//! a message first), so no `gloo:send` ends before `c10d::recv_` begins, also in all 144. That
//! tells which messages belong together; as a dependency it is not taken, since a program
//! need not wait for what it sent, and the range of such a message ends earlier.
//!
//! The peer is a rank of a group that neither names. It is known where all groups of a rank that
//! have other members have the same ones in the same order, as where there is but one.

use crate::call::{Call, Label, On, Posting, What};
use crate::columns::Columns;
use crate::threads::Threads;

// How messages are counted that cannot be used, in words that take a plural.

/// Nothing says who is at the other end.
const UNKNOWN_PEER: &str = "peerless gloo message call";
/// Nothing says of which group the peer is a rank.
const UNKNOWN_GROUP: &str = "ungrouped gloo message call";

/// Facts that a file tells about messages of gloo.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    pub(crate) postings: Vec<Posting>,
    /// The events `gloo:send` and `gloo:recv`.
    pub(crate) under_way: Vec<u32>,
}

impl Posted {
    /// The ends of messages, given for each track the group that whatever it calls is of, and how
    /// many cannot be used for which reason.
    pub(crate) fn calls(
        mut self,
        columns: &Columns,
        labels: &[Option<Label>],
        threads: &Threads,
    ) -> (Vec<Call>, [(&'static str, u64); 2]) {
        // As signed numbers: times before 0 are not counted from elsewhere yet.
        let thread = |event: u32| threads.track(columns.track(event));
        let place = |event: u32| (thread(event), columns.begin(event) as i64);
        self.postings.sort_by_key(|it| (place(it.event), it.event));
        let around = |event: u32| {
            let after = self
                .postings
                .partition_point(|it| place(it.event) <= place(event));
            let number = after.checked_sub(1)?;
            let posting = self.postings.get(number)?;
            let is_around = thread(posting.event) == thread(event)
                && columns.end(posting.event) as i64 >= columns.begin(event) as i64;
            is_around.then_some((number, posting))
        };
        let mut ranges = vec![0_u32; self.postings.len()];
        for (number, _) in self.under_way.iter().filter_map(|&it| around(it)) {
            if let Some(ranges) = ranges.get_mut(number) {
                *ranges += 1;
            }
        }
        let (mut calls, mut nameless, mut groupless) = (Vec::new(), 0, 0);
        for &event in &self.under_way {
            let found = around(event).filter(|(number, _)| ranges.get(*number) == Some(&1));
            let label = labels.get(columns.track(event) as usize);
            match (found, label.and_then(Option::as_ref)) {
                (None, _) => nameless += 1,
                (_, None) => groupless += 1,
                (Some((_, posting)), Some(label)) => {
                    let (event, other) = match posting.what {
                        What::Send(_) => (posting.event, event),
                        _ => (event, posting.event),
                    };
                    let signature = posting.signature.clone();
                    calls.push(Call {
                        other: Some(other),
                        group: Some(label.clone()),
                        tag: posting.tag,
                        ..Call::unnamed(event, posting.what, signature, On::Thread)
                    });
                }
            }
        }
        (
            calls,
            [(UNKNOWN_PEER, nameless), (UNKNOWN_GROUP, groupless)],
        )
    }
}
