//! Drift that swings to and fro, as temperature makes it do.
//!
//! ```text
//! deviation(t) = amplitude * sin(2 pi (t / period + phase))
//! ```

/// A sinusoidal deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wander {
    /// Largest deviation in nanoseconds.
    pub amplitude: f64,
    /// Nanoseconds from one maximum to the next.
    pub period: f64,
    /// Part of a period by which it is ahead at the start.
    pub phase: f64,
}

impl Wander {
    pub(super) fn deviation(&self, elapsed: f64) -> f64 {
        self.amplitude * sine_of_turns(elapsed / self.period + self.phase)
    }
}

/// The sine of an angle given in full turns.
///
/// A polynomial of our own, because library sines differ between platforms.
/// The error stays below 1e-7.
fn sine_of_turns(turns: f64) -> f64 {
    // Into -0.5..=0.5, then mirrored into the quarter turns around zero.
    let turns = turns - turns.round();
    let folded = if turns > 0.25 {
        0.5 - turns
    } else if turns < -0.25 {
        -0.5 - turns
    } else {
        turns
    };
    let x = folded * std::f64::consts::TAU;
    let square = x * x;
    // x - x^3/3! + x^5/5! - ..., from the inside out.
    [110.0, 72.0, 42.0, 20.0, 6.0]
        .iter()
        .fold(1.0, |sum, divisor| 1.0 - square * sum / divisor)
        * x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;

    fn wandering() -> Clock {
        Clock {
            wander: Some(Wander {
                amplitude: 900.0,
                period: 1e6,
                phase: 0.3,
            }),
            ..Clock::TRUE
        }
    }

    #[test]
    fn wander_stays_within_its_amplitude() {
        let clock = wandering();
        let plain = Clock {
            wander: None,
            ..wandering()
        };
        let deviations = (0..1_000_000).map(|time| clock.show(time) - plain.show(time));
        assert_eq!(deviations.clone().max(), Some(900));
        assert_eq!(deviations.min(), Some(-900));
    }

    #[test]
    fn the_sine_is_one() {
        for step in -1000..1000 {
            let turns = f64::from(step) / 300.0;
            let expected = (turns * std::f64::consts::TAU).sin();
            assert!((sine_of_turns(turns) - expected).abs() < 1e-7, "{turns}");
        }
    }
}
