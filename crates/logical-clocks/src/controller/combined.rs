//! The controllers A to D of 2000, in any combination.
//!
//! `gamma_i = max(min(gamma_A, gamma_B, gamma_iC), gamma_D)`
//!
//! - **A** keeps `gamma_max`: enough where clock rates differ little.
//! - **B** (necessary): if even the clock that leads least is ahead of its
//!   physical clock, all are further ahead than they had to be. With
//!   `x = least lead / largest lead` over the last event of each clock,
//!   `gamma_B = gamma_max * (1 - x^2)`.
//! - **C** (sufficient), clock by clock: `q = lead / MAX`, where `MAX` follows
//!   the largest lead of a *simple* logical clock, which is bounded by the
//!   largest clock difference. `gamma_C` is `gamma_max` up to `q = 1.2`, 0 from
//!   `q = 3` on, and `gamma_max * (1 - 3u^2 + 2u^3)`, `u = (q - 1.2) / 1.8`,
//!   between.
//! - **D** bounds the control from below.
//!
//! ```text
//! MAX = max(0, MAX0 - (1 - gamma_max)/2 * max(0, LC_i - LC_MAX)),  raised to LC_i - C_i
//! ```
//!
//! with `MAX0` and `LC_MAX` the values at the last rise. The printed algorithm
//! can lower MAX at a rise, and subtracts the whole elapsed time anew at each
//! event; neither can be meant.
//!
//! ```
//! use retime_logical_clocks::{Combined, CombinedConstants};
//! let mut b = Combined::new(2, CombinedConstants { c: false, d: None, ..CombinedConstants::default() });
//! b.computed(0, 0, 0, 10); // clock 0 leads by 10, clock 1 has no event yet
//! assert_eq!(b.factor(1), 1.0 - 2e-5);
//! b.computed(1, 0, 0, 5); // now all lead by at least half of the largest lead
//! assert_eq!(b.factor(0), (1.0 - 2e-5) * 0.75);
//! ```
//!
//! Source: Rabenseifner 2000, section 4.4 and algorithm 4.

use serde::{Deserialize, Serialize};

use super::tournament::Tournament;

/// Which controllers take part, and their constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CombinedConstants {
    /// Largest gamma, that of controller A.
    pub gamma_max: f64,
    /// True if B takes part.
    pub b: bool,
    /// True if C takes part.
    pub c: bool,
    /// Smallest gamma, if D takes part.
    pub d: Option<f64>,
}

impl Default for CombinedConstants {
    /// All four, with the constants that the source recommends.
    fn default() -> Self {
        Self {
            gamma_max: 1.0 - 2e-5,
            b: true,
            c: true,
            d: Some(0.98),
        }
    }
}

/// Ratio of leads at which controller C begins to reduce gamma.
const C_BEGINS: f64 = 1.2;
/// Ratio of leads at which it has reduced gamma to 0.
const C_ENDS: f64 = 3.0;

/// The controllers of all clocks of a trace.
#[derive(Clone, Debug)]
pub struct Combined {
    constants: CombinedConstants,
    leads: Tournament,
    /// Lead of each clock at its last event.
    lead: Vec<i64>,
    max: Max,
}

/// The quantity MAX of algorithm 4.
#[derive(Clone, Copy, Debug, Default)]
struct Max {
    value: f64,
    /// Value and simple logical time at the last rise.
    risen_to: f64,
    risen_at: Option<i64>,
}

impl Combined {
    /// Controllers for so many clocks.
    pub fn new(clocks: usize, constants: CombinedConstants) -> Self {
        Self {
            constants,
            leads: Tournament::new(clocks),
            lead: vec![0; clocks],
            max: Max::default(),
        }
    }

    /// The control factor for the next event of a clock.
    pub fn factor(&self, clock: usize) -> f64 {
        let CombinedConstants { gamma_max, b, c, d } = self.constants;
        let b = if b { self.necessary() } else { 1.0 };
        let c = if c { self.sufficient(clock) } else { 1.0 };
        (gamma_max * b).min(gamma_max * c).max(d.unwrap_or(0.0))
    }

    /// An event of `clock` was computed, with the given simple logical time and
    /// leads of the simple and the controlled clock, all in ticks.
    pub fn computed(
        &mut self,
        clock: usize,
        simple_time: i64,
        simple_lead: i64,
        controlled_lead: i64,
    ) {
        self.lead[clock] = controlled_lead;
        self.leads.set(clock, Some(controlled_lead));
        self.max
            .follow(simple_time, simple_lead, self.constants.gamma_max);
    }

    /// A clock has no event left.
    pub fn ended(&mut self, clock: usize) {
        self.leads.set(clock, None);
    }

    fn necessary(&self) -> f64 {
        match self.leads.extremes() {
            Some((least, largest)) if largest > 0 => {
                let x = least as f64 / largest as f64;
                1.0 - x * x
            }
            _ => 1.0,
        }
    }

    fn sufficient(&self, clock: usize) -> f64 {
        // Where nothing leads there is nothing to reduce; a tick is the least scale.
        let q = self.lead[clock] as f64 / self.max.value.max(1.0);
        let u = ((q - C_BEGINS) / (C_ENDS - C_BEGINS)).clamp(0.0, 1.0);
        1.0 - 3.0 * u * u + 2.0 * u * u * u
    }
}

impl Max {
    fn follow(&mut self, simple_time: i64, simple_lead: i64, gamma_max: f64) {
        let risen_at = *self.risen_at.get_or_insert(simple_time);
        let elapsed = (simple_time - risen_at).max(0) as f64;
        self.value = (self.risen_to - (1.0 - gamma_max) / 2.0 * elapsed).max(0.0);
        if simple_lead as f64 > self.value {
            *self = Self {
                value: simple_lead as f64,
                risen_to: simple_lead as f64,
                risen_at: Some(simple_time),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controller_c_follows_its_cubic() {
        let constants = CombinedConstants {
            gamma_max: 0.5,
            b: false,
            c: true,
            d: None,
        };
        let mut control = Combined::new(1, constants);
        control.computed(0, 0, 100, 120);
        assert!((control.factor(0) - 0.5).abs() < 1e-12, "q = 1.2");
        control.computed(0, 0, 100, 210);
        assert!(
            (control.factor(0) - 0.25).abs() < 1e-12,
            "q = 2.1, half-way"
        );
        control.computed(0, 0, 100, 300);
        assert!(control.factor(0).abs() < 1e-12, "q = 3");
    }

    #[test]
    fn max_falls_by_half_of_what_gamma_takes_and_rises_at_once() {
        let mut max = Max::default();
        max.follow(1_000, 100, 0.9);
        assert_eq!(max.value.to_bits(), 100_f64.to_bits());
        max.follow(1_400, 0, 0.9);
        assert!((max.value - 80.0).abs() < 1e-9, "{}", max.value);
        max.follow(1_800, 0, 0.9);
        assert!(
            (max.value - 60.0).abs() < 1e-9,
            "not twice what has elapsed: {}",
            max.value
        );
        max.follow(1_800, 70, 0.9);
        assert!((max.value - 70.0).abs() < 1e-9);
    }

    #[test]
    fn d_bounds_from_below_and_ended_clocks_do_not_count() {
        let constants = CombinedConstants {
            gamma_max: 0.9,
            b: true,
            c: false,
            d: Some(0.3),
        };
        let mut control = Combined::new(2, constants);
        control.computed(0, 0, 0, 10);
        control.computed(1, 0, 0, 10);
        assert!((control.factor(0) - 0.3).abs() < 1e-12);
        control.computed(1, 0, 0, 0);
        assert!((control.factor(0) - 0.9).abs() < 1e-12);
        control.ended(1);
        assert!((control.factor(0) - 0.3).abs() < 1e-12);
    }
}
