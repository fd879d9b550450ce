//! Threads of a process that wait while others of it work.
//!
//! A process of which several threads communicate stands still only while all of them wait: one that
//! waits for commands, or answers others, holds up nobody while the rest computes. A thread takes
//! part from the first of its messages and operations to the last, and works whenever it
//! does not wait for another process. So of a wait that is over at `u` only the end counts:
//!
//! ```text
//! still(wait) = [b, u),   b = the last time before u at which another thread of the process worked,
//!                             or the begin of the wait, if that is later
//!
//! one        |===|--------------------|========
//! another    |=======|------|===|---------|====
//!                    |      |            the other's first wait counts, which is over first,
//!                               |     |  and later the one's
//! ```
//!
//! No two of these overlap, and together they are the time in which the process stands still until one
//! of its threads goes on: where two are over at once, one counts.

use retime_model::LocationIndex;

use super::visits::{Visits, over};

/// A stretch of time.
type Stretch = (i64, i64);

/// A wait of one of the threads of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ThreadWait {
    location: LocationIndex,
    begin: i64,
    until: i64,
    process: usize,
    /// The number of its visit.
    visit: usize,
}

/// The threads of a process, and their waits.
#[derive(Clone, Debug, Default)]
struct ProcessThreads {
    /// From when to when each takes part,
    extents: Vec<(LocationIndex, Stretch)>,
    /// and when it waits.
    waits: Vec<ThreadWait>,
}

impl ProcessThreads {
    /// The stretches in which any of the threads works, rising.
    fn work(mut self) -> Vec<Stretch> {
        self.waits.sort_unstable();
        let mut work = Vec::with_capacity(self.waits.len() + self.extents.len());
        for (location, (first, last)) in self.extents {
            let from = self.waits.partition_point(|it| it.location < location);
            let own = self.waits.get(from..).unwrap_or_default().iter();
            let mut at = first;
            for wait in own.take_while(|it| it.location == location) {
                if wait.begin > at {
                    work.push((at, wait.begin));
                }
                at = at.max(wait.until);
            }
            if last > at {
                work.push((at, last));
            }
        }
        work.sort_unstable();
        work.dedup_by(|next, last| {
            let touches = next.0 <= last.1;
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
        work
    }
}

impl Visits {
    /// Lets waits of processes with several threads count only while all of these wait, given the
    /// process of each location; returns of so many processes which these are. Visits are in the order
    /// of the ends of their waits.
    pub(super) fn stand_still_together(&mut self, processes: &[usize], number: usize) -> Vec<bool> {
        let mut of = vec![ProcessThreads::default(); number];
        for (location, extent) in self.extents(processes.len()) {
            let process = processes.get(location.as_usize());
            if let Some(own) = process.and_then(|&it| of.get_mut(it)) {
                own.extents.push((location, extent));
            }
        }
        let has_threads: Vec<bool> = of.iter().map(|it| it.extents.len() > 1).collect();
        if !has_threads.contains(&true) {
            return has_threads;
        }
        for wait in self.waits_of(&has_threads) {
            if let Some(own) = of.get_mut(wait.process) {
                own.waits.push(wait);
            }
        }
        let work: Vec<Vec<Stretch>> = of.into_iter().map(ProcessThreads::work).collect();
        let mut over = vec![i64::MIN; number];
        let mut hidden = Vec::new();
        for wait in self.waits_of(&has_threads) {
            let Some((work, over)) = work.get(wait.process).zip(over.get_mut(wait.process)) else {
                continue;
            };
            let before = work.partition_point(|it| it.0 < wait.until).checked_sub(1);
            let last = before.and_then(|it| work.get(it));
            // What counted for one that was over before does not count again.
            let worked = last
                .map_or(wait.begin, |it| it.1.min(wait.until))
                .max(*over);
            *over = wait.until;
            if worked > wait.begin {
                hidden.push((wait.visit, worked));
            }
        }
        for (visit, to) in hidden {
            self.hide(visit, to);
        }
        has_threads
    }

    /// From when to when each thread takes part; rising.
    fn extents(&self, locations: usize) -> Vec<(LocationIndex, Stretch)> {
        let mut extents: Vec<Option<Stretch>> = vec![None; locations];
        let mut add = |location: usize, (first, last): Stretch| {
            if let Some(own) = extents.get_mut(location) {
                let (from, to) = own.unwrap_or((first, last));
                *own = Some((from.min(first), to.max(last)));
            }
        };
        for (location, it) in self.passing.iter().enumerate() {
            if it.visits > 0 {
                add(location, (it.first, it.last));
            }
        }
        for it in &self.all {
            let end = over(it.begin, it.until, it.end);
            add(it.location.as_usize(), (it.begin, end));
        }
        let mut threads = self.threads.clone();
        threads.sort_unstable();
        let known = |it: &LocationIndex| Some((*it, (*extents.get(it.as_usize())?)?));
        threads.iter().filter_map(known).collect()
    }

    /// The waits of some processes for others, in the order of visits.
    fn waits_of(&self, of: &[bool]) -> impl Iterator<Item = ThreadWait> + '_ {
        let of = of.to_vec();
        let all = self.all.iter().enumerate();
        all.filter_map(move |(visit, it)| {
            let process = it.process as usize;
            let waits = it.until > it.begin && it.late.process != it.process;
            (waits && of.get(process) == Some(&true)).then_some(ThreadWait {
                location: it.location,
                begin: it.begin,
                until: it.until,
                process,
                visit,
            })
        })
    }
}
