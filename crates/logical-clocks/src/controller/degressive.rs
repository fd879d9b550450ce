//! The controller of 1997: each clock by itself.
//!
//! It compares how far the controlled clock leads with how far the simple
//! logical clock does, both remembered with decay, and multiplies gamma by a
//! factor while the former is more than a given multiple of the latter:
//!
//! ```text
//! D  = max(LC  - C, q_factor * (D  - q_min) + q_min)      starting at q_init
//! D' = max(LC' - C, q_factor * (D' - q_min) + q_min)      likewise
//! gamma := gamma * degress                   if D' > l_upper * D
//! gamma := min(gamma / degress, gamma_max)   if D' < l_lower * D
//! ```
//!
//! It needs local data only, which suits clocks inside an application.
//!
//! ```
//! use retime_model::TickRate;
//! use retime_logical_clocks::Degressive;
//! let rate = TickRate::per_second(1_000_000).unwrap(); // q_init = 250 us = 250 ticks
//! let mut controller = Degressive::new(rate);
//! assert_eq!(controller.factor(), 0.95);
//! controller.computed(0, 1_000); // 1000 ahead, the simple clock not: D' = 1000, D = 250
//! assert_eq!(controller.factor(), 0.95 * 0.9);
//! controller.computed(0, 0); // D' = 925 > 2 * 250
//! assert_eq!(controller.factor(), 0.95 * 0.9 * 0.9);
//! ```
//!
//! Source: Rabenseifner 1997, algorithm 3 and equations 16 to 23.

use serde::{Deserialize, Serialize};

use crate::Gamma;
use retime_model::TickRate;

/// Constants of the controller; spans in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DegressiveConstants {
    /// First value of both remembered leads.
    pub q_init: f64,
    /// Value to which they decay.
    pub q_min: f64,
    /// The share that is left of the rest at each event.
    pub q_factor: f64,
    /// Largest gamma.
    pub gamma_max: f64,
    /// Factor by which gamma falls and rises.
    pub gamma_degress: f64,
    /// Ratio of leads above which gamma falls.
    pub l_upper: f64,
    /// Ratio of leads below which gamma rises.
    pub l_lower: f64,
}

impl Default for DegressiveConstants {
    fn default() -> Self {
        Self {
            q_init: 250e-6,
            q_min: 250e-6,
            q_factor: 0.9,
            gamma_max: 0.95,
            gamma_degress: 0.9,
            l_upper: 2.0,
            l_lower: 1.8,
        }
    }
}

/// The controller of one clock.
#[derive(Clone, Debug)]
pub struct Degressive {
    constants: DegressiveConstants,
    /// In ticks.
    q_min: f64,
    simple: f64,
    controlled: f64,
    factor: f64,
    /// The factor, in the form that clocks compute with.
    gamma: Gamma,
}

impl Degressive {
    /// With the constants that the source recommends.
    pub fn new(rate: TickRate) -> Self {
        Self::with_constants(rate, DegressiveConstants::default())
    }

    /// With constants of your own.
    pub fn with_constants(rate: TickRate, constants: DegressiveConstants) -> Self {
        let ticks = |seconds: f64| seconds * rate.get() as f64;
        Self {
            constants,
            q_min: ticks(constants.q_min),
            simple: ticks(constants.q_init),
            controlled: ticks(constants.q_init),
            factor: constants.gamma_max,
            gamma: Gamma::from_factor(constants.gamma_max),
        }
    }

    /// The control factor for the next event.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// The current factor, in the form that clocks compute with.
    #[inline]
    pub(crate) fn gamma(&self) -> Gamma {
        self.gamma
    }

    /// An event was computed; leads of the simple and of the controlled clock
    /// over the physical one, in ticks.
    pub fn computed(&mut self, simple_lead: i64, controlled_lead: i64) {
        let Self {
            constants, q_min, ..
        } = *self;
        let decayed = |remembered: f64| constants.q_factor * (remembered - q_min) + q_min;
        self.simple = decayed(self.simple).max(simple_lead as f64);
        self.controlled = decayed(self.controlled).max(controlled_lead as f64);
        if self.controlled > constants.l_upper * self.simple {
            self.set(self.factor * constants.gamma_degress);
        } else if self.controlled < constants.l_lower * self.simple {
            self.set((self.factor / constants.gamma_degress).min(constants.gamma_max));
        }
    }

    fn set(&mut self, factor: f64) {
        // Mostly it is as large as it can be, and stays.
        if factor.to_bits() != self.factor.to_bits() {
            self.factor = factor;
            self.gamma = Gamma::from_factor(factor);
        }
    }
}
