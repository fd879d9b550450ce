//! Where waiting began.
//!
//! Who comes last may have been kept elsewhere, by somebody who came last there. Each wait is
//! charged to those who worked while others could not: let process `r` be released from its
//! operation before at `s`, come to the next at `t(r)`, and wait `W` until the last, `l`, comes
//! at `t(l)`. Since `s` process `l` has not only worked. Of its own waits those count that were
//! over when it came; what is left of `W` is its own:
//!
//! ```text
//! idle(x)   = | [from(x), until(x)] and [s, t(l)] |     for each wait x of l over by t(l)
//! elsewhere = min(W, | union of these |)
//! own       = W - elsewhere                             charged to l
//! ```
//!
//! Rank 5 works for long, 4 waits for 5 in one group, and then 0 for 4 in another one:
//!
//! ```text
//! 5  |======================|            .. works
//! 4  |===|..................|==|         waits for 5 from 4 to 23, comes second at 26
//! 0  |======|...............:..|         was released at 0, waits from 7 to 26: W = 19
//!                                        of which 4 was idle for 19: all due to 5
//! ```
//!
//! ```
//! # use retime::causality::{Causality, CausalityOptions, Class, LogBuilder};
//! # use retime::causality::{OperationId, OperationPart};
//! # use retime::{Clocks, LocationIndex, Stragglers, Timestamp};
//! # let info = retime_testing::trace("0:\n1:\n2:")?.info;
//! // Ranks 0, 4 and 5 of the sketch, as locations 0, 1 and 2: by operation, begins and ends.
//! let operations = [
//!     [Some((0, 0)), Some((0, 0)), Some((0, 0))], // all are released at 0
//!     [None, Some((4, 23)), Some((23, 23))],
//!     [Some((7, 26)), Some((26, 26)), None],
//! ];
//! let log = |location: u32| {
//!     let mut log = LogBuilder::new(LocationIndex(location));
//!     for (number, spans) in (0..).zip(&operations) {
//!         let members = spans.iter().flatten().count() as u32;
//!         let id = OperationId::number(number);
//!         let (class, rank, expected) = (Class::AllToAll, location, members);
//!         let part = OperationPart { id, class, rank, expected };
//!         if let Some((begin, end)) = spans[location as usize] {
//!             log.named_begin(2 * number, Timestamp(begin), part);
//!             log.named_end(2 * number + 1, Timestamp(end), part);
//!         }
//!     }
//!     log.finish(6, Timestamp(0), Timestamp(26))
//! };
//! let logs = vec![log(0)?, log(1)?, log(2)?];
//! let causality = Causality::build(&info, logs, CausalityOptions::default())?;
//! let clock = Clocks::from_owners(&[(); 3]).0;
//! let times = causality.nodes().timestamps();
//! let found = Stragglers::find(&causality, &info, &clock, times, None, &())?;
//! // Both wait for 19, one of them directly for 5, which alone is to blame.
//! let first = &found.origins[0];
//! assert_eq!((found.origins.len(), first.process), (1, 2));
//! assert_eq!((first.held_up, first.directly, first.certainly), (38, 19, 38));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is `elsewhere` goes on to the waits of `l` in proportion to `idle`, and from each of
//! them as that itself is divided. Waits are taken by the time at which they are over, latest first,
//! so that all that goes on to a wait has come when its turn comes:
//!
//! ```text
//! cost(w)  = W(w) + what came from waits that are over later
//! charged  = cost(w) * own / W         to l, rounded up
//! goes on  = cost(w) * elsewhere / W   to the waits of l, in whole ticks
//! ```
//!
//! So what all processes are charged sums to what all waited, to the tick. A cost is *certain*
//! if it is certain of all operations that it came through who was last.
//!
//! Where a process was released from nothing before, all earlier waits of `l` count. The wait of
//! a receiver is that since it asked for a message until that was sent; where a recording
//! does not say since when, nothing is known. Whether senders wait for receivers is up to the
//! implementation, so a sender waited for one if that came later, and it went on later still. Where a
//! recording does not say when it went on, it did not wait.
//!
//! Only the part of a wait of a stream of a device that is [exposed](super::visits) counts, above as `W`
//! and as `idle`: who computes meanwhile does not stand still. A device that waits in several operations
//! at once stands still once, in the one that is over last: of the waits `w` of its process, latest first,
//! each is charged with
//!
//! ```text
//! once(w) = exposed(begin(w), min(until(w), c))     c: the first begin of those before it
//! ```
//!
//! in place of `W(w)` in `cost(w)`. So what all are charged sums to how long devices stood still.
//!
//! All waits are charged to somebody, those too that nobody could have helped. Whether a process is slow
//! [its work](super::working) tells, and whether that is [more than chance](super::chance).
//!
//! Source: delay costs of Scalasca (Boehme, Geimer, Arnold, Voigtlaender, Wolf, "Identifying the
//! root causes of wait states in large-scale parallel applications", 2016), where a wait is divided
//! among the delays and waits of the one who is late; that these are taken from where the waiting
//! one was released, and that times may be uncertain, is ours.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::pace::Pace;
use retime_model::Cancelled;

use super::chance::{Comparisons, significant};
use super::costs::{Idle, WaitCost};
use super::visits::{Late, Visit, Visits};
use super::working::{ComparedWork, HostWork, IdleTimes, Working};

/// The number of processes of which is said how many others they held up: as many as are shown.
const FOLLOWED: usize = 5;
/// A process counts as held up if it waited at least this share of what the one waited that
/// was held up longest: everybody is last by chance now and then, by next to nothing.
const NOTICEABLE: f64 = 0.1;

/// The waiting of others that began with a process. All times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its number.
    pub process: usize,
    /// The ticks that others waited because it worked, summed over them,
    pub held_up: u64,
    /// of this, in operations to which it came last itself,
    pub directly: u64,
    /// and where it is certain who came last, all the way.
    pub certainly: u64,
    /// Operations to which it came last, most of the wait in which was due to itself,
    pub operations: u64,
    /// and those of them in which it certainly was last.
    pub certain_operations: u64,
    /// Its work compared with that of others, where it is known of what is waited for.
    pub work: Option<ComparedWork>,
    /// True if it was behind others time after time, by more than chance makes anybody be.
    pub significant: bool,
    /// The number of others that it held up; known for the first few.
    pub reach: Option<Reach>,
}

/// How much is known of what processes waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Most records of communication tell since when somebody waited, and for whom.
    Most,
    /// There are many of which it is not.
    Some,
}

/// The number of other processes that a process has held up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Processes that mostly waited for itself.
    pub directly: usize,
    /// Processes that mostly waited for others who had waited for it.
    pub through_others: usize,
}

/// Whom waiting began with.
pub(super) struct Origins {
    /// The processes with which waiting began.
    pub(super) found: Vec<Origin>,
    /// The work of hosts, where it is known of what is waited for.
    pub(super) hosts: Vec<HostWork>,
    /// The part of its waits that each process hid behind its own work, where that is known.
    pub(super) hidden: Vec<HiddenWaits>,
}

/// Waits of processes of which it is known when their devices computed. All times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiddenWaits {
    /// How long its device stood still in waits, each moment once; nothing where it is not known when
    /// that computed.
    pub stood_still: Option<u64>,
    /// How long others waited for it, as the last, while their devices computed.
    pub of_others: u64,
}

impl Visits {
    /// The processes with which all waits began, the longest first, and the work of their hosts, given
    /// the node of each process. Fails only if told to stop.
    pub(super) fn origins(
        mut self,
        nodes: &[Option<usize>],
        known: Known,
        pace: &mut Pace<'_>,
    ) -> Result<Origins, Cancelled> {
        let last = |it: &Visit| self.operations.get(it.operation as usize).map(|it| it.last);
        self.all
            .sort_by_cached_key(|it| (it.until, it.begin, it.end, it.process, last(it)));
        let history = History::of(&self, nodes.len());
        let mut origins = history.charge(pace)?;
        let hidden = history.hidden();
        let mut hosts = Vec::new();
        let mut compared = vec![history.meetings(pace)?];
        if known == Known::Most {
            let working = history.working();
            let idle_times = IdleTimes::of(&working);
            for (origin, work) in origins.iter_mut().zip(idle_times.processes()) {
                origin.work = work;
            }
            hosts = idle_times.hosts(nodes);
            compared.push(idle_times.part_by_part(&working));
        }
        for (origin, significant) in origins.iter_mut().zip(significant(&compared)) {
            origin.significant = significant;
        }
        origins.retain(|it| it.held_up > 0);
        origins.sort_by_key(|it| (Reverse((it.certainly, it.held_up)), it.process));
        let followed = origins.iter().map(|it| it.process).take(FOLLOWED);
        let reaches = history.reach(&followed.collect::<Vec<_>>(), pace)?;
        for (origin, reach) in origins.iter_mut().zip(reaches) {
            origin.reach = Some(reach);
        }
        Ok(Origins {
            found: origins,
            hosts,
            hidden,
        })
    }
}

/// Visits by the time at which their waits are over, and where to find those of a process.
struct History<'a> {
    visits: &'a Visits,
    /// The ends of the operations of each process, rising,
    ends: Vec<Vec<i64>>,
    /// and its waits, in their order.
    waits: Vec<Vec<u32>>,
    /// How much of each visit its process is not known to have stood still for in another one, too;
    /// empty where it is not known of any when devices computed.
    once: Vec<u64>,
}

/// The wait of a visit, and the one it waits for.
struct Wait {
    /// How long its device stood still, or its whole length, where that is not known; not 0.
    length: u64,
    /// How much of that counts, so that each moment of a device does once.
    once: u64,
    late: Late,
    /// The time at which the one who came last had come, as far as it was waited for,
    until: i64,
    /// and since when that had been free.
    since: i64,
}

impl Wait {
    /// The share of a part of its length that counts.
    fn counted(&self, part: u64) -> u64 {
        let counted = u128::from(part) * u128::from(self.once) / u128::from(self.length.max(1));
        counted as u64
    }
}

impl<'a> History<'a> {
    fn of(visits: &'a Visits, processes: usize) -> Self {
        let mut history = Self {
            visits,
            ends: vec![Vec::new(); processes],
            waits: vec![Vec::new(); processes],
            once: Vec::new(),
        };
        for (number, visit) in (0..).zip(&visits.all) {
            let process = visit.process as usize;
            if let Some(ends) = history.ends.get_mut(process) {
                ends.push(visit.end);
            }
            if history.late(visit).is_some()
                && let Some(waits) = history.waits.get_mut(process)
            {
                waits.push(number);
            }
        }
        for ends in &mut history.ends {
            ends.sort_unstable();
        }
        if visits.all.iter().any(Visit::knows_work) {
            history.once = history.each_moment_once();
        }
        history
    }

    /// How much of the wait of each visit counts, if a device that waits in several at once stands
    /// still in the one that is over last.
    fn each_moment_once(&self) -> Vec<u64> {
        let mut covered = vec![i64::MAX; self.ends.len()];
        let mut once = vec![0; self.visits.all.len()];
        for (visit, once) in self.visits.all.iter().zip(&mut once).rev() {
            if self.late(visit).is_none() {
                continue;
            }
            let covered = covered.get_mut(visit.process as usize);
            match covered.filter(|_| visit.knows_work()) {
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

    /// The parts of waits that processes hid behind their own work.
    fn hidden(&self) -> Vec<HiddenWaits> {
        let mut hidden = vec![HiddenWaits::default(); self.ends.len()];
        for (visit, &once) in self.visits.all.iter().zip(&self.once) {
            let late = self.visits.operations.get(visit.operation as usize);
            let Some(late) = late.filter(|_| visit.knows_work()) else {
                continue;
            };
            if let Some(own) = hidden.get_mut(visit.process as usize) {
                let before = own.stood_still.unwrap_or_default();
                own.stood_still = Some(before.saturating_add(once));
            }
            if late.process != visit.process
                && visit.until > visit.begin
                && let Some(other) = hidden.get_mut(late.process as usize)
            {
                let exposed = self.visits.exposed(visit, visit.begin, visit.until);
                let beside = visit.until.abs_diff(visit.begin).saturating_sub(exposed);
                other.of_others = other.of_others.saturating_add(beside);
            }
        }
        hidden
    }

    fn visit(&self, number: u32) -> Option<&Visit> {
        self.visits.all.get(number as usize)
    }

    /// The operation in which a visit stands still for another process, if it does.
    fn late(&self, visit: &Visit) -> Option<Late> {
        let late = *self.visits.operations.get(visit.operation as usize)?;
        let is_for_another = late.process != visit.process;
        (is_for_another && self.visits.exposed(visit, visit.begin, visit.until) > 0).then_some(late)
    }

    /// The wait of a visit for another process, if it waits.
    fn wait(&self, number: u32) -> Option<Wait> {
        let visit = self.visit(number)?;
        let late = self.late(visit)?;
        let length = self.visits.exposed(visit, visit.begin, visit.until);
        Some(Wait {
            length,
            once: self.once.get(number as usize).copied().unwrap_or(length),
            late,
            until: visit.until,
            since: self.released(visit.process, visit.begin),
        })
    }

    /// The time at which a process had ended its operation before.
    fn released(&self, process: u32, begin: i64) -> i64 {
        let ends = self.ends.get(process as usize);
        let ends = ends.map(Vec::as_slice).unwrap_or_default();
        let after = ends.partition_point(|end| *end <= begin);
        let before = after.checked_sub(1).and_then(|it| ends.get(it));
        before.copied().unwrap_or(i64::MIN)
    }

    /// The part of a wait that is due to others than the one who came last: how much, and by which of
    /// its waits.
    fn elsewhere(&self, number: u32, wait: &Wait, idle: &mut Vec<Idle>) -> u64 {
        idle.clear();
        let waits = self.waits.get(wait.late.process as usize);
        let waits = waits.map(Vec::as_slice).unwrap_or_default();
        // Visits are in the order of the ends of their waits.
        let over = waits.partition_point(|&it| it < number);
        let (mut union, mut covered) = (0_u64, wait.until);
        for &other in waits.iter().take(over).rev() {
            let Some(its) = self.visit(other).filter(|it| it.until > wait.since) else {
                break;
            };
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

    /// The waits that each process is charged with.
    fn charge(&self, pace: &mut Pace<'_>) -> Result<Vec<Origin>, Cancelled> {
        let mut origins: Vec<Origin> = (0..self.ends.len()).map(Origin::of).collect();
        let mut came = vec![WaitCost::default(); self.visits.all.len()];
        let mut shares: FxHashMap<u32, (u128, u128)> = FxHashMap::default();
        let mut idle = Vec::new();
        for number in (0..came.len() as u32).rev() {
            pace.events(1)?;
            let Some(wait) = self.wait(number) else {
                continue;
            };
            let elsewhere = self.elsewhere(number, &wait, &mut idle);
            pace.events(idle.len())?;
            let cost = came.get(number as usize).copied().unwrap_or_default();
            let cost = cost.with(wait.once, wait.late.is_certain);
            let goes_on = cost.share(elsewhere, wait.length);
            if let Some(origin) = origins.get_mut(wait.late.process as usize) {
                let own = wait.counted(wait.length - elsewhere);
                origin.directly = origin.directly.saturating_add(own);
                origin.held_up = origin.held_up.saturating_add(cost.all - goes_on.all);
                let certainly = cost.certain - goes_on.certain;
                origin.certainly = origin.certainly.saturating_add(certainly);
            }
            if let Some(visit) = self.visit(number) {
                let (own, all) = shares.entry(visit.operation).or_default();
                *own += u128::from(wait.length - elsewhere);
                *all += u128::from(wait.length);
            }
            goes_on.divide(&idle, |to, cost| {
                if let Some(came) = came.get_mut(to as usize) {
                    came.add(cost);
                }
            });
        }
        for (operation, (own, all)) in shares {
            let late = self.visits.operations.get(operation as usize);
            if let Some(late) = late.filter(|_| 2 * own >= all)
                && let Some(origin) = origins.get_mut(late.process as usize)
            {
                origin.operations += 1;
                origin.certain_operations += u64::from(late.is_certain);
            }
        }
        Ok(origins)
    }

    /// How long those that met in each operation had worked since they were released from the one
    /// before, in the order in which operations were first no longer waited in.
    fn meetings(&self, pace: &mut Pace<'_>) -> Result<Comparisons, Cancelled> {
        let mut first = vec![u32::MAX; self.visits.operations.len()];
        let mut visits: Vec<(u32, u32)> = Vec::with_capacity(self.visits.all.len());
        for (number, visit) in (0..).zip(&self.visits.all) {
            if let Some(first) = first.get_mut(visit.operation as usize) {
                *first = number.min(*first);
                visits.push((*first, number));
            }
        }
        visits.sort_unstable();
        let mut comparisons = Comparisons::of(self.ends.len());
        for meeting in visits.chunk_by(|a, b| a.0 == b.0) {
            pace.events(meeting.len())?;
            let visit = |it: &(u32, u32)| self.visit(it.1);
            let mut came: Vec<(u32, i64)> = meeting
                .iter()
                .filter_map(visit)
                .map(|it| (it.process, it.begin))
                .collect();
            came.sort_unstable_by_key(|it| (it.0, Reverse(it.1)));
            came.dedup_by_key(|it| it.0);
            let since = |&(process, begin): &(u32, i64)| {
                let released = self.released(process, begin);
                (released > i64::MIN).then(|| (process, begin.abs_diff(released) as f64))
            };
            let worked: Option<Vec<(u32, f64)>> = came.iter().map(since).collect();
            comparisons.meeting(&worked.unwrap_or_default());
        }
        Ok(comparisons)
    }

    /// The waits of each process.
    fn working(&self) -> Vec<Working> {
        let mut all = vec![Working::default(); self.ends.len()];
        for visit in &self.visits.all {
            if let Some(own) = all.get_mut(visit.process as usize) {
                // Where no end is known, it took part until it no longer waited.
                let end = match visit.end {
                    i64::MAX => visit.until.max(visit.begin),
                    end => end,
                };
                own.add(visit.begin, end);
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

    /// The number that each of a few processes has held up. The share of a wait that is due to one
    /// follows from those of earlier waits.
    fn reach(&self, few: &[usize], pace: &mut Pace<'_>) -> Result<Vec<Reach>, Cancelled> {
        // Whoever is held up is counted, not how long: seven digits are enough.
        let mut shares = vec![[0.0_f32; FOLLOWED]; self.visits.all.len()];
        let mut waited = vec![vec![[0.0_f64; 2]; self.ends.len()]; few.len()];
        let mut idle = Vec::new();
        for number in 0..shares.len() as u32 {
            pace.events(1)?;
            let (Some(wait), Some(visit)) = (self.wait(number), self.visit(number)) else {
                continue;
            };
            let elsewhere = self.elsewhere(number, &wait, &mut idle) as f64;
            let length = wait.length as f64;
            let counted = wait.once as f64 / length;
            let all: f64 = idle.iter().map(|it| it.length as f64).sum();
            for (at, (&process, waited)) in few.iter().zip(&mut waited).enumerate() {
                let is_late = wait.late.process as usize == process;
                let own = if is_late { length - elsewhere } else { 0.0 };
                let due = idle.iter().map(|it| {
                    let share = shares.get(it.wait as usize).and_then(|it| it.get(at));
                    it.length as f64 * f64::from(share.copied().unwrap_or_default())
                });
                let through = if all > 0.0 {
                    elsewhere * (due.sum::<f64>() / all)
                } else {
                    0.0
                };
                let share = shares.get_mut(number as usize);
                if let Some(share) = share.and_then(|it| it.get_mut(at)) {
                    *share = ((own + through) / length) as f32;
                }
                if let Some([directly, others]) = waited.get_mut(visit.process as usize) {
                    *directly += own * counted;
                    *others += through * counted;
                }
            }
        }
        for (&process, waited) in few.iter().zip(&mut waited) {
            if let Some(own) = waited.get_mut(process) {
                *own = [0.0; 2];
            }
        }
        Ok(waited.iter().map(|it| Reach::of(it)).collect())
    }
}

impl Origin {
    /// A process that is not charged anything yet.
    fn of(process: usize) -> Self {
        Self {
            process,
            held_up: 0,
            directly: 0,
            certainly: 0,
            operations: 0,
            certain_operations: 0,
            work: None,
            significant: false,
            reach: None,
        }
    }
}

impl Reach {
    /// Counts processes by what each waited, directly and through others.
    fn of(waited: &[[f64; 2]]) -> Self {
        let all = |it: &[f64; 2]| it[0] + it[1];
        let longest = waited.iter().map(all).fold(0.0, f64::max);
        let held = waited
            .iter()
            .filter(|it| all(it) > 0.0 && all(it) >= NOTICEABLE * longest);
        held.fold(Self::default(), |reach, it| {
            let is_direct = it[0] >= it[1];
            Self {
                directly: reach.directly + usize::from(is_direct),
                through_others: reach.through_others + usize::from(!is_direct),
            }
        })
    }
}
