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
//! # use retime_causality::{Causality, CausalityOptions, Class, LogBuilder};
//! # use retime_causality::{OperationId, OperationPart};
//! # use retime_model::{Clocks, LocationIndex, Timestamp};
//! # use retime_stragglers::Stragglers;
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
//! Where a process was released from nothing before, all earlier waits of `l` count. By
//! [messages](super::messages) those are released that waited for them, and the other end towards these:
//! of the waits of `l` those count that are later than the last for a message of `r`. Where a recording
//! does not say since when a receiver waited, nothing is known, and where it does not say when a sender
//! went on, that did not wait.
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
//! in place of `W(w)` in `cost(w)`. So what all are charged sums to how long devices stood still. The same
//! goes for messages among each other: a call that receives several waits for that which is sent last.
//!
//! All waits are charged to somebody, those too that nobody could have helped. Whether a process is slow
//! [its work](super::working) tells, and whether that is [more than chance](super::chance).
//!
//! Source: delay costs of Scalasca (Boehme, Geimer, Arnold, Voigtlaender, Wolf, "Identifying the
//! root causes of wait states in large-scale parallel applications", 2016), where a wait is divided
//! among the delays and waits of the one who is late; that these are taken from where the waiting
//! one was released, and that times may be uncertain, is ours.

use std::cmp::Reverse;

use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};

use super::chance::{Comparisons, significant};
use super::costs::WaitCost;
use super::history::{History, ProcessCursors};
use super::sides::{HostWork, SlowTogether};
use super::visits::{Late, Visits, WaitedBy};
use super::waits::HiddenWaits;
use super::working::{ComparedWork, IdleTimes};

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
    /// Several processes that are slow.
    pub(super) several: Option<SlowTogether>,
    /// The part of its waits that each process hid behind its own work, where that is known.
    pub(super) hidden: Vec<HiddenWaits>,
    /// How long each process waited for messages, and how long its device stood still in waits where it
    /// is known when that computed.
    pub(super) waited: Vec<u64>,
    /// Per process: true if several threads take part, so that this has its operations, too.
    pub(super) has_threads: Vec<bool>,
}

impl Visits {
    /// The processes with which all waits began, the longest first, and the work of their hosts, given
    /// the process of each location and the node of each process. Fails only if told to stop.
    pub(super) fn origins(
        mut self,
        processes: &[usize],
        nodes: &[Option<usize>],
        known: Known,
        monitor: &dyn Monitor,
    ) -> Result<Origins, Cancelled> {
        self.sort();
        let has_threads = self.stand_still_together(processes, nodes.len());
        let history = History::of(&self, processes, has_threads);
        let compare = || {
            let compared = history.compare(nodes, known, &mut Pace::of(monitor))?;
            Ok::<_, Cancelled>((compared, history.hidden(), history.waited()))
        };
        let (charged, compared) = rayon::join(|| history.charged(monitor), compare);
        let (mut origins, (compared, hidden, waited)) = (charged?, compared?);
        for origin in &mut origins {
            origin.work = compared.work.get(origin.process).copied().flatten();
            origin.significant = compared.significant.get(origin.process) == Some(&true);
        }
        Ok(Origins {
            found: origins,
            hosts: compared.hosts,
            several: compared.several,
            hidden,
            waited,
            has_threads: history.has_threads,
        })
    }
}

/// The waits of all who waited in an operation.
#[derive(Clone, Copy, Default)]
struct WaitedTogether {
    /// Whom they waited for, if anybody waited.
    late: Option<Late>,
    /// The ticks of their waits,
    waited: u128,
    /// and of these what is due to it.
    due_to_it: u128,
}

/// The work of processes beside each other.
#[derive(Default)]
struct ComparedProcesses {
    /// True of those that were behind by more than chance.
    significant: Vec<bool>,
    /// The work of each process, where it is known of most messages and operations who waited in them.
    work: Vec<Option<ComparedWork>>,
    /// The work of each host.
    hosts: Vec<HostWork>,
    several: Option<SlowTogether>,
}

impl History<'_> {
    /// The processes that are charged with waits, the longest first, and how many others the first few
    /// of them held up.
    fn charged(&self, monitor: &dyn Monitor) -> Result<Vec<Origin>, Cancelled> {
        let mut origins = self.charge(&mut Pace::of(monitor))?;
        origins.retain(|it| it.held_up > 0);
        origins.sort_by_key(|it| (Reverse((it.certainly, it.held_up)), it.process));
        let followed = origins.iter().map(|it| it.process).take(FOLLOWED);
        let reaches = self.reach(&followed.collect::<Vec<_>>(), &mut Pace::of(monitor))?;
        for (origin, reach) in origins.iter_mut().zip(reaches) {
            origin.reach = Some(reach);
        }
        Ok(origins)
    }

    /// The waits that each process is charged with.
    fn charge(&self, pace: &mut Pace<'_>) -> Result<Vec<Origin>, Cancelled> {
        let mut origins: Vec<Origin> = (0..self.ends.len()).map(Origin::of).collect();
        let mut came = vec![WaitCost::default(); self.visits.all.len()];
        let mut together = self.together();
        let (mut places, mut idle) = (ProcessCursors::of(self.ends.len()), Vec::new());
        for number in (0..came.len() as u32).rev() {
            pace.events(1)?;
            let Some(wait) = self.wait(number, &mut places) else {
                continue;
            };
            let elsewhere = self.elsewhere(number, &wait, &mut places, &mut idle);
            pace.events(idle.len())?;
            let cost = came.get(number as usize).copied().unwrap_or_default();
            let cost = cost.with(wait.once, wait.late.is_certain);
            let goes_on = cost.share(elsewhere, wait.length);
            let is_alone = wait.late.waited_by == WaitedBy::One;
            if let Some(origin) = origins.get_mut(wait.late.process as usize) {
                let own = wait.counted(wait.length - elsewhere);
                origin.directly = origin.directly.saturating_add(own);
                origin.held_up = origin.held_up.saturating_add(cost.all - goes_on.all);
                let certainly = cost.certain - goes_on.certain;
                origin.certainly = origin.certainly.saturating_add(certainly);
                if is_alone && 2 * (wait.length - elsewhere) >= wait.length {
                    origin.came_last(wait.late.is_certain);
                }
            }
            if let Some(visit) = self.visit(number).filter(|_| !is_alone)
                && let Some(own) = together.get_mut(visit.operation as usize)
            {
                own.late = Some(wait.late);
                own.due_to_it += u128::from(wait.length - elsewhere);
                own.waited += u128::from(wait.length);
            }
            goes_on.divide(&idle, |to, cost| {
                if let Some(came) = came.get_mut(to as usize) {
                    came.add(cost);
                }
            });
        }
        for own in together {
            if 2 * own.due_to_it >= own.waited
                && let Some(late) = own.late
                && let Some(origin) = origins.get_mut(late.process as usize)
            {
                origin.came_last(late.is_certain);
            }
        }
        Ok(origins)
    }

    /// Room for the waits of each operation, up to the last in which several can wait.
    fn together(&self) -> Vec<WaitedTogether> {
        let visits = self.visits.all.iter();
        let several = visits.filter(|it| it.late.waited_by != WaitedBy::One);
        let operations = several.map(|it| it.operation as usize + 1).max();
        vec![WaitedTogether::default(); operations.unwrap_or(0)]
    }

    /// How long processes worked, and how far they were behind others.
    fn compare(
        &self,
        nodes: &[Option<usize>],
        known: Known,
        pace: &mut Pace<'_>,
    ) -> Result<ComparedProcesses, Cancelled> {
        let meetings = self.meetings(pace)?;
        if known == Known::Some {
            return Ok(ComparedProcesses {
                significant: significant(&[meetings]),
                ..ComparedProcesses::default()
            });
        }
        let working = self.working();
        let idle_times = IdleTimes::of(&working);
        let in_calls = self.in_calls(idle_times.together());
        let significant = significant(&[meetings, idle_times.part_by_part(&working)]);
        Ok(ComparedProcesses {
            work: idle_times.processes(&in_calls),
            hosts: idle_times.hosts(nodes),
            several: idle_times.several(&significant, &in_calls),
            significant,
        })
    }

    /// How long those that met in each operation had worked since they were released from the one
    /// before, in the order in which operations were first no longer waited in.
    fn meetings(&self, pace: &mut Pace<'_>) -> Result<Comparisons, Cancelled> {
        let mut first = vec![u32::MAX; self.visits.operations.len()];
        let mut visits: Vec<(u32, u32)> = Vec::new();
        let all = (0..).zip(&self.visits.all);
        // Who waits for a message meets nobody.
        for (number, visit) in all.filter(|(_, it)| !it.is_apart()) {
            if let Some(first) = first.get_mut(visit.operation as usize) {
                *first = number.min(*first);
                visits.push((*first, number));
            }
        }
        visits.sort_unstable();
        let mut comparisons = Comparisons::of(self.ends.len());
        let mut places = ProcessCursors::of(self.ends.len());
        let mut came: Vec<(u32, i64)> = Vec::new();
        let mut worked: Vec<(u32, f64)> = Vec::new();
        for meeting in visits.chunk_by(|a, b| a.0 == b.0) {
            pace.events(meeting.len())?;
            came.clear();
            let visits = meeting.iter().filter_map(|it| self.visit(it.1));
            came.extend(visits.map(|it| (it.process, it.begin)));
            came.sort_unstable_by_key(|it| (it.0, Reverse(it.1)));
            came.dedup_by_key(|it| it.0);
            worked.clear();
            worked.extend(came.iter().map_while(|&(process, begin)| {
                let released = self.released(process, begin, &mut places);
                (released > i64::MIN).then(|| (process, begin.abs_diff(released) as f64))
            }));
            if worked.len() == came.len() {
                comparisons.meeting(&worked);
            }
        }
        Ok(comparisons)
    }

    /// The number that each of a few processes has held up. The share of a wait that is due to one
    /// follows from those of earlier waits.
    fn reach(&self, few: &[usize], pace: &mut Pace<'_>) -> Result<Vec<Reach>, Cancelled> {
        // Whoever is held up is counted, not how long: seven digits are enough.
        let mut shares = vec![[0.0_f32; FOLLOWED]; self.visits.all.len()];
        let mut waited = vec![vec![[0.0_f64; 2]; self.ends.len()]; few.len()];
        let (mut places, mut idle) = (ProcessCursors::of(self.ends.len()), Vec::new());
        for number in 0..shares.len() as u32 {
            pace.events(1)?;
            let Some(wait) = self.wait(number, &mut places) else {
                continue;
            };
            let elsewhere = self.elsewhere(number, &wait, &mut places, &mut idle) as f64;
            let length = wait.length as f64;
            let counted = wait.once as f64 / length;
            let (mut all, mut due) = (0.0, [0.0_f64; FOLLOWED]);
            for it in &idle {
                let share = shares.get(it.wait as usize).copied().unwrap_or_default();
                all += it.length as f64;
                for (due, share) in due.iter_mut().zip(share) {
                    *due += it.length as f64 * f64::from(share);
                }
            }
            let Some((share, visit)) = shares.get_mut(number as usize).zip(self.visit(number))
            else {
                continue;
            };
            let rows = few.iter().zip(&mut waited);
            for ((&process, waited), (share, due)) in rows.zip(share.iter_mut().zip(due)) {
                let is_late = wait.late.process as usize == process;
                let own = if is_late { length - elsewhere } else { 0.0 };
                let through = if all > 0.0 {
                    elsewhere * (due / all)
                } else {
                    0.0
                };
                *share = ((own + through) / length) as f32;
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
    /// It came last to one more operation, most of the wait in which was due to itself.
    fn came_last(&mut self, is_certain: bool) {
        self.operations += 1;
        self.certain_operations += u64::from(is_certain);
    }

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
