//! Which release of a lock an acquisition had to wait for.
//!
//! The acquisitions of a lock are numbered in the order in which they were, and its release
//! has the number of the acquisition. Who holds a lock excludes all others; so if thread A
//! made the acquisitions 3 and 4, and the next one, 5 or any later one, was B's, then all
//! that A released of 3 and 4 came before that:
//!
//! ```text
//!  A   acquire 3   release 3   acquire 4   acquire 4   release 4   release 4
//!                                                                      \
//!  B                                                                 acquire 5
//! ```
//!
//! So a run of acquisitions by one thread is one holder: its last release precedes the
//! first acquisition of the next run. That holds as well for locks that one thread may
//! acquire again while it has them, whether a writer gives these a number of their own
//! (in which case the outermost release has the least) or not, and if some acquisitions
//! were not recorded. Nothing follows within a thread. A lock of which two threads have
//! the same number, or a thread has falling ones, is not numbered in order; so are those
//! of writers that write 0 throughout. Of these nothing is concluded.
//!
//! Source: OTF2's description of the records: "a monotonically increasing number to determine
//! the order of lock acquisitions (with unsynchronized clocks this is otherwise not
//! possible). Corresponding acquire-release events have same number."

use std::collections::BTreeMap;

use retime_model::LocationIndex;
use retime_otf2::Paradigm;

use super::process::{At, Thread};

/// A record of a lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LockRecord {
    order: u32,
    at: At,
    releases: bool,
}

type Lock = (Paradigm, u32);

/// The last release of each holder and the first acquisition of the next, if there are
/// both.
pub(super) fn pairs(process: &[Thread<'_>]) -> Vec<(At, At)> {
    let mut locks: BTreeMap<Lock, Vec<LockRecord>> = BTreeMap::new();
    for thread in process {
        let of = thread.handovers;
        for (list, releases) in [(&of.acquired, false), (&of.released, true)] {
            for &(it, node) in list {
                let location = thread.location;
                let at = At { location, node };
                let order = it.order;
                let record = LockRecord {
                    order,
                    at,
                    releases,
                };
                locks.entry(it.lock).or_default().push(record);
            }
        }
    }
    locks.into_values().flat_map(pairs_of_lock).collect()
}

fn pairs_of_lock(mut records: Vec<LockRecord>) -> Vec<(At, At)> {
    if !are_in_order(&mut records) {
        return Vec::new();
    }
    records.sort_unstable();
    let holders: Vec<&[LockRecord]> = records
        .chunk_by(|a, b| a.at.location == b.at.location)
        .collect();
    let handed = holders.windows(2).filter_map(|pair| {
        let released = pair[0].iter().filter(|it| it.releases).map(|it| it.at);
        let acquired = pair[1].iter().filter(|it| !it.releases).map(|it| it.at);
        Some((released.max()?, acquired.min()?))
    });
    handed.collect()
}

/// True if numbers tell the order of acquisitions: no two threads share one, and those of
/// each thread rise.
fn are_in_order(records: &mut [LockRecord]) -> bool {
    records.sort_unstable_by_key(|it| it.at);
    let acquired = || records.iter().filter(|it| !it.releases);
    let falls =
        |(a, b): (&LockRecord, &LockRecord)| a.at.location == b.at.location && a.order > b.order;
    if acquired().zip(acquired().skip(1)).any(falls) {
        return false;
    }
    let mut owner: BTreeMap<u32, LocationIndex> = BTreeMap::new();
    records.iter().all(|it| {
        let location = it.at.location;
        *owner.entry(it.order).or_insert(location) == location
    })
}
