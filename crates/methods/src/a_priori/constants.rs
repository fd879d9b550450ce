//! The error of a local interval, by the constants of the controlled clock.
//!
//! Between two events of one clock the controlled clock advances by `gamma_max` of the
//! physical interval at least, by `gamma_D` of it where a controller has lowered gamma, and by
//! `1 + A` of it at most, where it is ramped up towards a jump. The physical interval is wrong
//! by the drift `rho` at most. Together
//!
//! ```text
//! |d' / d - 1|  <=  A (1 + rho) + (1 - gamma_max) + rho                                 (5.9)
//! |d' / d - 1|  <=  A + (1 - gamma_max) + (1 - gamma_D) + 2 rho
//!                     + (A + 1 - gamma_D) rho                                           (5.68)
//! ```
//!
//! for an interval that took `d` and that the clock says to be `d'`: (5.9) where gamma is
//! constant (controller A), (5.68) under the others. Mostly it is a small multiple of
//!
//! ```text
//! max(1 - gamma_max, rho, A_def)                                                        (5.69)
//! ```
//!
//! ```
//! use retime_methods::a_priori::Constants;
//! let constants = Constants { gamma_max: 0.9998, gamma_d: Some(0.95), a_def: 0.005, rho: 1e-4 };
//! // 0.5 + 0.02 + 5 + 0.02 % where ramps stay at their usual gradient, and a quadratic term.
//! let error = constants.error(0.005);
//! assert!((error - (0.0554 + 0.055 * 1e-4)).abs() < 1e-12);
//! assert_eq!(constants.usual(), 0.005);
//! let alone = Constants { gamma_d: None, ..constants };
//! assert!((alone.error(0.005) - (0.005 * 1.0001 + 0.0002 + 0.0001)).abs() < 1e-12);
//! ```
//!
//! Source: Rabenseifner 2000, (5.9) and section 5.5, theorem 17.

/// The constants of a controlled logical clock and of the clocks it corrects. All are shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Largest control factor, `gamma_max`.
    pub gamma_max: f64,
    /// Smallest control factor, `gamma_D`; 0 where controllers may stop a clock; `None`
    /// where gamma is constant.
    pub gamma_d: Option<f64>,
    /// Rate at which jumps are amortised, `A_def`.
    pub a_def: f64,
    /// How far the rate of any clock is from that of time, `rho_max`.
    pub rho: f64,
}

impl Constants {
    /// The largest relative error of any local interval where no ramp is steeper than
    /// `gradient`: (5.9) or (5.68).
    pub fn error(&self, gradient: f64) -> f64 {
        let loss = 1.0 - self.gamma_max;
        match self.gamma_d {
            None => gradient * (1.0 + self.rho) + loss + self.rho,
            Some(gamma_d) => {
                let held_back = 1.0 - gamma_d;
                gradient + loss + held_back + 2.0 * self.rho + (gradient + held_back) * self.rho
            }
        }
    }

    /// The share that this error mostly is a small multiple of: (5.69).
    pub fn usual(&self) -> f64 {
        (1.0 - self.gamma_max).max(self.rho).max(self.a_def)
    }

    /// The smallest share of a physical interval that the clock keeps.
    pub fn least_gamma(&self) -> f64 {
        self.gamma_d
            .map_or(self.gamma_max, |it| it.min(self.gamma_max))
    }

    /// The share by which clocks that drift at `rho` diverge from where gamma puts them: the
    /// factor in brackets of (5.7) and (5.12).
    pub(super) fn divergence(&self) -> f64 {
        (1.0 - self.gamma_max) + self.rho * self.gamma_max
    }
}
