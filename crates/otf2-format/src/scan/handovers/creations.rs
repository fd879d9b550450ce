//! Threads that others have made, and that others wait for.
//!
//! The one that makes a thread, the thread itself and the one that waits for it name the
//! same number of a contingent, which is used once. So its creation precedes its begin, and
//! its end precedes the end of the wait. One without a wait is detached, one without an
//! end outlived the recording, and one that nobody made is the first of its process.
//!
//! A new thread may be recorded where one that has ended was, even the one that made
//! it; then the order within the location says it all.
//!
//! Sources: OTF2's description of the records, "a threadContingent unique number. The
//! corresponding `ThreadBegin` event does have the same number"; POSIX.1-2024,
//! `pthread_create` and `pthread_join`: "shall suspend execution of the calling thread until
//! the target thread terminates".

use std::collections::BTreeMap;

use retime_model::LogNode;

use super::given::ThreadId;
use super::process::{At, Thread};

/// All that is recorded of a thread.
#[derive(Default)]
struct Life {
    created: Vec<At>,
    begun: Vec<At>,
    ended: Vec<At>,
    awaited: Vec<At>,
}

/// The threads that were made in a process.
pub(super) struct Creations(BTreeMap<ThreadId, Life>);

impl Creations {
    pub(super) fn of(process: &[Thread<'_>]) -> Self {
        let mut lives: BTreeMap<ThreadId, Life> = BTreeMap::new();
        for thread in process {
            let of = thread.handovers;
            let mut note = |list: &[(ThreadId, LogNode)], part: fn(&mut Life) -> &mut Vec<At>| {
                for &(id, node) in list {
                    let location = thread.location;
                    part(lives.entry(id).or_default()).push(At { location, node });
                }
            };
            note(&of.created, |it| &mut it.created);
            note(&of.begun, |it| &mut it.begun);
            note(&of.ended, |it| &mut it.ended);
            note(&of.awaited, |it| &mut it.awaited);
        }
        Self(lives)
    }

    /// Creations and begins, ends and waits.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (At, At)> + '_ {
        let both = |given: &[At], got: &[At]| match (given, got) {
            (&[given], &[got]) if given.location != got.location => Some((given, got)),
            _ => None,
        };
        self.0.values().flat_map(move |it| {
            let [start, end] = [both(&it.created, &it.begun), both(&it.ended, &it.awaited)];
            start.into_iter().chain(end)
        })
    }

    /// Events that must have another end, and have none or several. The first thread of a
    /// process begins without having been made, and a detached one ends for nobody.
    pub(super) fn unmatched(&self) -> impl Iterator<Item = At> {
        let is_doubtful = |given: &[At], got: &[At]| given.len() != 1 || got.len() != 1;
        self.0.values().flat_map(move |it| {
            let start = is_doubtful(&it.created, &it.begun).then_some(&it.created);
            let end = is_doubtful(&it.ended, &it.awaited).then_some(&it.awaited);
            start.into_iter().chain(end).flatten().copied()
        })
    }
}
