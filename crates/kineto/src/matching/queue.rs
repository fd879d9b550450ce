//! When threads of gloo could take their calls.
//!
//! Two threads of a group may take two calls of one signature at nearly the same time, and
//! note when they began in the other order. So a call counts only if its order among these
//! is certain: when it began, the next one was not asked for yet, or the other thread was
//! still busy.

use std::collections::BTreeMap;

use retime_model::Operation;
use rustc_hash::FxHashMap;

use super::calls::Calls;
use crate::call::{Call, On, What};
use crate::columns::Columns;
use crate::profile::FileRead;

/// A moment at which no call was waiting: amid the longest time in which no thread had any. A
/// thread that has nothing to do takes what waits, long before that.
fn idle(file: &FileRead) -> Option<u64> {
    let columns = &file.columns;
    let unlabelled = file.calls.iter().filter(|it| it.group.is_none());
    let mut spans: Vec<(u64, u64)> = unlabelled
        .map(|it| (columns.begin(it.event), columns.end(it.event)))
        .collect();
    spans.sort_unstable();
    let mut over = spans.first()?.1;
    let mut longest = (0, None);
    for (begin, end) in spans {
        let free = begin.saturating_sub(over);
        if free > longest.0 {
            longest = (free, Some(over + free / 2));
        }
        over = over.max(end);
    }
    longest.1
}

/// When the calls of a file could be taken from their queue.
pub(super) struct Queue {
    /// The time from which each call could be taken: when the call before it on its thread was
    /// over,
    free_since: Vec<u64>,
    /// and when at least one of it and those that began earlier was not asked for yet.
    asked: Vec<Option<u64>>,
}

impl Queue {
    pub(super) fn of(calls: &Calls<'_>, file: usize) -> Option<Self> {
        let file = calls.files.get(file)?;
        let begin = |call: usize| file.calls.get(call).map(|it| file.columns.begin(it.event));
        let mut order: Vec<usize> = (0..file.calls.len()).collect();
        order.sort_by_key(|&call| begin(call));
        let mut free: BTreeMap<u32, u64> = BTreeMap::new();
        let mut of_kind: FxHashMap<Operation, Vec<usize>> = FxHashMap::default();
        let mut queue = Self {
            free_since: vec![0; order.len()],
            asked: vec![None; order.len()],
        };
        for call in order {
            let it = file.calls.get(call)?;
            let track = free.entry(file.columns.track(it.event)).or_default();
            *queue.free_since.get_mut(call)? = *track;
            *track = file.columns.end(it.event).max(*track);
            if let What::Collective(operation) = it.what {
                of_kind.entry(operation).or_default().push(call);
            }
        }
        // Requests do not say which library they go to.
        let is_alone = file.header.runs_gloo_alone()
            && file.calls.iter().all(|it| it.on == On::Thread)
            && file.unused.iter().all(|it| !it.kind.ends_with("kernel"));
        let Some(idle) = idle(file).filter(|_| is_alone) else {
            return Some(queue);
        };
        for (operation, its) in of_kind {
            let Some(requests) = file.requests.get(&operation) else {
                continue;
            };
            let times = requests
                .events
                .iter()
                .map(|it| file.columns.begin(it.event));
            let mut times: Vec<u64> = times.collect();
            times.sort_unstable();
            // As many were asked for until then as had begun, those aside that were asked for
            // before the recording began.
            let asked = times.partition_point(|it| *it < idle);
            let begun = its.partition_point(|&it| begin(it).is_some_and(|it| it < idle));
            for (place, call) in its.into_iter().enumerate() {
                let request = (place + asked).checked_sub(begun);
                *queue.asked.get_mut(call)? = request.and_then(|it| times.get(it)).copied();
            }
        }
        Some(queue)
    }

    /// True if the order of two calls of one signature is certain, of which the first began
    /// earlier: when it did, the other thread was busy, or there was nothing else to take.
    ///
    /// Count `n` calls of an operation that began before the second, and itself: all were
    /// asked for when they began. If request `n` (from 0) came after the first began, then
    /// not both were asked for by then: the second was not.
    fn is_certain(&self, columns: &Columns, first: &Call, second: &Call, place: usize) -> bool {
        let begin = columns.begin(first.event);
        columns.track(first.event) == columns.track(second.event)
            || self.free_since.get(place).is_some_and(|it| *it >= begin)
            || self
                .asked
                .get(place)
                .is_some_and(|it| it.is_some_and(|it| it > begin))
    }

    /// Which of the calls of one signature have a certain place among them.
    pub(super) fn certain(&self, calls: &Calls<'_>, file: usize, own: &[usize]) -> Vec<bool> {
        let mut certain = vec![true; own.len()];
        let Some(of_file) = calls.files.get(file) else {
            return certain;
        };
        for (at, pair) in own.windows(2).enumerate() {
            let both = of_file.calls.get(pair[0]).zip(of_file.calls.get(pair[1]));
            if both.is_some_and(|(a, b)| !self.is_certain(&of_file.columns, a, b, pair[1])) {
                for it in certain.iter_mut().skip(at).take(2) {
                    *it = false;
                }
            }
        }
        certain
    }
}
