//! The independent check: every dependency against the given times.
//!
//! It knows nothing of how times were corrected. For each receive it takes the
//! send, for each end of a collective the latest begin of the others, and looks
//! at the *latency*, effect minus cause:
//!
//! - negative: **reversed**, a proof that clocks disagree;
//! - zero: **tied**, which proves nothing on a clock coarser than the delays;
//! - smaller than the minimal delay between two clocks: **short**.
//!
//! Sources: Rabenseifner 1997, section 3, and Linford 2007, section 3.1, for the
//! clock condition; Rabenseifner 2000, figure 6.3.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Causality;
use crate::clocks::Clocks;
use crate::delay::MinimalDelay;
use retime_model::{LocationIndex, Place, Ticks, Timestamp};

/// How many of the worst violations are kept.
const WORST_KEPT: usize = 10;

/// What kind of dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependencyKind {
    /// Send before receive.
    Message,
    /// Latest begin of the others before end.
    Collective,
}

/// Counts over dependencies of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All of them.
    pub total: u64,
    /// The effect is stamped before its cause.
    pub reversed: u64,
    /// Cause and effect have one stamp.
    pub tied: u64,
    /// The latency is below the minimal delay (reversed ones included), between
    /// different clocks.
    pub short: u64,
    /// Reversed, though both ends read the same clock: no map can repair it.
    pub reversed_within_clock: u64,
}

/// Counts over the dependencies from one location to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairTally {
    /// All of them.
    pub total: u64,
    /// Reversed ones.
    pub reversed: u64,
    /// Smallest latency seen.
    pub smallest: Ticks,
}

/// A dependency with a latency that is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// How far the latency falls short of the minimal delay, negated.
    pub slack: Ticks,
    /// Effect minus cause.
    pub latency: Ticks,
    /// What kind.
    pub kind: DependencyKind,
    /// The cause.
    pub cause: Place,
    /// The effect.
    pub effect: Place,
}

/// Result of a check.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// Messages.
    pub messages: Tally,
    /// Ends of collectives, each against the latest begin of the others.
    pub collectives: Tally,
    /// By pair of locations.
    pub pairs: FxHashMap<(LocationIndex, LocationIndex), PairTally>,
    /// The worst reversed or short dependencies, worst first.
    pub worst: Vec<Violation>,
}

impl Check {
    /// Dependencies whose effect is stamped before its cause.
    pub fn reversed(&self) -> u64 {
        self.messages.reversed + self.collectives.reversed
    }

    /// Dependencies shorter than the minimal delay between different clocks.
    pub fn short(&self) -> u64 {
        self.messages.short + self.collectives.short
    }

    /// Reversed dependencies that no map of a clock can repair.
    pub fn reversed_within_clock(&self) -> u64 {
        self.messages.reversed_within_clock + self.collectives.reversed_within_clock
    }

    fn merge(mut self, other: Self) -> Self {
        self.messages.add(other.messages);
        self.collectives.add(other.collectives);
        for (pair, tally) in other.pairs {
            self.pairs
                .entry(pair)
                .and_modify(|own| own.add(tally))
                .or_insert(tally);
        }
        self.worst.extend(other.worst);
        self.keep_worst();
        self
    }

    fn keep_worst(&mut self) {
        self.worst.sort_unstable();
        self.worst.truncate(WORST_KEPT);
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.total += other.total;
        self.reversed += other.reversed;
        self.tied += other.tied;
        self.short += other.short;
        self.reversed_within_clock += other.reversed_within_clock;
    }
}

impl PairTally {
    fn add(&mut self, other: Self) {
        self.total += other.total;
        self.reversed += other.reversed;
        self.smallest = self.smallest.min(other.smallest);
    }
}

/// Checks all dependencies at `times`, one stamp per node.
pub fn check(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    times: &[Timestamp],
) -> Check {
    let checker = Checker {
        causality,
        clocks,
        delay,
        times,
    };
    let locations = (0..causality.nodes().locations()).into_par_iter();
    let messages = locations
        .map(|location| checker.messages(location))
        .reduce(Check::default, Check::merge);
    let instances = causality.collectives().instances().len() as u32;
    let blocks = (0..instances.div_ceil(INSTANCES_PER_BLOCK)).into_par_iter();
    let collectives = blocks
        .map(|block| checker.collectives(block, instances))
        .reduce(Check::default, Check::merge);
    messages.merge(collectives)
}

/// Collectives checked per parallel task.
const INSTANCES_PER_BLOCK: u32 = 4096;

struct Checker<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    delay: &'a MinimalDelay,
    times: &'a [Timestamp],
}

impl Checker<'_> {
    fn messages(&self, location: usize) -> Check {
        let nodes = self.causality.nodes();
        let mut check = Check::default();
        let to = LocationIndex(location as u32);
        for receive in nodes.of(location) {
            if let Some(send) = self.causality.message_source(receive) {
                let from = nodes.location(send);
                let latency = self.latency(send, receive);
                let seen = Seen {
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
        check.keep_worst();
        check
    }

    fn collectives(&self, block: u32, instances: u32) -> Check {
        let mut check = Check::default();
        let first = block * INSTANCES_PER_BLOCK;
        for instance in first..instances.min(first + INSTANCES_PER_BLOCK) {
            self.collective(instance, &mut check);
        }
        check.keep_worst();
        check
    }

    fn collective(&self, instance: u32, check: &mut Check) {
        let nodes = self.causality.nodes();
        let collectives = self.causality.collectives();
        let slots = collectives.slots(instance);
        let time = |node: u32| nodes.relative(self.times[node as usize]).0;
        let tally = |cause: u32, effect: u32, check: &mut Check| {
            let (from, to) = (nodes.location(cause), nodes.location(effect));
            let latency = self.latency(cause, effect);
            self.note(
                check,
                &Seen {
                    kind: DependencyKind::Collective,
                    from,
                    to,
                    cause,
                    effect,
                    latency,
                },
            );
        };
        collectives.latest_causes(
            instance,
            0..slots.len(),
            time,
            |place| place,
            |cause, effect| {
                tally(cause, effect, check);
            },
        );
        self.short_collective(instance, check);
    }

    /// Counts ends that come too early after a begin on another clock.
    fn short_collective(&self, instance: u32, check: &mut Check) {
        self.causality.tightest_causes(
            instance,
            self.clocks,
            self.delay,
            |node| self.relative(node),
            |cause, effect, slack| {
                if slack < 0 {
                    check.collectives.short += 1;
                    self.violation(
                        check,
                        DependencyKind::Collective,
                        cause,
                        effect,
                        Ticks(slack),
                    );
                }
            },
        );
    }

    fn relative(&self, node: u32) -> i64 {
        self.causality.nodes().relative(self.times[node as usize]).0
    }

    fn latency(&self, cause: u32, effect: u32) -> Ticks {
        Ticks(
            self.times[effect as usize]
                .0
                .wrapping_sub(self.times[cause as usize].0) as i64,
        )
    }

    #[inline]
    fn note(&self, check: &mut Check, seen: &Seen) {
        let Seen {
            kind,
            from,
            to,
            latency,
            ..
        } = *seen;
        let same_clock = self.clocks.of(from) == self.clocks.of(to);
        let tally = match kind {
            DependencyKind::Message => &mut check.messages,
            DependencyKind::Collective => &mut check.collectives,
        };
        tally.total += 1;
        tally.reversed += u64::from(latency.0 < 0);
        tally.tied += u64::from(latency.0 == 0);
        tally.reversed_within_clock += u64::from(same_clock && latency.0 < 0);
        let slack = Ticks(latency.0 - self.delay.between(from, to).0);
        if kind == DependencyKind::Message && !same_clock && slack.0 < 0 {
            tally.short += 1;
            self.violation(check, kind, seen.cause, seen.effect, slack);
        } else if same_clock && latency.0 < 0 {
            self.violation(check, kind, seen.cause, seen.effect, latency);
        }
        let one = PairTally {
            total: 1,
            reversed: u64::from(latency.0 < 0),
            smallest: latency,
        };
        check
            .pairs
            .entry((from, to))
            .and_modify(|pair| pair.add(one))
            .or_insert(one);
    }

    fn violation(
        &self,
        check: &mut Check,
        kind: DependencyKind,
        cause: u32,
        effect: u32,
        slack: Ticks,
    ) {
        let nodes = self.causality.nodes();
        let place = |node: u32| Place {
            location: nodes.location(node),
            event: nodes.event(node),
        };
        let latency = self.latency(cause, effect);
        check.worst.push(Violation {
            slack,
            latency,
            kind,
            cause: place(cause),
            effect: place(effect),
        });
        if check.worst.len() >= 64 * WORST_KEPT {
            check.keep_worst();
        }
    }
}

/// One dependency as met.
struct Seen {
    kind: DependencyKind,
    from: LocationIndex,
    to: LocationIndex,
    cause: u32,
    effect: u32,
    latency: Ticks,
}
