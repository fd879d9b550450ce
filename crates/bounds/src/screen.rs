//! Misread clocks and clocks that stepped, told apart pair by pair.
//!
//! The dependencies between two clocks bound the difference `D` of what is added
//! to them, from both sides, and `D` changes slowly. A scan in order of time
//! keeps the interval in which `D` must lie: it opens at the drift bound and is
//! narrowed by each dependency. One that contradicts the interval founds a
//! rival, an interval of its own; further dependencies then side with one of the
//! two, or with both:
//!
//! ```text
//!  D |          o            the old interval gets on with what follows:
//!    |  - - -  - - - - -     o was misread
//!    |
//!  D |           - - - - -   only the rival does, and many dependencies before
//!    |  - - - -              contradict the rival: a clock stepped
//! ```
//!
//! Where few before contradict a rival that wins, those few were misread.

use retime_model::{Cancelled, ClockId, Monitor};
use retime_numerics::parallel;

use super::attribution::{ComparedPair, PairStep, attribute};
use super::relaxation::Relaxation;
use super::still::{Stretch, moving};
use retime_causality::edges::{EdgeIndex, InOrder};

/// Dependencies on one side that decide.
const ENOUGH: usize = 4;
/// How many of the last dependencies are asked whether a clock stepped.
const RECENT: usize = 256;

/// A dependency between two clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DifferenceBound {
    /// When, on the reference.
    pub(super) at: i64,
    /// Bound of `D`, what is added to the second clock more than to the first.
    pub(super) bound: f64,
    pub(super) is_upper: bool,
    pub(super) edge: EdgeIndex,
}

/// A trace, as the scan has to know it.
pub(super) trait Screened: Sync {
    /// All dependencies.
    fn all(&self) -> &InOrder;
    /// The clock whose time is the common one.
    fn reference(&self) -> ClockId;
    /// How fast what is added to any other may change.
    fn drift(&self) -> f64;
    /// The dependencies between two clocks, by time.
    fn difference_bounds(&self, clocks: [ClockId; 2]) -> Vec<DifferenceBound>;
    /// The stamps of two clocks at the ends of a dependency between them.
    fn stamps(&self, edge: EdgeIndex, clocks: [ClockId; 2]) -> [i64; 2];
}

/// The result of the scan of a pair.
struct Scanned {
    pair: ComparedPair,
    misread: Vec<(EdgeIndex, f64)>,
    steps: Vec<PairStep>,
}

/// Leaves out dependencies that were misread, and lets clocks step where they did. `pairs` are
/// those with dependencies both ways.
pub(super) fn screen(
    trace: &impl Screened,
    pairs: &[[ClockId; 2]],
    relaxation: &mut Relaxation,
    monitor: &dyn Monitor,
) -> Result<(), Cancelled> {
    let mut scanned: Vec<Scanned> = parallel::try_map(pairs, |&clocks| {
        monitor.check()?;
        Ok(scan(trace, clocks))
    })?;
    scanned.sort_by_key(|it| it.pair.clocks);
    for &(edge, by) in scanned.iter().flat_map(|it| &it.misread) {
        relaxation.drop_edge(edge, by);
    }
    let steps: Vec<PairStep> = scanned.iter().flat_map(|it| &it.steps).copied().collect();
    let watched: Vec<ComparedPair> = scanned.iter().map(|it| it.pair).collect();
    let steps = attribute(&steps, &watched, trace.reference(), relaxation, monitor)?;
    // A clock that is set back stands still first; one that is set forward never.
    let back = steps.iter().filter(|it| it.back).map(|it| Stretch {
        clock: it.clock,
        after: it.after,
        until: it.until,
        by: it.by,
    });
    let back: Vec<Stretch> = back.collect();
    let mut moving = moving(trace.all(), &back).into_iter();
    for it in steps {
        let back = if it.back { moving.next() } else { None };
        let (after, until) = back.unwrap_or((it.after, it.until));
        relaxation.cut(it.clock, after, until, it.by);
    }
    Ok(())
}

/// Goes over the dependencies between two clocks.
fn scan(trace: &impl Screened, clocks: [ClockId; 2]) -> Scanned {
    let free = clocks.iter().filter(|&&it| it != trace.reference()).count();
    let mut scan = Scan::new(trace.drift() * free as f64);
    let difference_bounds = trace.difference_bounds(clocks);
    let stamps = |it: &DifferenceBound| trace.stamps(it.edge, clocks);
    let ends = [difference_bounds.first(), difference_bounds.last()];
    let [from, to] = ends.map(|it| it.map_or([0; 2], stamps));
    for reading in difference_bounds {
        scan.add(reading);
    }
    let Findings { misread, steps } = scan.finish();
    let step = |step: ScreenedStep| PairStep {
        clocks,
        after: stamps(&step.after),
        until: stamps(&step.until),
        rise: step.rise,
        by: step.by,
    };
    Scanned {
        pair: ComparedPair { clocks, from, to },
        misread,
        steps: steps.into_iter().map(step).collect(),
    }
}

/// An interval of `D` at a time.
#[derive(Clone, Copy, Debug)]
struct Zone {
    at: i64,
    low: f64,
    high: f64,
}

impl Zone {
    fn of(reading: &DifferenceBound) -> Self {
        let mut zone = Self {
            at: reading.at,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        };
        zone.narrow(reading, 0.0);
        zone
    }

    /// The amount by which a dependency contradicts the interval, which opens by `drift` per tick;
    /// not at all if negative.
    fn contradiction(&self, reading: &DifferenceBound, drift: f64) -> f64 {
        let open = drift * self.at.abs_diff(reading.at) as f64;
        if reading.is_upper {
            self.low - open - reading.bound
        } else {
            reading.bound - self.high - open
        }
    }

    /// Moves on to a later time.
    fn advance(&mut self, at: i64, drift: f64) {
        let open = drift * self.at.abs_diff(at) as f64;
        *self = Self {
            at,
            low: self.low - open,
            high: self.high + open,
        };
    }

    /// Narrows the interval by a dependency at this time or before it.
    fn narrow(&mut self, reading: &DifferenceBound, drift: f64) {
        let open = drift * self.at.abs_diff(reading.at) as f64;
        if reading.is_upper {
            self.high = self.high.min(reading.bound + open);
        } else {
            self.low = self.low.max(reading.bound - open);
        }
    }
}

/// An interval that contradicts the one so far.
struct Rival {
    zone: Zone,
    /// Contradict the old interval.
    members: Vec<DifferenceBound>,
    /// Contradict this one.
    against: usize,
    /// Contradict both.
    strangers: Vec<DifferenceBound>,
    /// The amount by which the first member contradicts.
    by: f64,
}

#[derive(Default)]
struct Findings {
    misread: Vec<(EdgeIndex, f64)>,
    steps: Vec<ScreenedStep>,
}

struct ScreenedStep {
    after: DifferenceBound,
    until: DifferenceBound,
    /// The amount by which `D` rises, at least and at most.
    rise: (f64, f64),
    by: f64,
}

struct Scan {
    drift: f64,
    zone: Option<Zone>,
    rival: Option<Rival>,
    /// The last ones that agree with the zone.
    recent: Vec<DifferenceBound>,
    found: Findings,
}

impl Scan {
    fn new(drift: f64) -> Self {
        Self {
            drift,
            zone: None,
            rival: None,
            recent: Vec::new(),
            found: Findings::default(),
        }
    }

    fn add(&mut self, reading: DifferenceBound) {
        let zone = self.zone.get_or_insert(Zone::of(&reading));
        zone.advance(reading.at, self.drift);
        let by = zone.contradiction(&reading, self.drift);
        let agrees = by <= 0.0;
        if agrees {
            zone.narrow(&reading, self.drift);
            self.remember(reading);
        }
        let Some(rival) = &mut self.rival else {
            if !agrees {
                self.rival = Some(Rival::of(reading, by));
            }
            return;
        };
        rival.zone.advance(reading.at, self.drift);
        let sides = rival.zone.contradiction(&reading, self.drift) <= 0.0;
        match (agrees, sides) {
            (true, false) => rival.against += 1,
            (false, false) => rival.strangers.push(reading),
            (_, true) => rival.zone.narrow(&reading, self.drift),
        }
        if !agrees && sides {
            rival.members.push(reading);
        }
        self.decide();
    }

    fn remember(&mut self, reading: DifferenceBound) {
        if self.recent.len() >= 2 * RECENT {
            self.recent.drain(..RECENT);
        }
        self.recent.push(reading);
    }

    fn decide(&mut self) {
        let Some(rival) = self.rival.take() else {
            return;
        };
        let (for_it, against) = (rival.members.len(), rival.against);
        if for_it >= ENOUGH && for_it > against {
            self.succeed(&rival);
        } else if against >= ENOUGH || rival.strangers.len() >= ENOUGH {
            let by = rival.by;
            self.misread(&rival.members, by);
            self.found_anew(&rival.strangers, by);
        } else {
            self.rival = Some(rival);
        }
    }

    /// The rival becomes the interval: after a step, or since few were misread.
    fn succeed(&mut self, rival: &Rival) {
        let began = rival.members[0].at;
        let contradict = |it: &&DifferenceBound| {
            it.at <= began && rival.zone.contradiction(it, self.drift) > 0.0
        };
        let contradicting: Vec<DifferenceBound> =
            self.recent.iter().filter(contradict).copied().collect();
        match contradicting.last() {
            Some(&after) if contradicting.len() >= ENOUGH => {
                let rise = self.rise(rival, after.at);
                self.recent.retain(|it| it.at > after.at);
                self.found.steps.push(ScreenedStep {
                    after,
                    until: rival.members[0],
                    rise,
                    by: rival.by,
                });
            }
            _ => {
                self.misread(&contradicting, rival.by);
                self.recent.retain(|it| !contradicting.contains(it));
            }
        }
        let mut zone = rival.zone;
        for reading in &self.recent {
            if zone.contradiction(reading, self.drift) <= 0.0 {
                zone.narrow(reading, self.drift);
            }
        }
        self.zone = Some(zone);
        self.recent.extend(&rival.members);
        self.misread(&rival.strangers, rival.by);
    }

    /// From what held up to a moment to what the rival says.
    fn rise(&self, rival: &Rival, until: i64) -> (f64, f64) {
        let mut before = Zone {
            at: rival.zone.at,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        };
        for reading in self.recent.iter().filter(|it| it.at <= until) {
            before.narrow(reading, self.drift);
        }
        (rival.zone.low - before.high, rival.zone.high - before.low)
    }

    /// Looks at bounds that agreed with neither side, which may agree with each other.
    fn found_anew(&mut self, strangers: &[DifferenceBound], by: f64) {
        let Some((first, others)) = strangers.split_first() else {
            return;
        };
        let mut rival = Rival::of(*first, by);
        for reading in others {
            rival.zone.advance(reading.at, self.drift);
            if rival.zone.contradiction(reading, self.drift) <= 0.0 {
                rival.zone.narrow(reading, self.drift);
                rival.members.push(*reading);
            } else {
                self.found.misread.push((reading.edge, by));
            }
        }
        self.rival = Some(rival);
    }

    fn misread(&mut self, difference_bounds: &[DifferenceBound], by: f64) {
        let misread = difference_bounds.iter().map(|reading| (reading.edge, by));
        self.found.misread.extend(misread);
    }

    /// A rival that is undecided at the end is left to whoever sees all clocks.
    fn finish(self) -> Findings {
        self.found
    }
}

impl Rival {
    fn of(reading: DifferenceBound, by: f64) -> Self {
        Self {
            zone: Zone::of(&reading),
            members: vec![reading],
            against: 0,
            strangers: Vec::new(),
            by,
        }
    }
}
