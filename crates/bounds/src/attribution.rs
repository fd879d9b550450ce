//! Which clock it was that stepped.
//!
//! A step shows in every pair that its clock has with another, between the same
//! two stamps of that clock and by the same amount. So for each clock the steps
//! of its pairs are laid over each other: where most of them meet, and fewest
//! pairs that were looked at all the time show nothing, it is that clock that
//! stepped. What this explains is put aside, and the next clock is looked for:
//!
//! ```text
//!  pair 0-1  ----|-----------      clock 1: seen by 2 of its pairs, missed by none
//!  pair 1-2  ----|-----------      clock 0: seen by 1 of its pairs, missed by 1
//!  pair 0-2  ----------------      clock 2: the same
//! ```
//!
//! Any clock can be the one, that of the common time too. Between two clocks
//! alone nobody can tell; then it is the one that is not the reference.

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::relaxation::Relaxation;
use retime_model::{Cancelled, ClockId, Monitor};

/// A step between two clocks.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PairStep {
    pub(super) clocks: [ClockId; 2],
    /// It lies between these stamps of each.
    pub(super) after: [i64; 2],
    pub(super) until: [i64; 2],
    /// The least and the largest rise of what is added to the second clock; or what is added to the
    /// first falls by as much.
    pub(super) rise: (f64, f64),
    /// The amount by which the first dependency after it contradicts those before.
    pub(super) by: f64,
}

/// Two clocks that were compared, between these stamps of each.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ComparedPair {
    pub(super) clocks: [ClockId; 2],
    pub(super) from: [i64; 2],
    pub(super) to: [i64; 2],
}

/// A clock stepped between these stamps.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Stepped {
    pub(super) clock: ClockId,
    pub(super) after: i64,
    pub(super) until: i64,
    /// True if it was set back.
    pub(super) back: bool,
    /// The least size of the step, in ticks.
    pub(super) by: f64,
}

/// Finds which clocks stepped besides what is known of that, unless it is to be given up.
pub(super) fn attribute(
    steps: &[PairStep],
    watched: &[ComparedPair],
    reference: ClockId,
    known: &Relaxation,
    monitor: &dyn Monitor,
) -> Result<Vec<Stepped>, Cancelled> {
    let mut table = Table::new(steps, watched, known);
    let rank = |it: &Suspect| {
        // In doubt it was another clock than the reference.
        let other = it.stepped.clock != reference;
        (it.score, it.seen.len(), other, it.stepped.clock, it.seed)
    };
    let ends = (0..steps.len()).flat_map(|step| steps[step].clocks.map(|clock| (clock, step)));
    let suspects = ends.filter_map(|(clock, step)| table.suspect(clock, step));
    let mut queue: BinaryHeap<_> = suspects.map(|it| rank(&it)).collect();
    while let Some(first) = queue.pop() {
        // A suspect is weighed against all that was seen near it.
        monitor.check()?;
        let Some(found) = table.suspect(first.3, first.4) else {
            continue;
        };
        // What others explained meanwhile speaks no more for this one.
        if rank(&found) < first {
            queue.push(rank(&found));
            continue;
        }
        let other = table.other_end(&found).filter(|it| *it != reference);
        let tied = other.and_then(|it| table.suspect(it, found.seed));
        let tied = tied.filter(|it| it.score == found.score && it.seen == found.seen);
        // Nothing says which of two clocks it was.
        for suspect in std::iter::once(found).chain(tied) {
            table.settle(&suspect);
        }
    }
    Ok(table.settled)
}

/// A clock that may have stepped.
#[derive(Clone, Debug)]
struct Suspect {
    stepped: Stepped,
    /// The step of a pair that made it one.
    seed: usize,
    /// Pairs that saw it, less pairs that did not.
    score: i64,
    /// The steps of pairs that it explains.
    seen: Vec<usize>,
}

/// A step that one pair shows, as evidence against one of its clocks.
#[derive(Clone, Copy)]
struct PairEvidence {
    step: usize,
    after: i64,
    until: i64,
    /// The least and the largest rise of what is added to the clock.
    rise: (f64, f64),
}

impl PairEvidence {
    fn of(number: usize, step: &PairStep, end: usize) -> Self {
        let (low, high) = (step.rise.0.min(step.rise.1), step.rise.0.max(step.rise.1));
        Self {
            step: number,
            after: step.after[end].min(step.until[end]),
            until: step.after[end].max(step.until[end]),
            rise: if end == 1 { (low, high) } else { (-high, -low) },
        }
    }

    fn agrees(&self, other: &Self) -> bool {
        self.rise.0 <= other.rise.1 && other.rise.0 <= self.rise.1
    }
}

/// The evidence against a clock.
#[derive(Clone, Default)]
struct ClockSightings {
    /// Sightings in order of rising starts.
    evidence: Vec<PairEvidence>,
    /// How long the longest of these is.
    longest: u64,
    /// From which stamp to which each of its pairs was watched.
    watched: Vec<(i64, i64)>,
    /// Where it steps, in order and disjoint.
    found: Vec<(i64, i64)>,
}

impl ClockSightings {
    /// The steps of pairs that have a stamp in common with this stretch.
    fn near(&self, after: i64, until: i64) -> impl Iterator<Item = &PairEvidence> {
        let first = after.saturating_sub_unsigned(self.longest);
        let from = self.evidence.partition_point(|it| it.after < first);
        let near = self.evidence[from..].iter();
        let near = near.take_while(move |it| it.after <= until);
        near.filter(move |it| it.until >= after)
    }

    /// True if a step is known in this stretch.
    fn steps(&self, after: i64, until: i64) -> bool {
        let before = self.found.partition_point(|it| it.0 <= until);
        let last = before.checked_sub(1).and_then(|it| self.found.get(it));
        last.is_some_and(|it| it.1 >= after)
    }

    fn step(&mut self, after: i64, until: i64) {
        let place = self.found.partition_point(|it| it.0 < after);
        self.found.insert(place, (after, until));
    }
}

struct Table<'a> {
    steps: &'a [PairStep],
    clocks: Vec<ClockSightings>,
    explained: Vec<bool>,
    settled: Vec<Stepped>,
}

impl<'a> Table<'a> {
    fn new(steps: &'a [PairStep], watched: &[ComparedPair], relaxation: &Relaxation) -> Self {
        let most = steps.iter().flat_map(|it| it.clocks).max();
        let mut clocks = vec![ClockSightings::default(); most.map_or(0, |it| it.as_usize() + 1)];
        for (clock, known) in (0..).map(ClockId).zip(&mut clocks) {
            known.found = relaxation.cuts(clock).to_vec();
        }
        for (number, step) in steps.iter().enumerate() {
            for (end, clock) in step.clocks.iter().enumerate() {
                let evidence = PairEvidence::of(number, step, end);
                let known = &mut clocks[clock.as_usize()];
                known.longest = known.longest.max(evidence.until.abs_diff(evidence.after));
                known.evidence.push(evidence);
            }
        }
        for pair in watched {
            for (end, clock) in pair.clocks.iter().enumerate() {
                if let Some(known) = clocks.get_mut(clock.as_usize()) {
                    known.watched.push((pair.from[end], pair.to[end]));
                }
            }
        }
        for known in &mut clocks {
            known.evidence.sort_by_key(|it| (it.after, it.step));
        }
        let mut table = Self {
            steps,
            clocks,
            explained: Vec::new(),
            settled: Vec::new(),
        };
        // A clock that is known to have been set there is all that a pair of it has seen: it is no
        // sign that the other one was set as well.
        let is_known = |step: usize| {
            let mut ends = steps[step].clocks.into_iter();
            ends.any(|clock| {
                let own = table.evidence_of(clock, step);
                let known = &table.clocks[clock.as_usize()];
                own.is_some_and(|own| known.steps(own.after, own.until))
            })
        };
        table.explained = (0..steps.len()).map(is_known).collect();
        table
    }

    fn evidence_of(&self, clock: ClockId, step: usize) -> Option<PairEvidence> {
        let of = self.steps.get(step)?;
        let end = of.clocks.iter().position(|&it| it == clock)?;
        Some(PairEvidence::of(step, of, end))
    }

    /// A step of a clock just after the start of what one pair saw, and by as much;
    /// `None` if that is explained.
    fn suspect(&self, clock: ClockId, step: usize) -> Option<Suspect> {
        let seed = self
            .evidence_of(clock, step)
            .filter(|it| !self.explained[it.step])?;
        let known = self.clocks.get(clock.as_usize())?;
        let open = known.near(seed.after, seed.after);
        let open = open.filter(|it| !self.explained[it.step] && it.agrees(&seed));
        let mut until = seed.until;
        let mut seen = Vec::new();
        for evidence in open {
            until = until.min(evidence.until);
            seen.push(evidence.step);
        }
        seen.sort_unstable();
        let by = seen.iter().map(|&step| self.steps[step].by);
        let watched = known.watched.iter();
        let watched = watched.filter(|&&(from, to)| from <= seed.after && until <= to);
        let watched = watched.count().max(seen.len());
        Some(Suspect {
            stepped: Stepped {
                clock,
                after: seed.after,
                until,
                back: seed.rise.1 > 0.0,
                by: by.fold(0.0, f64::max),
            },
            seed: step,
            score: 2 * seen.len() as i64 - watched as i64,
            seen,
        })
    }

    /// The other clock of a step that only one pair saw.
    fn other_end(&self, suspect: &Suspect) -> Option<ClockId> {
        let [step] = suspect.seen[..] else {
            return None;
        };
        let clocks = self.steps.get(step)?.clocks;
        clocks.into_iter().find(|&it| it != suspect.stepped.clock)
    }

    /// Lets a clock step, and puts aside what that explains.
    fn settle(&mut self, suspect: &Suspect) {
        let Stepped {
            clock,
            after,
            until,
            ..
        } = suspect.stepped;
        let known = &mut self.clocks[clock.as_usize()];
        if !known.steps(after, until) {
            known.step(after, until);
            self.settled.push(suspect.stepped);
        }
        for &step in &suspect.seen {
            self.explained[step] = true;
        }
        // Where both stepped at once a pair shows the sum, like neither of them.
        let near: Vec<usize> = self.clocks[clock.as_usize()]
            .near(after, until)
            .map(|it| it.step)
            .collect();
        for step in near {
            let both = self.steps[step].clocks.iter().all(|&clock| {
                let own = self.evidence_of(clock, step);
                let known = &self.clocks[clock.as_usize()];
                own.is_some_and(|own| known.steps(own.after, own.until))
            });
            self.explained[step] |= both;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four pairs of the clocks 0 to 3 are watched from 0 to 1000, three of them with clock 2 and two
    /// with clock 1. One pair, 1 and 2, has seen a step between 400 and 600; it is one of clock 2.
    #[test]
    fn what_is_known_of_one_clock_is_no_sign_against_another() {
        let pair = |low: u32, high: u32| [ClockId(low), ClockId(high)];
        let watched = [pair(0, 1), pair(0, 2), pair(1, 2), pair(2, 3)].map(|clocks| ComparedPair {
            clocks,
            from: [0; 2],
            to: [1_000; 2],
        });
        let seen = [PairStep {
            clocks: pair(1, 2),
            after: [400; 2],
            until: [600; 2],
            rise: (90.0, 110.0),
            by: 90.0,
        }];
        let told = |known: &Relaxation| {
            let told = attribute(&seen, &watched, ClockId(0), known, &()).unwrap();
            told.iter().map(|it| it.clock.0).collect::<Vec<_>>()
        };
        let mut known = Relaxation::new(4);
        assert_eq!(told(&known), [1]);
        known.cut(ClockId(2), 450, 500, 100.0);
        assert_eq!(told(&known), [0; 0]);
    }
}
