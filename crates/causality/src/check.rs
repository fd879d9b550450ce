//! The independent check: every dependency against the given times.
//!
//! It knows nothing of how times were corrected. For each receive it takes the
//! send, for each end of a collective the latest begin of the others, and looks
//! at the *latency*, effect minus cause:
//!
//! - negative: the clock condition is **violated**, a proof that clocks disagree;
//! - zero: **tied**, which proves nothing on a clock coarser than the delays;
//! - smaller than the minimal delay between two clocks: **short**.
//!
//! Sources: Rabenseifner 1997, section 3, and Linford 2007, section 3.1, for the
//! clock condition; Rabenseifner 2000, figure 6.3.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::delay::MinimalDelay;
use crate::merge::Merge;
use crate::{Causality, EventNode, Ids, Instance};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Clocks, LocationIndex, Monitor, Place, Ticks, Timestamp};

/// How many of the worst violations are kept.
const WORST_KEPT: usize = 10;

/// The kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependencyKind {
    /// Send before receive.
    Message,
    /// Latest begin of the others before end.
    Collective,
}

/// Counts over dependencies of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// All of them.
    pub total: u64,
    /// The effect is stamped before its cause; reports call that reversed.
    #[serde(rename = "reversed")]
    pub violated: u64,
    /// Cause and effect have one stamp.
    pub tied: u64,
    /// The latency is below the minimal delay (violated ones included), between
    /// different clocks.
    pub short: u64,
    /// Violated, though both ends read the same clock: no map can repair it.
    #[serde(rename = "reversed_within_clock")]
    pub violated_within_clock: u64,
}

/// Counts over the dependencies from one location to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTally {
    /// All of them.
    pub total: u64,
    /// Violated ones.
    pub violated: u64,
    /// Smallest latency seen.
    pub smallest: Ticks,
}

/// A dependency with a latency that is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Violation {
    /// How far the latency falls short of the minimal delay, negated.
    pub slack: Ticks,
    /// Effect minus cause.
    pub latency: Ticks,
    /// The kind of dependency.
    pub kind: DependencyKind,
    /// The cause.
    pub cause: Place,
    /// The effect.
    pub effect: Place,
    /// The time of the cause.
    pub caused_at: Timestamp,
}

/// Result of a check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Check {
    /// Messages.
    pub messages: Tally,
    /// Ends of collectives, each against the latest begin of the others.
    pub collectives: Tally,
    /// One entry per pair of locations.
    pub pairs: FxHashMap<(LocationIndex, LocationIndex), PairTally>,
    /// The worst violated or short dependencies, worst first.
    pub worst: Vec<Violation>,
}

impl Check {
    /// Dependencies whose effect is stamped before its cause.
    pub fn violated(&self) -> u64 {
        self.messages.violated + self.collectives.violated
    }

    /// Dependencies shorter than the minimal delay between different clocks.
    pub fn short(&self) -> u64 {
        self.messages.short + self.collectives.short
    }

    /// Violated dependencies that no map of a clock can repair.
    pub fn violated_within_clock(&self) -> u64 {
        self.messages.violated_within_clock + self.collectives.violated_within_clock
    }

    fn with(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }

    fn add_pair(&mut self, pair: Pair, tally: PairTally) {
        let known = self.pairs.entry(pair);
        known.and_modify(|own| own.add(tally)).or_insert(tally);
    }

    fn keep_worst(&mut self) {
        self.worst.sort_unstable();
        self.worst.truncate(WORST_KEPT);
    }
}

impl Merge for Check {
    fn merge(&mut self, other: Self) {
        self.messages.add(other.messages);
        self.collectives.add(other.collectives);
        for (pair, tally) in other.pairs {
            self.add_pair(pair, tally);
        }
        self.worst.extend(other.worst);
        self.keep_worst();
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.total += other.total;
        self.violated += other.violated;
        self.tied += other.tied;
        self.short += other.short;
        self.violated_within_clock += other.violated_within_clock;
    }
}

impl PairTally {
    fn add(&mut self, other: Self) {
        self.total += other.total;
        self.violated += other.violated;
        self.smallest = self.smallest.min(other.smallest);
    }
}

/// Checks all dependencies at `times`, one stamp per node. Fails only if `monitor` says to
/// give up.
pub fn check(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    times: &[Timestamp],
    monitor: &dyn Monitor,
) -> Result<Check, Cancelled> {
    let checker = Checker {
        causality,
        clocks,
        delay,
        times,
        monitor,
    };
    let locations = (0..causality.nodes().locations()).into_par_iter();
    let messages = locations
        .map(|location| checker.messages(location))
        .try_reduce(Check::default, |a, b| Ok(a.with(b)))?;
    let instances = causality.collectives().instances();
    let blocks: Vec<Ids<Instance>> = instances.chunks(INSTANCES_PER_BLOCK).collect();
    let collectives = blocks
        .into_par_iter()
        .map(|block| checker.collectives(block))
        .try_reduce(Check::default, |a, b| Ok(a.with(b)))?;
    Ok(causality.whole().all_reduce(messages.with(collectives)))
}

/// Collectives checked per parallel task.
const INSTANCES_PER_BLOCK: u32 = 4096;

struct Checker<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    delay: &'a MinimalDelay,
    times: &'a [Timestamp],
    monitor: &'a dyn Monitor,
}

impl Checker<'_> {
    fn messages(&self, location: usize) -> Result<Check, Cancelled> {
        let nodes = self.causality.nodes();
        let mut check = CheckUnderWay::default();
        let to = LocationIndex(location as u32);
        let mut pace = Pace::of(self.monitor);
        for receive in nodes.of(location) {
            pace.event()?;
            if let Some(send) = self.causality.message_source(receive) {
                let from = nodes.location(send);
                let latency = self.latency(send, receive);
                let seen = MetDependency {
                    kind: DependencyKind::Message,
                    from,
                    to,
                    cause: send,
                    effect: receive,
                    latency,
                };
                self.note(&mut check, &seen);
            }
        }
        Ok(check.finish())
    }

    fn collectives(&self, instances: Ids<Instance>) -> Result<Check, Cancelled> {
        let mut check = CheckUnderWay::default();
        let mut pace = Pace::of(self.monitor);
        for instance in instances {
            pace.events(self.causality.collectives().participants(instance).len())?;
            self.collective(instance, &mut check);
        }
        Ok(check.finish())
    }

    fn collective(&self, instance: Instance, check: &mut CheckUnderWay) {
        let nodes = self.causality.nodes();
        let collectives = self.causality.collectives();
        let participants = collectives.participants(instance);
        let mut within_clock = false;
        check.ends.clear();
        let tally = |cause: EventNode, effect: EventNode| {
            let (from, to) = (nodes.location(cause), nodes.location(effect));
            within_clock |= self.clocks.of(from) == self.clocks.of(to);
            check.ends.push((cause, effect));
            self.note(
                check,
                &MetDependency {
                    kind: DependencyKind::Collective,
                    from,
                    to,
                    cause,
                    effect,
                    latency: self.latency(cause, effect),
                },
            );
        };
        let time = |node: EventNode| self.relative(node);
        collectives.latest_causes(instance, 0..participants.len(), time, |place| place, tally);
        match self.delay.of_any_pair() {
            // The latest begin of all is the latest on another clock.
            Some(delay) if !within_clock => {
                self.short_ends(delay, check);
            }
            _ => self.short_collective(instance, check),
        }
    }

    /// Counts ends that come too early after the latest begin, which is on another
    /// clock.
    fn short_ends(&self, delay: Ticks, check: &mut CheckUnderWay) {
        let ends = std::mem::take(&mut check.ends);
        for &(cause, effect) in &ends {
            let slack = self.latency(cause, effect).0.saturating_sub(delay.0);
            self.short_end(cause, effect, slack, check);
        }
        check.ends = ends;
    }

    /// Counts ends that come too early after a begin on another clock.
    fn short_collective(&self, instance: Instance, check: &mut CheckUnderWay) {
        let time = |node: EventNode| self.relative(node);
        let short = |cause, effect, slack| self.short_end(cause, effect, slack, check);
        self.causality
            .tightest_causes(instance, |it| self.clocks.of(it), self.delay, time, short);
    }

    fn short_end(
        &self,
        cause: EventNode,
        effect: EventNode,
        slack: i64,
        check: &mut CheckUnderWay,
    ) {
        if slack < 0 {
            check.sums.collectives.short += 1;
            let kind = DependencyKind::Collective;
            self.violation(check, kind, cause, effect, Ticks(slack));
        }
    }

    fn relative(&self, node: EventNode) -> i64 {
        self.causality.nodes().relative(self.times[node.index()]).0
    }

    fn latency(&self, cause: EventNode, effect: EventNode) -> Ticks {
        Ticks(
            self.times[effect.index()]
                .0
                .wrapping_sub(self.times[cause.index()].0) as i64,
        )
    }

    #[inline]
    fn note(&self, check: &mut CheckUnderWay, seen: &MetDependency) {
        let MetDependency {
            kind,
            from,
            to,
            latency,
            ..
        } = *seen;
        let same_clock = self.clocks.of(from) == self.clocks.of(to);
        let tally = match kind {
            DependencyKind::Message => &mut check.sums.messages,
            DependencyKind::Collective => &mut check.sums.collectives,
        };
        tally.total += 1;
        tally.violated += u64::from(latency.0 < 0);
        tally.tied += u64::from(latency.0 == 0);
        tally.violated_within_clock += u64::from(same_clock && latency.0 < 0);
        let is_message = kind == DependencyKind::Message && !same_clock;
        let least = is_message.then(|| {
            self.causality
                .message_delay(self.delay, seen.cause, seen.effect)
        });
        if let Some(least) = least.filter(|it| latency < *it) {
            tally.short += 1;
            let slack = Ticks(latency.0.saturating_sub(least.0));
            self.violation(check, kind, seen.cause, seen.effect, slack);
        } else if same_clock && latency.0 < 0 {
            self.violation(check, kind, seen.cause, seen.effect, latency);
        }
        let one = PairTally {
            total: 1,
            violated: u64::from(latency.0 < 0),
            smallest: latency,
        };
        check.add((from, to), one);
    }

    fn violation(
        &self,
        check: &mut CheckUnderWay,
        kind: DependencyKind,
        cause: EventNode,
        effect: EventNode,
        slack: Ticks,
    ) {
        // Half of all dependencies may be violated, and ten are shown.
        if slack > check.slack_to_be_kept {
            return;
        }
        let nodes = self.causality.nodes();
        let place = |node: EventNode| Place {
            location: nodes.location(node),
            event: nodes.event(node),
        };
        let latency = self.latency(cause, effect);
        check.sums.worst.push(Violation {
            slack,
            latency,
            kind,
            cause: place(cause),
            effect: place(effect),
            caused_at: self.times[cause.index()],
        });
        if check.sums.worst.len() >= 64 * WORST_KEPT {
            check.keep_worst();
        }
    }
}

/// Pairs of locations that are at hand. A location seldom hears from more others.
const AT_HAND: usize = 64;

/// The check of a part of the dependencies, under way.
struct CheckUnderWay {
    sums: Check,
    /// Tallies of pairs that were met lately, at a place that depends on the pair.
    at_hand: Vec<Option<(Pair, PairTally)>>,
    /// Violations of more slack are none of the worst.
    slack_to_be_kept: Ticks,
    /// Causes and effects of the collective that is looked at.
    ends: Vec<(EventNode, EventNode)>,
}

type Pair = (LocationIndex, LocationIndex);

impl Default for CheckUnderWay {
    fn default() -> Self {
        Self {
            sums: Check::default(),
            at_hand: vec![None; AT_HAND],
            slack_to_be_kept: Ticks(i64::MAX),
            ends: Vec::new(),
        }
    }
}

impl CheckUnderWay {
    #[inline]
    fn add(&mut self, pair: Pair, one: PairTally) {
        let place = (pair.0.0 as usize).wrapping_add(8 * pair.1.0 as usize) % AT_HAND;
        match &mut self.at_hand[place] {
            Some((known, tally)) if *known == pair => tally.add(one),
            other => {
                if let Some((known, tally)) = other.replace((pair, one)) {
                    self.sums.add_pair(known, tally);
                }
            }
        }
    }

    fn keep_worst(&mut self) {
        self.sums.keep_worst();
        if let Some(last) = self.sums.worst.get(WORST_KEPT - 1) {
            self.slack_to_be_kept = last.slack;
        }
    }

    fn finish(mut self) -> Check {
        for (pair, tally) in self.at_hand.into_iter().flatten() {
            self.sums.add_pair(pair, tally);
        }
        self.sums.keep_worst();
        self.sums
    }
}

/// One dependency as met.
struct MetDependency {
    kind: DependencyKind,
    from: LocationIndex,
    to: LocationIndex,
    cause: EventNode,
    effect: EventNode,
    latency: Ticks,
}
