//! Who took part in operations, until when each waited, and what its device did meanwhile.
//!
//! Where it is [recorded](retime_causality::Causality::overlapped) when devices computed, a wait is
//! *exposed* as far as the device of the one who waits did not, else all of it is:
//!
//! ```text
//! hidden(b, u)  = | [b, u) and the stretches in which it computed |
//! exposed(b, u) = u - b - hidden(b, u)
//! ```

use serde::{Deserialize, Serialize};

use retime_causality::merge::Merge;
use retime_causality::{Causality, EventNode, Place};
use retime_model::LocationIndex;

use super::exposed::exposed;

/// The process that came last to an operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Late {
    pub(super) process: u32,
    pub(super) is_certain: bool,
    pub(super) waited_by: WaitedBy,
}

/// Those who wait in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WaitedBy {
    /// All who take part: they are released together.
    All,
    /// Some, as the readers of a root: who does not wait is not released.
    Some,
    /// One, as for a message: of several that a process waits for at once it waits for that which comes
    /// last.
    One,
}

/// A part that a process took in an operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Visit {
    pub(super) operation: u32,
    pub(super) process: u32,
    pub(super) location: LocationIndex,
    /// Whom it waits for: of its operation, kept here since each pass over the visits asks for it.
    pub(super) late: Late,
    pub(super) begin: i64,
    /// The time from which it no longer waits for the last; not after its begin if it never does.
    pub(super) until: i64,
    pub(super) end: i64,
    /// The ticks that the transfer took while its device did not compute: from when all had come.
    pub(super) transfer: u64,
    work: Meanwhile,
}

/// The stretches in which the device of a visit computed while that waited.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Meanwhile {
    /// From 1, the number of the first of them; [`NOT_KNOWN`] where nothing says when it computed.
    first: u32,
    count: u32,
}

/// In [`Meanwhile::first`]: nothing says when a device computed.
const NOT_KNOWN: u32 = 0;

/// A stretch in which a device computed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Work {
    from: i64,
    to: i64,
    /// The ticks of those before it.
    before: u64,
}

/// A visit by the begins and ends of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub(super) process: usize,
    pub(super) location: LocationIndex,
    /// The event with which the visit begins, or a receive, which is complete there.
    pub(super) node: EventNode,
    pub(super) begin: i64,
    pub(super) until: i64,
    pub(super) end: i64,
}

impl Stay {
    /// The ticks from when it no longer waits to its end in which its device did not compute.
    fn transfer(&self, causality: &Causality) -> u64 {
        if self.end == i64::MAX {
            return 0;
        }
        let since = |time: i64| time.saturating_sub(self.begin);
        let from = self.until.max(self.begin);
        exposed(causality, self.node, since(from), since(self.end))
    }
}

/// When a visit is over: where no end is known, when it no longer waits.
pub(super) fn over(begin: i64, until: i64, end: i64) -> i64 {
    match end {
        i64::MAX => until.max(begin),
        end => end,
    }
}

/// Operations and who took part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Visits {
    /// The participant that came last to each operation.
    pub(super) operations: Vec<Place>,
    pub(super) all: Vec<Visit>,
    works: Vec<Work>,
    /// The parts that each location took in messages that it did not wait for,
    pub(super) passing: Vec<Passing>,
    /// and those of these that are threads, which work whenever they do not wait.
    pub(super) threads: Vec<LocationIndex>,
}

/// Visits in which a process waited for nobody.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Passing {
    pub(super) visits: usize,
    /// When the first began and the last was over.
    pub(super) first: i64,
    pub(super) last: i64,
    /// The ticks that their calls lasted, together.
    pub(super) in_calls: u64,
    /// The ticks that transfers took, as in a [visit](Visit::transfer).
    pub(super) transfer: u64,
}

impl Passing {
    /// One more message, for which it took part in a stretch of time, so many ticks of which the transfer
    /// took.
    #[inline]
    pub(super) fn once(&mut self, first: i64, last: i64, transfer: u64) {
        self.add(Self {
            visits: 1,
            first,
            last,
            in_calls: 0,
            transfer,
        });
    }

    /// One more message, or the first of several, in a call that lasted from one time to another, so many
    /// ticks of which the transfer took.
    #[inline]
    pub(super) fn call(&mut self, first: i64, last: i64, transfer: u64) {
        self.once(first, last, transfer);
        let lasted = last.max(first).abs_diff(first);
        self.in_calls = self.in_calls.saturating_add(lasted);
    }

    pub(super) fn add(&mut self, more: Self) {
        if more.visits == 0 {
            return;
        }
        let is_first = self.visits == 0;
        self.visits += more.visits;
        self.transfer = self.transfer.saturating_add(more.transfer);
        self.first = if is_first {
            more.first
        } else {
            self.first.min(more.first)
        };
        self.last = if is_first {
            more.last
        } else {
            self.last.max(more.last)
        };
        self.in_calls = self.in_calls.saturating_add(more.in_calls);
    }
}

impl Visits {
    /// One more operation, by the begin of the last, and its process.
    pub(super) fn add(
        &mut self,
        last: Place,
        late: Late,
        causality: &Causality,
        stays: impl IntoIterator<Item = Stay>,
    ) {
        let operation = self.operations.len() as u32;
        self.operations.push(last);
        for it in stays {
            let work = self.meanwhile(causality, &it);
            let transfer = it.transfer(causality);
            self.all.push(Visit {
                operation,
                process: it.process as u32,
                location: it.location,
                late,
                begin: it.begin,
                until: it.until,
                end: it.end,
                transfer,
                work,
            });
        }
    }

    /// Brings visits into the order in which their waits are over. Those of several locations that were
    /// sorted apart, by all threads, are only merged: a stable sort makes use of what is in order.
    pub(super) fn sort(&mut self) {
        let operations = &self.operations;
        let last = |it: &Visit| operations.get(it.operation as usize).copied();
        let key = |it: &Visit| (it.begin, it.end, it.process);
        self.all.sort_by(|a, b| {
            let times = || key(a).cmp(&key(b));
            let until = a.until.cmp(&b.until);
            until.then_with(times).then_with(|| last(a).cmp(&last(b)))
        });
    }

    /// Makes room for others that are to be merged.
    pub(super) fn reserve<'a>(&mut self, others: impl Iterator<Item = &'a Self> + Clone) {
        let operations = others.clone().map(|it| it.operations.len()).sum();
        self.operations.reserve_exact(operations);
        self.all.reserve_exact(others.map(|it| it.all.len()).sum());
    }

    /// Gives back the room that is not used, which many groups of locations have in all.
    pub(super) fn shrink(&mut self) {
        self.operations.shrink_to_fit();
        self.all.shrink_to_fit();
    }

    /// Messages for which a location did not wait.
    pub(super) fn passed(&mut self, location: usize, more: Passing) {
        if self.passing.len() <= location {
            self.passing.resize(location + 1, Passing::default());
        }
        if let Some(own) = self.passing.get_mut(location) {
            own.add(more);
        }
    }

    /// The first part of the wait of a visit, up to a time, does not count, as its process worked.
    pub(super) fn hide(&mut self, number: usize, to: i64) {
        let first = self.works.len() as u32 + 1;
        let Some(visit) = self.all.get_mut(number) else {
            return;
        };
        self.works.push(Work {
            from: visit.begin,
            to,
            before: 0,
        });
        visit.work = Meanwhile { first, count: 1 };
    }

    /// Notes when the device of a visit computed while that waited.
    fn meanwhile(&mut self, causality: &Causality, stay: &Stay) -> Meanwhile {
        let others = self.works.len() as u32;
        if !causality.knows_work(stay.location) {
            return Meanwhile {
                first: NOT_KNOWN,
                count: 0,
            };
        }
        let (mut to, mut before) = (stay.begin, 0_u64);
        for it in causality.overlapped(stay.node) {
            let from = stay.begin.saturating_add(it.from).max(to);
            if from >= stay.until {
                break;
            }
            let end = stay.begin.saturating_add(it.to).min(stay.until);
            if end > from {
                self.works.push(Work {
                    from,
                    to: end,
                    before,
                });
                before = before.saturating_add(end.abs_diff(from));
                to = end;
            }
        }
        Meanwhile {
            first: others.saturating_add(1),
            count: self.works.len() as u32 - others,
        }
    }

    /// The stretches in which the device of a visit computed while that waited.
    fn works(&self, visit: &Visit) -> &[Work] {
        let Meanwhile { first, count } = visit.work;
        let first = (first as usize).saturating_sub(1);
        let range = first..first + count as usize;
        self.works.get(range).unwrap_or_default()
    }

    /// The ticks in which a visit computed before a time.
    fn worked_before(&self, visit: &Visit, time: i64) -> u64 {
        let works = self.works(visit);
        let begun = works.partition_point(|it| it.from < time);
        let last = begun.checked_sub(1).and_then(|it| works.get(it));
        last.map_or(0, |it| it.before + it.to.min(time).abs_diff(it.from))
    }

    /// The ticks of a stretch of the wait of a visit in which its device stood still.
    pub(super) fn exposed(&self, visit: &Visit, from: i64, to: i64) -> u64 {
        if to <= from {
            return 0;
        }
        if visit.work.count == 0 {
            return to.abs_diff(from);
        }
        let hidden = self.worked_before(visit, to) - self.worked_before(visit, from);
        to.abs_diff(from).saturating_sub(hidden)
    }

    /// From when on a visit counts: when another thread of its process had worked last.
    pub(super) fn counts_from(&self, visit: &Visit) -> i64 {
        let hidden = self.works(visit).first();
        hidden.map_or(visit.begin, |it| it.to)
    }

    /// From when to when the device of a visit stood still while that waited.
    pub(super) fn stills(&self, visit: &Visit) -> impl Iterator<Item = (i64, i64)> + '_ {
        let works = self.works(visit);
        let begins = std::iter::once(visit.begin).chain(works.iter().map(|it| it.to));
        let ends = works.iter().map(|it| it.from);
        let ends = ends.chain(std::iter::once(visit.until));
        begins.zip(ends).filter(|it| it.1 > it.0)
    }
}

impl Visit {
    /// True if who does not wait in it is not released by it, as of a message.
    pub(super) fn is_apart(&self) -> bool {
        self.late.waited_by != WaitedBy::All
    }

    /// True if it is known when its device computed.
    pub(super) const fn knows_work(&self) -> bool {
        self.work.first != NOT_KNOWN
    }
}

impl Merge for Visits {
    fn merge(&mut self, other: Self) {
        if self.operations.is_empty() && self.works.is_empty() {
            // Where nothing comes before, nothing has to be moved.
            self.operations = other.operations;
            self.works = other.works;
            self.all = other.all;
        } else {
            let before = self.operations.len() as u32;
            let works = self.works.len() as u32;
            self.operations.extend(other.operations);
            self.works.extend(other.works);
            let moved = |it: Visit| Visit {
                operation: it.operation + before,
                work: it.work.behind(works),
                ..it
            };
            self.all.extend(other.all.into_iter().map(moved));
        }
        for (location, more) in other.passing.into_iter().enumerate() {
            self.passed(location, more);
        }
        self.threads.extend(other.threads);
    }
}

impl Meanwhile {
    /// These stretches, with numbers that begin behind so many others.
    fn behind(self, others: u32) -> Self {
        if self.first == NOT_KNOWN {
            return self;
        }
        Self {
            first: self.first.saturating_add(others),
            count: self.count,
        }
    }
}
