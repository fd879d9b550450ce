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

use super::relaxation::Relaxation;
use super::screen::Screened;
use crate::clocks::ClockId;

/// A step between two clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairStep {
    pub(super) clocks: [ClockId; 2],
    /// It lies between these stamps of each.
    pub(super) after: [i64; 2],
    pub(super) until: [i64; 2],
    /// What is added to the second clock rises by at least and at most this,
    /// or what is added to the first falls by as much.
    pub(super) rise: (f64, f64),
    /// By how much the first dependency after it contradicts those before.
    pub(super) by: f64,
}

/// Two clocks that were compared, between these stamps of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    pub(super) clocks: [ClockId; 2],
    pub(super) from: [i64; 2],
    pub(super) to: [i64; 2],
}

/// Finds which clocks stepped, and lets them.
pub(super) fn attribute(
    steps: &[PairStep],
    watched: &[Watched],
    trace: &impl Screened,
    relaxation: &mut Relaxation,
) {
    let reference = trace.reference();
    let Some(clocks) = steps.iter().flat_map(|it| it.clocks).max() else {
        return;
    };
    let mut table = Table::new(clocks.as_usize() + 1, steps, watched, relaxation);
    let mut best: Vec<Option<Suspect>> = table.every(|_| true);
    loop {
        let suspects = best.iter().flatten();
        // In doubt it was another clock than the reference.
        let key = |it: &&Suspect| (it.score, it.seen.len(), it.clock != reference);
        let Some(found) = suspects.max_by_key(key).cloned() else {
            return;
        };
        let other = table.other_end(&found);
        let tied = other.filter(|it| *it != reference && found.seen.len() == 1);
        let tied = tied.and_then(|it| best.get(it.as_usize())?.clone());
        table.settle(&found, trace, relaxation);
        // Nothing says which of two clocks it was.
        if let Some(other) = tied.filter(|it| it.score == found.score && it.seen == found.seen) {
            table.settle(&other, trace, relaxation);
        }
        let outdated = |it: &Suspect| it.seen.iter().any(|&step| table.explained[step]);
        let stale: Vec<bool> = best
            .iter()
            .map(|it| it.as_ref().is_some_and(outdated))
            .collect();
        let fresh = table.every(|clock| stale[clock]);
        for ((best, fresh), stale) in best.iter_mut().zip(fresh).zip(stale) {
            if stale {
                *best = fresh;
            }
        }
    }
}

/// A clock that may have stepped.
#[derive(Clone, Debug)]
struct Suspect {
    clock: ClockId,
    /// Pairs that saw it, less pairs that did not.
    score: i64,
    /// The steps of pairs that it explains.
    seen: Vec<usize>,
    after: i64,
    until: i64,
    /// Whether it was set back.
    back: bool,
}

/// What one of its pairs says about a clock.
#[derive(Clone, Copy)]
struct Sighting {
    step: usize,
    after: i64,
    until: i64,
    /// What is added to the clock rises by this.
    rise: (f64, f64),
}

impl Sighting {
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

struct Table<'a> {
    steps: &'a [PairStep],
    /// By clock.
    sightings: Vec<Vec<Sighting>>,
    /// By clock from which stamp to which each of its pairs was watched.
    watched: Vec<Vec<(i64, i64)>>,
    explained: Vec<bool>,
    /// Where clocks are known or found to step.
    found: Vec<Vec<(i64, i64)>>,
}

impl<'a> Table<'a> {
    fn new(clocks: usize, steps: &'a [PairStep], watched: &[Watched], known: &Relaxation) -> Self {
        let known = |clock: usize| known.cuts(ClockId(clock as u32)).to_vec();
        let mut table = Self {
            steps,
            sightings: vec![Vec::new(); clocks],
            watched: vec![Vec::new(); clocks],
            explained: vec![false; steps.len()],
            found: (0..clocks).map(known).collect(),
        };
        for (number, step) in steps.iter().enumerate() {
            for (end, clock) in step.clocks.iter().enumerate() {
                table.sightings[clock.as_usize()].push(Sighting::of(number, step, end));
            }
        }
        for pair in watched {
            for (end, clock) in pair.clocks.iter().enumerate() {
                if let Some(of) = table.watched.get_mut(clock.as_usize()) {
                    of.push((pair.from[end], pair.to[end]));
                }
            }
        }
        table
    }

    /// The best explanation that each of the wanted clocks has to offer.
    fn every(&self, wanted: impl Fn(usize) -> bool + Sync) -> Vec<Option<Suspect>> {
        let clocks = 0..self.sightings.len();
        let suspect = |clock: usize| wanted(clock).then(|| self.suspect(clock)).flatten();
        clocks.map(suspect).collect()
    }

    fn suspect(&self, clock: usize) -> Option<Suspect> {
        let open = self.sightings[clock].iter();
        let open: Vec<Sighting> = open
            .filter(|it| !self.explained[it.step])
            .copied()
            .collect();
        let of = |seed: &Sighting| self.around(clock, seed, &open);
        open.iter()
            .map(of)
            .max_by_key(|it| (it.score, it.seen.len()))
    }

    /// A step just after the start of a sighting, by as much.
    fn around(&self, clock: usize, seed: &Sighting, open: &[Sighting]) -> Suspect {
        let meets = |it: &&Sighting| it.after <= seed.after && seed.after <= it.until;
        let seen = open.iter().filter(|it| meets(it) && it.agrees(seed));
        let until = seen.clone().map(|it| it.until).min();
        let until = until.unwrap_or(seed.until);
        let seen: Vec<usize> = seen.map(|it| it.step).collect();
        let watched = self.watched[clock].iter();
        let watched = watched.filter(|&&(from, to)| from <= seed.after && until <= to);
        let watched = watched.count().max(seen.len());
        Suspect {
            clock: ClockId(clock as u32),
            score: 2 * seen.len() as i64 - watched as i64,
            seen,
            after: seed.after,
            until,
            back: seed.rise.1 > 0.0,
        }
    }

    /// The other clock of a step that only one pair saw.
    fn other_end(&self, suspect: &Suspect) -> Option<ClockId> {
        let step = self.steps.get(*suspect.seen.first()?)?;
        step.clocks.into_iter().find(|&it| it != suspect.clock)
    }

    /// Lets a clock step, and puts aside what that explains.
    fn settle(&mut self, suspect: &Suspect, trace: &impl Screened, relaxation: &mut Relaxation) {
        let by = suspect.seen.iter().map(|&step| self.steps[step].by);
        let by = by.fold(0.0, f64::max);
        let clock = suspect.clock.as_usize();
        let (mut after, mut until) = (suspect.after, suspect.until);
        if !self.is_found(clock, after, until) {
            if suspect.back {
                (after, until) = trace.moving(suspect.clock, after, until);
            }
            self.found[clock].push((after, until));
            relaxation.cut(suspect.clock, after, until, by);
        }
        for &step in &suspect.seen {
            self.explained[step] = true;
        }
        // Where both stepped at once a pair shows the sum, like neither of them.
        for own in 0..self.sightings[clock].len() {
            let Sighting { step, .. } = self.sightings[clock][own];
            let both = (0..2).all(|end| {
                let it = Sighting::of(step, &self.steps[step], end);
                let clock = self.steps[step].clocks[end];
                self.is_found(clock.as_usize(), it.after, it.until)
            });
            self.explained[step] |= both;
        }
    }

    fn is_found(&self, clock: usize, after: i64, until: i64) -> bool {
        let mut found = self.found[clock].iter();
        found.any(|&(start, end)| start <= until && after <= end)
    }
}
