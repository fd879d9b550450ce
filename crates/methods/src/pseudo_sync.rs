//! Liu's pseudo-synchronisation: each clock as late as the base clock allows.
//!
//! No message arrives before it was sent. So what the fastest message from the
//! base clock to clock `i` seems to have taken is the most that clock `i` can be
//! ahead, its *pseudo-shift*; it is subtracted from all stamps of the clock:
//!
//! ```text
//! S'_i  = min over messages base -> i of  received - sent - minimal delay
//! q_ij  = min over messages i -> j of  (received - S'_j) - (sent - S'_i) - minimal delay
//! S''_j = S'_j + min over i of  q_ij    (where negative; of q_ij and q_ji only the smaller counts)
//! ```
//!
//! This takes one pass over the messages. Clocks come out ahead of the truth by
//! the fastest delay, less what is given as minimal delay. The second step is
//! not transitive: what moves clock `j` can violate messages from `j` on, and
//! nothing looks at them again. In the paper's own Tables 4, 6 and 7 a message
//! from clock 5 to clock 6 stays violated by 0.0870 s.
//!
//! The *closure* repeats the step until nothing moves: the shortest paths from
//! the base with the fastest apparent delays as lengths. It leaves no message
//! violated, whatever its ends, or proves by a cycle that constant shifts cannot
//! do it.
//!
//! Source: Liu, A Method of Fast Synchronizing Asynchronous Clocks in Distributed
//! Applications, sections 4.1 to 4.3; the base clock is host 1 there.
//!
//! ```
//! use retime_methods::pseudo_synchronisation;
//! use retime::{ClockId, Edge, Edges};
//! let clock = ClockId;
//! // Clock 1 is 50 ahead of clock 0, and clock 2 is 20 behind it.
//! let edges = Edges::new(
//!     vec![
//!         Edge::message(clock(0), 100, clock(1), 160), // took 10
//!         Edge::message(clock(0), 100, clock(2), 120), // took 40
//!         Edge::message(clock(1), 200, clock(2), 135), // took 5
//!     ],
//!     vec![Some((100, 100)), Some((160, 200)), Some((120, 135))],
//! );
//! let estimate = pseudo_synchronisation(&edges, |_| 0, false, clock(0), &())?;
//! let added = |clock: usize| estimate.offsets[clock].as_ref().unwrap().at(0);
//! // 40 for the fastest from the base to clock 2, but then the last message would
//! // arrive at 115, 25 before it was sent at 140: clock 2 is moved by as much.
//! assert_eq!([added(0), added(1), added(2)], [0.0, -60.0, -20.0 + 25.0]);
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use retime::Pace;
use retime::edges::{Edge, Edges};
use retime::estimate::{Estimate, NoEstimate, Offset};
use retime::pipeline::{Estimator, Input, Options, Unsolved};
use retime::{Cancelled, ClockId, Monitor, Ticks};

/// Liu's pseudo-synchronisation as a method.
#[derive(Clone, Copy, Debug)]
pub struct PseudoSync {
    /// True if shifts are adjusted until no message is violated.
    pub closure: bool,
}

impl Estimator for PseudoSync {
    fn name(&self) -> &'static str {
        if self.closure {
            "pseudo-sync-closure"
        } else {
            "pseudo-sync"
        }
    }

    fn help(&self) -> &'static str {
        if self.closure {
            "Pseudo-synchronisation, adjusted until no message is violated"
        } else {
            "Liu's pseudo-synchronisation: clocks shifted by the fastest messages from the \
             reference, adjusted once"
        }
    }

    fn describe(&self, _: &Options) -> &'static str {
        if self.closure {
            "closure of pseudo-synchronisation"
        } else {
            "pseudo-synchronisation"
        }
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let (reference, monitor) = (input.reference, input.problem.monitor);
        let least = input.least();
        Ok(pseudo_synchronisation(
            input.edges,
            least,
            self.closure,
            reference,
            monitor,
        )?)
    }
}

/// Shifts all clocks against `reference`, the base clock, by constants.
///
/// `least` is the minimal delay of a dependency in ticks. Other clocks
/// without any dependency keep their time. Of collectives `edges` has only the dependencies
/// that are tightest at the times it was collected by; collect again at the
/// corrected times to see whether others are violated.
///
/// # Errors
///
/// [`NoEstimate::OneDirection`] or [`NoEstimate::Unrelated`] where no chain of
/// messages leads from the base to a clock; [`NoEstimate::Missing`] without
/// `closure` where one does, but no message comes from the base itself;
/// [`NoEstimate::Infeasible`] with `closure` where clocks drift so far apart that
/// no constants satisfy the messages along a cycle of clocks.
pub fn pseudo_synchronisation(
    edges: &Edges,
    least: impl Fn(&Edge) -> i64,
    closure: bool,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Estimate, NoEstimate> {
    let fastest = Fastest::of(edges, least, monitor)?;
    fastest.refuse_unreachable(reference)?;
    let shifts = if closure {
        fastest.closed(reference, monitor)?
    } else {
        fastest.adjusted(reference)?
    };
    let offset = |shift: Option<i128>| shift.map(|shift| Offset::constant(-shift as f64));
    Ok(Estimate {
        offsets: shifts.into_iter().map(offset).collect(),
        reference,
    })
}

/// The time that the fastest message of each ordered pair of clocks seems to have taken beyond its
/// minimal delay.
#[derive(Clone, Debug)]
pub(crate) struct Fastest {
    clocks: usize,
    of: BTreeMap<(ClockId, ClockId), i128>,
}

/// The shift of each clock; `None` for clocks other than the base without dependencies.
pub(crate) type Shifts = Vec<Option<i128>>;

impl Fastest {
    /// Nothing is known yet of so many clocks.
    pub(crate) fn new(clocks: usize) -> Self {
        Self {
            clocks,
            of: BTreeMap::new(),
        }
    }

    /// Takes up a message that seems to have taken `took` beyond its minimal delay; true if no
    /// other one between these clocks was as fast.
    pub(crate) fn add(&mut self, from: ClockId, to: ClockId, took: i128) -> bool {
        let fastest = self.of.entry((from, to)).or_insert(i128::MAX);
        let is_faster = took < *fastest;
        *fastest = took.min(*fastest);
        is_faster
    }

    fn of(
        edges: &Edges,
        least: impl Fn(&Edge) -> i64,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let mut pace = Pace::of(monitor);
        let clocks = edges.clocks();
        let mut found = Self::new(clocks);
        let exists = |clock: ClockId| clock.as_usize() < clocks;
        let known = |edge: &&Edge| exists(edge.from) && exists(edge.to);
        for edge in edges.all().iter().filter(known) {
            pace.event()?;
            let took = i128::from(edge.received) - i128::from(edge.sent) - i128::from(least(edge));
            found.add(edge.from, edge.to, took);
        }
        Ok(found)
    }

    /// The pseudo-shifts with their one adjustment, as printed.
    fn adjusted(&self, base: ClockId) -> Result<Shifts, NoEstimate> {
        self.refuse_unshifted(base)?;
        Ok(self.known(base))
    }

    /// Fails if the base sends no message to one of the clocks that have any.
    pub(crate) fn refuse_unshifted(&self, base: ClockId) -> Result<(), NoEstimate> {
        let first = self.direct(base);
        let lacks = |clock: &ClockId| first[clock.as_usize()].is_none();
        match self.related().into_iter().filter(lacks).count() {
            0 => Ok(()),
            lacking => Err(NoEstimate::Missing(format!(
                "as printed, pseudo-synchronisation needs a message from the base clock to each \
                 other clock, and {lacking} of them {} none; its closure also goes through other \
                 clocks",
                if lacking == 1 { "gets" } else { "get" },
            ))),
        }
    }

    /// The pseudo-shifts with their one adjustment, of the clocks that have one.
    pub(crate) fn known(&self, base: ClockId) -> Shifts {
        let first = self.direct(base);
        let mut shifts = first.clone();
        for &(from, to) in self.of.keys() {
            let violation = self.violation(&first, from, to);
            let back = self.violation(&first, to, from);
            let counts = violation < back || violation == back && to < from;
            if from != base && to != base && violation < 0 && counts {
                let adjusted = first[to.as_usize()].map(|shift| shift + violation);
                let shift = &mut shifts[to.as_usize()];
                *shift = adjusted.min(*shift);
            }
        }
        shifts
    }

    /// The shifts by the messages from the base alone.
    fn direct(&self, base: ClockId) -> Shifts {
        let mut shifts = vec![None; self.clocks];
        let from_base = (base, ClockId(0))..=(base, ClockId(u32::MAX));
        for (&(_, clock), &took) in self.of.range(from_base) {
            shifts[clock.as_usize()] = Some(took);
        }
        if let Some(shift) = shifts.get_mut(base.as_usize()) {
            *shift = Some(0);
        }
        shifts
    }

    /// The clocks that have dependencies.
    fn related(&self) -> BTreeSet<ClockId> {
        self.of.keys().flat_map(|&(from, to)| [from, to]).collect()
    }

    /// How far the fastest message of a pair is violated; 0 if none is.
    fn violation(&self, shifts: &Shifts, from: ClockId, to: ClockId) -> i128 {
        let ends = (shifts[from.as_usize()], shifts[to.as_usize()]);
        match (self.of.get(&(from, to)), ends) {
            (Some(took), (Some(from), Some(to))) => (took + from - to).min(0),
            _ => 0,
        }
    }

    /// The shortest paths from the base.
    pub(crate) fn closed(
        &self,
        base: ClockId,
        monitor: &dyn Monitor,
    ) -> Result<Shifts, NoEstimate> {
        let mut pace = Pace::of(monitor);
        let mut shifts = vec![None; self.clocks];
        let mut previous = vec![None; self.clocks];
        if let Some(shift) = shifts.get_mut(base.as_usize()) {
            *shift = Some(0);
        }
        // A path that visits no clock twice has fewer steps than there are clocks;
        // what still moves after that lies behind a cycle.
        for _ in 0..=self.clocks {
            pace.events(self.of.len())?;
            let mut moved = false;
            for (&(from, to), took) in &self.of {
                let Some(through) = shifts[from.as_usize()].map(|shift: i128| shift + took) else {
                    continue;
                };
                if shifts[to.as_usize()].is_none_or(|shift| through < shift) {
                    shifts[to.as_usize()] = Some(through);
                    previous[to.as_usize()] = Some(from);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
            if let Some(cycle) = cycle_of(&previous) {
                return Err(self.infeasible(cycle));
            }
        }
        Ok(shifts)
    }

    fn infeasible(&self, cycle: Vec<ClockId>) -> NoEstimate {
        let next = cycle.iter().cycle().skip(1);
        let took = cycle
            .iter()
            .zip(next)
            .map(|(&from, &to)| self.of.get(&(from, to)));
        let missed = -took.flatten().sum::<i128>();
        NoEstimate::Infeasible(cycle, Ticks(i64::try_from(missed).unwrap_or(i64::MAX)))
    }

    /// Fails if messages lead from the base to some of the clocks only.
    pub(crate) fn refuse_unreachable(&self, base: ClockId) -> Result<(), NoEstimate> {
        let mut reached = vec![false; self.clocks];
        let mut ahead = vec![base];
        while let Some(clock) = ahead.pop() {
            match reached.get_mut(clock.as_usize()) {
                Some(reached) if !*reached => *reached = true,
                _ => continue,
            }
            let from_it = (clock, ClockId(0))..=(clock, ClockId(u32::MAX));
            ahead.extend(self.of.range(from_it).map(|(&(_, to), _)| to));
        }
        let is_reached = |clock: ClockId| reached[clock.as_usize()];
        let lost: Vec<ClockId> = self
            .related()
            .into_iter()
            .filter(|&clock| !is_reached(clock))
            .collect();
        let enters = |&&(from, to): &&(ClockId, ClockId)| !is_reached(from) && is_reached(to);
        match self.of.keys().find(enters) {
            _ if lost.is_empty() => Ok(()),
            Some(&(from, to)) => Err(NoEstimate::OneDirection(from, to)),
            None => Err(NoEstimate::Unrelated(lost)),
        }
    }
}

/// A cycle in "comes after", in the direction of messages and from its smallest
/// clock on.
fn cycle_of(previous: &[Option<ClockId>]) -> Option<Vec<ClockId>> {
    let before = |clock: ClockId| previous.get(clock.as_usize()).copied().flatten();
    // By clock, the walk that met it first.
    let mut met = vec![None; previous.len()];
    for start in (0..previous.len() as u32).map(ClockId) {
        let mut clock = start;
        while met[clock.as_usize()].is_none() {
            met[clock.as_usize()] = Some(start);
            match before(clock) {
                Some(earlier) => clock = earlier,
                None => break,
            }
        }
        if met[clock.as_usize()] != Some(start) || before(clock).is_none() {
            continue;
        }
        let mut cycle: Vec<ClockId> = std::iter::successors(Some(clock), |&at| before(at))
            .skip(1)
            .take_while(|&at| at != clock)
            .collect();
        cycle.push(clock);
        cycle.reverse();
        let smallest = cycle.iter().enumerate().min_by_key(|(_, clock)| **clock);
        let first = smallest.map_or(0, |(at, _)| at);
        cycle.rotate_left(first);
        return Some(cycle);
    }
    None
}
