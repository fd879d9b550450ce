//! Waits in the order in which they were over, and what of each was due to others than who came last.

use super::costs::Idle;
use super::cursor::Cursor;
use super::visits::{Late, Visit, Visits, over};
use super::waits::HiddenWaits;
use super::working::Working;

/// Visits by the time at which their waits are over, and where to find those of a process.
pub(super) struct History<'a> {
    pub(super) visits: &'a Visits,
    /// The ends of the operations of each process, rising,
    pub(super) ends: Vec<Vec<i64>>,
    /// and its waits, in their order.
    waits: Vec<Vec<u32>>,
    /// The part of each visit in which its process is not known to have stood still in another one, too;
    /// empty where it is not known of any when devices computed.
    once: Vec<u64>,
    /// The process of each location,
    processes: &'a [usize],
    /// and whether several threads of a process take part.
    pub(super) has_threads: Vec<bool>,
}

/// The places of each process that were looked at last: among the ends of its operations, and among its
/// waits.
pub(super) struct ProcessCursors {
    ends: Vec<Cursor>,
    waits: Vec<Cursor>,
}

impl ProcessCursors {
    pub(super) fn of(processes: usize) -> Self {
        Self {
            ends: vec![Cursor::default(); processes],
            waits: vec![Cursor::default(); processes],
        }
    }
}

/// The wait of a visit, and the one it waits for.
pub(super) struct Wait {
    /// The time for which its device stood still, or its whole length, where that is not known; not 0.
    pub(super) length: u64,
    /// The part of `length` that counts, so that each moment of a device does once.
    pub(super) once: u64,
    pub(super) late: Late,
    /// The time at which the one who came last had come, as far as it was waited for,
    pub(super) until: i64,
    /// and since when that had been free.
    pub(super) since: i64,
}

impl Wait {
    /// The share of a part of its length that counts.
    pub(super) fn counted(&self, part: u64) -> u64 {
        if self.once == self.length {
            return part;
        }
        let counted = u128::from(part) * u128::from(self.once) / u128::from(self.length.max(1));
        counted as u64
    }
}

impl<'a> History<'a> {
    /// The history of [sorted](Visits::sort) visits; the process of each location, and whether
    /// [several threads](Visits::stand_still_together) of a process take part.
    pub(super) fn of(visits: &'a Visits, processes: &'a [usize], has_threads: Vec<bool>) -> Self {
        let number = has_threads.len();
        let mut history = Self {
            visits,
            ends: vec![Vec::new(); number],
            waits: vec![Vec::new(); number],
            once: Vec::new(),
            processes,
            has_threads,
        };
        let mut over = vec![i64::MIN; number];
        let mut is_at_once = false;
        for (number, visit) in (0..).zip(&visits.all) {
            let (is_apart, is_wait) = (visit.is_apart(), history.late(visit).is_some());
            is_at_once |= visit.knows_work();
            let process = visit.process as usize;
            let (ends, waits) = (&mut history.ends, &mut history.waits);
            let own = ends.get_mut(process).zip(waits.get_mut(process));
            let Some(((ends, waits), over)) = own.zip(over.get_mut(process)) else {
                continue;
            };
            if is_wait || !is_apart {
                ends.push(visit.end);
            }
            if is_wait {
                waits.push(number);
            }
            if is_wait && is_apart {
                is_at_once |= visit.begin < *over;
                *over = visit.until;
            }
        }
        for ends in &mut history.ends {
            ends.sort_unstable();
        }
        if is_at_once {
            history.once = history.each_moment_once();
        }
        history
    }

    fn has_threads(&self, visit: &Visit) -> bool {
        self.has_threads.get(visit.process as usize) == Some(&true)
    }

    /// The part of the wait of each visit that counts, if a device that waits in several at once, or who waits
    /// for several messages at once, stands still in the one that is over last.
    fn each_moment_once(&self) -> Vec<u64> {
        let free = || vec![i64::MAX; self.ends.len()];
        let (mut of_devices, mut of_messages) = (free(), free());
        let mut once = vec![0; self.visits.all.len()];
        for (visit, once) in self.visits.all.iter().zip(&mut once).rev() {
            if self.late(visit).is_none() {
                continue;
            }
            let process = visit.process as usize;
            let covered = match (visit.knows_work(), visit.is_apart()) {
                // Of its waits no two count at once.
                _ if self.has_threads(visit) => None,
                (true, _) => of_devices.get_mut(process),
                (false, true) => of_messages.get_mut(process),
                (false, false) => None,
            };
            match covered {
                Some(covered) => {
                    let until = visit.until.min(*covered);
                    *once = self.visits.exposed(visit, visit.begin, until);
                    *covered = visit.begin.min(*covered);
                }
                None => *once = self.visits.exposed(visit, visit.begin, visit.until),
            }
        }
        once
    }

    /// How long each process waited where each moment counts once.
    pub(super) fn waited(&self) -> Vec<u64> {
        let mut waited = vec![0_u64; self.ends.len()];
        for (number, visit) in (0..).zip(&self.visits.all) {
            if let Some(own) = waited.get_mut(visit.process as usize)
                && (visit.knows_work() || visit.is_apart() || self.has_threads(visit))
                && self.late(visit).is_some()
            {
                *own = own.saturating_add(self.once(number, visit));
            }
        }
        waited
    }

    /// The parts of waits that processes hid behind their own work.
    pub(super) fn hidden(&self) -> Vec<HiddenWaits> {
        let mut hidden = vec![HiddenWaits::default(); self.ends.len()];
        for (visit, &once) in self.visits.all.iter().zip(&self.once) {
            if !visit.knows_work() && !self.has_threads(visit) {
                continue;
            }
            if let Some(own) = hidden.get_mut(visit.process as usize) {
                let before = own.stood_still.unwrap_or_default();
                own.stood_still = Some(before.saturating_add(once));
            }
            if visit.late.process != visit.process
                && !self.has_threads(visit)
                && visit.until > visit.begin
                && let Some(other) = hidden.get_mut(visit.late.process as usize)
            {
                let exposed = self.visits.exposed(visit, visit.begin, visit.until);
                let beside = visit.until.abs_diff(visit.begin).saturating_sub(exposed);
                other.of_others = other.of_others.saturating_add(beside);
            }
        }
        hidden
    }

    pub(super) fn visit(&self, number: u32) -> Option<&Visit> {
        self.visits.all.get(number as usize)
    }

    /// The operation in which a visit stands still for another process, if it does.
    fn late(&self, visit: &Visit) -> Option<Late> {
        let late = visit.late;
        let is_for_another = late.process != visit.process;
        (is_for_another && self.visits.exposed(visit, visit.begin, visit.until) > 0).then_some(late)
    }

    /// How much of a visit counts.
    fn once(&self, number: u32, visit: &Visit) -> u64 {
        let once = self.once.get(number as usize).copied();
        once.unwrap_or_else(|| self.visits.exposed(visit, visit.begin, visit.until))
    }

    /// The wait of a visit for another process, if it waits.
    pub(super) fn wait(&self, number: u32, places: &mut ProcessCursors) -> Option<Wait> {
        let visit = self.visit(number)?;
        let late = self.late(visit)?;
        Some(Wait {
            length: self.visits.exposed(visit, visit.begin, visit.until),
            once: self.once(number, visit),
            late,
            until: visit.until,
            since: self.released(visit.process, visit.begin, places),
        })
    }

    /// The time at which a process had ended its operation before.
    pub(super) fn released(&self, process: u32, begin: i64, places: &mut ProcessCursors) -> i64 {
        let process = process as usize;
        let Some((ends, place)) = self.ends.get(process).zip(places.ends.get_mut(process)) else {
            return i64::MIN;
        };
        let after = place.partition_point(ends, |end| *end <= begin);
        let before = after.checked_sub(1).and_then(|it| ends.get(it));
        before.copied().unwrap_or(i64::MIN)
    }

    /// The part of a wait that is due to others than the one who came last: how much, and by which of
    /// its waits.
    pub(super) fn elsewhere(
        &self,
        number: u32,
        wait: &Wait,
        places: &mut ProcessCursors,
        idle: &mut Vec<Idle>,
    ) -> u64 {
        idle.clear();
        let last = wait.late.process as usize;
        let (Some(waits), Some(place)) = (self.waits.get(last), places.waits.get_mut(last)) else {
            return 0;
        };
        // Visits are in the order of the ends of their waits.
        let over = place.partition_point(waits, |&it| it < number);
        let waiting = self.visit(number).map(|it| it.process);
        let (mut union, mut covered) = (0_u64, wait.until);
        for &other in waits.iter().take(over).rev() {
            let Some(its) = self.visit(other).filter(|it| it.until > wait.since) else {
                break;
            };
            // When it waited for a message of who waits now, both were released.
            if its.is_apart() && self.late(its).map(|it| it.process) == waiting {
                break;
            }
            let from = its.begin.max(wait.since);
            let new = its.until.min(covered);
            if new > from {
                union = union.saturating_add(self.visits.exposed(its, from, new));
                covered = from;
            }
            idle.push(Idle {
                wait: other,
                length: self.visits.exposed(its, from, its.until),
            });
        }
        union.min(wait.length)
    }

    /// How long each process was in calls, from one time to another; `None` of devices, of which work goes on
    /// beside their calls.
    pub(super) fn in_calls(&self, (first, last): (i64, i64)) -> Vec<Option<u64>> {
        let mut all = vec![Some(0_u64); self.ends.len()];
        let mut covered = vec![first; all.len()];
        for (&process, passing) in self.processes.iter().zip(&self.visits.passing) {
            if let Some(Some(own)) = all.get_mut(process) {
                *own = own.saturating_add(passing.in_calls);
            }
        }
        for visit in &self.visits.all {
            let process = visit.process as usize;
            let Some((own, covered)) = all.get_mut(process).zip(covered.get_mut(process)) else {
                continue;
            };
            if visit.knows_work() && !self.has_threads(visit) {
                *own = None;
            }
            let from = self.visits.counts_from(visit).max(*covered);
            let to = over(visit.begin, visit.until, visit.end).min(last);
            if to > from {
                *own = own.map(|it| it.saturating_add(to.abs_diff(from)));
                *covered = to;
            }
        }
        all
    }

    /// The waits of each process.
    pub(super) fn working(&self) -> Vec<Working> {
        let mut all = vec![Working::default(); self.ends.len()];
        for (&process, passing) in self.processes.iter().zip(&self.visits.passing) {
            if let Some(own) = all.get_mut(process) {
                own.passed(passing);
            }
        }
        for visit in &self.visits.all {
            if let Some(own) = all.get_mut(visit.process as usize) {
                own.add(visit.begin, over(visit.begin, visit.until, visit.end));
                own.transferred(visit.transfer);
                if self.late(visit).is_some() {
                    own.waits(self.visits.stills(visit));
                }
            }
        }
        if !self.once.is_empty() {
            // Of a device other stretches may be over after the last of this wait.
            all.iter_mut().for_each(Working::sort);
        }
        all
    }
}
