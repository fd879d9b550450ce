//! The clocks as the papers print them: event by event, over an explicit list of
//! dependencies, in exact fractions; one location per clock. Over what communicates, or over
//! all events.
//!
//! `LC(e)  = max( LC(s) + mu over all s -> e, LC(prev) + delta, C(e) )`
//! `LC'(e) = max( LC'(s) + mu over all s -> e, LC'(prev) + delta,
//!                LC'(prev) + gamma (C(e) - C(prev)), C(e) )`
//!
//! Source: Rabenseifner 1997, algorithms 1 to 3; Rabenseifner 2000, algorithms 1 to 4.

use retime::MinimalDelay;
use retime::clock::{CombinedConstants, Control, DegressiveConstants};

use super::oracle::Plain;

/// One clock over one trace.
pub struct Printed<'a> {
    pub plain: &'a Plain,
    pub delay: &'a MinimalDelay,
    /// One for each clock.
    pub distances: Vec<i64>,
    /// True for events at which controllers step; all do where it is empty.
    pub steps: Vec<bool>,
}

/// How many parts a tick has where gamma is a binary fraction.
const PARTS: i128 = 1 << 64;

/// Times with fractions: parts of a tick, of which there are `per_tick`.
pub struct Exact {
    pub values: Vec<i128>,
    /// How many messages were forced on the way that decides each event.
    pub forced: Vec<u32>,
}

/// Times in whole ticks.
pub struct Whole {
    pub values: Vec<i64>,
    /// How many messages were forced on the way that decides each event.
    pub forced: Vec<u32>,
}

impl<'a> Printed<'a> {
    /// One distance for all clocks.
    pub fn of(plain: &'a Plain, delay: &'a MinimalDelay, distance: i64) -> Self {
        let clocks = plain.clock.iter().max().map_or(0, |last| last + 1);
        Self {
            plain,
            delay,
            distances: vec![distance; clocks],
            steps: Vec::new(),
        }
    }

    fn distance(&self, node: usize) -> i64 {
        self.distances[self.plain.clock[node]]
    }

    /// Lamport's counters.
    pub fn lamport(&self) -> Vec<i64> {
        let mut values = vec![0; self.plain.raw.len()];
        self.each(|node, previous, causes| {
            let own = previous.map_or(0, |previous| values[previous] + 1);
            let heard = causes.iter().map(|&(cause, _)| values[cause] + 1).max();
            values[node] = own.max(heard.unwrap_or(0));
        });
        values
    }

    /// The simple logical clock.
    pub fn simple(&self) -> Vec<i64> {
        let mut values = vec![0; self.plain.raw.len()];
        self.each(|node, previous, causes| {
            let own = previous.map_or(i64::MIN, |previous| values[previous] + self.distance(node));
            let heard = causes.iter().map(|&(cause, mu)| values[cause] + mu).max();
            values[node] = own.max(self.plain.raw[node]).max(heard.unwrap_or(i64::MIN));
        });
        values
    }

    /// The controlled clock of a constant gamma, `1 - loss / per_tick`, in fractions.
    pub fn constant(&self, loss: i128, per_tick: i128) -> Exact {
        let count = self.plain.raw.len();
        let (mut values, mut forced) = (vec![0_i128; count], vec![0_u32; count]);
        self.each(|node, previous, causes| {
            let raw = i128::from(self.plain.raw[node]);
            let mut best = (raw * per_tick, 0);
            if let Some(previous) = previous {
                let elapsed = raw - i128::from(self.plain.raw[previous]);
                let kept = values[previous] + elapsed * (per_tick - loss);
                let apart = values[previous] + i128::from(self.distance(node)) * per_tick;
                if kept.max(apart) > best.0 {
                    best = (kept.max(apart), forced[previous]);
                }
            }
            for &(cause, mu) in causes {
                let bound = values[cause] + i128::from(mu) * per_tick;
                if bound > best.0 {
                    best = (bound, forced[cause] + 1);
                }
            }
            (values[node], forced[node]) = best;
        });
        Exact { values, forced }
    }

    /// The controlled clock under any control, in the canonical order, in whole ticks: what
    /// is left of a tick to lose counts on from event to event, until the clock leads no more.
    pub fn controlled(&self, control: Control, ticks_per_second: f64) -> Whole {
        self.whole(control, ticks_per_second, true)
    }

    /// The same of a constant gamma with a tick lost whenever it is due, as in closed form.
    pub fn when_due(&self, gamma: f64) -> Whole {
        self.whole(Control::Constant(gamma), 1.0, false)
    }

    fn whole(&self, control: Control, ticks_per_second: f64, nearest: bool) -> Whole {
        let simple = self.simple();
        let clocks = self.clocks();
        let mut left = vec![0; clocks];
        for &clock in &self.plain.clock {
            left[clock] += 1;
        }
        let mut gammas = Gammas::new(control, clocks, ticks_per_second);
        for clock in (0..clocks).filter(|&clock| left[clock] == 0) {
            gammas.ended(clock);
        }
        let count = self.plain.raw.len();
        let (mut values, mut lost) = (vec![0_i64; count], vec![0_i128; count]);
        let mut forced = vec![0_u32; count];
        self.each(|node, previous, causes| {
            let (clock, raw) = (self.plain.clock[node], self.plain.raw[node]);
            let mut best = (raw, 0, 0);
            if let Some(previous) = previous {
                let elapsed = raw - self.plain.raw[previous];
                let loss = i128::from(elapsed) * lost_parts(gammas.factor(clock));
                let sum = lost[previous] + loss;
                // A tick of a long interval to the nearest, of a short one when it is due.
                let half = if nearest && loss >= PARTS {
                    PARTS / 2
                } else {
                    0
                };
                let ticks = (sum + half).max(0) / PARTS;
                let ticks = (ticks as i64).min(elapsed);
                let kept = values[previous] + elapsed - ticks;
                let apart = values[previous] + self.distance(node);
                let rest = sum - i128::from(ticks) * PARTS;
                for (value, lost) in [(kept, rest), (apart, lost[previous])] {
                    if value > raw && (value, -lost) > (best.0, -best.1) {
                        best = (value, lost, forced[previous]);
                    }
                }
            }
            for &(cause, mu) in causes {
                if values[cause] + mu > best.0 {
                    best = (values[cause] + mu, best.1, forced[cause] + 1);
                }
            }
            (values[node], lost[node], forced[node]) = best;
            if self.steps.get(node).is_none_or(|it| *it) {
                let lead = (best.0 - raw) as f64;
                let simple_lead = (simple[node] - raw) as f64;
                gammas.computed(clock, simple[node] as f64, simple_lead, lead);
            }
            left[clock] -= 1;
            if left[clock] == 0 {
                gammas.ended(clock);
            }
        });
        Whole { values, forced }
    }

    pub fn clocks(&self) -> usize {
        self.plain.clock.iter().max().map_or(0, |last| last + 1)
    }

    /// Goes through all events: of those whose causes are done the one with the smallest
    /// raw time, ties by clock; each with the one before it, and its causes.
    pub fn each(&self, mut visit: impl FnMut(usize, Option<usize>, &[(usize, i64)])) {
        let plain = self.plain;
        let count = plain.raw.len();
        let mut causes = vec![Vec::new(); count];
        for edge in plain.across() {
            let mu = plain.delay(self.delay, edge);
            causes[edge.1.index()].push((edge.0.index(), mu));
        }
        let mut previous = vec![None; count];
        let mut last = vec![None; self.clocks()];
        for node in 0..count {
            previous[node] = last[plain.clock[node]].replace(node);
        }
        let mut done = vec![false; count];
        for _ in 0..count {
            let can_go = |&node: &usize| {
                !done[node]
                    && previous[node].is_none_or(|it| done[it])
                    && causes[node].iter().all(|&(cause, _)| done[cause])
            };
            let next = (0..count).filter(can_go);
            let next = next.min_by_key(|&node| (plain.raw[node], plain.clock[node]));
            let node = next.expect("random programs have no cycles");
            visit(node, previous[node], &causes[node]);
            done[node] = true;
        }
    }
}

/// The loss of a factor of 64 bits.
fn lost_parts(factor: f64) -> i128 {
    let loss = ((1.0 - factor) * 2_f64.powi(64)).round() as u64;
    i128::from(loss.max(1))
}

/// The controllers.
enum Gammas {
    Constant(f64),
    Of1997(DegressiveConstants, f64, Vec<[f64; 3]>),
    Of2000 {
        constants: CombinedConstants,
        /// Of each clock, while it has events: its lead.
        leads: Vec<Option<f64>>,
        /// MAX, and the value and time of its last rise.
        max: (f64, f64, Option<f64>),
    },
}

impl Gammas {
    fn new(control: Control, clocks: usize, ticks_per_second: f64) -> Self {
        match control {
            Control::Constant(gamma) => Self::Constant(gamma),
            Control::Degressive(it) => {
                let init = it.q_init * ticks_per_second;
                Self::Of1997(
                    it,
                    ticks_per_second,
                    vec![[init, init, it.gamma_max]; clocks],
                )
            }
            Control::Combined(constants) => Self::Of2000 {
                constants,
                leads: vec![Some(0.0); clocks],
                max: (0.0, 0.0, None),
            },
        }
    }

    fn factor(&self, clock: usize) -> f64 {
        match self {
            Self::Constant(gamma) => *gamma,
            Self::Of1997(_, _, states) => states[clock][2],
            Self::Of2000 {
                constants,
                leads,
                max,
            } => {
                let all = || leads.iter().flatten().copied();
                let largest = all().fold(f64::MIN, f64::max);
                let x = all().fold(f64::MAX, f64::min) / largest;
                let gamma_b = if constants.b && largest > 0.0 {
                    constants.gamma_max * (1.0 - x * x)
                } else {
                    constants.gamma_max
                };
                let q = leads[clock].unwrap_or(0.0) / max.0.max(1.0);
                let u = ((q - 1.2) / (3.0 - 1.2)).clamp(0.0, 1.0);
                let gamma_c = if constants.c {
                    constants.gamma_max * (1.0 - 3.0 * u * u + 2.0 * u * u * u)
                } else {
                    constants.gamma_max
                };
                gamma_b.min(gamma_c).max(constants.d.unwrap_or(0.0))
            }
        }
    }

    fn computed(&mut self, clock: usize, simple: f64, simple_lead: f64, lead: f64) {
        match self {
            Self::Constant(_) => {}
            Self::Of1997(it, ticks_per_second, states) => {
                let [d, d_controlled, gamma] = &mut states[clock];
                let q_min = it.q_min * *ticks_per_second;
                *d = simple_lead.max(it.q_factor * (*d - q_min) + q_min);
                *d_controlled = lead.max(it.q_factor * (*d_controlled - q_min) + q_min);
                if *d_controlled > it.l_upper * *d {
                    *gamma *= it.gamma_degress;
                } else if *d_controlled < it.l_lower * *d {
                    *gamma = (*gamma / it.gamma_degress).min(it.gamma_max);
                }
            }
            Self::Of2000 {
                constants,
                leads,
                max: (max, risen_to, risen_at),
            } => {
                leads[clock] = Some(lead);
                let since = (simple - *risen_at.get_or_insert(simple)).max(0.0);
                *max = (*risen_to - (1.0 - constants.gamma_max) / 2.0 * since).max(0.0);
                if simple_lead > *max {
                    (*max, *risen_to, *risen_at) = (simple_lead, simple_lead, Some(simple));
                }
            }
        }
    }

    fn ended(&mut self, clock: usize) {
        if let Self::Of2000 { leads, .. } = self {
            leads[clock] = None;
        }
    }
}
